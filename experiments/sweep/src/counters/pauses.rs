//! The performance counters of this process, separately for collections and for the rest: what
//! `gclab exec --pause-counters` records.
//!
//! The counters are opened before any other thread starts; threads inherit them, so all are
//! counted. A listener reads them when the mutators have stopped for a collection and when it is
//! over, and at both ends of a look at the heap (the checker, a census), which belongs to neither
//! part. Between pauses no counter is read. Context switches are not counted: they have no share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gclab_core::events::{Event, EventKind, Listener, Look, Occasion};
use gclab_results::Counters;
use perf_event::Counter;

use super::{Counted, KINDS, Kind, Reading, built, counts, why_absent};

/// The part of a run that is being counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Part {
    /// The program itself, and what the heap does while it runs.
    Mutator,
    /// A collection.
    Collection,
    /// A look at the heap, or the time before and after the run.
    #[default]
    Neither,
}

/// The sums of one counter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Split {
    /// The reading at which the current part began.
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
#[derive(Default)]
struct Counting {
    counters: Vec<(&'static Kind, Counter, Split)>,
    part: Part,
    /// Why the run lacks some of the counters.
    absent: Vec<String>,
}

impl Counting {
    /// The current part is over, and the next one begins. A counter that can no longer be read is
    /// dropped: part of its count would be wrong.
    fn enter(&mut self, next: Part) {
        let ended = std::mem::replace(&mut self.part, next);
        let absent = &mut self.absent;
        self.counters
            .retain_mut(|(kind, counter, split)| match Reading::of(counter) {
                Ok(now) => {
                    split.over(ended, now);
                    true
                }
                Err(error) => {
                    absent.push(format!("no {}: a reading failed: {error}", kind.key));
                    false
                }
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
    pub fn open() -> PauseCounters {
        let opened = |kind: &'static Kind| {
            let counter = built(kind, Counted::Heirs).and_then(|mut counter| {
                counter.enable()?;
                Ok(counter)
            });
            (kind, counter)
        };
        let tried: Vec<_> = KINDS.iter().filter(|kind| !kind.in_kernel).map(opened).collect();
        let absent = why_absent(&tried).into_iter().collect();
        let there = tried
            .into_iter()
            .filter_map(|(kind, opened)| Some((kind, opened.ok()?)));
        PauseCounters(Arc::new(Mutex::new(Counting {
            counters: there.map(|(kind, counter)| (kind, counter, Split::default())).collect(),
            absent,
            ..Counting::default()
        })))
    }

    /// Which counters the run lacks so far, and why; `None` if it has all of them.
    pub fn absent(&self) -> Option<String> {
        let absent = self.counting().absent.join("; ");
        (!absent.is_empty()).then_some(absent)
    }

    /// A listener that reads them during the run.
    pub fn listener(&self) -> Box<dyn Listener> {
        Box::new(self.clone())
    }

    /// The counts of the mutator and of the collections, in a run that is over. Those of
    /// collections are absent if there was none. The last part of a run that announced no end
    /// extends until now.
    pub fn split(&self) -> (Option<Counters>, Option<Counters>) {
        let mut counting = self.counting();
        if counting.part != Part::Neither {
            counting.enter(Part::Neither);
        }
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
    use gclab_core::stats::{Cause, Collection, Statistics};
    use gclab_core::words::Bytes;

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
        let mut counters = PauseCounters(Arc::default());
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

    /// The page faults of a part.
    fn faults(counts: &Option<Counters>) -> Option<u64> {
        counts.as_ref().and_then(|counts| counts.page_faults)
    }

    /// Touches fresh memory: a fault brings in at most 2 MiB of it.
    fn touch() {
        let memory = vec![1_u8; 64 << 20];
        assert!(memory.iter().step_by(4096).all(|byte| *byte == 1));
    }

    /// Whether the counter of page faults is there. Without it, the reason.
    fn counts_faults(counters: &PauseCounters) -> bool {
        let absent = counters.absent().unwrap_or_default();
        let is_there = counters
            .counting()
            .counters
            .iter()
            .any(|(kind, ..)| kind.key == "page_faults");
        assert_eq!(is_there, !absent.contains("page_faults"), "{absent}");
        is_there || {
            eprintln!("not tried: {absent}");
            false
        }
    }

    /// Fresh memory that another thread touches: its faults belong to the part under way.
    #[test]
    fn threads_that_start_later_are_counted() {
        let counters = PauseCounters::open();
        counters.counting().enter(Part::Mutator);
        counters.counting().enter(Part::Collection);
        std::thread::spawn(touch).join().expect("touched");
        counters.counting().enter(Part::Neither);
        touch();
        counters.counting().enter(Part::Neither);
        let (mutator, collections) = counters.split();
        if counts_faults(&counters) {
            let (mutator, collections) = (faults(&mutator).unwrap_or(0), faults(&collections).expect("a count"));
            assert!(collections >= 32, "{collections}");
            assert!(mutator < collections / 2, "{mutator} {collections}");
        }
    }

    #[test]
    fn the_last_part_counts_in_a_run_that_announces_no_end() {
        let counters = PauseCounters::open();
        counters.counting().enter(Part::Mutator);
        touch();
        let (mutator, _) = counters.split();
        touch();
        assert_eq!(counters.split().0, mutator, "the run is over");
        if counts_faults(&counters) {
            assert!(faults(&mutator) >= Some(32), "{mutator:?}");
        }
    }

    /// Context switches are counted in the kernel, which may be forbidden, and have no share.
    #[test]
    fn each_counter_is_there_or_named_as_absent() {
        let counters = PauseCounters::open();
        let absent = counters.absent().unwrap_or_default();
        let counting = counters.counting();
        for kind in &KINDS {
            let is_there = counting.counters.iter().any(|(there, ..)| there.key == kind.key);
            let is_named = absent.contains(kind.key);
            let expected = if kind.in_kernel {
                (false, false)
            } else {
                (is_there, !is_there)
            };
            assert_eq!((is_there, is_named), expected, "{}: {absent}", kind.key);
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
