//! A capability: one mutator thread's part of the heap (GHC's `Capability`).
//!
//! [`CapabilityData`] lies in the mutator. Collectors and barriers see it as a [`Capability`],
//! which shows the allocator as their own type, even where the mutator holds it behind a pointer
//! ([`crate::collector::Observed`]).

use crate::alloc::Alloc;
use crate::block::{BlockState, StateView};
use crate::capability_events::CapabilityEvents;
use crate::closure::Slot;
use crate::field_log::{FieldLog, LOGGING, LogTables};
use crate::overwritten::{NoteQueue, Overwritten};
use crate::remembered::RememberedSet;
use crate::roots::frames::FrameHeader;
use crate::sampled::Sampled;
use crate::sync::{Arc, AtomicBool, Ordering::Relaxed};
use crate::words::{Addr, Bytes};
use std::cell::Cell;

/// A mutator thread's allocator, frames and remembered set.
///
/// Its thread writes it; collections do so while that thread is stopped. Fields that change are
/// cells, so that a collection needs no exclusive borrow of memory that the stopped thread has
/// borrowed.
///
/// Fields that hot paths use come first (`repr(C)`), where their offsets are short.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct CapabilityData<A> {
    pub(crate) alloc: A,
    pub(crate) common: Common,
}

/// The part of a capability that is independent of the allocator.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Common {
    /// The innermost open frame.
    pub(crate) frames: Cell<*const FrameHeader>,
    /// The collector's word for its barrier.
    barrier_word: Cell<u64>,
    states: StateView,
    pub(crate) remembered: RememberedSet,
    /// Another thread wants the mutator to stop. Set by that thread, read by the mutator's own
    /// without ordering; the world's lock orders the rest.
    pub(crate) stop: AtomicBool,
    /// Its number, from 0.
    number: usize,
    /// Whether a thread is inside by it.
    pub(crate) has_thread: Cell<bool>,
    overwritten: Overwritten,
    field_log: FieldLog,
    /// Allocations left until the next collection, when stressed
    /// ([`crate::config::Config::stress`]).
    pub(crate) until_stress: Cell<u64>,
    /// Bytes allocated on it since the world started, including large objects, as far as they have
    /// been counted.
    pub(crate) allocated: Cell<u64>,
    /// The closure that was reserved last, if it has sampled words.
    pub(crate) sampled: Cell<Option<Sampled>>,
    /// The events of its threads.
    pub(crate) events: CapabilityEvents,
}

impl Common {
    /// Counts bytes as allocated on this capability.
    pub(crate) fn count(&self, bytes: Bytes) {
        self.allocated.set(self.allocated.get() + bytes.0 as u64);
    }
}

impl<A> CapabilityData<A> {
    /// Capability `number`. `until_stress`: allocations before the first collection, when stressed.
    pub(crate) fn new(
        number: usize,
        alloc: A,
        states: StateView,
        remembered: RememberedSet,
        queue: Arc<NoteQueue>,
        until_stress: u64,
    ) -> Self {
        let overwritten = Overwritten::beside(&remembered, queue);
        let field_log = FieldLog::beside(&remembered);
        CapabilityData {
            alloc,
            common: Common {
                frames: Cell::new(std::ptr::null()),
                barrier_word: Cell::new(0),
                states,
                remembered,
                stop: AtomicBool::new(false),
                number,
                has_thread: Cell::new(false),
                overwritten,
                field_log,
                until_stress: Cell::new(until_stress),
                allocated: Cell::new(0),
                sampled: Cell::new(None),
                events: CapabilityEvents::default(),
            },
        }
    }

    /// The capability as its collector sees it.
    #[inline(always)]
    pub(crate) fn view(&self) -> Capability<'_, A> {
        Capability {
            alloc: &self.alloc,
            common: &self.common,
        }
    }
}

impl<A: Alloc> CapabilityData<A> {
    /// Called by another thread that wants the mutator to stop: allocation fails from now on, and
    /// [`crate::mutator::Mutator::safepoint`] takes its slow path, until
    /// [`CapabilityData::resume`].
    ///
    /// # Safety
    /// `this` is valid for the call. Its own thread may be using it: this touches nothing but
    /// atomics.
    pub(crate) unsafe fn interrupt(this: *const Self) {
        // SAFETY: the caller promises that `this` is valid; everything else that changes in it is
        // in cells, which these two do not touch (the implementer of `Alloc::interrupt` promises
        // that).
        unsafe {
            let stop = !mutant!("threads/interrupt-not-seen");
            (*this).common.stop.store(stop, Relaxed);
            (*this).alloc.interrupt();
        }
    }

    /// Counts the bytes allocated since the last call as this capability's. Returns them.
    pub(crate) fn count_allocated(&self) -> Bytes {
        let bytes = self.alloc.take_allocated();
        self.common.count(bytes);
        bytes
    }

    /// The mutator's thread resumes after a stop.
    pub(crate) fn resume(&self, stressed: bool) {
        self.common.stop.store(false, Relaxed);
        // Under stress every allocation takes the slow path, which makes room for one.
        if !stressed && !mutant!("threads/limit-not-restored") {
            self.alloc.restrict(None);
        }
    }
}

