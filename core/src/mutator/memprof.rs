//! Memprof: a program watches a sample of its closures (OCaml's `Gc.Memprof`).
//!
//! Each word that is allocated is *sampled* with the same probability. A closure with sampled words
//! is followed: the program's [`Tracker`] hears of its allocation, its promotion and its death. A
//! closure with several sampled words counts once for each. So sums over the samples, divided by
//! the rate, are unbiased estimates of sums over all allocation.
//!
//! Allocation up to the next sampled word costs nothing. The tracker is called where finalisers run
//! ([`super::finaliser`]): never inside a collection, in an initialiser or in
//! [`Mutator::blocking`].

use super::{Mutator, NoGc};
use crate::alloc::Alloc;
use crate::kind::MutatorKind;
use crate::profile::{CostCentre, Stacks};
use crate::sampled::{MemprofError, SampleEvent, Sampled, Track};
use crate::sync::{Arc, Mutex};
use crate::words::{Addr, Words};
use std::collections::HashMap;

/// A closure with sampled words, when it is allocated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allocation {
    /// Number of its sampled words, at least 1.
    pub n_samples: u32,
    /// Its words, without the header.
    pub size: Words,
    /// The cost centres in which it was allocated, innermost first, as many as were asked for.
    pub callstack: Vec<CostCentre>,
}

/// The functions that follow sampled closures. The program keeps a value for each closure, of one
/// type while it is young and another once it is old. A function that returns `None` stops
/// following the closure.
pub trait Tracker: Send + 'static {
    /// The value kept for a young closure.
    type Minor: Send;
    /// The value kept for an old closure.
    type Major: Send;

    /// A closure was allocated in the youngest generation.
    fn alloc_minor(&mut self, allocation: &Allocation) -> Option<Self::Minor>;
    /// A large object was allocated, outside the nursery.
    fn alloc_major(&mut self, allocation: &Allocation) -> Option<Self::Major>;
    /// A young closure is in an older generation now.
    fn promote(&mut self, value: Self::Minor) -> Option<Self::Major>;
    /// A young closure has died.
    fn dealloc_minor(&mut self, value: Self::Minor);
    /// An old closure has died.
    fn dealloc_major(&mut self, value: Self::Major);
}

struct Tracking<T: Tracker> {
    tracker: T,
    minor: HashMap<u64, T::Minor>,
    major: HashMap<u64, T::Major>,
    stacks: Arc<Mutex<Stacks>>,
    callstack_size: usize,
}

impl<T: Tracker> Tracking<T> {
    fn allocation(&self, sampled: Sampled) -> Allocation {
        let mut callstack = self.stacks.lock().centres(sampled.stack);
        callstack.truncate(self.callstack_size);
        Allocation {
            n_samples: sampled.samples,
            size: sampled.words - Words(1),
            callstack,
        }
    }
}

impl<T: Tracker> Track for Tracking<T> {
    fn event(&mut self, event: SampleEvent) {
        match event {
            SampleEvent::Allocated(number, sampled) if sampled.is_large => {
                let value = self.tracker.alloc_major(&self.allocation(sampled));
                self.major.extend(value.map(|value| (number, value)));
            }
            SampleEvent::Allocated(number, sampled) => {
                let value = self.tracker.alloc_minor(&self.allocation(sampled));
                self.minor.extend(value.map(|value| (number, value)));
            }
            SampleEvent::Promoted(number) => {
                let value = self.minor.remove(&number);
                let value = value.and_then(|value| self.tracker.promote(value));
                self.major.extend(value.map(|value| (number, value)));
            }
            SampleEvent::Died(number) => {
                if let Some(value) = self.minor.remove(&number) {
                    self.tracker.dealloc_minor(value);
                } else if let Some(value) = self.major.remove(&number) {
                    self.tracker.dealloc_major(value);
                }
            }
        }
    }
}

impl<'h, M: MutatorKind> Mutator<'h, M> {
    /// From now on samples each word that any thread of the heap allocates with probability
    /// `sampling_rate`, and has `tracker` follow the closures. A program with one thread has the
    /// same samples in every run.
    ///
    /// # Errors
    /// If sampling is already on, or the rate is not from 0 to 1.
    pub fn start_memprof<T: Tracker>(
        &mut self,
        sampling_rate: f64,
        callstack_size: usize,
        tracker: T,
    ) -> Result<(), MemprofError> {
        if !(0.0..=1.0).contains(&sampling_rate) {
            return Err(MemprofError::Rate(sampling_rate));
        }
        let tracking = Tracking {
            tracker,
            minor: HashMap::new(),
            major: HashMap::new(),
            stacks: Arc::clone(&self.view.world().stacks),
            callstack_size,
        };
        let (world, session) = self.session();
        world.set_memprof(session, Some((sampling_rate, Box::new(tracking))))
    }

    /// Stops sampling. The tracker is called for everything noted so far and then dropped; its
    /// closures are no longer followed. The last sampled closure of another thread is noted at that
    /// thread's next allocation, or by the next collection.
    ///
    /// # Errors
    /// If sampling is off.
    pub fn stop_memprof(&mut self) -> Result<(), MemprofError> {
        self.follow_sampled();
        self.attend();
        let (world, session) = self.session();
        world.set_memprof(session, None)
    }

    /// Drops the values of dead foreign closures, and calls the memprof tracker if it has pending
    /// events. Part of each slow path in which finalisers may run.
    pub(super) fn attend(&self) {
        let world = self.view.world();
        if world.handles().foreign().any_dead() {
            world.drop_foreign();
        }
        if world.memprof_is_due() {
            world.call_memprof_tracker();
        }
    }
}

impl<M: MutatorKind> NoGc<'_, M> {
    /// Follows the sampled closure that was reserved last. Called before anything else is reserved.
    #[inline(always)]
    pub(super) fn follow_sampled(&self) {
        if self.capability.common.sampled.get().is_some() {
            self.follow_sampled_slow();
        }
    }

    #[cold]
    #[inline(never)]
    fn follow_sampled_slow(&self) {
        if let Some(sampled) = self.capability().take_sampled() {
            self.world().follow_sampled(sampled);
        }
    }

    /// Called when a slow path has reserved room for a closure of `words` words at `at`: notes
    /// whether it has sampled words, of which `more` were drawn earlier.
    #[inline(always)]
    pub(super) fn note_sampled(&self, at: Addr, words: Words, more: u32) {
        let samples = self.capability.alloc.take_samples() + more;
        let samples = samples.min(words.0 as u32);
        if samples > 0 {
            let sampled = self.sampled(at, words, samples, false);
            self.capability.common.sampled.set(Some(sampled));
        }
    }

    /// A large object of `words` words was allocated at `at`: follows it if it has sampled words.
    pub(super) fn note_large(&self, at: Addr, words: Words) {
        let samples = self.capability.alloc.sample_large(words);
        if samples > 0 {
            self.world().follow_sampled(self.sampled(at, words, samples, true));
        }
    }

    fn sampled(&self, at: Addr, words: Words, samples: u32, is_large: bool) -> Sampled {
        Sampled {
            closure: at.0 as u64,
            words,
            samples,
            stack: self.cost_centres.get(),
            is_large,
        }
    }
}
