//! The slices of one capability: waits for collections, collections, the work of its GC thread in
//! them, and Haskell threads. They nest, also in a log whose events are in no sensible order.

use std::collections::HashMap;

use crate::event::Event;
use crate::kind::status_text;
use crate::kinds::number::*;

/// A stretch of time with a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Slice {
    pub(super) name: String,
    /// The category, by which viewers colour and filter.
    pub(super) category: &'static str,
    pub(super) from: u64,
    pub(super) to: u64,
    /// The reason why a thread stopped.
    pub(super) stop: Option<&'static str>,
}

impl Slice {
    pub(super) fn named(name: impl Into<String>, from: u64, to: u64) -> Self {
        Slice {
            name: name.into(),
            category: "gc",
            from,
            to: to.max(from),
            stop: None,
        }
    }

    /// A collection, with the generation if it is known.
    pub(super) fn of_generation(mut self, generation: Option<u64>) -> Self {
        self.name = match generation {
            Some(generation) => format!("GC gen {generation}"),
            None => "GC".to_owned(),
        };
        self
    }
}

/// The generation of the last collection whose statistics were read, and their time.
#[derive(Debug, Default)]
pub(super) struct Generations(Option<(u64, u64)>);

impl Generations {
    pub(super) fn set(&mut self, generation: u64, time: u64) {
        self.0 = Some((generation, time));
    }

    /// The generation of the collection that a capability has been in since `from`.
    fn since(&self, from: u64) -> Option<u64> {
        let (generation, time) = self.0?;
        (time >= from).then_some(generation)
    }
}

/// A capability.
#[derive(Debug, Default)]
pub(super) struct Lane {
    /// The last figure of its allocation.
    pub(super) allocated: u64,
    /// The latest time so far. An event that is earlier counts as one of this time.
    latest: u64,
    requested: Option<u64>,
    thread: Option<(u64, u64)>,
    collection: Option<u64>,
    led: Option<u64>,
    /// What its GC thread does instead of work.
    idle: Option<(&'static str, u64)>,
    /// A collection whose generation is not known yet.
    waiting: Option<Slice>,
}

impl Lane {
    /// It led a collection of this generation.
    pub(super) fn led(&mut self, generation: u64) {
        self.led = self.collection.map(|_| generation);
    }

    /// The collection whose generation was not known yet.
    pub(super) fn waiting(&mut self) -> Option<Slice> {
        self.waiting.take()
    }

    /// Goes past an event. Returns the slices that it ends.
    pub(super) fn event(
        &mut self,
        event: &Event<'_>,
        number: u16,
        time: u64,
        labels: &HashMap<u64, String>,
        generations: &Generations,
    ) -> Vec<Slice> {
        let mut ended = Vec::new();
        let is_slice = matches!(
            number,
            RUN_THREAD | STOP_THREAD | REQUEST_SEQ_GC | REQUEST_PAR_GC | GC_START | GC_WORK | GC_IDLE | GC_DONE | GC_END
        );
        // Other events of a collection have later times than its end, which GHC takes first.
        if !is_slice {
            return ended;
        }
        let time = time.max(self.latest);
        self.latest = time;
        match number {
            RUN_THREAD => {
                ended.extend(self.stop(time, None, labels));
                let [thread] = event.numbers();
                self.thread = thread.map(|thread| (thread, time));
            }
            STOP_THREAD => {
                let [_, status] = event.numbers();
                ended.extend(self.stop(time, status.and_then(status_text), labels));
            }
            REQUEST_SEQ_GC | REQUEST_PAR_GC => self.requested = Some(time),
            GC_START => {
                ended.extend(self.collected(time, None));
                ended.extend(self.stop(time, None, labels));
                ended.extend(self.waiting());
                if let Some(requested) = self.requested.take() {
                    ended.push(Slice::named("stopping for GC", requested, time));
                }
                self.collection = Some(time);
            }
            GC_WORK | GC_IDLE | GC_DONE => {
                ended.extend(self.work(time));
                if self.collection.is_some() {
                    self.idle = match number {
                        GC_IDLE => Some(("GC idle", time)),
                        GC_DONE => Some(("GC done", time)),
                        _ => None,
                    };
                }
            }
            GC_END => ended.extend(self.collected(time, Some(generations))),
            _ => {}
        }
        ended
    }

    /// The log ends. Returns the slices that are open.
    pub(super) fn end(&mut self, time: u64, labels: &HashMap<u64, String>) -> Vec<Slice> {
        let time = time.max(self.latest);
        let mut ended = self.collected(time, None);
        ended.extend(self.stop(time, None, labels));
        ended.extend(self.waiting());
        ended
    }

    /// Its thread stops, if one ran. Within a collection none runs.
    fn stop(&mut self, time: u64, stop: Option<&'static str>, labels: &HashMap<u64, String>) -> Option<Slice> {
        let (thread, from) = self.thread.take()?;
        let to = self.collection.unwrap_or(time);
        if to < from {
            return None;
        }
        self.requested = self.requested.map(|requested| requested.max(to));
        let name = match labels.get(&thread) {
            Some(label) => format!("thread {thread} ({label})"),
            None => format!("thread {thread}"),
        };
        Some(Slice {
            category: "thread",
            stop,
            ..Slice::named(name, from, to)
        })
    }

    /// Its GC thread ends what it did.
    fn work(&mut self, time: u64) -> Option<Slice> {
        let (name, from) = self.idle.take()?;
        Some(Slice::named(name, from, time))
    }

    /// Its collection ends.
    fn collected(&mut self, time: u64, generations: Option<&Generations>) -> Vec<Slice> {
        let Some(from) = self.collection.take() else {
            return Vec::new();
        };
        let mut ended: Vec<Slice> = self.work(time).into_iter().collect();
        // A thread that runs, or a request, was wrongly within it.
        self.thread = self.thread.map(|(thread, _)| (thread, time));
        self.requested = self.requested.map(|requested| requested.max(time));
        let slice = Slice::named("GC", from, time);
        let generation = self.led.take().or_else(|| generations?.since(from));
        match (generation, generations) {
            (None, Some(_)) => self.waiting = Some(slice),
            (generation, _) => ended.push(slice.of_generation(generation)),
        }
        ended
    }
}
