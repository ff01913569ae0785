//! The mutator: how programs allocate, read and write the heap.
//!
//! The API is safe by types. [`Gc`] lives as long as the mutator cannot collect (`'m`); a method
//! that may collect takes `&mut Mutator`, so holding a pointer across an allocation does not
//! compile. `'h` brands one session in one heap: pointers of one heap cannot go into another. A
//! pointer that must survive an allocation goes into a [frame](Mutator::frame) or a [`Handle`].
//! `tests/ui` shows misuses that do not compile.
//!
//! A shared borrow of a mutator derefs to [`NoGc`], the view that can read and store but cannot
//! collect. Field reads and stores take that view, so that the mutator's [kind](MutatorKind) can
//! add code to them (a biographical profile, a read barrier). A kind without such code reads with
//! one load.

mod alloc;
mod array;
mod brand;
mod bytes;
mod ephemeron;
mod field;
mod finaliser;
mod foreign;
mod frame;
mod gc;
mod handle;
mod memprof;
mod record;
mod var;
mod weak_set;

pub use crate::cause::Request;
pub use crate::kind::MutatorKind;
pub use crate::sampled::MemprofError;
pub use alloc::Init;
pub use array::MutArray;
pub use bytes::{ByteArray, MutByteArray, MutWordArray};
pub use ephemeron::Ephemeron;
pub use finaliser::Alarm;
pub use foreign::Foreign;
pub use frame::{FrameSlot, OptionRoot, Root};
pub use gc::{Any, Distinct, Gc};
pub use handle::{Handle, WeakHandle};
pub use memprof::{Allocation, Tracker};
pub use record::Record;
pub use var::MutVar;
pub use weak_set::WeakSet;

use crate::capability::{Capability, CapabilityData};
use crate::capability_events::CapabilityEventKind;
use crate::closure::{ClosureRef, TypeInfo};
use crate::collector::Description;
use crate::profile::{Charges, SideWords, StackId};
use crate::session::{Participant, Session, ThreadState};
use crate::stats::{NotEnabled, RtsStats};
use crate::sync::{Arc, Ordering::Relaxed};
use crate::words::{Addr, Words};
use crate::world::World;
use brand::Brand;
use std::cell::Cell;
use std::marker::{PhantomData, PhantomPinned};

/// A thread's session in heap `'h`: it allocates and may collect.
pub struct Mutator<'h, M: MutatorKind> {
    view: NoGc<'h, M>,
}

/// A shared borrow of a mutator derefs to this view: it can read and store, but not collect.
#[repr(C)]
pub struct NoGc<'h, M: MutatorKind> {
    capability: CapabilityData<M::Alloc>,
    /// The world. It and `participant` are valid as long as the mutator:
    /// [`crate::world::World::enter`] has both.
    world: *const World<M>,
    /// This session as other threads see it.
    participant: *const Participant<M::Alloc>,
    /// Present if the heap's mutators are observed ([`MutatorKind::OBSERVED`]).
    side_words: Option<Arc<SideWords>>,
    /// The stack of cost centres that were entered.
    cost_centres: Cell<StackId>,
    /// The words allocated, by stack, if a time profile asks for them.
    charges: Option<Charges>,
    _brand: Brand<'h>,
    _not_send: PhantomData<*const ()>,
    /// A closing frame writes to the mutator through a pointer older than the body's `&mut
    /// Mutator`. This field makes the type `!Unpin`, so the compiler does not assume that the
    /// `&mut` is the only access. It costs no instruction: the fields that change are cells. Miri
    /// checks it.
    _aliased: PhantomPinned,
}

impl<M: MutatorKind> std::fmt::Debug for Mutator<'_, M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Mutator({})", self.capability().number())
    }
}

impl<M: MutatorKind> std::fmt::Debug for NoGc<'_, M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "NoGc({})", self.capability().number())
    }
}

impl<'h, M: MutatorKind> std::ops::Deref for Mutator<'h, M> {
    type Target = NoGc<'h, M>;
    #[inline(always)]
    fn deref(&self) -> &NoGc<'h, M> {
        &self.view
    }
}

