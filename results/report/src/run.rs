//! A run as reports keep it: some hundred bytes, since a folder may have a million runs.
//!
//! Terms: a *column* is a figure that reports know (`metric`); a run holds the values of those
//! columns that it has and that the report asks for. Facts that the runs of a configuration have in
//! common are *shared*: they are in memory once. Everything else of a record stays in the file;
//! [`Run::record`] reads it again for the few runs of which a page shows more.

use gclab_inference::nearest_rank;
use gclab_results::reading::record_at;
use gclab_results::{Configuration, Purpose, ResultsError, RunRecord, Status};
use std::collections::BTreeMap;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

/// The percentiles of pauses that records have.
pub(crate) const PERCENTILES: [f64; 4] = [50.0, 90.0, 99.0, 99.9];

/// Facts that the runs of a configuration have in common.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Shared {
    /// The id of the configuration.
    pub(crate) cell: String,
    /// The configuration.
    pub(crate) configuration: Configuration,
    /// Its `-M` as a multiple of the workload's reference minimum, in an experiment with `heap`.
    pub(crate) heap_multiple: Option<f64>,
    /// The flags of the heap profile of a profiled run.
    pub(crate) profile_flags: Option<String>,
    /// Whether the run wrote an event log.
    pub(crate) eventlog: Option<bool>,
    /// The command line.
    pub(crate) command: Vec<String>,
}

impl Shared {
    /// The purpose of the run.
    pub(crate) fn purpose(&self) -> Purpose<'_> {
        Purpose::new(self.profile_flags.as_deref(), self.eventlog)
    }
}

/// The columns that a run holds.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Columns {
    /// The place of each column's value among those of the run; [`NOWHERE`] if the run has none.
    pub(crate) places: Box<[u16]>,
}

/// The place of a column that a run does not have.
pub(crate) const NOWHERE: u16 = u16::MAX;

/// The pauses of the measured phase of a run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Pauses {
    /// None are known, or the report does not ask for them.
    Unknown,
    /// All of them, sorted, in nanoseconds; whether the record has their percentiles as well.
    Single(Box<[u64]>, bool),
    /// The figures that the record has of them. Its single collections were too many.
    Told(Option<Box<ToldPauses>>),
}

/// Figures of the pauses of a run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ToldPauses {
    /// The number of pauses.
    pub(crate) count: u64,
    /// The longest one, in nanoseconds.
    pub(crate) max_ns: Option<u64>,
    /// The [`PERCENTILES`], in nanoseconds.
    pub(crate) percentiles: [Option<u64>; 4],
}

impl Pauses {
    /// The figures, if the record has them.
    pub(crate) fn told(&self) -> Option<ToldPauses> {
        match self {
            Pauses::Unknown | Pauses::Single(_, false) => None,
            Pauses::Single(sorted, true) => Some(ToldPauses {
                count: sorted.len() as u64,
                max_ns: sorted.last().copied(),
                percentiles: PERCENTILES.map(|percent| nearest_rank(sorted, percent)),
            }),
            Pauses::Told(told) => told.as_deref().cloned(),
        }
    }

    /// The single pauses, sorted, in nanoseconds.
    pub(crate) fn single(&self) -> &[u64] {
        match self {
            Pauses::Single(sorted, _) => sorted,
            _ => &[],
        }
    }
}

/// Facts that few runs have, or that few reports show.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct More {
    /// The number of requests that the run answered.
    pub(crate) requests: Option<u64>,
    /// The number of requests that were to start in a second, in an open loop.
    pub(crate) rate_per_second: Option<u64>,
    /// The figures that `stats` of a program took from its output, by name.
    pub(crate) named: Vec<(Arc<str>, f64)>,
    /// The checks that failed during the run.
    pub(crate) disturbances: Option<Arc<Vec<String>>>,
    /// The facts of the machine that were not as in the plan.
    pub(crate) machine_changes: Option<Arc<BTreeMap<String, String>>>,
    /// How often each way to share the work was chosen in collections of each generation.
    pub(crate) sharing: Vec<(usize, Arc<str>, u64)>,
    /// The times of all threads in parallel collections, in nanoseconds: at work, waking up, idle,
    /// in termination.
    pub(crate) thread_times: Option<[u64; 4]>,
}

/// A run in memory.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    pub(crate) shared: Arc<Shared>,
    /// The name of the run within its plan.
    pub(crate) id: Box<str>,
    /// The start of the process, if the report asks for it.
    pub(crate) started: Option<Box<str>>,
    /// The number of the repetition of its configuration.
    pub(crate) round: u32,
    /// Its place in the order of all runs.
    pub(crate) position: u32,
    /// Its outcome.
    pub(crate) outcome: Status,
    /// The workload's checksum.
    pub(crate) checksum: Option<Arc<str>>,
    pub(crate) columns: Arc<Columns>,
    pub(crate) values: Box<[f64]>,
    /// The pauses of its measured phase.
    pub(crate) pauses: Pauses,
    /// Whether its statistics have phases; `None` without statistics.
    pub(crate) has_phases: Option<bool>,
    pub(crate) more: Option<Box<More>>,
    /// The folder with its record.
    pub(crate) folder: Arc<Path>,
    /// The byte of `runs.jsonl` at which its record begins.
    pub(crate) start: u64,
}

impl Deref for Run {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.shared
    }
}

/// The facts of a run that has no more.
static NO_MORE: More = More {
    requests: None,
    rate_per_second: None,
    named: Vec::new(),
    disturbances: None,
    machine_changes: None,
    sharing: Vec::new(),
    thread_times: None,
};

impl Run {
    /// The value of a column, if the run has it.
    pub(crate) fn value(&self, column: u16) -> Option<f64> {
        let place = *self.columns.places.get(usize::from(column))?;
        self.values.get(usize::from(place)).copied()
    }

    /// The facts that few runs have.
    pub(crate) fn more(&self) -> &More {
        self.more.as_deref().unwrap_or(&NO_MORE)
    }

    /// Reads the whole record again.
    ///
    /// # Errors
    /// If the file cannot be read, or has changed.
    pub(crate) fn record(&self) -> Result<RunRecord, ResultsError> {
        record_at(&self.folder, self.start)
    }

    /// Whether the two are the same run: their records are equal.
    pub(crate) fn is_same(&self, other: &Run) -> bool {
        let place = |run: &Run| (Arc::clone(&run.folder), run.start);
        let in_memory = |run: &Run| {
            let figures: Vec<u64> = run.values.iter().map(|value| value.to_bits()).collect();
            (run.id.clone(), run.outcome.clone(), run.checksum.clone(), figures)
        };
        if place(self) == place(other) {
            return true;
        }
        // Most runs differ in their times; the records of the others decide.
        in_memory(self) == in_memory(other)
            && matches!((self.record(), other.record()), (Ok(one), Ok(two)) if one == two)
    }
}
