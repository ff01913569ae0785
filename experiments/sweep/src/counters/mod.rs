//! Performance counters, by the kernel's `perf_event`: of a run, which the runner reads, and
//! of this process for its collections (`pauses`).
//!
//! A counter that the machine lacks is absent. Virtual machines often have no processor counters;
//! the kernel may forbid them (`perf_event_paranoid`).

use std::io;
use std::ops::{AddAssign, Sub};

use gclab_results::Counters;
use perf_event::events::{Cache, CacheOp, CacheResult, Event, Hardware, Software, WhichCache};
use perf_event::{Builder, Counter};

pub mod pauses;

/// A counter: its key in records, the event, whether it counts in the kernel as well, and its
/// place.
pub(crate) struct Kind {
    pub(crate) key: &'static str,
    event: fn() -> Event,
    in_kernel: bool,
    place: fn(&mut Counters) -> &mut Option<u64>,
}

/// The misses of loads in a cache.
fn load_misses(which: WhichCache) -> Event {
    Cache {
        which,
        operation: CacheOp::READ,
        result: CacheResult::MISS,
    }
    .into()
}

/// The counters of the processor, and then the kernel's.
pub(crate) const KINDS: [Kind; 7] = [
    Kind {
        key: "instructions",
        event: || Hardware::INSTRUCTIONS.into(),
        in_kernel: false,
        place: |counters| &mut counters.instructions,
    },
    Kind {
        key: "cycles",
        event: || Hardware::CPU_CYCLES.into(),
        in_kernel: false,
        place: |counters| &mut counters.cycles,
    },
    Kind {
        key: "llc_misses",
        event: || load_misses(WhichCache::LL),
        in_kernel: false,
        place: |counters| &mut counters.llc_misses,
    },
    Kind {
        key: "dtlb_misses",
        event: || load_misses(WhichCache::DTLB),
        in_kernel: false,
        place: |counters| &mut counters.dtlb_misses,
    },
    Kind {
        key: "task_clock_ns",
        event: || Software::TASK_CLOCK.into(),
        in_kernel: false,
        place: |counters| &mut counters.task_clock_ns,
    },
    Kind {
        key: "page_faults",
        event: || Software::PAGE_FAULTS.into(),
        in_kernel: false,
        place: |counters| &mut counters.page_faults,
    },
    Kind {
        key: "context_switches",
        event: || Software::CONTEXT_SWITCHES.into(),
        // Context switches happen in the kernel, so user space alone has none.
        in_kernel: true,
        place: |counters| &mut counters.context_switches,
    },
];

/// The minimum share of the time for which a counter must have counted. A count scaled by more than
/// twenty would be a guess.
const LEAST_SHARE: f64 = 0.05;

/// The number of counters that count what the processor does.
const OF_PROCESSOR: usize = 4;

/// The threads that a counter counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counted {
    /// This one, once the counter is enabled.
    Thread,
    /// This one, and threads and processes that it starts from now on, once it is enabled.
    Heirs,
    /// The same, from when an heir becomes another program.
    Child,
}

/// A counter that does not count yet.
///
/// # Errors
/// If the machine does not have it, or the system refuses it.
pub(crate) fn built(kind: &Kind, counted: Counted) -> io::Result<Counter> {
    let mut builder = Builder::new().kind((kind.event)());
    builder
        .inherit(counted != Counted::Thread)
        .enable_on_exec(counted == Counted::Child);
    if kind.in_kernel {
        builder.include_kernel();
    }
    builder.build()
}

/// A count, with the times for which its counter was enabled and actually counted: counters share
/// registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reading {
    count: u64,
    enabled: u64,
    running: u64,
}

impl Reading {
    /// The counts of all threads so far.
    ///
    /// # Errors
    /// If the system refuses.
    pub(crate) fn of(counter: &mut Counter) -> io::Result<Reading> {
        counter.read_count_and_time().map(|read| Reading {
            count: read.count,
            enabled: read.time_enabled,
            running: read.time_running,
        })
    }

    /// The count for the whole time, and the share of the time for which the counter counted;
    /// `None` if it never did, or for less than [`LEAST_SHARE`].
    fn scaled(self) -> Option<(u64, f64)> {
        let Reading {
            count,
            enabled,
            running,
        } = self;
        if running == 0 {
            return None;
        }
        if running >= enabled {
            return Some((count, 1.0));
        }
        let share = running as f64 / enabled as f64;
        if share < LEAST_SHARE {
            return None;
        }
        Some(((count as f64 / share).round() as u64, share))
    }
}

impl Sub for Reading {
    type Output = Reading;

    fn sub(self, before: Reading) -> Reading {
        Reading {
            count: self.count.saturating_sub(before.count),
            enabled: self.enabled.saturating_sub(before.enabled),
            running: self.running.saturating_sub(before.running),
        }
    }
}

