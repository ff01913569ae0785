//! Memprof: the sampled closures of a heap, and the tracker that follows them.
//!
//! An allocator says which closures have sampled words ([`crate::collector::Sampling`]). From then
//! on a table beside the heap's roots watches each of them ([`crate::roots::watch`]). What happens to
//! them waits in a queue until a mutator calls the tracker, where finalisers may run, too.

use super::collection::{WorldAtRest, capabilities};
use super::state::World;
use crate::block::StateView;
use crate::collector::{Alloc, Sampling};
use crate::kind::MutatorKind;
use crate::mutator::{MemprofError, Track};
use crate::roots::watch::Watch;
use crate::sampled::{SampleEvent, Sampled};
use crate::session::Session;
use crate::sync::{AtomicBool, Mutex, Ordering::Relaxed};
use crate::words::Bytes;
use std::collections::VecDeque;

/// The sampled closures of a world.
#[derive(Default)]
pub(super) struct Memprof {
    /// While sampling is on.
    tracker: Mutex<Option<Box<dyn Track>>>,
    queue: Mutex<Queue>,
    /// There are events for the tracker.
    is_due: AtomicBool,
}

#[derive(Default)]
struct Queue {
    is_on: bool,
    events: VecDeque<SampleEvent>,
    /// Sampled closures so far.
    numbers: u64,
    /// The number of the first that the present tracker follows.
    first: u64,
}

impl Memprof {
    /// Follows a closure from now on.
    fn follow(&self, watch: &Watch, sampled: Sampled) {
        let mut queue = self.queue.lock();
        if !queue.is_on {
            return;
        }
        queue.numbers += 1;
        let number = queue.numbers;
        watch.register(sampled.closure, number, Bytes::ZERO);
        queue.events.push_back(SampleEvent::Allocated(number, sampled));
        self.is_due.store(true, Relaxed);
    }

    /// After a collection: notes which closures died, and which are in an old generation now.
    pub(super) fn collected(&self, watch: &Watch, states: StateView) {
        let mut queue = self.queue.lock();
        while let Some(number) = watch.take_dead() {
            if number >= queue.first && !mutant!("memprof/death-not-told") {
                queue.events.push_back(SampleEvent::Died(number));
            }
        }
        watch.for_each_new(|at, number, _| {
            let is_new = states.of(at).generation() == 0;
            if !is_new && number >= queue.first {
                queue.events.push_back(SampleEvent::Promoted(number));
            }
            is_new
        });
        self.is_due.store(!queue.events.is_empty(), Relaxed);
    }

    fn next(&self) -> Option<SampleEvent> {
        let mut queue = self.queue.lock();
        let event = queue.events.pop_front();
        self.is_due.store(!queue.events.is_empty(), Relaxed);
        event
    }

    /// Calls the tracker with the events that wait. One thread at a time does.
    fn call_tracker(&self) {
        let mut tracker = self.tracker.lock();
        if let Some(tracker) = &mut *tracker {
            while let Some(event) = self.next() {
                tracker.event(event);
            }
        }
    }
}

impl<M: MutatorKind> World<M> {
    /// Whether events wait for the tracker.
    pub(super) fn memprof_is_due(&self) -> bool {
        self.memprof.is_due.load(Relaxed)
    }

    pub(super) fn call_memprof_tracker(&self) {
        self.memprof.call_tracker();
    }

    /// Follows a sampled closure.
    pub(super) fn follow_sampled(&self, sampled: Sampled) {
        self.memprof.follow(self.handles.sampled(), sampled);
    }

    /// Samples from now on, on all capabilities; with `None` no longer.
    ///
    /// # Errors
    /// If it did so already.
    pub(super) fn set_memprof(
        &self,
        session: Session<'_, M::Alloc>,
        start: Option<(f64, Box<dyn Track>)>,
    ) -> Result<(), MemprofError> {
        let mut state = self.lock(session);
        let mut stop = self.stop(&mut state, Some(session), None);
        let mut tracker = self.memprof.tracker.lock();
        let error = match (&start, &*tracker) {
            (Some(_), Some(_)) => Some(MemprofError::Started),
            (None, None) => Some(MemprofError::NotStarted),
            _ => None,
        };
        let old = match error {
            Some(_) => None,
            None => {
                let (rate, new) = start.unzip();
                let mut queue = self.memprof.queue.lock();
                queue.is_on = new.is_some();
                queue.events.clear();
                queue.first = queue.numbers + 1;
                self.memprof.is_due.store(false, Relaxed);
                stop.world().sample(rate);
                std::mem::replace(&mut *tracker, new)
            }
        };
        drop(tracker);
        drop(stop);
        drop(state);
        // Without the locks: its code is the program's own.
        drop(old);
        error.map_or(Ok(()), Err)
    }
}

impl<M: MutatorKind> WorldAtRest<'_, M> {
    /// Has all allocators sample words at this rate.
    fn sample(&mut self, rate: Option<f64>) {
        // SAFETY: `new`'s caller promises that they are inside and stopped.
        for capability in unsafe { capabilities(self.participants, &self.state.idle) } {
            let seed = SEED + capability.number() as u64;
            capability.alloc().sample(rate.map(|rate| Sampling { rate, seed }));
            capability.take_sampled();
        }
    }

    /// A collection begins: follows the sampled closures that mutators have allocated since they
    /// were last in a slow path.
    pub(super) fn follow_sampled(&mut self, world: &World<M>) {
        // SAFETY: as for `sample`.
        for capability in unsafe { capabilities(self.participants, &self.state.idle) } {
            if let Some(sampled) = capability.take_sampled() {
                world.follow_sampled(sampled);
            }
        }
    }
}

/// The seed of the first capability's random numbers, so that runs can be repeated.
const SEED: u64 = 42;
