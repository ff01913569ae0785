//! What one run wrote down: one process, one line of JSON in `runs.jsonl`.
//!
//! Terms: a *configuration* is what could change a result (collector, workload, arguments, flags); a *run* is one process
//! of one configuration; a *round* is one pass over all configurations. A figure that nobody measured is absent (`None`,
//! the key is not written); none is ever derived from printed text. Totals are in seconds, as in GHC's `--machine-readable`;
//! pauses are in integer nanoseconds, as in GHC's `GCDetails`. Byte figures are bytes.
//!
//! [`SCHEMA`] goes up when a key changes its meaning or goes away; new keys do not raise it, readers pass over what they do not know.

use crate::schema::documented;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of the lines in `runs.jsonl` and of `plan.json` that this crate writes, and the newest that it reads.
pub const SCHEMA: u32 = 1;

documented! {
    /// One run: what was asked, how it ended, what the operating system saw and what the heap counted.
    #[derive(Default)]
    pub struct RunRecord {
        /// Version of this record's schema.
        pub schema: u32,
        /// Version of the gclab that wrote the line.
        pub gclab: String,
        /// Names the run within its plan: `PlannedRun.id`.
        pub id: String,
        /// Names the configuration: `Configuration::id`, a hash of collector, workload, arguments and flags.
        pub cell: String,
        /// The collector that ran.
        pub collector: String,
        /// The workload that ran.
        pub workload: String,
        /// The workload's arguments, as given.
        pub args: Vec<String>,
        /// The flags given, by their names in experiment files, with the text of their values.
        pub flags: BTreeMap<String, String>,
        /// The whole command line; repeating it repeats the run.
        pub command: Vec<String>,
        /// Which repetition of its configuration this is, from 0.
        pub round: u32,
        /// Place in the order of all runs of the plan, from 0.
        pub position: u32,
        /// Seed of the order of runs, as in `plan.json`.
        pub seed: u64,
        /// When the process was started: UTC, RFC 3339, e.g. `2026-01-31T12:00:00Z`.
        pub started: Option<String>,
        /// The machine's name, when runs of several machines may be mixed.
        pub host: Option<String>,
        /// Load average over one minute just before the run.
        pub load_average: Option<f64>,
        /// Times the process gave the processor up by itself (`ru_nvcsw`).
        pub voluntary_context_switches: Option<u64>,
        /// Times the processor was taken from the process (`ru_nivcsw`): many of them mean a disturbed run.
        pub involuntary_context_switches: Option<u64>,
        /// Page faults served without reading from disk (`ru_minflt`).
        pub minor_page_faults: Option<u64>,
        /// Page faults that read from disk (`ru_majflt`).
        pub major_page_faults: Option<u64>,
        /// How the run ended.
        pub outcome: Status,
        /// The workload's checksum, a decimal number as text (JSON numbers lose digits beyond 2^53).
        pub checksum: Option<String>,
        /// The last lines of standard error, when the run did not end well.
        pub stderr_tail: Option<String>,
        /// From the start of the process to its end, measured by whoever started it, in seconds.
        pub wall_seconds: Option<f64>,
        /// User CPU time of the process by the operating system, in seconds.
        pub user_seconds: Option<f64>,
        /// System CPU time of the process by the operating system, in seconds.
        pub system_seconds: Option<f64>,
        /// Largest resident set of the process by the operating system, in bytes.
        pub max_rss_bytes: Option<u64>,
        /// What the heap counted; absent when the run ended before it could write it.
        pub stats: Option<RunStats>,
    }
}

/// How a run ended. Only [`Status::Ok`] runs enter any statistic of times.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "kebab-case")]
pub enum Status {
    /// Exit status 0 and a checksum.
    #[default]
    Ok,
    /// The heap ran out under `-M`: exit status 251.
    HeapExhausted,
    /// The command line, a flag or an argument was refused: exit status 2.
    Usage,
    /// Anything else: a panic, an abort, a signal.
    Crash {
        /// The exit status, when the process ended by itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exit_code: Option<i32>,
        /// The signal that killed it, when one did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signal: Option<i32>,
    },
    /// Killed because it ran longer than the experiment allows.
    Timeout,
}

