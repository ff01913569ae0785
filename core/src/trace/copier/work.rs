//! Work items of copiers: the work that workers take from each other.

use crate::closure::{ClosureRange, Slot, SlotRange};
use crate::remembered::Piece;

/// Work for a copier, which passes from worker to worker.
#[derive(Debug)]
pub(crate) enum WorkItem {
    /// Closures that were copied into this step, to be scavenged.
    Closures(ClosureRange, u8),
    /// Slots of a large object in this step, to be scavenged.
    Slots(SlotRange, u8),
    /// Slots of handles.
    Roots(SlotRange),
    /// Remembered slots.
    Remembered(RememberedSlots),
    /// Remembered slots that are bits.
    RememberedBits(RememberedBits),
}

/// A run of slots in a chunk of a remembered set, which exists until the collection is over.
#[derive(Debug)]
pub(crate) struct RememberedSlots(*const [Slot]);

// SAFETY: nothing writes the run while the collection lasts, and slots may be sent.
unsafe impl Send for RememberedSlots {}

impl RememberedSlots {
    /// The run `slots`.
    ///
    /// # Safety
    /// The run neither moves nor changes while the result exists.
    pub unsafe fn new(slots: &[Slot]) -> Self {
        RememberedSlots(slots)
    }

    /// The slots of the run.
    pub fn slots(&self) -> &[Slot] {
        // SAFETY: the promise of `new`.
        unsafe { &*self.0 }
    }
}

/// A piece of a remembered set's bits, which exist until the collection is over.
#[derive(Debug)]
pub(crate) struct RememberedBits(Piece<'static>);

impl RememberedBits {
    /// The slots of `piece`.
    ///
    /// # Safety
    /// The bits neither move nor change while the result exists.
    pub unsafe fn new(piece: Piece<'_>) -> Self {
        // SAFETY: the same type but for the lifetime, which the caller's promise covers.
        RememberedBits(unsafe { std::mem::transmute::<Piece<'_>, Piece<'static>>(piece) })
    }

    /// Returns the piece of the bits.
    pub fn piece(&self) -> Piece<'_> {
        self.0
    }
}
