//! The values that a mutator overwrote while a snapshot of the heap is marked.

use crate::closure::{ClosureRef, Slot};
use crate::remembered::RememberedSet;
use crate::words::Addr;
use std::cell::Cell;

/// The values that one mutator overwrote, and the closures of weak handles that it opened, since
/// marking began or this was last emptied (GHC's update remembered set). None of these closures
/// moves. The memory is bounded and counts towards the limit, as for a [`RememberedSet`]; when
/// there are many, each is kept once.
#[derive(Debug)]
pub struct Overwritten {
    /// A set of addresses of the heap, like the set of slots.
    closures: RememberedSet,
    /// A snapshot is being marked.
    marking: Cell<bool>,
}

impl Overwritten {
    /// None yet, in the heap of a remembered set.
    pub(crate) fn beside(remembered: &RememberedSet) -> Self {
        Overwritten {
            closures: remembered.another(),
            marking: Cell::new(false),
        }
    }

    pub(crate) fn push(&self, closure: ClosureRef) {
        self.closures.push(Slot(closure.0));
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.closures.is_empty()
    }

    /// Whether a snapshot is being marked.
    pub(crate) fn set_marking(&self, on: bool) {
        self.marking.set(on);
    }

    /// Whether a snapshot is being marked.
    pub(crate) fn is_marking(&self) -> bool {
        self.marking.get()
    }

    /// The addresses of the closures, for the checker.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = Addr> + '_ {
        self.closures.slots().map(|slot| slot.addr())
    }

    /// Calls `visit` for each of them, possibly twice, and forgets them.
    pub(crate) fn take(&self, mut visit: impl FnMut(ClosureRef)) {
        self.closures.take(|slot| visit(ClosureRef(slot.0)));
    }
}
