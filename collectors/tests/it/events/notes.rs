//! Listeners: one records all events, one looks at the heap, and one is slow.

use gclab_core::collector::{Collector, KindOf};
use gclab_core::config::Config;
use gclab_core::events::{CapabilityEvent, Event, EventKind, Follows, GcThreadState, Kept, Listener, Look, Occasion};
use gclab_core::stats::{Collection, Statistics};
use gclab_core::world::World;
use std::sync::{Arc, Mutex};

/// The events that a listener received.
#[derive(Default)]
pub(super) struct Seen {
    /// For each collection: start and end, as announced; whether a major one was due; the bytes
    /// that each capability had allocated.
    pub(super) starts: Vec<(u64, Option<bool>, Vec<u64>)>,
    pub(super) ends: Vec<(u64, Collection)>,
    pub(super) turns: Vec<(Option<usize>, u64, GcThreadState)>,
    /// When memory was returned, and how much was kept.
    pub(super) kept: Vec<(u64, Kept)>,
    pub(super) phases: u64,
    /// Starts (`true`) and ends of looks, with their times.
    pub(super) looks: Vec<(Look, bool, u64)>,
    pub(super) markers: u64,
    pub(super) end: Option<(Statistics, Vec<u64>)>,
    /// Events by capability.
    pub(super) caps: Vec<Vec<CapabilityEvent>>,
}

/// Records all events. `.1`: whether it looks at the heap; `.2`: the events that it asks for.
#[derive(Clone)]
pub(super) struct Notes(pub(super) Arc<Mutex<Seen>>, pub(super) bool, pub(super) Follows);

impl Listener for Notes {
    fn look(&self, _: Occasion) -> Option<Look> {
        self.1.then_some(Look::Inspect)
    }
    fn follows(&self) -> Follows {
        self.2
    }
    fn capability(&mut self, number: usize, events: &[CapabilityEvent]) {
        let caps = &mut self.0.lock().expect("sound").caps;
        caps.resize(caps.len().max(number + 1), Vec::new());
        caps[number].extend_from_slice(events);
    }
    fn event(&mut self, event: &Event<'_>) {
        let seen = &mut *self.0.lock().expect("sound");
        match event.kind {
            EventKind::Start {
                due,
                requested_ns,
                allocated,
                ..
            } => {
                assert!(requested_ns <= event.time_ns && event.capability.is_some());
                let due = due.map(|due| due.major);
                seen.starts.push((event.time_ns, due, allocated.to_vec()));
            }
            EventKind::Phase(_) => {
                let start = seen.starts.last().expect("a collection").0;
                assert!(event.time_ns >= start);
                seen.phases += 1;
            }
            EventKind::GcThread { state, .. } => seen.turns.push((event.capability, event.time_ns, state)),
            EventKind::Returned(kept) => seen.kept.push((event.time_ns, kept)),
            EventKind::Recorded { collection, .. } => seen.ends.push((event.time_ns, collection.clone())),
            EventKind::End { .. } => assert!(self.1),
            EventKind::Marker { .. } => seen.markers += 1,
            EventKind::LookStart(look) => seen.looks.push((look, true, event.time_ns)),
            EventKind::LookEnd(look) => seen.looks.push((look, false, event.time_ns)),
            EventKind::RunEnd { statistics, allocated } => seen.end = Some((statistics.clone(), allocated.to_vec())),
            _ => {}
        }
    }
}

/// Looks at the heap on one occasion, for one purpose.
pub(super) struct At(pub(super) Occasion, pub(super) Look);

impl Listener for At {
    fn look(&self, occasion: Occasion) -> Option<Look> {
        (occasion == self.0).then_some(self.1)
    }
    fn event(&mut self, event: &Event<'_>) {
        match event.kind {
            EventKind::End { .. } => assert_eq!(self.0, Occasion::Collection),
            EventKind::Marker { .. } => assert_eq!(self.0, Occasion::Marker),
            _ => {}
        }
    }
}

impl Seen {
    /// The purposes of looks that start (`true`) and end.
    pub(super) fn purposes(&self) -> Vec<(Look, bool)> {
        self.looks.iter().map(|(look, begins, _)| (*look, *begins)).collect()
    }
}

/// The start and the end of a look.
pub(super) fn pair(look: Look) -> [(Look, bool); 2] {
    [(look, true), (look, false)]
}

pub(super) fn noted<C: Collector>(config: &Config, looks: bool, follows: Follows) -> (World<KindOf<C>>, Notes) {
    let notes = Notes(Arc::default(), looks, follows);
    let mut world = World::new::<C>(config).expect("a small heap");
    world.listen(Box::new(notes.clone()));
    (world, notes)
}

/// Uses CPU time when the first look starts.
pub(super) struct Slow(pub(super) bool);

impl Listener for Slow {
    fn event(&mut self, event: &Event<'_>) {
        if matches!(event.kind, EventKind::LookStart(_)) && !std::mem::replace(&mut self.0, true) {
            for turn in 0..10_000_000 {
                std::hint::black_box(turn);
            }
        }
    }
}