// SAFETY: a capability moves from a thread to the world when the thread's session ends, and to
// another when that one's begins. In between it has no frames, and its other pointers lead into
// memory that it owns (the remembered set) or that belongs to the heap it moves with (the state
// table).
unsafe impl<A: Send> Send for CapabilityData<A> {}

/// A capability as its collector and its barrier see it: allocator, remembered set, number.
#[derive(Debug)]
pub struct Capability<'a, A> {
    alloc: &'a A,
    common: &'a Common,
}

impl<A> Clone for Capability<'_, A> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<A> Copy for Capability<'_, A> {}

impl<'a, A> Capability<'a, A> {
    /// The same capability with its allocator shown as `alloc`.
    #[inline]
    pub(crate) fn with_alloc<B>(self, alloc: &'a B) -> Capability<'a, B> {
        Capability {
            alloc,
            common: self.common,
        }
    }

    /// Its number: from 0, less than `-N`.
    #[inline(always)]
    pub fn number(self) -> usize {
        self.common.number
    }

    /// Whether a thread is inside the heap by it. Valid while the world is stopped.
    pub fn has_thread(self) -> bool {
        self.common.has_thread.get()
    }

    /// The allocator of its mutator.
    #[inline(always)]
    pub fn alloc(self) -> &'a A {
        self.alloc
    }

    /// A word by which the collector controls the barrier of this mutator, for example whether it
    /// is marking. Initially 0. It lies next to words that every mutator uses all the time, so it
    /// is in the cache when the barrier reads it.
    #[inline(always)]
    pub fn barrier_word(self) -> &'a Cell<u64> {
        &self.common.barrier_word
    }

    /// The state of the block that contains `address`; [`BlockState::OUTSIDE`] for null and for
    /// other addresses outside the heap. No branch, one load.
    #[inline(always)]
    pub fn state_of(self, address: Addr) -> BlockState {
        self.common.states.of(address)
    }

    /// The slots that its mutator wrote, and those that collections left here.
    #[inline(always)]
    pub fn remembered(self) -> &'a RememberedSet {
        &self.common.remembered
    }

    /// Remembers that `slot` was written: its referent is a root of collections that do not collect
    /// the slot itself.
    #[inline(always)]
    pub fn remember(self, slot: Slot) {
        self.common.remembered.push(slot);
    }

    /// The values that its mutator overwrote while a snapshot is marked, and those of weak handles
    /// that it opened.
    #[inline(always)]
    pub fn overwritten(self) -> &'a Overwritten {
        &self.common.overwritten
    }

    /// From the end of this pause on its barrier logs fields in these tables.
    pub fn begin_log(self, tables: LogTables) {
        self.field_log().begin(tables);
        let word = self.barrier_word();
        word.set(word.get() | LOGGING);
    }

    /// A pause begins: its barrier gives the tables back. To be called before the slots that it noted are
    /// traced ([`RememberedTracing::remembered`](crate::trace::RememberedTracing::remembered)).
    pub fn end_log(self) {
        self.field_log().end(self.remembered());
    }

    /// The values that its mutator overwrote in this epoch, if its barrier logs fields.
    pub fn field_log(self) -> &'a FieldLog {
        &self.common.field_log
    }

    /// The innermost frame of its mutator.
    pub(crate) fn frames(self) -> *const FrameHeader {
        self.common.frames.get()
    }

    /// Whether anything can be reached from its frames or its remembered slots.
    pub(crate) fn has_roots(self) -> bool {
        !self.frames().is_null() || !self.remembered().is_empty()
    }
}

impl<A: Alloc> Capability<'_, A> {
    /// Takes the sampled closure that was reserved last, unless it has not been committed: its
    /// initialiser panicked.
    pub(crate) fn take_sampled(self) -> Option<Sampled> {
        let sampled = self.common.sampled.take()?;
        let at = Addr(sampled.closure as usize);
        let is_free = self.alloc.is_free(at, sampled.words) && !mutant!("memprof/uncommitted-followed");
        (!is_free).then_some(sampled)
    }
}

/// The capabilities of a stopped world, in the order of their numbers.
#[derive(Debug)]
pub struct Capabilities<'a, A>(&'a [Capability<'a, A>]);

impl<A> Clone for Capabilities<'_, A> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<A> Copy for Capabilities<'_, A> {}

impl<'a, A> Capabilities<'a, A> {
    pub(crate) fn new(all: &'a [Capability<'a, A>]) -> Self {
        Capabilities(all)
    }

    /// Each of them.
    pub fn iter(self) -> impl ExactSizeIterator<Item = Capability<'a, A>> + Clone {
        self.0.iter().copied()
    }

    /// The number of capabilities with threads, or one.
    pub(crate) fn in_use(self) -> usize {
        self.iter().filter(|capability| capability.has_thread()).count().max(1)
    }

    /// The number of capabilities that have their own roots or remembered slots.
    pub fn owners(self) -> usize {
        self.iter().filter(|capability| capability.has_roots()).count()
    }
}
