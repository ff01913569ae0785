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
use std::sync::OnceLock;

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

/// The counters that the machine has, each with one that is open for as long as this process and
/// never counts.
///
/// The kernel patches its code when the first counter of a kind is opened, and again when the last
/// one is closed. With a counter that stays, a run opens neither the first nor the last one: that
/// saves a tenth of the runner's time.
fn there() -> &'static [(&'static Kind, Counter)] {
    static THERE: OnceLock<Vec<(&Kind, Counter)>> = OnceLock::new();
    THERE.get_or_init(|| {
        let stays = |kind: &'static Kind| Some((kind, built(kind, false).ok()?));
        KINDS.iter().filter_map(stays).collect()
    })
}

/// Counters that the next process inherits.
pub(super) struct Open(Vec<(&'static Kind, Counter)>);

impl Open {
    /// Opens all counters that the machine has.
    pub(super) fn all() -> Open {
        let open = |(kind, _): &(&'static Kind, Counter)| Some((*kind, built(kind, true).ok()?));
        Open(there().iter().filter_map(open).collect())
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

/// A counter of this thread. With `for_child`, the next process inherits it and begins to count.
fn built(kind: &Kind, for_child: bool) -> io::Result<Counter> {
    let mut builder = Builder::new().kind((kind.event)());
    builder.inherit(for_child).enable_on_exec(for_child);
    if kind.in_kernel {
        builder.include_kernel();
    }
    let counter = builder.build()?;
    close_on_exec(&counter)?;
    Ok(counter)
}

/// The keys of the counters that runs have here, and why they lack others.
pub(crate) fn available() -> (Vec<String>, Option<String>) {
    let tried: Vec<(&Kind, io::Result<Counter>)> = KINDS.iter().map(|kind| (kind, built(kind, true))).collect();
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

    /// A counter that stays counts nothing, and each run opens all kinds that are there.
    #[test]
    fn the_counters_that_stay_count_nothing() {
        let keys = |kinds: &[(&Kind, Counter)]| kinds.iter().map(|(kind, _)| kind.key).collect::<Vec<_>>();
        assert_eq!(keys(there()), available().0);
        assert_eq!(keys(&Open::all().0), available().0);
        for kind in &KINDS {
            let Ok(mut stays) = built(kind, false) else { continue };
            let memory = vec![1_u8; 1 << 20];
            assert!(memory.iter().all(|byte| *byte == 1), "pages are touched");
            std::thread::yield_now();
            assert_eq!(stays.read().expect("a count"), 0, "{}", kind.key);
        }
    }

    #[test]
    fn what_is_missing_has_a_reason() {
        let (there, reason) = available();
        assert_eq!(reason.is_some(), there.len() < KINDS.len(), "{there:?} {reason:?}");
    }
}
