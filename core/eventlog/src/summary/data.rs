//! The figures of a run, or of an interval of it, as plain data.

use gclab_core::stats::Pauses;

use crate::event::Event;
use crate::kinds::number::*;

/// A stretch of a log's time, in nanoseconds since the start of the runtime.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Interval {
    /// Its first moment.
    pub from: u64,
    /// The first moment after it; `None` for the end of the run.
    pub to: Option<u64>,
}

impl Interval {
    /// Whether it contains a moment.
    #[inline]
    pub fn contains(&self, moment: u64) -> bool {
        moment >= self.from && self.to.is_none_or(|to| moment < to)
    }

    /// The part of a span that lies in it, if any.
    pub fn clip(&self, (from, to): (u64, u64)) -> Option<(u64, u64)> {
        let clipped = (from.max(self.from), to.min(self.to.unwrap_or(u64::MAX)));
        (clipped.0 < clipped.1).then_some(clipped)
    }
}

/// The figures that a log determines, for a whole run or an interval of it. Others are absent.
///
/// A collection belongs to the interval in which it begins, with all its bytes and its whole pause.
/// Times of the interval ([`gc_ns`](Summary::gc_ns), [`mutator_ns`](Summary::mutator_ns),
/// utilisation, times of capabilities) count the parts of pauses that lie in it.
#[derive(Debug, Clone, Default)]
pub struct Summary {
    /// The interval that was asked for.
    pub interval: Interval,
    /// The version of the runtime.
    pub rts: Option<String>,
    /// The command line of the program.
    pub args: Vec<String>,
    /// Number of events, not counting block markers.
    pub events: u64,
    /// The time of the last event of the log.
    pub last_ns: u64,
    /// Whether the log lost its end, so that sums and maxima are lower bounds.
    pub damaged: bool,
    /// Whether `-s` prints the lines of the threaded runtime. gclab's always does.
    pub threaded: bool,
    /// Whether the log has censuses of a heap profile.
    pub has_profile: bool,
    /// Whether the time of collections includes heap censuses, which `-s` leaves out, and the log
    /// does not tell how much: true for logs of GHC's profiling runtime.
    pub census: bool,
    /// Bytes allocated by all capabilities.
    pub allocated: Option<u64>,
    /// Bytes copied by all collections.
    pub copied: Option<u64>,
    /// Live data after major collections.
    pub live: Option<Live>,
    /// Maximum slop after a major collection, in bytes.
    pub max_slop: Option<u64>,
    /// Maximum size of the heap after a collection, in bytes. The peak between two collections may
    /// be higher.
    pub peak_heap: Option<u64>,
    /// The heap's generations, and their collections.
    pub generations: Vec<Generation>,
    /// The number of collections.
    pub collections: Option<u64>,
    /// The number of major collections.
    pub major: Option<u64>,
    /// Bytes copied by parallel collections.
    pub parallel: Option<Parallel>,
    /// Sparks by fate.
    pub sparks: Option<Sparks>,
    /// The number of capabilities that were created.
    pub capabilities: Option<u64>,
    /// Time in collections.
    pub gc_ns: Option<u64>,
    /// The length of the run, within some microseconds; of the interval if one was asked for.
    pub total_ns: Option<u64>,
    /// The start of the runtime, within some microseconds; `None` in a log without threads and
    /// tasks (class s).
    pub init_ns: Option<u64>,
    /// Mutator time, within some microseconds: from the end of initialisation to the end of `main`,
    /// less the collections and looks at the heap in between; `None` in a log without threads and
    /// tasks.
    pub mutator_ns: Option<u64>,
    /// Beginning and end of the mutator's time in the whole run, collections included; `None` in a
    /// log without threads and tasks.
    pub mutator_span: Option<(u64, u64)>,
    /// The time after `main`, without collections, within some microseconds.
    pub exit_ns: Option<u64>,
    /// Looks at the stopped heap, which are neither mutator time nor collections. Only gclab's own
    /// logs have them.
    pub looks: Option<LookTimes>,
    /// The stops at the end of a concurrent mark; `None` unless the nonmoving collector ran.
    pub nonmoving_sync: Option<Stops>,
    /// Whether the events of these stops come twice in a row, as in GHC's logs.
    pub are_syncs_doubled: bool,
    /// The time from the request for a collection until all capabilities had stopped; `None`
    /// without requests.
    pub time_to_stop: Option<Stops>,
    /// Pauses as `-s` counts them: from when all capabilities have stopped to the end of the
    /// collection.
    pub pauses: Pauses,
    /// Pauses as ThreadScope draws them: from when a capability stops until it resumes, for each
    /// capability separately.
    pub cap_pauses: Pauses,
    /// The greatest of the collections' average pauses, each over the capabilities that the
    /// collection stopped: what ThreadScope calls the longest pause. Absent if none stopped several.
    pub max_average_ns: Option<u64>,
    /// Minimum mutator utilisation: windows in nanoseconds, each with the smallest share of such a
    /// window, from 0 to 1, in which no collection ran. Windows longer than the interval are left
    /// out.
    pub utilisation: Vec<(u64, f64)>,
    /// Capabilities with events of collections, in the order of their numbers.
    pub caps: Vec<CapTimes>,
    /// The samples of a time profile (`-p`), if the log has one.
    pub time_samples: Option<TimeSamples>,
}

