//! The mutator: how programs allocate, read and write the heap.
//!
//! The API is safe by types. [`Gc`] lives as long as the mutator cannot collect (`'m`); whatever may collect takes
//! `&mut Mutator`, so a pointer that is held over an allocation does not compile. `'h` brands one stay in one heap:
//! pointers of one heap do not go into another. What must survive an allocation goes into a [frame](Mutator::frame) or
//! a [`Handle`]. `tests/ui` has the misuses that are refused.
//!
//! A shared borrow of a mutator derefs to [`NoGc`], the view that can read and store but cannot collect.

mod alloc;
mod array;
mod bytes;
mod frame;
mod gc;
mod handle;
mod record;
mod var;

pub use alloc::Init;
pub use array::MutArray;
pub use bytes::{ByteArray, MutByteArray, MutWordArray};
pub(crate) use frame::{FrameHeader, for_each_frame_slot};
pub use frame::{FrameSlot, OptionRoot, Root};
pub use gc::{Any, Distinct, Gc};
pub(crate) use handle::HandleTable;
pub use handle::{Handle, WeakHandle};
pub use record::Record;
pub use var::MutVar;

use crate::collector::{Capability, Collector};
use crate::world::Inside;
use gc::Brand;
use std::marker::{PhantomData, PhantomPinned};
use std::sync::Arc;

/// A thread's stay in heap `'h`: what allocates and may collect.
pub struct Mutator<'h, C: Collector> {
    view: NoGc<'h, C>,
}

/// What a shared borrow of a mutator sees: it can read and store, it cannot collect.
pub struct NoGc<'h, C: Collector> {
    capability: Capability<C::Alloc>,
    /// The heap and the collector, for slow paths. Exclusive to this stay ([`crate::World::enter`] holds the lock).
    inside: *mut Inside<C>,
    _brand: Brand<'h>,
    _not_send: PhantomData<*const ()>,
    /// A frame that closes writes to its mutator through a pointer that is older than the `&mut Mutator` its body had. What is not
    /// `Unpin` is not taken to be reached through a `&mut` alone (until `UnsafePinned` says so in words). It costs no
    /// instruction: the fields that change are cells. Miri checks it.
    _aliased: PhantomPinned,
}

impl<C: Collector> std::fmt::Debug for Mutator<'_, C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Mutator<{}>", C::DESCRIPTION.name)
    }
}

impl<C: Collector> std::fmt::Debug for NoGc<'_, C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "NoGc<{}>", C::DESCRIPTION.name)
    }
}

impl<'h, C: Collector> std::ops::Deref for Mutator<'h, C> {
    type Target = NoGc<'h, C>;
    #[inline(always)]
    fn deref(&self) -> &NoGc<'h, C> {
        &self.view
    }
}

impl<'h, C: Collector> Mutator<'h, C> {
    /// A stay in the heap behind `inside`.
    ///
    /// # Safety
    /// `inside` is valid and used by nobody else until the mutator is dropped.
    pub(crate) unsafe fn new(capability: Capability<C::Alloc>, inside: *mut Inside<C>) -> Self {
        Mutator {
            view: NoGc {
                capability,
                inside,
                _brand: PhantomData,
                _not_send: PhantomData,
                _aliased: PhantomPinned,
            },
        }
    }

    /// End the stay: gives the capability back. No frame is open any more.
    pub(crate) fn into_capability(self) -> Capability<C::Alloc> {
        debug_assert!(
            self.view.capability.frames.get().is_null(),
            "frames close when their scope ends"
        );
        self.view.capability
    }

    /// Collect now: a major collection if `major`, otherwise what the collector finds due.
    pub fn collect(&mut self, major: bool) {
        self.inside_mut(|inside, capability| inside.collect(capability, crate::collector::Cause::asked(major)));
    }

    /// Runs `work` with the heap and the collector; unwinds with the heap's own payload if it is exhausted.
    pub(crate) fn inside_mut<R>(
        &mut self,
        work: impl FnOnce(&mut Inside<C>, &mut Capability<C::Alloc>) -> Result<R, crate::world::Exhausted>,
    ) -> R {
        let inside = self.view.inside;
        // SAFETY: `new`'s caller vouches that this stay has `inside` for itself. Nothing else borrows it meanwhile: the other
        // use, `handles`, needs the mutator, which is borrowed here. Listeners, which `work` calls back, do not get to it:
        // the world refuses to be entered or inspected, and handles have their own way to their table.
        match work(unsafe { &mut *inside }, &mut self.view.capability) {
            Ok(result) => result,
            Err(exhausted) => exhausted.unwind(inside),
        }
    }
}

impl<'h, C: Collector> NoGc<'h, C> {
    #[inline(always)]
    pub(crate) fn capability(&self) -> &Capability<C::Alloc> {
        &self.capability
    }

    pub(crate) fn handles(&self) -> &Arc<HandleTable> {
        // SAFETY: `inside` is valid while the mutator lives, and the handle table is only shared, never replaced.
        unsafe { &(*self.inside).handles }
    }
}
