//! A capability: what one mutator thread has of the heap (GHC's `Capability`).

use super::Alloc;
use crate::block::StateView;
use crate::closure::{ClosureRef, Slot};
use crate::mutator::FrameHeader;
use crate::remembered::RememberedSet;
use crate::sync::{AtomicBool, Ordering::Relaxed};
use std::cell::Cell;

/// A mutator thread's allocator, frames and remembered set.
///
/// Its thread writes it; collections do so while that thread is stopped. All that changes is in cells, so that a collection needs no
/// exclusive borrow of what lies in the middle of a thread's stay.
///
/// What hot paths use comes first (`repr(C)`), where its offsets are short.
#[derive(Debug)]
#[repr(C)]
pub struct Capability<A> {
    /// The innermost open frame.
    pub(crate) frames: Cell<*const FrameHeader>,
    pub(crate) states: StateView,
    pub(crate) alloc: A,
    pub(crate) remembered: RememberedSet,
    /// Somebody wants the mutator to stop. Set by other threads, read by its own without ordering; the world's lock orders the rest.
    pub(crate) stop: AtomicBool,
    /// Its number, from 0.
    number: usize,
    /// Allocations left until the next collection, when stressed ([`crate::config::Config::stress`]).
    pub(crate) until_stress: Cell<u64>,
}

impl<A: Default> Capability<A> {
    /// `area`: what is allocated between two collections, by which the remembered set is measured.
    pub(crate) fn new(number: usize, states: StateView, remembered: RememberedSet, until_stress: u64) -> Self {
        Capability {
            number,
            alloc: A::default(),
            frames: Cell::new(std::ptr::null()),
            states,
            remembered,
            until_stress: Cell::new(until_stress),
            stop: AtomicBool::new(false),
        }
    }
}

impl<A: Alloc> Capability<A> {
    /// Called by another thread, which wants the mutator to stop: allocation fails from now on, and so does
    /// [`crate::mutator::Mutator::safepoint`], until [`Capability::go_on`].
    ///
    /// # Safety
    /// `this` is valid for the call. Its own thread may be using it: this touches nothing but atomics.
    pub(crate) unsafe fn interrupt(this: *const Self) {
        // SAFETY: the caller vouches for `this`; everything else that changes in it is in cells, which these do not touch (of
        // `Alloc::interrupt` its implementer promises that).
        unsafe {
            (*this).stop.store(true, Relaxed);
            (*this).alloc.interrupt();
        }
    }

    /// The mutator's thread goes on after a stop.
    pub(crate) fn go_on(&self, stressed: bool) {
        self.stop.store(false, Relaxed);
        // Under stress every allocation goes the slow way, which makes room for one.
        if !stressed {
            self.alloc.restrict(None);
        }
    }
}

impl<A> Capability<A> {
    /// Its number: from 0, less than `-N`.
    pub fn number(&self) -> usize {
        self.number
    }

    /// What its mutator allocates with.
    pub fn alloc(&self) -> &A {
        &self.alloc
    }

    /// The slots that its mutator wrote, and those that collections left with it.
    pub fn remembered(&self) -> &RememberedSet {
        &self.remembered
    }

    /// Whether anything can be reached from its frames or its remembered slots.
    pub(crate) fn has_roots(&self) -> bool {
        !self.frames.get().is_null() || !self.remembered.is_empty()
    }

    /// Remember that `slot` was written: its referent is a root of collections that do not collect the slot itself.
    #[inline(always)]
    pub fn remember(&self, slot: Slot) {
        self.remembered.push(slot);
    }
}

/// A write barrier: what runs when the mutator overwrites a pointer.
pub trait Barrier: 'static {
    /// The mutator is about to overwrite `slot` of `object`, which holds `old`, with `new` (null or a closure).
    /// Inlined into every store; `old` is loaded only by who calls it.
    fn write<A>(capability: &Capability<A>, object: ClosureRef, slot: Slot, old: impl FnOnce() -> u64, new: ClosureRef);
}

/// No barrier: for collectors that collect everything each time.
#[derive(Debug)]
pub struct NoBarrier;

impl Barrier for NoBarrier {
    #[inline(always)]
    fn write<A>(_: &Capability<A>, _: ClosureRef, _: Slot, _: impl FnOnce() -> u64, _: ClosureRef) {}
}

/// The generational barrier: remembers slots of old closures that come to point to younger ones.
///
/// Two loads from the state table at most, one if the object is young, as nearly all are that are written. It does not
/// ask whether the slot is remembered already: a collection removes duplicates for free (`docs/heap.md`).
#[derive(Debug)]
pub struct GenerationalBarrier;

impl Barrier for GenerationalBarrier {
    #[inline(always)]
    fn write<A>(capability: &Capability<A>, object: ClosureRef, slot: Slot, _: impl FnOnce() -> u64, new: ClosureRef) {
        let holder = capability.states.of(object.addr()).step();
        if holder >= crate::block::FIRST_OLD_STEP && capability.states.of(new.addr()).step() < holder {
            capability.remember(slot);
        }
    }
}

// SAFETY: a capability moves from a thread to the world when the thread's stay ends, and to another when that one's begins: in between
// it has no frames, and its other pointers are into memory that it owns (the remembered set) or that belongs to the heap it moves with (the state table).
unsafe impl<A: Send> Send for Capability<A> {}