impl Summary {
    /// The generations to show, with their numbers: all those with collections, and the first
    /// 16.
    pub fn shown_generations(&self) -> impl Iterator<Item = (usize, &Generation)> {
        let all = self.generations.iter().enumerate();
        all.filter(|(number, generation)| generation.collections > 0 || *number < MOST_EMPTY)
    }

    /// The stops at the end of a concurrent mark as the runtime counts them: GHC counts major
    /// collections.
    pub fn syncs(&self) -> Option<Stops> {
        let stops = self.nonmoving_sync?;
        let count = self.major.filter(|_| self.are_syncs_doubled).unwrap_or(stops.count);
        Some(Stops { count, ..stops })
    }
}

/// Generations below this number are shown even without collections. A hostile log may declare
/// 65535.
const MOST_EMPTY: usize = 16;

/// The samples of a time profile.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TimeSamples {
    /// The time between two ticks, if the log records it.
    pub tick_ns: Option<u64>,
    /// The number of samples: at each tick one for each capability that runs the program (GHC: for
    /// each capability).
    pub count: u64,
    /// The samples by the innermost cost centre of the stack, the most frequent first; `MAIN` is
    /// the empty stack.
    pub centres: Vec<(String, u64)>,
}

/// The time of looks at the stopped heap, by purpose, in nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LookTimes {
    /// Censuses by retainers: RP.
    pub retainers_ns: u64,
    /// Other censuses: PROF.
    pub census_ns: u64,
    /// The checker: CHECK.
    pub check_ns: u64,
    /// All other looks: INSPECT.
    pub inspect_ns: u64,
}

impl LookTimes {
    /// The lines of `-s` for them, with their names. As there, the first two appear if either took
    /// time, each other one if it did.
    pub fn lines(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let censuses = self.retainers_ns > 0 || self.census_ns > 0;
        let lines = [
            ("RP", self.retainers_ns, censuses),
            ("PROF", self.census_ns, censuses),
            ("CHECK", self.check_ns, self.check_ns > 0),
            ("INSPECT", self.inspect_ns, self.inspect_ns > 0),
        ];
        lines
            .into_iter()
            .filter_map(|(name, ns, is_there)| is_there.then_some((name, ns)))
    }

    /// The time of all of them.
    pub fn total_ns(&self) -> u64 {
        let times = [self.retainers_ns, self.census_ns, self.check_ns, self.inspect_ns];
        times.into_iter().fold(0, u64::saturating_add)
    }
}

/// Live data after the major collections.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Live {
    /// The number of major collections.
    pub samples: u64,
    /// The maximum, in bytes.
    pub max: u64,
    /// The sum of the bytes.
    pub sum: u64,
}

