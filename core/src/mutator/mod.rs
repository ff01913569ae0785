//! The mutator: how programs allocate, read and write the heap.
//!
//! The API is safe by types. [`Gc`] lives as long as the mutator cannot collect (`'m`); whatever may collect takes
//! `&mut Mutator`, so a pointer that is held over an allocation does not compile. `'h` brands one stay in one heap:
//! pointers of one heap do not go into another. What must survive an allocation goes into a [frame](Mutator::frame) or
//! a [`Handle`]. `tests/ui` has the misuses that are refused.
//!
//! A shared borrow of a mutator derefs to [`NoGc`], the view that can read and store but cannot collect. Whoever reads or stores
//! a field shows it, so that what has to know of a read (a profile of use, a collector with a read barrier) can be chosen by the
//! collector's type; where nothing has to know, a read is one load.

mod alloc;
mod array;
mod bytes;
mod field;
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

use crate::closure::ClosureRef;
use crate::collector::{Capability, Cause, Collector};
use crate::profile::{SideWords, StackId};
use crate::sync::{Arc, Ordering::Relaxed};
use crate::words::Addr;
use crate::world::{Exhausted, Member, Stay, World};
use gc::Brand;
use std::cell::Cell;
use std::marker::{PhantomData, PhantomPinned};

/// A thread's stay in heap `'h`: what allocates and may collect.
pub struct Mutator<'h, C: Collector> {
    view: NoGc<'h, C>,
}

/// What a shared borrow of a mutator sees: it can read and store, it cannot collect.
#[repr(C)]
pub struct NoGc<'h, C: Collector> {
    capability: Capability<C::Alloc>,
    /// For slow paths. It and `member` are valid as long as the mutator: [`World::enter`] has both.
    world: *const World<C>,
    /// What other threads see of this stay.
    member: *const Member<C::Alloc>,
    /// Of a heap whose collector is [`crate::profile::Profiled`].
    side_words: Option<Arc<SideWords>>,
    /// The stack of cost centres that were entered.
    cost_centres: Cell<StackId>,
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
    /// A stay in `world`.
    ///
    /// # Safety
    /// `world` is valid until the mutator is dropped.
    pub(crate) unsafe fn new(
        capability: Capability<C::Alloc>,
        world: *const World<C>,
        side_words: Option<&Arc<SideWords>>,
    ) -> Self {
        Mutator {
            view: NoGc {
                capability,
                world,
                member: std::ptr::null(),
                side_words: side_words.cloned(),
                cost_centres: Cell::new(StackId::MAIN),
                _brand: PhantomData,
                _not_send: PhantomData,
                _aliased: PhantomPinned,
            },
        }
    }

    /// The stay behind `this` begins: other threads see it as `member`.
    ///
    /// # Safety
    /// `this` is valid, and `member` is for as long.
    pub(crate) unsafe fn begin(this: *mut Self, member: *const Member<C::Alloc>) {
        // SAFETY: the caller vouches for it.
        unsafe { (*this).view.member = member };
    }

    /// Where the capability of the mutator behind `this` is.
    ///
    /// # Safety
    /// `this` points to a mutator.
    pub(crate) unsafe fn capability_of(this: *mut Self) -> *const Capability<C::Alloc> {
        // SAFETY: no reference is made, so that the address may be used as long as `this` may.
        unsafe { &raw const (*this).view.capability }
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
        self.slow(|world, stay| world.collect(stay, Cause::asked(major)));
    }

    /// Announce to listeners that a part of the program begins here: a heap profile has a mark and a census there. All threads of the heap stop
    /// for it, nothing is collected, and pointers stay what they are.
    pub fn phase_marker(&mut self, name: &str) {
        self.slow(|world, stay| {
            world.marker(stay, name);
            Ok(())
        });
    }

    /// Let a collection happen that another thread waits for. Allocation does so by itself; this is for loops that run long without.
    ///
    /// It costs a load and a branch.
    #[inline(always)]
    pub fn safepoint(&mut self) {
        if self.view.capability.stop.load(Relaxed) {
            self.safepoint_slow();
        }
    }

    #[cold]
    #[inline(never)]
    fn safepoint_slow(&mut self) {
        self.slow(|world, stay| {
            world.safepoint(stay);
            Ok(())
        });
    }

    /// Run `call`, which may take long or wait for others, out of the heap's way: collections do not wait for this thread meanwhile.
    ///
    /// Its roots stay roots, and are up to date afterwards. `call` cannot touch the heap, as the mutator is borrowed, nor set roots, as those
    /// cannot be sent: a collection may be reading and writing them. (Hence `Send`, although it runs on this thread.) When it ends
    /// (or unwinds) while the world is stopped, the thread waits until that is over. A thread that waits for another
    /// one of the same heap, by a lock, a channel or a join, must do so in here: the other might be stopped by a collection that waits for this one.
    pub fn blocking<R>(&mut self, call: impl FnOnce() -> R + Send) -> R {
        struct Back<'a, C: Collector>(&'a World<C>, Stay<'a, C::Alloc>);
        impl<C: Collector> Drop for Back<'_, C> {
            fn drop(&mut self) {
                self.0.come_back(self.1);
            }
        }
        let (world, stay) = self.stay();
        world.go_out(stay);
        let _back = Back(world, stay);
        call()
    }

    /// Runs `work` with the world; unwinds with the heap's own payload if it is exhausted.
    fn slow<R>(&mut self, work: impl FnOnce(&World<C>, Stay<'_, C::Alloc>) -> Result<R, Exhausted>) -> R {
        let (world, stay) = self.stay();
        match work(world, stay) {
            Ok(result) => result,
            Err(exhausted) => exhausted.unwind(world),
        }
    }

    fn stay(&mut self) -> (&World<C>, Stay<'_, C::Alloc>) {
        // SAFETY: `begin`'s caller vouches for it.
        let member = unsafe { &*self.view.member };
        let capability = &self.view.capability;
        (self.view.world(), Stay { capability, member })
    }
}

impl<'h, C: Collector> NoGc<'h, C> {
    #[inline(always)]
    pub(crate) fn capability(&self) -> &Capability<C::Alloc> {
        &self.capability
    }

    /// A closure is being allocated at `at`.
    #[inline(always)]
    pub(crate) fn born(&self, at: Addr) {
        if let (true, Some(side_words)) = (C::PROFILED, &self.side_words) {
            side_words.born(at, self.cost_centres.get());
        }
    }

    /// A field of a closure is read or written.
    #[inline(always)]
    pub(crate) fn used(&self, closure: ClosureRef) {
        if let (true, Some(side_words)) = (C::PROFILED, &self.side_words) {
            side_words.used(closure);
        }
    }

    fn world(&self) -> &World<C> {
        // SAFETY: `new`'s caller vouches for it.
        unsafe { &*self.world }
    }
}
