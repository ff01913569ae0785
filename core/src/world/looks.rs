//! Looks at the stopped heap, by tools and by listeners. A listener looks at the end of a
//! collection, or at a marker.
//!
//! Each look has a start, an end and a purpose. Statistics and events use the same clock readings,
//! so that an event log and `-s` agree.

use super::collection::{WorldAtRest, capabilities};
use crate::block::{Region, Units};
use crate::capability::Capabilities;
use crate::events::{Event, EventKind, Occasion};
use crate::inspect::Stopped;
use crate::kind::MutatorKind;
use crate::roots::Roots;
use crate::stats::{Look, Times};

impl<M: MutatorKind> WorldAtRest<'_, M> {
    /// Announces that a part of the program called `name` begins.
    pub(super) fn announce_marker(&mut self, capability: usize, name: &str) {
        self.announce_stopped(capability, Occasion::Marker, |stopped, announce| {
            announce(EventKind::Marker { name, stopped })
        });
    }

    /// Shows the stopped heap to each listener that looks at it on this occasion, in a separate
    /// look. `event` calls its second argument with the kind of event.
    pub(super) fn announce_stopped(
        &mut self,
        capability: usize,
        occasion: Occasion,
        event: impl Fn(&Stopped<'_>, &mut dyn FnMut(EventKind<'_>)),
    ) {
        let clock = self.state.recorder.clock();
        for place in 0..self.state.events.count() {
            let Some(purpose) = self.state.events.look(place, occasion) else {
                continue;
            };
            let started = self.look_start(purpose);
            let mut events = std::mem::take(&mut self.state.events);
            self.show(started, |stopped| {
                event(stopped, &mut |kind| {
                    events.announce_to(
                        place,
                        &Event {
                            time_ns: clock.elapsed_ns(),
                            capability: Some(capability),
                            kind,
                        },
                    );
                });
            });
            self.state.events = events;
            self.look_end(started, purpose);
        }
    }

    /// Calls `look` with the stopped heap. The time that it takes is counted as `purpose`.
    pub(super) fn inspect<R>(&mut self, purpose: Look, look: impl FnOnce(&Stopped<'_>) -> R) -> R {
        let started = self.look_start(purpose);
        let result = self.show(started, look);
        self.look_end(started, purpose);
        result
    }

    /// A look begins. Returns the clocks.
    fn look_start(&mut self, purpose: Look) -> Times {
        let started = self.state.recorder.look_start();
        self.announce_look(started, EventKind::LookStart(purpose));
        started
    }

    /// The look that began at `started` is over.
    fn look_end(&mut self, started: Times, purpose: Look) {
        let ended = self.state.recorder.look_end(started, purpose);
        self.announce_look(ended, EventKind::LookEnd(purpose));
    }

    /// Announces that a look begins or ends.
    fn announce_look(&mut self, at: Times, kind: EventKind<'_>) {
        let state = &mut *self.state;
        if !state.events.is_empty() {
            state.events.announce(&Event {
                time_ns: at.elapsed_ns,
                capability: None,
                kind,
            });
        }
    }

    /// Calls `look` with the stopped heap, in the look that began at `started`.
    fn show<R>(&self, started: Times, look: impl FnOnce(&Stopped<'_>) -> R) -> R {
        let state = &*self.state;
        // SAFETY: `new`'s caller promises that they are inside and stopped.
        let all = unsafe { capabilities(self.participants, &state.idle) };
        let frames: Vec<_> = all.iter().map(|capability| capability.frames()).collect();
        // SAFETY: the mutators are stopped.
        let roots = unsafe { Roots::new(&frames, self.handles) };
        let collector = &state.collector;
        let regions = |visit: &mut dyn FnMut(Region)| collector.for_each_region(Capabilities::new(&all), visit);
        let units = |visit: &mut dyn FnMut(Units)| collector.for_each_units(visit);
        let remembered: Vec<_> = all.iter().map(|capability| capability.remembered()).collect();
        let overwritten: Vec<_> = all.iter().map(|capability| capability.overwritten()).collect();
        let inside = self.participants.iter();
        let stacks: Vec<_> = inside.filter_map(|one| Some((one.number()?, one.stack()))).collect();
        let mutator_cpu_ns = state.recorder.mutator_cpu_ns(started.cpu_ns);
        look(&Stopped::new(
            &state.heap,
            roots,
            (&regions, &units, collector.step_names()),
            (&remembered, &overwritten),
            collector.ledger(),
            &stacks,
            (mutator_cpu_ns, started.elapsed_ns),
        ))
    }
}
