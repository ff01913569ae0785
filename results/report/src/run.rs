//! A run as reports keep it: 48 bytes, since a folder may have millions of runs.
//!
//! Terms: a *column* is a figure that reports know (`metric`); a run has the values of those
//! columns that its record has and that the report asks for. Numbers that are no column are
//! *asides*. The values are in the [`Figures`] of all runs with the same [`Facts`]: those of the
//! configuration ([`Shared`]), the outcome, the checksum, the columns that there are, and what else
//! many runs have in common. Facts are in memory once. Everything else of a record stays in the
//! file; [`Run::record`] reads it again for the few runs of which a page shows more.

use crate::figures::Figures;
use crate::inference::nearest_rank;
use gclab_results::reading::record_at;
use gclab_results::{Configuration, Purpose, ResultsError, RunRecord, Status, time};
use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, HashSet};
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::path::Path;
use std::sync::{Arc, OnceLock};

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

/// A number of a run that is no column of tables.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Aside {
    /// The number of requests that the run answered.
    Requests,
    /// The number of pauses.
    Pauses,
    /// The longest pause, in nanoseconds.
    LongestPause,
    /// The first of the [`PERCENTILES`] of pauses, in nanoseconds; the others follow.
    Percentile,
    /// The first of the [`Run::thread_times`]; the others follow.
    ThreadTime = Aside::Percentile as isize + PERCENTILES.len() as isize,
    /// The start of the process, in seconds since 1970.
    Started = Aside::ThreadTime as isize + 4,
}

/// The number of asides.
pub(crate) const ASIDES: usize = Aside::Started as usize + 1;

/// The place of a value that a run does not have.
pub(crate) const NOWHERE: u16 = u16::MAX;

/// The places of the values of a run in its row of figures; [`NOWHERE`] for those it does not have.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Places {
    /// The place of each column.
    pub(crate) columns: Box<[u16]>,
    /// The place of each aside.
    pub(crate) asides: [u16; ASIDES],
}

/// The pauses of a run that are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Known {
    /// None, or the report does not ask for them.
    Nothing,
    /// Each single one. The record does not have their percentiles.
    Single,
    /// Each single one, and their percentiles.
    SingleAndFigures,
    /// Their percentiles alone.
    Figures,
}

/// Facts that many runs of a configuration have in common.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Kind {
    /// The outcome.
    pub(crate) outcome: Status,
    /// The workload's checksum.
    pub(crate) checksum: Option<Arc<str>>,
    /// The name of the run within its plan, without the number of its round at the end. Absent if
    /// the name has no such number.
    pub(crate) stem: Option<Arc<str>>,
    /// Whether its statistics have phases; `None` without statistics.
    pub(crate) has_phases: Option<bool>,
    /// The pauses that the record has.
    pub(crate) pauses: Known,
    /// Whether the start of the process is a text that no number of seconds stands for.
    pub(crate) odd_start: bool,
    /// The number of requests that were to start in a second, in an open loop.
    pub(crate) rate_per_second: Option<u64>,
    /// The checks that failed during the run.
    pub(crate) disturbances: Option<Vec<String>>,
    /// The facts of the machine that were not as in the plan.
    pub(crate) machine_changes: Option<BTreeMap<String, String>>,
    /// The places of columns and asides in a row.
    pub(crate) places: Arc<Places>,
    /// The names of the figures that `stats` of a program took from its output. Their values follow
    /// those of columns and asides.
    pub(crate) named: Vec<Arc<str>>,
    /// The names of the figures that only some collectors have. Their values follow those of
    /// `named`.
    pub(crate) own: Vec<Arc<str>>,
    /// The ways to share the work in collections of each generation. The numbers of collections
    /// follow the values of `own`.
    pub(crate) sharing: Vec<(usize, Arc<str>)>,
}

