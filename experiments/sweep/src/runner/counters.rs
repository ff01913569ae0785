//! Performance counters of a run, by the kernel's `perf_event`.
//!
//! The runner opens the counters on its own thread before it starts the process. The process
//! inherits them, as do its threads and the processes that it starts; they begin to count when it
//! becomes another program (`enable_on_exec`), so the runner itself is never counted. What an heir
//! counted is added up when it ends.
//!
//! A counter that the machine does not have is absent. Virtual machines often have none of the
//! processor; the kernel may forbid them (`perf_event_paranoid`).

use std::io;

use gclab_results::Counters;
use perf_event::events::{Cache, CacheOp, CacheResult, Event, Hardware, Software, WhichCache};
use perf_event::{Builder, Counter};

use super::system::close_on_exec;

/// A counter: its key in records, the event, whether it counts in the kernel as well, and its
/// place.
struct Kind {
    key: &'static str,
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

/// The counters of the processor, and then those of the kernel.
const KINDS: [Kind; 7] = [
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
        // The kernel switches, so user space alone has none.
        in_kernel: true,
        place: |counters| &mut counters.context_switches,
    },
];

/// The number of counters that count what the processor does.
const OF_PROCESSOR: usize = 4;

/// Counters that the next process inherits.
pub(super) struct Open(Vec<(&'static Kind, Counter)>);

impl Open {
    /// Opens all counters that the machine has.
    pub(super) fn all() -> Open {
        let open = |kind: &'static Kind| Some((kind, open(kind).ok()?));
        Open(KINDS.iter().filter_map(open).collect())
    }

    /// The counts; `None` if the machine has no counter at all. The process must have ended.
    pub(super) fn read(self) -> Option<Counters> {
        let mut counters = Counters::default();
        let mut shares = Vec::new();
        for (kind, mut counter) in self.0 {
            let Ok(read) = counter.read_count_and_time() else {
                continue;
            };
            let Some((count, share)) = scaled(read.count, read.time_enabled, read.time_running) else {
                continue;
            };
            *(kind.place)(&mut counters) = Some(count);
            shares.push(share);
        }
        let least = shares.into_iter().reduce(f64::min)?;
        counters.least_share = (least < 1.0).then_some(least);
        Some(counters)
    }
}

/// The count for the whole time, and the share of the time for which the counter counted; `None` if
/// it never did.
fn scaled(count: u64, enabled: u64, running: u64) -> Option<(u64, f64)> {
    if running == 0 {
        return None;
    }
    if running >= enabled {
        return Some((count, 1.0));
    }
    let share = running as f64 / enabled as f64;
    Some(((count as f64 / share).round() as u64, share))
}

fn open(kind: &Kind) -> io::Result<Counter> {
    let mut builder = Builder::new().kind((kind.event)());
    builder.inherit(true).enable_on_exec(true);
    if kind.in_kernel {
        builder.include_kernel();
    }
    let counter = builder.build()?;
    close_on_exec(&counter)?;
    Ok(counter)
}

/// The keys of the counters that runs have here, and why they lack others.
pub(crate) fn available() -> (Vec<String>, Option<String>) {
    let tried: Vec<(&Kind, io::Result<Counter>)> = KINDS.iter().map(|kind| (kind, open(kind))).collect();
    let there = tried.iter().filter(|(_, opened)| opened.is_ok());
    let keys = there.map(|(kind, _)| kind.key.to_owned()).collect();
    let missing: Vec<&str> = tried
        .iter()
        .filter(|(_, opened)| opened.is_err())
        .map(|(kind, _)| kind.key)
        .collect();
    let first = tried.iter().find_map(|(_, opened)| opened.as_ref().err());
    let reason = first.map(|error| {
        let of_processor = tried[..OF_PROCESSOR].iter().all(|(_, opened)| opened.is_err());
        format!(
            "no {}: {}",
            missing.join(", "),
            match error.raw_os_error() {
                Some(libc::ENOENT | libc::ENODEV | libc::EOPNOTSUPP) if of_processor => {
                    "this processor, or the virtual machine, has no performance counters".to_owned()
                }
                Some(libc::EACCES | libc::EPERM) => {
                    "the kernel forbids them; `sysctl kernel.perf_event_paranoid=1` permits them".to_owned()
                }
                _ => error.to_string(),
            }
        )
    });
    (keys, reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_that_share_registers_are_scaled() {
        assert_eq!(scaled(100, 50, 50), Some((100, 1.0)));
        assert_eq!(scaled(100, 400, 100), Some((400, 0.25)));
        assert_eq!(scaled(0, 400, 0), None, "never counted");
    }

    #[test]
    fn what_is_missing_has_a_reason() {
        let (there, reason) = available();
        assert_eq!(reason.is_some(), there.len() < KINDS.len(), "{there:?} {reason:?}");
    }
}
