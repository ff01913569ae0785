//! The slices of one capability: waits for collections, collections, the work of its GC thread in
//! them, and Haskell threads. They nest even if the log's events are in no sensible order.

use std::collections::HashMap;

use crate::event::Event;
use crate::kind::{status_text, status_text_of_7_8_2};
use crate::kinds::number::*;

/// Limit on thread labels remembered.
const MOST_LABELS: usize = 1 << 16;

/// Longest label, in characters.
const LONGEST_LABEL: usize = 200;

/// The names of threads and of the reasons for their stops.
#[derive(Debug)]
pub(super) struct Names {
    labels: HashMap<u64, String>,
    /// Whether stop statuses are numbered as in GHC 7.8.2.
    old_statuses: bool,
}

impl Names {
    pub(super) fn new(old_statuses: bool) -> Self {
        Names {
            labels: HashMap::new(),
            old_statuses,
        }
    }

    /// Remembers the label of a thread.
    pub(super) fn label(&mut self, thread: u64, text: &[u8]) {
        if self.labels.len() < MOST_LABELS {
            let text = String::from_utf8_lossy(text);
            self.labels.insert(thread, text.chars().take(LONGEST_LABEL).collect());
        }
    }

    fn thread(&self, thread: u64) -> String {
        match self.labels.get(&thread) {
            Some(label) => format!("thread {thread} ({label})"),
            None => format!("thread {thread}"),
        }
    }

    fn stop(&self, status: Option<u64>) -> Option<&'static str> {
        if self.old_statuses {
            status_text_of_7_8_2(status?)
        } else {
            status_text(status?)
        }
    }
}

/// A named stretch of time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Slice {
    pub(super) name: String,
    /// Viewers colour and filter by category.
    pub(super) category: &'static str,
    pub(super) from: u64,
    pub(super) to: u64,
    /// Why the thread stopped.
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

    /// A collection, with its generation if known.
    pub(super) fn of_generation(mut self, generation: Option<u64>) -> Self {
        self.name = match generation {
            Some(generation) => format!("GC gen {generation}"),
            None => "GC".to_owned(),
        };
        self
    }
}

/// The generation of the last collection whose statistics were read, and the time of the
/// statistics.
#[derive(Debug, Default)]
pub(super) struct Generations(Option<(u64, u64)>);

impl Generations {
    pub(super) fn set(&mut self, generation: u64, time: u64) {
        self.0 = Some((generation, time));
    }

    /// The generation of the collection that a capability entered at `from`.
    fn since(&self, from: u64) -> Option<u64> {
        let (generation, time) = self.0?;
        (time >= from).then_some(generation)
    }
}

/// A capability.
#[derive(Debug, Default)]
pub(super) struct Lane {
    /// The last value of its allocation counter.
    pub(super) allocated: u64,
    /// The latest time so far. An earlier event is taken to be at this time.
    latest: u64,
    requested: Option<u64>,
    thread: Option<(u64, u64)>,
    collection: Option<u64>,
    led: Option<u64>,
    /// What its GC thread does while it has no work.
    idle: Option<(&'static str, u64)>,
    /// A collection whose generation is not known yet.
    waiting: Option<Slice>,
}

impl Lane {
    /// The capability led a collection of this generation.
    pub(super) fn led(&mut self, generation: u64) {
        self.led = self.collection.map(|_| generation);
    }

    /// Whether it has a collection whose generation is not known yet.
    pub(super) fn is_waiting(&self) -> bool {
        self.waiting.is_some()
    }

    /// Takes the collection whose generation was not known yet.
    pub(super) fn waiting(&mut self) -> Option<Slice> {
        self.waiting.take()
    }

    /// Handles an event. Returns the slices that it ends.
    pub(super) fn event(
        &mut self,
        event: &Event<'_>,
        number: u16,
        names: &Names,
        generations: &Generations,
    ) -> Vec<Slice> {
        let mut ended = Vec::new();
        let is_slice = matches!(
            number,
            RUN_THREAD
                | STOP_THREAD
                | REQUEST_SEQ_GC
                | REQUEST_PAR_GC
                | GC_START
                | GC_WORK
                | GC_IDLE
                | GC_DONE
                | GC_END
        );
        // Other events of a collection may be later than its end, for which GHC reads the clock
        // first.
        if !is_slice {
            return ended;
        }
        let time = event.time().max(self.latest);
        self.latest = time;
        match number {
            RUN_THREAD => {
                ended.extend(self.stop(time, None, names));
                let [thread] = event.numbers();
                self.thread = thread.map(|thread| (thread, time));
            }
            STOP_THREAD => {
                let [_, status] = event.numbers();
                ended.extend(self.stop(time, names.stop(status), names));
            }
            REQUEST_SEQ_GC | REQUEST_PAR_GC => self.requested = Some(time),
            GC_START => {
                ended.extend(self.collected(time, None));
                ended.extend(self.stop(time, None, names));
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

    /// The log ends. Returns the open slices.
    pub(super) fn end(&mut self, time: u64, names: &Names) -> Vec<Slice> {
        let time = time.max(self.latest);
        let mut ended = self.collected(time, None);
        ended.extend(self.stop(time, None, names));
        ended.extend(self.waiting());
        ended
    }

    /// Its thread stops, if one ran. None runs during a collection.
    fn stop(&mut self, time: u64, stop: Option<&'static str>, names: &Names) -> Option<Slice> {
        let (thread, from) = self.thread.take()?;
        let to = self.collection.unwrap_or(time);
        if to < from {
            return None;
        }
        self.requested = self.requested.map(|requested| requested.max(to));
        Some(Slice {
            category: "thread",
            stop,
            ..Slice::named(names.thread(thread), from, to)
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
        // A running thread or a request was wrongly within it.
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