/// The facts of some runs, with their figures.
#[derive(Debug)]
pub(crate) struct Facts {
    /// Those that they have in common with all runs of the configuration.
    pub(crate) shared: Arc<Shared>,
    /// Those that they alone have in common.
    pub(crate) kind: Arc<Kind>,
    /// The folder with their records.
    pub(crate) folder: Arc<Path>,
    /// Their figures, from the end of reading on.
    pub(crate) figures: OnceLock<Figures>,
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

impl ToldPauses {
    /// The figures of sorted pauses.
    pub(crate) fn of_single(sorted: &[u64]) -> ToldPauses {
        ToldPauses {
            count: sorted.len() as u64,
            max_ns: sorted.last().copied(),
            percentiles: PERCENTILES.map(|percent| nearest_rank(sorted, percent)),
        }
    }
}

/// Single pauses, sorted, in nanoseconds. The box keeps a run small, as few runs have them.
pub(crate) type Single = Option<Box<Vec<u64>>>;

/// A run in memory.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    pub(crate) facts: Arc<Facts>,
    /// The row of its values in the figures of its facts.
    pub(crate) row: u32,
    /// The number of the repetition of its configuration.
    pub(crate) round: u32,
    /// Its place in the order of all runs.
    pub(crate) position: u32,
    /// The hash of its name within its plan.
    pub(crate) hash: u64,
    /// The byte of `runs.jsonl` at which its record begins.
    pub(crate) start: u64,
    /// Its single pauses, unless the report does not ask for them, or has too many.
    pub(crate) single: Single,
}

impl Deref for Facts {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.shared
    }
}

impl Deref for Run {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.facts.shared
    }
}

impl Run {
    fn at(&self, place: u16) -> Option<f64> {
        let figures = self.facts.figures.get()?;
        (place != NOWHERE).then(|| figures.value(self.row, place))
    }

    /// The value of a column, if the run has it.
    pub(crate) fn value(&self, column: u16) -> Option<f64> {
        self.at(*self.kind().places.columns.get(usize::from(column))?)
    }

    fn aside(&self, aside: Aside, further: usize) -> Option<f64> {
        self.at(self.kind().places.asides[aside as usize + further])
    }

    fn whole(&self, aside: Aside, further: usize) -> Option<u64> {
        self.aside(aside, further).map(|value| value as u64)
    }

    /// The facts that it has in common with other runs of its configuration.
    pub(crate) fn kind(&self) -> &Kind {
        &self.facts.kind
    }

    /// Its outcome.
    pub(crate) fn outcome(&self) -> &Status {
        &self.kind().outcome
    }

    /// The workload's checksum.
    pub(crate) fn checksum(&self) -> Option<&str> {
        self.kind().checksum.as_deref()
    }

    /// Its name within its plan. An unusual one is read from its record.
    ///
    /// # Errors
    /// If the record cannot be read.
    pub(crate) fn id(&self) -> Result<String, ResultsError> {
        match &self.kind().stem {
            Some(stem) => Ok(format!("{stem}-{}", self.round)),
            None => Ok(self.record()?.id),
        }
    }

    /// The start of its process as its record has it, if the report asks for it.
    ///
    /// # Errors
    /// If an unusual text is to be read again and cannot be.
    pub(crate) fn started(&self) -> Result<Option<String>, ResultsError> {
        if self.kind().odd_start {
            return Ok(self.record()?.started);
        }
        Ok(self.whole(Aside::Started, 0).map(time::text_of))
    }

    /// The number of requests that it answered.
    pub(crate) fn requests(&self) -> Option<u64> {
        self.whole(Aside::Requests, 0)
    }

    /// The single pauses, sorted, in nanoseconds; none if they are not known one by one.
    pub(crate) fn single_pauses(&self) -> &[u64] {
        self.single.as_deref().map_or(&[], Vec::as_slice)
    }

    /// Whether it has pauses that are not known one by one.
    pub(crate) fn has_only_told_pauses(&self) -> bool {
        self.kind().pauses != Known::Nothing && self.single.is_none()
    }

