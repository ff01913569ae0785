//! The functions of finalisers. Their closures are in the table of the heap's roots
//! ([`crate::roots::finalisers`]).

use crate::mutator::FinaliserFunction;
use crate::roots::finalisers::{FinaliserTable, Occasion};
use crate::sync::Mutex;
use std::collections::HashMap;

/// The functions of registered finalisers, by their numbers. An alarm that is running has none.
#[derive(Default)]
pub(super) struct Functions(Mutex<HashMap<u64, FinaliserFunction>>);

impl Functions {
    pub(super) fn register(
        &self,
        table: &FinaliserTable,
        (occasion, closure): (Occasion, u64),
        function: FinaliserFunction,
    ) -> u64 {
        // No collection makes it ready before its function is there, since this thread runs.
        let number = table.register(occasion, closure);
        self.0.lock().insert(number, function);
        number
    }

    pub(super) fn take(&self, number: u64) -> Option<FinaliserFunction> {
        self.0.lock().remove(&number)
    }

    pub(super) fn put_alarm_back(&self, table: &FinaliserTable, number: u64, alarm: FinaliserFunction) {
        if table.has_alarm(number) {
            self.0.lock().insert(number, alarm);
        }
    }

    pub(super) fn remove_alarm(&self, table: &FinaliserTable, number: u64) {
        table.remove_alarm(number);
        // Dropped without the lock: it may own anything.
        let function = self.0.lock().remove(&number);
        drop(function);
    }
}
