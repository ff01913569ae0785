//! The performance counters of this process, apart for its collections and for the rest: what
//! `gclab exec --pause-counters` records.
//!
//! The counters are opened before any other thread starts; threads inherit them, so all are
//! counted. A listener reads them when the mutators have stopped for a collection and when it is
//! over, and at both ends of a look at the heap (the checker, a census), which belongs to neither
//! part. Between pauses no counter is read.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gclab_core::events::{Event, EventKind, Listener, Look, Occasion};
use gclab_results::Counters;
use perf_event::Counter;

use super::{Counted, KINDS, Kind, Reading, available, built, counts};

/// The part of a run that is being counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// The program itself, and what the heap does while it runs.
    Mutator,
    /// A collection.
    Collection,
    /// A look at the heap, or the time before and after the run.
    Neither,
}

/// The sums of one counter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Split {
    /// The reading at which the part under way began.
    last: Reading,
    mutator: Reading,
    collections: Reading,
}

impl Split {
    /// `part` is over at the reading `now`.
    fn over(&mut self, part: Part, now: Reading) {
        let counted = now - self.last;
        match part {
            Part::Mutator => self.mutator += counted,
            Part::Collection => self.collections += counted,
            Part::Neither => {}
        }
        self.last = now;
    }
}

/// The counters of one run in this process.
struct Counting {
    counters: Vec<(&'static Kind, Counter, Split)>,
    part: Part,
}

impl Counting {
    /// The part under way is over, and the next one begins. A counter that the system does not read
    /// any more is dropped: a part of its count would be wrong.
    fn enter(&mut self, next: Part) {
        let ended = std::mem::replace(&mut self.part, next);
        self.counters.retain_mut(|(_, counter, split)| {
            let now = Reading::of(counter);
            now.map(|now| split.over(ended, now)).is_ok()
        });
    }
}

/// Counts the mutator and the collections of one run in this process.
#[derive(Clone)]
pub struct PauseCounters(Arc<Mutex<Counting>>);

impl std::fmt::Debug for PauseCounters {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PauseCounters({})", self.counting().counters.len())
    }
}

impl PauseCounters {
    /// Opens the counters that the machine has. They count this thread and those that it starts
    /// from now on.
    ///
    /// # Errors
    /// The reason if there is none.
    pub fn open() -> Result<PauseCounters, String> {
        let opened = KINDS.iter().filter_map(|kind| {
            let mut counter = built(kind, Counted::Heirs).ok()?;
            counter.enable().ok()?;
            Some((kind, counter, Split::default()))
        });
        let counters: Vec<_> = opened.collect();
        if counters.is_empty() {
            return Err(available().1.unwrap_or_default());
        }
        Ok(PauseCounters(Arc::new(Mutex::new(Counting {
            counters,
            part: Part::Neither,
        }))))
    }

    /// A listener that reads them as the run goes on.
    pub fn listener(&self) -> Box<dyn Listener> {
        Box::new(self.clone())
    }

    /// The counts of the mutator and those of the collections, in a run that is over. Those of
    /// collections are absent if there was none.
    pub fn split(&self) -> (Option<Counters>, Option<Counters>) {
        let counting = self.counting();
        let of = |part: fn(&Split) -> Reading| {
            let all = counting.counters.iter();
            counts(all.map(|(kind, _, split)| (*kind, part(split))))
        };
        (of(|split| split.mutator), of(|split| split.collections))
    }

    fn counting(&self) -> MutexGuard<'_, Counting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Listener for PauseCounters {
    fn event(&mut self, event: &Event<'_>) {
        let next = match event.kind {
            EventKind::RunStart(_) | EventKind::Recorded { .. } | EventKind::NotBegun | EventKind::LookEnd(_) => {
                Part::Mutator
            }
            EventKind::Start { .. } => Part::Collection,
            EventKind::LookStart(_) | EventKind::RunEnd { .. } => Part::Neither,
            _ => return,
        };
        self.counting().enter(next);
    }