    /// The figures of its pauses, if its record has them, or had the single ones.
    pub(crate) fn told_pauses(&self) -> Option<ToldPauses> {
        if self.kind().pauses == Known::Single && self.single.is_some() {
            return None;
        }
        Some(ToldPauses {
            count: self.whole(Aside::Pauses, 0)?,
            max_ns: self.whole(Aside::LongestPause, 0),
            percentiles: std::array::from_fn(|percent| self.whole(Aside::Percentile, percent)),
        })
    }

    /// The figures that `stats` of a program took from its output, by name.
    pub(crate) fn named(&self) -> impl Iterator<Item = (&Arc<str>, f64)> {
        self.kind().named.iter().zip(self.after(0))
    }

    /// The figures that only some collectors have, by name.
    pub(crate) fn own(&self) -> impl Iterator<Item = (&Arc<str>, f64)> {
        let Kind { named, own, .. } = self.kind();
        own.iter().zip(self.after(named.len()))
    }

    /// How often each way to share the work was chosen in collections of each generation.
    pub(crate) fn sharing(&self) -> impl Iterator<Item = (usize, &Arc<str>, u64)> {
        let Kind {
            named, own, sharing, ..
        } = self.kind();
        let ways = sharing.iter().zip(self.after(named.len() + own.len()));
        ways.map(|((generation, way), count)| (*generation, way, count as u64))
    }

    /// The values behind those of columns and asides, from the one with this number on.
    fn after(&self, number: usize) -> impl Iterator<Item = f64> {
        let first = self.kind().places.count() + number;
        (first as u16..).map_while(|place| self.at(place))
    }

    /// The times of all threads in parallel collections, in nanoseconds: at work, waking up, idle,
    /// in termination.
    pub(crate) fn thread_times(&self) -> Option<[u64; 4]> {
        let times = std::array::from_fn(|number| self.whole(Aside::ThreadTime, number));
        let [Some(work), Some(start), Some(idle), Some(termination)] = times else {
            return None;
        };
        Some([work, start, idle, termination])
    }

    /// Reads the whole record again.
    ///
    /// # Errors
    /// If the file cannot be read, or has changed.
    pub(crate) fn record(&self) -> Result<RunRecord, ResultsError> {
        record_at(&self.facts.folder, self.start)
    }

    /// Whether the two are the same run: their records are equal.
    pub(crate) fn is_same(&self, other: &Run) -> bool {
        if (&self.facts.folder, self.start) == (&other.facts.folder, other.start) {
            return true;
        }
        let in_memory = |run: &Run| {
            let columns = 0..run.kind().places.columns.len() as u16;
            let figures: Vec<Option<u64>> = columns.map(|column| run.value(column).map(f64::to_bits)).collect();
            (run.hash, run.outcome().clone(), run.kind().checksum.clone(), figures)
        };
        // Most runs differ in their times; the records of the others decide.
        in_memory(self) == in_memory(other)
            && matches!((self.record(), other.record()), (Ok(one), Ok(two)) if one == two)
    }
}

/// The hash of the name of a run within its plan.
pub(crate) fn hash(id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    hasher.finish()
}

/// The first of the runs with each facts: enough for what runs have in common. A set of something
/// of all runs would have room for each run while it is made.
pub(crate) fn each_facts<'r>(runs: impl IntoIterator<Item = &'r Run>) -> impl Iterator<Item = &'r Run> {
    let mut seen: HashSet<*const Facts> = HashSet::new();
    runs.into_iter().filter(move |run| seen.insert(Arc::as_ptr(&run.facts)))
}

impl Places {
    /// The number of values of columns and asides.
    pub(crate) fn count(&self) -> usize {
        let all = self.columns.iter().chain(&self.asides);
        all.filter(|place| **place != NOWHERE).count()
    }
}