impl<'h, M: MutatorKind> Mutator<'h, M> {
    /// A session in the world in `world`. `charged`: its allocation is counted by stack of
    /// cost centres.
    ///
    /// # Safety
    /// `world` is valid until the mutator is dropped.
    pub(crate) unsafe fn new(
        capability: CapabilityData<M::Alloc>,
        world: *const World<M>,
        side_words: Option<&Arc<SideWords>>,
        charged: bool,
    ) -> Self {
        Mutator {
            view: NoGc {
                capability,
                world,
                participant: std::ptr::null(),
                side_words: side_words.cloned(),
                cost_centres: Cell::new(StackId::MAIN),
                charges: charged.then(Charges::default),
                _brand: PhantomData,
                _not_send: PhantomData,
                _aliased: PhantomPinned,
            },
        }
    }

    /// The session behind `this` begins: other threads see it as `participant`.
    ///
    /// # Safety
    /// `this` is valid, and `participant` is for as long.
    pub(crate) unsafe fn begin(this: *mut Self, participant: *const Participant<M::Alloc>) {
        // SAFETY: the caller promises that `this` is valid.
        unsafe { (*this).view.participant = participant };
    }

    /// The address of the capability of the mutator behind `this`.
    ///
    /// # Safety
    /// `this` points to a mutator.
    pub(crate) unsafe fn capability_of(this: *mut Self) -> *const CapabilityData<M::Alloc> {
        // SAFETY: no reference is made, so that the address may be used as long as `this` may.
        unsafe { &raw const (*this).view.capability }
    }

    /// Ends the session and returns the capability. No frame is open.
    pub(crate) fn into_capability(mut self) -> CapabilityData<M::Alloc> {
        if let (Some(side_words), Some(charges)) = (&self.view.side_words, self.view.charges.take()) {
            side_words.charge(charges);
        }
        debug_assert!(
            self.view.capability.common.frames.get().is_null(),
            "frames close when their scope ends"
        );
        self.view.capability
    }

    /// Collects now, as `request` says.
    pub fn collect(&mut self, request: Request) {
        let (world, session) = self.session();
        world.collect(session, request);
        self.run_finalisers();
    }

    /// Stops the world and shows `message` to the collector, which may answer in it, or change a
    /// setting. Nothing is collected, and pointers stay as they are. Returns whether the collector
    /// understands the message.
    pub fn ask_collector(&mut self, message: &mut dyn std::any::Any) -> bool {
        let (world, session) = self.session();
        world.ask_collector(session, message)
    }

    /// Announces to listeners that a part of the program begins here: a heap profile has a mark and
    /// a census there, an event log a marker. If a listener looks at the heap, all threads of the
    /// heap stop for it; nothing is collected, and pointers stay as they are.
    pub fn phase_marker(&mut self, name: &str) {
        self.say(|| CapabilityEventKind::Marker(name.to_owned()));
        let (world, session) = self.session();
        if session.capability.common.events.looks_at_markers() {
            world.marker(session, name);
        }
    }

    /// Writes a message to the event log of the run, if there is one (GHC's `traceEvent`). No other
    /// thread stops for it; it may be a safepoint for this one.
    pub fn message(&mut self, text: &str) {
        self.say(|| CapabilityEventKind::Message(text.to_owned()));
    }

    /// Pauses or resumes the event log of the run, if there is one. Pausing writes out everything
    /// so far; events during the pause are not logged.
    pub fn pause_events(&mut self, is_paused: bool) {
        let (world, session) = self.session();
        world.pause_events(session, is_paused);
    }

    /// Records an event of the program.
    fn say(&mut self, event: impl FnOnce() -> CapabilityEventKind) {
        let (world, session) = self.session();
        let events = &session.capability.common.events;
        events.record_message(event);
        if events.are_many() {
            world.pass_on_events(session);
        }
    }

    /// Runs `program` as the measured phase of the run, see [`crate::world::World::measure`]. All
    /// threads of the heap stop where it begins and where it ends; nothing is collected then.
    #[inline]
    pub fn measure<R>(&mut self, program: impl FnOnce(&mut Self) -> R) -> R {
        let (world, session) = self.session();
        world.measure_start(session);
        let result = program(self);
        let (world, session) = self.session();
        world.measure_end(session);
        result
    }