impl crate::schema::Absent for Status {}

impl Status {
    /// The word that tables and reports use: `ok`, `heap exhausted`, `usage error`, `crash`, `timeout`.
    pub fn kind(&self) -> &'static str {
        match self {
            Status::Ok => "ok",
            Status::HeapExhausted => "heap exhausted",
            Status::Usage => "usage error",
            Status::Crash { .. } => "crash",
            Status::Timeout => "timeout",
        }
    }

    /// Whether the run ended as it should.
    pub fn is_ok(&self) -> bool {
        *self == Status::Ok
    }
}

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.kind())?;
        match self {
            Status::Crash {
                signal: Some(signal),
                ..
            } => write!(f, " (signal {signal})"),
            Status::Crash {
                exit_code: Some(code),
                ..
            } => write!(f, " (exit status {code})"),
            _ => Ok(()),
        }
    }
}

documented! {
    /// The totals of a run, by GHC's names with their units, and every collection.
    #[derive(Default)]
    pub struct RunStats {
        /// Bytes allocated by the mutator.
        pub allocated_bytes: Option<u64>,
        /// Bytes copied by all collections.
        pub copied_bytes: Option<u64>,
        /// Largest live data after a major collection.
        pub max_live_bytes: Option<u64>,
        /// Sum of the live data after each major collection; divided by `major_gcs` it is the mean residency.
        pub cumulative_live_bytes: Option<u64>,
        /// Largest bytes in large objects after a collection.
        pub max_large_objects_bytes: Option<u64>,
        /// Largest slop (bytes in live blocks that hold no live data) after a major collection.
        pub max_slop_bytes: Option<u64>,
        /// Most memory that the heap had mapped at any moment, whole megablocks.
        pub peak_in_use_bytes: Option<u64>,
        /// Of the peak, what blocks never filled: memory lost to fragmentation.
        pub fragmentation_bytes: Option<u64>,
        /// CPU time before the program began.
        pub init_cpu_seconds: Option<f64>,
        /// Elapsed time before the program began.
        pub init_elapsed_seconds: Option<f64>,
        /// CPU time of the program itself.
        pub mut_cpu_seconds: Option<f64>,
        /// Elapsed time of the program itself.
        pub mut_elapsed_seconds: Option<f64>,
        /// CPU time of all collections.
        pub gc_cpu_seconds: Option<f64>,
        /// Elapsed time of all collections.
        pub gc_elapsed_seconds: Option<f64>,
        /// CPU time of closing down.
        pub exit_cpu_seconds: Option<f64>,
        /// Elapsed time of closing down.
        pub exit_elapsed_seconds: Option<f64>,
        /// CPU time of the run inside the process.
        pub total_cpu_seconds: Option<f64>,
        /// Elapsed time of the run inside the process.
        pub total_elapsed_seconds: Option<f64>,
        /// Number of collections.
        pub gcs: Option<u64>,
        /// Number of collections of the oldest generation.
        pub major_gcs: Option<u64>,
        /// Bytes copied by parallel collections.
        pub par_copied_bytes: Option<u64>,
        /// Work balance of parallel collections: 0 serial, 1 perfect.
        pub work_balance: Option<f64>,
        /// Number of capabilities.
        pub capabilities: Option<u32>,
        /// Counts by generation, youngest first.
        #[serde(default)]
        pub generations: Vec<Generation>,
        /// Every collection, in order of time.
        #[serde(default)]
        pub collections: Vec<Pause>,
        /// Anything else the run wants to say about itself, as text.
        #[serde(default)]
        pub metadata: BTreeMap<String, String>,
    }
}

