//! The world as mutators call it for closures that own memory outside the heap.

use super::state::World;
use crate::cause::{Cause, Refill};
use crate::kind::MutatorKind;
use crate::mutator::ForeignValue;
use crate::session::Session;
use crate::words::Bytes;

impl<M: MutatorKind> World<M> {
    /// A mutator is about to allocate a closure that owns `bytes` outside the heap. Collects first
    /// if the collector wants to. Returns whether it has collected.
    pub(super) fn note_foreign(&self, session: Session<'_, M::Alloc>, bytes: Bytes) -> bool {
        let mut state = self.lock(session);
        if state.collector.foreign(bytes) == Refill::Ready {
            return false;
        }
        let result = self.stop_and_collect(&mut state, Some(session), Cause::Allocation);
        drop(state);
        self.or_leave(result);
        true
    }

    pub(super) fn own_foreign_value(&self, closure: u64, value: ForeignValue, bytes: Bytes) {
        self.values.own(self.handles.foreign(), closure, value, bytes);
    }

    pub(super) fn drop_foreign_values(&self) {
        self.values.drop_dead(self.handles.foreign());
    }
}