impl AddAssign for Reading {
    fn add_assign(&mut self, more: Reading) {
        self.count += more.count;
        self.enabled += more.enabled;
        self.running += more.running;
    }
}

/// The counts of these readings; `None` if no counter has counted.
pub(crate) fn counts<'k>(readings: impl IntoIterator<Item = (&'k Kind, Reading)>) -> Option<Counters> {
    let mut counters = Counters::default();
    let mut least: Option<f64> = None;
    for (kind, reading) in readings {
        let Some((count, share)) = reading.scaled() else {
            continue;
        };
        *(kind.place)(&mut counters) = Some(count);
        least = Some(least.map_or(share, |least| least.min(share)));
    }
    counters.least_share = Some(least?).filter(|least| *least < 1.0);
    Some(counters)
}

/// The keys of the counters that runs have here, and why they lack others.
pub(crate) fn available() -> (Vec<String>, Option<String>) {
    let tried: Vec<(&Kind, io::Result<Counter>)> =
        KINDS.iter().map(|kind| (kind, built(kind, Counted::Child))).collect();
    let there = tried.iter().filter(|(_, opened)| opened.is_ok());
    let keys = there.map(|(kind, _)| kind.key.to_owned()).collect();
    (keys, why_absent(&tried))
}

/// Which of these counters are absent, and why the first of them is; `None` if all are there. They
/// begin with those of the processor.
fn why_absent<C>(tried: &[(&Kind, io::Result<C>)]) -> Option<String> {
    let missing = tried.iter().filter(|(_, opened)| opened.is_err());
    let missing: Vec<&str> = missing.map(|(kind, _)| kind.key).collect();
    let error = tried.iter().find_map(|(_, opened)| opened.as_ref().err())?;
    let of_processor = tried.iter().take(OF_PROCESSOR).all(|(_, opened)| opened.is_err());
    let reason = match error.raw_os_error() {
        Some(libc::ENOENT | libc::ENODEV | libc::EOPNOTSUPP) if of_processor => {
            "this processor, or the virtual machine, has no performance counters".to_owned()
        }
        Some(libc::EACCES | libc::EPERM) => {
            "the kernel forbids them; `sysctl kernel.perf_event_paranoid=1` permits them".to_owned()
        }
        _ => error.to_string(),
    };
    Some(format!("no {}: {reason}", missing.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_that_share_registers_are_scaled() {
        let scaled = |count, enabled, running| {
            Reading {
                count,
                enabled,
                running,
            }
            .scaled()
        };
        assert_eq!(scaled(100, 50, 50), Some((100, 1.0)));
        assert_eq!(scaled(100, 400, 100), Some((400, 0.25)));
        assert_eq!(scaled(0, 400, 0), None, "never counted");
        assert_eq!(scaled(100, 400, 20), Some((2000, 0.05)));
        assert_eq!(scaled(100, 400, 19), None, "a guess");
    }

    /// The refusals of a kernel for all counters from the one of this number on.
    #[test]
    fn the_counters_that_are_absent_are_named() {
        let error = |number| Err(io::Error::from_raw_os_error(number));
        let tried = |from: usize, to: usize, number| -> Vec<(&Kind, io::Result<()>)> {
            let opened = |at| {
                if (from..to).contains(&at) {
                    error(number)
                } else {
                    Ok(())
                }
            };
            KINDS.iter().enumerate().map(|(at, kind)| (kind, opened(at))).collect()
        };
        let why = |from, to, number| why_absent(&tried(from, to, number)).unwrap_or_default();
        assert_eq!(why(0, 0, libc::EACCES), "");
        assert!(
            why(0, 4, libc::ENOENT).starts_with("no instructions, cycles, llc_misses, dtlb_misses: this processor")
        );
        assert!(
            why(3, 4, libc::ENOENT).starts_with("no dtlb_misses: No such file"),
            "others of the processor count"
        );
        assert!(why(6, 7, libc::EACCES).starts_with("no context_switches: the kernel forbids them"));
    }

    /// A guess is absent beside figures, and does not count for the least share.
    #[test]
    fn a_counter_that_hardly_counted_is_absent() {
        let reading = |running| Reading {
            count: 10,
            enabled: 1000,
            running,
        };
        let found = counts([
            (&KINDS[0], reading(500)),
            (&KINDS[1], reading(49)),
            (&KINDS[5], reading(1000)),
        ]);
        let expected = Counters {
            instructions: Some(20),
            page_faults: Some(10),
            least_share: Some(0.5),
            ..Counters::default()
        };
        assert_eq!(found, Some(expected));
        assert_eq!(counts([(&KINDS[1], reading(49))]), None);
    }

    #[test]
    fn what_is_missing_has_a_reason() {
        let (there, reason) = available();
        assert_eq!(reason.is_some(), there.len() < KINDS.len(), "{there:?} {reason:?}");
    }
}