documented! {
    /// The collections of one generation.
    #[derive(Default)]
    pub struct Generation {
        /// Number of collections of this generation.
        pub collections: u64,
        /// How many of them were parallel.
        pub par_collections: Option<u64>,
        /// CPU time of them all, in seconds.
        pub cpu_seconds: Option<f64>,
        /// Elapsed time of them all, in seconds.
        pub elapsed_seconds: Option<f64>,
        /// Longest of them, elapsed, in seconds.
        pub max_pause_seconds: Option<f64>,
    }
}

documented! {
    /// One collection. The mutator stands still for `sync_ns + elapsed_ns`.
    #[derive(Default)]
    pub struct Pause {
        /// The oldest generation collected.
        pub generation: u32,
        /// Whether it was a collection of the oldest generation there is.
        pub major: bool,
        /// When it began, in nanoseconds since the run began.
        pub start_ns: u64,
        /// Time to stop all mutator threads, before `elapsed_ns`.
        pub sync_ns: Option<u64>,
        /// Elapsed time with the mutator stopped, in nanoseconds.
        pub elapsed_ns: u64,
        /// CPU time of all threads of the collector, in nanoseconds.
        pub cpu_ns: Option<u64>,
        /// Number of threads that collected.
        pub threads: Option<u32>,
        /// Bytes allocated since the collection before.
        pub allocated_bytes: Option<u64>,
        /// Bytes copied.
        pub copied_bytes: Option<u64>,
        /// Of those, bytes moved into an older generation.
        pub promoted_bytes: Option<u64>,
        /// Bytes live afterwards; generations that were not collected count whole.
        pub live_bytes: Option<u64>,
        /// Bytes in large objects afterwards.
        pub large_objects_bytes: Option<u64>,
        /// Bytes in live blocks that hold no live data, afterwards.
        pub slop_bytes: Option<u64>,
        /// Bytes of memory mapped for the heap afterwards.
        pub in_use_bytes: Option<u64>,
        /// Bytes of mapped megablocks that no block uses, afterwards.
        pub fragmentation_bytes: Option<u64>,
        /// Entries of the remembered set that were looked at.
        pub remembered: Option<u64>,
    }
}

impl RunRecord {
    /// What could change the result of this run.
    pub fn configuration(&self) -> Configuration {
        Configuration {
            collector: self.collector.clone(),
            workload: self.workload.clone(),
            args: self.args.clone(),
            flags: self.flags.clone(),
        }
    }

    /// A record for a run that was planned, with nothing measured yet.
    pub fn planned(run: &PlannedRun, seed: u64) -> RunRecord {
        RunRecord {
            schema: SCHEMA,
            gclab: env!("CARGO_PKG_VERSION").to_owned(),
            id: run.id.clone(),
            cell: run.cell.clone(),
            collector: run.collector.clone(),
            workload: run.workload.clone(),
            args: run.args.clone(),
            flags: run.flags.clone(),
            round: run.round,
            position: run.position,
            seed,
            ..RunRecord::default()
        }
    }
}

/// All that could change the result of a run, and nothing else: no time limits, no labels.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Configuration {
    /// The workload's name.
    pub workload: String,
    /// The workload's arguments.
    pub args: Vec<String>,
    /// The collector's name.
    pub collector: String,
    /// The flags given, by their names in experiment files.
    pub flags: BTreeMap<String, String>,
}

impl Configuration {
    /// A stable name: 16 hexadecimal digits, the FNV-1a hash of all parts. It is the same on every machine and in every
    /// version, so that results of several folders can be matched.
    pub fn id(&self) -> String {
        let mut hash = Fnv1a::new();
        hash.part(&self.collector);
        hash.part(&self.workload);
        self.args.iter().for_each(|arg| hash.part(arg));
        hash.end_of_list();
        for (name, value) in &self.flags {
            hash.part(name);
            hash.part(value);
        }
        format!("{:016x}", hash.0)
    }

