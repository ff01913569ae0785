//! Closures as a collector reads them.

use super::{ClosureRef, Slot};
use crate::block::StateView;
use crate::words::{Addr, Words};

/// Reads closures of a heap, for collectors that follow pointers themselves
/// ([`Heap::closures`](crate::heap::Heap::closures)).
///
/// Its methods are safe to call as those of spaces are: as part of the collector's promise
/// ([`Collector`](crate::collector::Collector)). The closures are intact and have not been forwarded, and
/// no mutator can reach them, or the world is stopped.
#[derive(Clone, Copy, Debug)]
pub struct Closures(StateView);

impl Closures {
    pub(crate) fn new(states: StateView) -> Self {
        Closures(states)
    }

    /// The closure that starts at `at`.
    #[inline(always)]
    pub fn at(self, at: Addr) -> ClosureRef {
        ClosureRef(at.as_mut_ptr())
    }

    /// Whether an address lies in the heap: closures that a program has made outside it are not
    /// collected.
    #[inline(always)]
    pub fn contain(self, at: Addr) -> bool {
        !self.0.of(at).is_outside()
    }

    /// The size of a closure, header included.
    #[inline(always)]
    pub fn words(self, closure: ClosureRef) -> Words {
        assert!(self.contain(closure.addr()), "{} is not in the heap", closure.addr());
        // SAFETY: the caller's promise.
        unsafe { closure.words() }
    }

    /// The slots of a closure, first to last.
    #[inline(always)]
    pub fn slots(self, closure: ClosureRef) -> impl ExactSizeIterator<Item = Slot> {
        assert!(self.contain(closure.addr()), "{} is not in the heap", closure.addr());
        // SAFETY: the caller's promise.
        unsafe { closure.extent() }.slots()
    }

    /// Where a closure lies now. It alone may have been forwarded.
    #[inline(always)]
    pub fn place(self, closure: ClosureRef) -> ClosureRef {
        assert!(self.contain(closure.addr()), "{} is not in the heap", closure.addr());
        // SAFETY: the caller's promise.
        let moved = unsafe { closure.header() }.forwarded_to();
        moved.unwrap_or(closure)
    }

    /// The closure that a slot holds, unless it is null.
    #[inline(always)]
    pub fn load(self, slot: Slot) -> Option<ClosureRef> {
        // SAFETY: the caller's promise.
        let closure = unsafe { slot.load() };
        (!closure.is_null()).then_some(closure)
    }
}
