//! The functions of finalisers. Their closures are in the table of the heap's roots
//! ([`crate::roots::finalisers`]).

use super::state::World;
use crate::kind::MutatorKind;
use crate::mutator::Finaliser;
use crate::roots::finalisers::Occasion;
use crate::sync::Mutex;
use std::collections::HashMap;

/// The functions of registered finalisers, by their numbers. An alarm that is running has none.
pub(super) type Functions<M> = Mutex<HashMap<u64, Option<Finaliser<M>>>>;

impl<M: MutatorKind> World<M> {
    pub(super) fn register(&self, occasion: Occasion, closure: u64, function: Finaliser<M>) -> u64 {
        // The number is not ready before the next collection, for which this thread has to stop.
        let number = self.handles.finalisers().register(occasion, closure);
        self.functions.lock().insert(number, Some(function));
        number
    }

    pub(super) fn take(&self, number: u64) -> Option<Finaliser<M>> {
        let mut functions = self.functions.lock();
        let function = functions.get_mut(&number)?.take();
        if !matches!(function, Some(Finaliser::Alarm(_)) | None) {
            functions.remove(&number);
        }
        function
    }

    pub(super) fn put_back(&self, number: u64, alarm: Finaliser<M>) {
        let mut functions = self.functions.lock();
        let place = functions.get_mut(&number);
        // A deleted alarm has no place. It is dropped without the lock: it may own anything.
        let deleted = match place {
            Some(place) => {
                *place = Some(alarm);
                None
            }
            None => Some(alarm),
        };
        drop(functions);
        drop(deleted);
    }

    pub(super) fn remove(&self, number: u64) {
        self.handles.finalisers().remove_alarm(number);
        let function = self.functions.lock().remove(&number);
        drop(function);
    }
}