    /// The workload with its arguments, as on a command line.
    pub fn work(&self) -> String {
        let mut words = vec![self.workload.clone()];
        words.extend(self.args.iter().cloned());
        words.join(" ")
    }
}

impl std::fmt::Display for Configuration {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, {}", self.work(), self.collector)?;
        self.flags
            .iter()
            .try_for_each(|(name, value)| write!(f, " {name}={value}"))
    }
}

/// FNV-1a, 64 bits (Fowler, Noll, Vo): small and the same everywhere, which std's hashers do not promise.
struct Fnv1a(u64);

impl Fnv1a {
    const OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;

    fn new() -> Self {
        Fnv1a(Self::OFFSET_BASIS)
    }

    fn byte(&mut self, byte: u8) {
        self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(Self::PRIME);
    }

    /// A part ends in a byte that UTF-8 text never contains, so that `ab`, `c` and `a`, `bc` differ.
    fn part(&mut self, text: &str) {
        text.bytes().for_each(|b| self.byte(b));
        self.byte(0xff);
    }

    fn end_of_list(&mut self) {
        self.byte(0xfe);
    }
}

documented! {
    /// One run of a plan, before it is done. Runs are done in the order of `position`.
    #[derive(Default)]
    pub struct PlannedRun {
        /// Names the run: the configuration's id, `-`, and the round.
        pub id: String,
        /// Names the configuration: `Configuration::id`.
        pub cell: String,
        /// Place in the order of all runs, from 0.
        pub position: u32,
        /// Which repetition of its configuration this is, from 0.
        pub round: u32,
        /// The collector's name.
        pub collector: String,
        /// The workload's name.
        pub workload: String,
        /// The workload's arguments.
        pub args: Vec<String>,
        /// The flags given, by their names in experiment files.
        pub flags: BTreeMap<String, String>,
    }
}

impl PlannedRun {
    /// The run of `configuration` in `round` at `position`, with its ids.
    pub fn new(configuration: Configuration, round: u32, position: u32) -> PlannedRun {
        let cell = configuration.id();
        PlannedRun {
            id: format!("{cell}-{round}"),
            cell,
            position,
            round,
            collector: configuration.collector,
            workload: configuration.workload,
            args: configuration.args,
            flags: configuration.flags,
        }
    }
}

/// A moment as text: UTC, RFC 3339, whole seconds, e.g. `2026-01-31T12:00:00Z`. Moments before 1970 are shown as 1970.
pub fn rfc3339(moment: std::time::SystemTime) -> String {
    let seconds = moment
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |d| d.as_secs());
    let (days, of_day) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil_from_days(days);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z",
        of_day / 3600,
        of_day / 60 % 60,
        of_day % 60
    )
}

/// The date of a day counted from 1970-01-01 (H. Hinnant, "chrono-Compatible Low-Level Date Algorithms"): years are counted
/// from March, so that the leap day is the last of its year.
fn civil_from_days(days: u64) -> (u64, u64, u64) {
    const DAYS_FROM_0000_03_01: u64 = 719_468;
    const DAYS_IN_400_YEARS: u64 = 146_097;
    let days = days + DAYS_FROM_0000_03_01;
    let (era, of_era) = (days / DAYS_IN_400_YEARS, days % DAYS_IN_400_YEARS);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::rfc3339;
    use std::time::{Duration, UNIX_EPOCH};

    #[test]
    fn moments_around_leap_days_and_centuries() {
        // Expected values by `date -u -d @N`.
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_709_251_199, "2024-02-29T23:59:59Z"),
            (1_709_251_200, "2024-03-01T00:00:00Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (1_795_248_783, "2026-11-21T08:13:03Z"),
        ] {
            assert_eq!(rfc3339(UNIX_EPOCH + Duration::from_secs(seconds)), text);
        }
    }
}