/// The collections of one generation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Generation {
    /// The number of collections.
    pub collections: u64,
    /// How many of these had several GC threads.
    pub par_collections: u64,
    /// The sum of their pauses.
    pub elapsed_ns: u64,
    /// The longest pause.
    pub max_pause_ns: u64,
    /// Maximum slop after one, in bytes.
    pub max_slop: u64,
}

impl Generation {
    /// The mean pause in whole nanoseconds, as GHC computes it.
    pub fn avg_pause_ns(&self) -> u64 {
        self.elapsed_ns.checked_div(self.collections).unwrap_or(0)
    }
}

/// Bytes copied by parallel collections.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Parallel {
    /// Bytes copied by all GC threads.
    pub copied: u64,
    /// Bytes copied by the busiest GC thread of each collection.
    pub max_copied: u64,
    /// Bytes copied in balance; GHC 8.2 and older do not tell.
    pub balanced: Option<u64>,
    /// The most GC threads of a collection.
    pub threads: u64,
}

impl Parallel {
    /// How balanced the work of the GC threads was, 0 to 1: by GHC's formula, or by GHC 8.2's in
    /// logs of that version and older.
    pub fn balance(&self) -> f64 {
        let share = |part: u64, whole: u64| if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
        match self.balanced {
            Some(balanced) => share(balanced, self.copied),
            None if self.threads < 2 || self.max_copied == 0 => 0.0,
            None => (share(self.copied, self.max_copied) - 1.0) / (self.threads - 1) as f64,
        }
    }
}

/// Sparks by fate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sparks {
    /// Put into a pool.
    pub created: u64,
    /// Already evaluated when they were made.
    pub dud: u64,
    /// Dropped because the pool was full.
    pub overflowed: u64,
    /// Evaluated in parallel.
    pub converted: u64,
    /// Found dead by a collection.
    pub gcd: u64,
    /// Evaluated by the program before a thread took them.
    pub fizzled: u64,
}

impl Sparks {
    /// The sparks so far after an event of them: the counters, or one more.
    pub(crate) fn after(mut self, event: &Event<'_>, number: u16) -> Option<Sparks> {
        let one = match number {
            SPARK_CREATE => &mut self.created,
            SPARK_DUD => &mut self.dud,
            SPARK_OVERFLOW => &mut self.overflowed,
            SPARK_RUN | SPARK_STEAL => &mut self.converted,
            SPARK_FIZZLE => &mut self.fizzled,
            SPARK_GC => &mut self.gcd,
            _ => {
                let [created, dud, overflowed, converted, gcd, fizzled] = event.numbers();
                return Some(Sparks {
                    created: created?,
                    dud: dud?,
                    overflowed: overflowed?,
                    converted: converted?,
                    gcd: gcd?,
                    fizzled: fizzled?,
                });
            }
        };
        *one = one.saturating_add(1);
        Some(self)
    }

    /// The number of all sparks.
    pub fn total(&self) -> u64 {
        self.created.saturating_add(self.dud).saturating_add(self.overflowed)
    }
}

/// Stops of the program: number, sum and longest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stops {
    /// The number of stops.
    pub count: u64,
    /// The sum of their lengths.
    pub total_ns: u64,
    /// The longest one.
    pub max_ns: u64,
}

impl Stops {
    pub(super) fn add(&mut self, ns: u64) {
        self.count += 1;
        self.total_ns = self.total_ns.saturating_add(ns);
        self.max_ns = self.max_ns.max(ns);
    }

    /// The mean in whole nanoseconds; 0 without any.
    pub fn avg_ns(&self) -> u64 {
        self.total_ns.checked_div(self.count).unwrap_or(0)
    }
}

/// What one capability did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CapTimes {
    /// The capability's number.
    pub cap: u16,
    /// Bytes that it allocated.
    pub allocated: Option<u64>,
    /// The time in which it ran Haskell threads.
    pub ran_ns: u64,
    /// The collections that it took part in.
    pub collections: u64,
    /// The time from its stops until it resumed.
    pub gc_ns: u64,
    /// Of this, the time in which its GC thread had no work while others may have had some.
    pub idle_ns: u64,
    /// Of this, the time after its GC thread had finished.
    pub done_ns: u64,
}
