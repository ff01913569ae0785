//! A pause: the world is stopped for a collection.

use super::{Capability, Cause};
use crate::closure::Slot;
use crate::events::Events;
use crate::heap::Heap;
use crate::mutator::{HandleTable, for_each_frame_slot};
use crate::remembered::RememberedSet;

/// What a collection works with. The fields are apart so that they can be borrowed apart.
#[derive(Debug)]
pub struct Pause<'a, A> {
    /// Blocks and their states.
    pub heap: &'a mut Heap,
    /// The roots.
    pub roots: Roots<'a>,
    /// The mutator's allocator.
    pub alloc: &'a A,
    /// The mutator's remembered set.
    pub remembered: &'a mut RememberedSet,
    /// Why the collection happens.
    pub cause: Cause,
    /// Where phases are announced.
    pub events: &'a mut Events,
}

/// The roots of a stopped world: frames of mutators, handles, heap roots; and weak handles apart.
#[derive(Debug, Clone, Copy)]
pub struct Roots<'a> {
    frames: *const crate::mutator::FrameHeader,
    handles: &'a HandleTable,
}

impl<'a> Roots<'a> {
    /// # Safety
    /// `frames` is the innermost frame of a mutator that stays stopped for `'a`.
    pub(crate) unsafe fn new(frames: *const crate::mutator::FrameHeader, handles: &'a HandleTable) -> Self {
        Roots { frames, handles }
    }

    /// Calls `visit` for every slot that keeps what it points to alive; slots may be null.
    pub fn for_each(&self, mut visit: impl FnMut(Slot)) {
        // SAFETY: `new`'s caller vouches that the mutator is stopped.
        unsafe { for_each_frame_slot(self.frames, &mut visit) };
        self.handles.for_each_strong(visit);
    }

    /// Calls `visit` for every slot that does not.
    pub fn for_each_weak(&self, visit: impl FnMut(Slot)) {
        self.handles.for_each_weak(visit);
    }

    /// Calls `visit` for the slots of the mutators' frames only.
    pub(crate) fn for_each_frame_slot(&self, visit: impl FnMut(Slot)) {
        // SAFETY: `new`'s caller vouches that the mutator is stopped.
        unsafe { for_each_frame_slot(self.frames, visit) };
    }

    pub(crate) fn handles(&self) -> &'a HandleTable {
        self.handles
    }
}

impl<'a, A> Pause<'a, A> {
    /// # Safety
    /// The mutator of `capability` stays stopped for `'a`.
    pub(crate) unsafe fn new(
        heap: &'a mut Heap,
        handles: &'a HandleTable,
        capability: &'a mut Capability<A>,
        events: &'a mut Events,
        cause: Cause,
    ) -> Self {
        // SAFETY: passed on.
        let roots = unsafe { Roots::new(capability.frames.get(), handles) };
        Pause {
            heap,
            roots,
            alloc: &capability.alloc,
            remembered: &mut capability.remembered,
            cause,
            events,
        }
    }
}
