//! The runs of a search as processes, with their records in a results folder.
//!
//! The folder's plan has every run that the search could ask for. A run that is in the folder is
//! not done again: so a search that was interrupted goes on, because it asks for the same runs and
//! is told the same figures. When the search is over, the plan becomes the list of the runs that
//! were done.

use std::collections::{BTreeSet, HashMap};
use std::io;

use gclab_results::{PlannedRun, ResultsDir, ResultsError, RunRecord};
use thiserror::Error;

use super::contestant::Measured;
use super::drive::Source;
use super::energy::Counters;
use super::figures::Figures;
use super::offer::Offer;
use super::search::{MOST_RUNS, Search};
use crate::run::Run;
use crate::runner::{Scratch, Sweep, one, progress};
use crate::text::{counted, last_lines};

/// The figure of a record that has the energy of a run.
const ENERGY: &str = "energy_joules";

/// The lines of a failed run's standard error that its reason has.
const LINES: usize = 3;

/// Why there can be no further runs. All runs that ended are on disk.
#[derive(Debug, Error)]
pub enum Stopped {
    /// A signal came.
    #[error("stopped by signal {0}")]
    Signal(i32),
    /// The results folder cannot be written.
    #[error(transparent)]
    Results(#[from] ResultsError),
    /// A process could not be started or waited for.
    #[error("cannot run {run}: {source}")]
    Child {
        /// The run in one line.
        run: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// An energy counter cannot be read.
    #[error("{0}")]
    Energy(String),
}

/// All runs that a search in `offer` could ask for: those of a setting stand together.
pub fn plan(offer: &Offer) -> Vec<Run> {
    let mut plan = Vec::new();
    for combination in &offer.combinations {
        for round in 0..MOST_RUNS {
            plan.push(Run::new(combination, round as u32, plan.len() as u32));
        }
    }
    plan
}

/// The runs of a search.
#[allow(missing_debug_implementations, reason = "a function has no text")]
pub struct Runner<'r> {
    results: &'r mut ResultsDir,
    plan: &'r [Run],
    sweep: &'r Sweep<'r>,
    energy: Option<Counters>,
    scratch: Scratch,
    /// The records of earlier runs by their ids.
    known: HashMap<String, RunRecord>,
    done: Vec<PlannedRun>,
    /// Gets a line for each part of the search.
    tell: &'r mut dyn FnMut(&str),
}

impl<'r> Runner<'r> {
    /// The runs of `plan`, with their records in `results`.
    ///
    /// # Errors
    /// If the folder for the files of a run cannot be made.
    pub fn new(
        results: &'r mut ResultsDir,
        plan: &'r [Run],
        sweep: &'r Sweep<'r>,
        energy: Option<Counters>,
        tell: &'r mut dyn FnMut(&str),
    ) -> io::Result<Runner<'r>> {
        let scratch = Scratch::new(results.path())?;
        let known = results.runs().iter().map(|run| (run.id.clone(), run.clone()));
        Ok(Runner {
            known: known.collect(),
            results,
            plan,
            sweep,
            energy,
            scratch,
            done: Vec::new(),
            tell,
        })
    }

    /// Makes the runs that were done the plan of the folder.
    ///
    /// # Errors
    /// If the plan cannot be written.
    pub fn finish(self) -> Result<(), ResultsError> {
        self.results.replace_plan(self.done)
    }

    /// Does a run, and records it.
    fn now(&self, run: &Run) -> Result<RunRecord, Stopped> {
        let before = self
            .energy
            .as_ref()
            .map(Counters::read)
            .transpose()
            .map_err(Stopped::Energy)?;
        let seed = self.results.manifest().seed;
        let record = one(run, seed, self.sweep, &self.scratch.path);
        let mut record = record
            .map_err(|source| Stopped::Child {
                run: progress::describe(&run.planned),
                source,
            })?
            .ok_or_else(|| Stopped::Signal(self.sweep.stop.signal().unwrap_or(0)))?;
        if let Some((counters, before)) = self.energy.as_ref().zip(before) {
            let after = counters.read().map_err(Stopped::Energy)?;
            let joules = counters.joules(&before, &after);
            record.figures.get_or_insert_default().insert(ENERGY.to_owned(), joules);
        }
        Ok(record)
    }
}

impl Source for Runner<'_> {
    type Stopped = Stopped;

    fn run(&mut self, setting: usize, number: usize) -> Result<Measured, Stopped> {
        if number >= MOST_RUNS {
            return Ok(Measured::NoMore);
        }
        let mut run = self.plan[setting * MOST_RUNS + number].clone();
        // Drift is told by the order in which runs were done.
        run.planned.position = self.done.len() as u32;
        let earlier = self.known.get(&run.planned.id);
        let record = match earlier {
            Some(record) => record.clone(),
            None => {
                let record = self.now(&run)?;
                self.results.append_run(record.clone())?;
                record
            }
        };
        self.done.push(run.planned);
        Ok(figures_of(&record).map_or_else(Measured::Failed, Measured::Ran))
    }

    fn batch(&mut self, search: &Search, batch: &[usize]) {
        let settings: BTreeSet<&usize> = batch.iter().collect();
        (self.tell)(&format!(
            "{}: {} of {}, after {}",
            search.part(),
            counted(batch.len(), "run"),
            counted(settings.len(), "setting"),
            search.asked()
        ));
    }
}

/// The figures of a run.
///
/// The time is that of the measured phase; of a program that does not tell one, that of the whole
/// process. The memory of gclab's workloads and of GHC's programs is the peak of the heap, that of
/// other programs the largest resident set.
///
/// # Errors
/// The reason why the run failed.
pub fn figures_of(record: &RunRecord) -> Result<Figures, String> {
    if !record.outcome.is_ok() {
        let tail = record.stderr_tail.as_deref().unwrap_or_default();
        return Err(format!("{}{}", record.outcome, last_lines(tail, LINES)));
    }
    let stats = record.stats.as_ref();
    let measured = stats
        .and_then(|stats| stats.phases.as_ref())
        .map(|phases| &phases.measured);
    let time = measured
        .and_then(|phase| phase.total_elapsed_seconds)
        .or(record.wall_seconds);
    let longest = stats.and_then(|stats| {
        let of_all = stats
            .pauses
            .as_ref()
            .map(|pauses| pauses.max_ns.unwrap_or(0) as f64 / 1e9);
        // GHC tells the longest pause of each generation.
        let generations = stats
            .generations
            .iter()
            .filter_map(|generation| generation.max_pause_seconds);
        of_all.or_else(|| generations.reduce(f64::max))
    });
    let heap = stats.and_then(|stats| stats.peak_in_use_bytes);
    let has_heap = matches!(record.runtime.as_deref(), None | Some("ghc"));
    let memory = if has_heap { heap } else { record.max_rss_bytes };
    Ok(Figures {
        time: time.ok_or_else(|| "its record has no time".to_owned())?,
        pause: longest,
        memory: memory.map(|bytes| bytes as f64),
        energy: record.figures.as_ref().and_then(|figures| figures.get(ENERGY)).copied(),
    })
}