    /// The statistics of the run up to now: GHC's `getRTSStats`. It takes the world's lock.
    ///
    /// # Errors
    /// If they are not enabled (`-T`, `World::enable_rts_stats`).
    pub fn rts_stats(&mut self) -> Result<RtsStats, NotEnabled> {
        let (world, session) = self.session();
        world.rts_stats_inside(session)
    }

    /// Lets a collection proceed that another thread is waiting for. Allocation does so by itself;
    /// this is for long loops that do not allocate.
    ///
    /// It costs a load and a branch.
    #[inline(always)]
    pub fn safepoint(&mut self) {
        if self.view.capability.common.stop.load(Relaxed) {
            self.safepoint_slow();
        }
    }

    #[cold]
    #[inline(never)]
    fn safepoint_slow(&mut self) {
        let (world, session) = self.session();
        world.safepoint(session);
        self.run_finalisers();
    }

    /// Runs `call`, which may take long or wait for other threads; collections do not wait for this
    /// thread meanwhile.
    ///
    /// The thread's roots stay roots, and are up to date afterwards. `call` can use neither the
    /// heap nor the roots, which a collection may be reading and writing: that would take a view of
    /// the mutator, or a pointer from one, and the mutator is borrowed exclusively. (So `call` need
    /// not be `Send`: it runs on this thread, and may own any value.) When it ends (or unwinds)
    /// while the world is stopped, the thread waits until that is over. A thread that waits for
    /// another thread of the same heap, by a lock, a channel or a join, must do so in here: the
    /// other might be stopped by a collection that waits for this one.
    pub fn blocking<R>(&mut self, call: impl FnOnce() -> R) -> R {
        struct Leave<'a, M: MutatorKind>(&'a World<M>, Session<'a, M::Alloc>);
        impl<M: MutatorKind> Drop for Leave<'_, M> {
            fn drop(&mut self) {
                self.0.leave_blocking(self.1);
            }
        }
        let (world, session) = self.session();
        world.enter_blocking(session);
        let _leave = Leave(world, session);
        call()
    }

    /// The world, and this session as it knows it.
    fn session(&mut self) -> (&World<M>, Session<'_, M::Alloc>) {
        // SAFETY: `begin`'s caller promises that it is valid.
        let participant = unsafe { &*self.view.participant };
        let capability = &self.view.capability;
        (
            self.view.world(),
            Session {
                capability,
                participant,
            },
        )
    }
}

impl<'h, M: MutatorKind> NoGc<'h, M> {
    /// The description of the heap's collector.
    pub fn collector(&self) -> &'static Description {
        self.world().collector()
    }

    #[inline(always)]
    pub(crate) fn capability(&self) -> Capability<'_, M::Alloc> {
        self.capability.view()
    }

    /// In a debug build, checks that this thread is running: if it were stopped or in
    /// [`Mutator::blocking`], a view would let it touch roots during a collection.
    #[inline(always)]
    pub(crate) fn expect_running(&self) {
        // SAFETY: `begin`'s caller promises that the participant is valid.
        debug_assert_eq!(unsafe { &*self.participant }.state(), ThreadState::Running);
    }

    /// A closure of `words` words is being allocated at `at`.
    #[inline(always)]
    pub(crate) fn born(&self, at: Addr, words: Words, info: &'static TypeInfo) {
        if let (true, Some(side_words)) = (M::OBSERVED, &self.side_words) {
            side_words.born(at, words, info, self.cost_centres.get());
            if let Some(charges) = &self.charges {
                charges.charge(self.cost_centres.get(), words.0 as u64);
            }
        }
    }

    /// A field of a closure is read or written.
    ///
    /// # Safety
    /// `closure` is a closure with its header. (No collection can run during the call: it borrows
    /// the mutator.)
    #[inline(always)]
    pub(crate) unsafe fn used(&self, closure: ClosureRef) {
        if let (true, Some(side_words)) = (M::OBSERVED, &self.side_words) {
            // SAFETY: the caller's promise.
            unsafe { side_words.used(closure) };
        }
    }

    fn world(&self) -> &World<M> {
        // SAFETY: `new`'s caller promises that it is valid.
        unsafe { &*self.world }
    }
}
