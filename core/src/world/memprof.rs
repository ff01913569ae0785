//! Memprof: the sampled closures of a heap, and the tracker that follows them.
//!
//! An allocator says which closures have sampled words ([`crate::collector::Sampling`]). From then
//! on a table beside the heap's roots watches each of them ([`crate::roots::watch`]). Their events
//! are queued until a mutator calls the tracker, at the points where finalisers may run.

use crate::block::StateView;
use crate::roots::watch::Watch;
use crate::sampled::{MemprofError, SampleEvent, Sampled, Track};
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
    /// The number of the first closure that the current tracker follows.
    first: u64,
}

impl Memprof {
    /// Follows a closure from now on.
    pub(super) fn follow(&self, watch: &Watch, sampled: Sampled) {
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

    /// Calls the tracker with the pending events, on one thread at a time.
    pub(super) fn call_tracker(&self) {
        let mut tracker = self.tracker.lock();
        if let Some(tracker) = &mut *tracker {
            while let Some(event) = self.next() {
                tracker.event(event);
            }
        }
    }

    /// Whether events wait for the tracker.
    pub(super) fn is_due(&self) -> bool {
        self.is_due.load(Relaxed)
    }

    /// Makes `new` the tracker from now on, or none. Returns the previous one.
    ///
    /// # Errors
    /// If there already is a tracker, or none to remove.
    pub(super) fn replace(&self, new: Option<Box<dyn Track>>) -> Result<Option<Box<dyn Track>>, MemprofError> {
        let mut tracker = self.tracker.lock();
        match (&new, &*tracker) {
            (Some(_), Some(_)) => return Err(MemprofError::Started),
            (None, None) => return Err(MemprofError::NotStarted),
            _ => {}
        }
        let mut queue = self.queue.lock();
        queue.is_on = new.is_some();
        queue.events.clear();
        queue.first = queue.numbers + 1;
        self.is_due.store(false, Relaxed);
        Ok(std::mem::replace(&mut *tracker, new))
    }
}
