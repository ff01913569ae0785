//! A pause: the world is stopped for a collection.

use super::{Capability, Cause};
use crate::clock::Clock;
use crate::closure::Slot;
use crate::events::Events;
use crate::heap::Heap;
use crate::mutator::{FrameHeader, HandleTable, for_each_frame_slot};
use crate::words::Bytes;
use crate::workers::GcThreads;
use std::marker::PhantomData;
use std::time::Duration;

/// What a collection works with. The fields are apart so that they can be borrowed apart.
#[derive(Debug)]
pub struct Pause<'a, A> {
    /// Blocks and their states.
    pub heap: &'a mut Heap,
    /// The roots.
    pub roots: Roots<'a>,
    /// What each mutator has of the heap: its allocator and its remembered set.
    pub capabilities: Capabilities<'a, A>,
    /// The world's GC threads, which may help.
    pub gc_threads: &'a mut GcThreads,
    /// Why the collection happens.
    pub cause: Cause,
    /// Where phases are announced.
    pub events: &'a mut Events,
    /// What was before it.
    pub since: Since,
}

/// What was between the end of the last collection and the beginning of this one. And the clock, so
/// that nothing but this reads it.
#[derive(Debug, Clone, Copy)]
pub struct Since {
    /// How long the program ran.
    pub running: Duration,
    /// What it allocated, large objects included.
    pub allocated: Bytes,
    pub(crate) clock: Clock,
    /// What the clock said when this collection began, in nanoseconds.
    pub(crate) began: u64,
}

impl Since {
    /// How long this collection has taken so far.
    pub fn collecting(&self) -> Duration {
        Duration::from_nanos(self.clock.elapsed_ns().saturating_sub(self.began))
    }
}

/// The capabilities of a stopped world, in the order of their numbers.
#[derive(Debug)]
pub struct Capabilities<'a, A>(&'a [&'a Capability<A>]);

impl<A> Clone for Capabilities<'_, A> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<A> Copy for Capabilities<'_, A> {}

impl<'a, A> Capabilities<'a, A> {
    pub(crate) fn new(all: &'a [&'a Capability<A>]) -> Self {
        Capabilities(all)
    }

    /// Each of them.
    pub fn iter(self) -> impl ExactSizeIterator<Item = &'a Capability<A>> + Clone {
        self.0.iter().copied()
    }

    /// How many of them have roots or remembered slots of their own.
    pub fn owners(self) -> usize {
        self.iter().filter(|capability| capability.has_roots()).count()
    }
}

/// A root, strong or weak, of a world that stays stopped for `'a`. Only [`Roots`] makes root slots,
/// so a safe function that takes one may read and update the slot.
#[derive(Debug, Clone, Copy)]
pub struct RootSlot<'a>(Slot, PhantomData<&'a HandleTable>);

impl RootSlot<'_> {
    fn new(slot: Slot) -> Self {
        RootSlot(slot, PhantomData)
    }

    /// The slot without the proof.
    pub(crate) fn slot(self) -> Slot {
        self.0
    }
}

/// The roots of a stopped world: frames of mutators, handles, heap roots; and weak handles apart.
#[derive(Debug, Clone, Copy)]
pub struct Roots<'a> {
    /// The innermost frame of each mutator.
    frames: &'a [*const FrameHeader],
    handles: &'a HandleTable,
}

impl<'a> Roots<'a> {
    /// # Safety
    /// `frames` are the innermost frames of mutators that stay stopped for `'a`.
    pub(crate) unsafe fn new(frames: &'a [*const FrameHeader], handles: &'a HandleTable) -> Self {
        Roots { frames, handles }
    }

    /// Calls `visit` for every slot that keeps its referent alive. Slots may be null.
    pub fn for_each(&self, mut visit: impl FnMut(RootSlot<'a>)) {
        self.for_each_frame_slot(|slot| visit(RootSlot::new(slot)));
        self.handles.for_each_strong(|slot| visit(RootSlot::new(slot)));
    }

    /// Calls `visit` for every slot that does not keep its referent alive.
    pub fn for_each_weak(&self, mut visit: impl FnMut(RootSlot<'a>)) {
        self.handles.for_each_weak(|slot| visit(RootSlot::new(slot)));
    }

    /// Calls `visit` for the slots of the mutators' frames only.
    pub(crate) fn for_each_frame_slot(&self, mut visit: impl FnMut(Slot)) {
        for &top in self.frames {
            // SAFETY: `new`'s caller vouches that the mutators are stopped.
            unsafe { for_each_frame_slot(top, &mut visit) };
        }
    }

    pub(crate) fn handles(&self) -> &'a HandleTable {
        self.handles
    }
}
