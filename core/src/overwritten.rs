//! The values that a mutator overwrote while a snapshot of the heap is marked.

use crate::closure::{ClosureRef, Slot};
use crate::remembered::RememberedSet;

/// The values that one mutator overwrote, and the closures of weak handles that it opened, since
/// marking began or this was last emptied (GHC's update remembered set). They are closures that do
/// not move. Its memory is bounded and counts under the limit, as that of a [`RememberedSet`] does;
/// when there are many, each is kept once.
#[derive(Debug)]
pub struct Overwritten(RememberedSet);

impl Overwritten {
    /// None yet, in the heap of a remembered set.
    pub(crate) fn beside(remembered: &RememberedSet) -> Self {
        Overwritten(remembered.another())
    }

    pub(crate) fn push(&self, closure: ClosureRef) {
        // An address of the heap, as that of a slot is.
        self.0.push(Slot(closure.0));
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Calls `visit` for each of them, which may come twice, and forgets them.
    pub(crate) fn take(&self, mut visit: impl FnMut(ClosureRef)) {
        self.0.take(|slot| visit(ClosureRef(slot.0)));
    }
}