    fn look(&self, _: Occasion) -> Option<Look> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gclab_core::events::Phase;
    use gclab_core::words::Bytes;
    use gclab_stats::{Cause, Collection, Statistics};

    /// Announces an event of this kind.
    fn event(counters: &mut PauseCounters, kind: EventKind<'_>) -> Part {
        counters.event(&Event {
            time_ns: 0,
            capability: None,
            kind,
        });
        counters.counting().part
    }

    #[test]
    fn each_event_begins_its_part() {
        let mut counters = PauseCounters(Arc::new(Mutex::new(Counting {
            counters: Vec::new(),
            part: Part::Neither,
        })));
        let start = || EventKind::Start {
            cause: Cause::Shortage,
            due: None,
            requested_ns: 0,
            parallel: false,
            allocated: &[],
        };
        let recorded = EventKind::Recorded {
            collection: &Collection::default(),
            blocks: Bytes(0),
        };
        assert_eq!(event(&mut counters, start()), Part::Collection);
        assert_eq!(
            event(&mut counters, EventKind::Phase(Phase::RootsTraced)),
            Part::Collection
        );
        assert_eq!(event(&mut counters, recorded), Part::Mutator);
        assert_eq!(event(&mut counters, EventKind::LookStart(Look::Check)), Part::Neither);
        assert_eq!(event(&mut counters, EventKind::LookEnd(Look::Check)), Part::Mutator);
        assert_eq!(event(&mut counters, start()), Part::Collection);
        assert_eq!(event(&mut counters, EventKind::NotBegun), Part::Mutator);
        let end = EventKind::RunEnd {
            statistics: &Statistics::default(),
            allocated: &[],
        };
        assert_eq!(event(&mut counters, end), Part::Neither);
    }

    /// Fresh memory that another thread touches: its faults belong to the part under way.
    #[test]
    fn threads_that_start_later_are_counted() {
        let opened = PauseCounters::open();
        let is_there = |key| available().0.iter().any(|there| there == key);
        let Ok(counters) = opened.as_ref().inspect_err(|why| eprintln!("not tried: {why}")) else {
            assert_eq!(available().0, Vec::<String>::new());
            return;
        };
        let touch = || {
            let memory = vec![1_u8; 64 << 20];
            assert!(memory.iter().step_by(4096).all(|byte| *byte == 1));
        };
        counters.counting().enter(Part::Mutator);
        counters.counting().enter(Part::Collection);
        std::thread::spawn(touch).join().expect("touched");
        counters.counting().enter(Part::Neither);
        touch();
        counters.counting().enter(Part::Neither);
        let (mutator, collections) = counters.split();
        let faults = |counts: &Option<Counters>| counts.as_ref().and_then(|counts| counts.page_faults);
        if is_there("page_faults") {
            // A fault brings in at most 2 MiB.
            let (mutator, collections) = (faults(&mutator).unwrap_or(0), faults(&collections).expect("a count"));
            assert!(collections >= 32, "{collections}");
            assert!(mutator < collections / 2, "{mutator} {collections}");
        }
    }

    #[test]
    fn each_part_has_what_was_counted_in_it() {
        let at = |count| Reading {
            count,
            enabled: 2 * count,
            running: count,
        };
        let mut split = Split::default();
        let parts = [
            (Part::Neither, 7),
            (Part::Mutator, 10),
            (Part::Collection, 40),
            (Part::Mutator, 41),
            (Part::Neither, 100),
            (Part::Mutator, 105),
            (Part::Collection, 111),
        ];
        for (part, now) in parts {
            split.over(part, at(now));
        }
        assert_eq!((split.mutator, split.collections), (at(9), at(36)));
        // Each was counted for half of its time.
        assert_eq!(split.collections.scaled(), Some((72, 0.5)));
    }
}
