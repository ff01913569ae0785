//! A results folder as reports read it: its plan in numbers, and its runs with the facts that a
//! report asks for.
//!
//! Cost: the files are read once, line by line. In memory are some hundred bytes for each timed run
//! ([`crate::run`]), eight for each planned one, and the records of runs for heap profiles and
//! event logs without their single collections. A page lists the first [`MOST_LISTED`] runs and no
//! more, so neither its size nor the memory for its texts grows beyond them.

mod join;
mod keep;

pub use join::put_together;

use crate::run::{Run, Shared};
use gclab_results::reading::{each_planned, each_run, other_figures, record_at, runs_file};
use gclab_results::{EVENT_LOGS, Manifest, PROFILES, PlannedRun, Purpose, ResultsError, RunRecord, Status, TornLine};
use keep::{Keeper, Wanted, without_single};
use std::collections::hash_map::{DefaultHasher, Entry};
use std::collections::{BTreeSet, HashMap};
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The most runs that a page lists one by one. More are no use to a reader, and would take a
/// browser gigabytes.
pub(crate) const MOST_LISTED: usize = 20_000;

/// A run that was not timed, with its record.
#[derive(Debug, Clone)]
pub(crate) struct Untimed {
    /// The run.
    pub(crate) run: Run,
    /// Its record, without single collections.
    pub(crate) record: RunRecord,
}

/// A results folder, or several with parts of one plan, read for a report.
#[derive(Debug)]
pub struct Results {
    path: PathBuf,
    /// The folders that hold the files of the runs.
    folders: Vec<PathBuf>,
    /// The manifest, without the runs of its plan.
    manifest: Manifest,
    /// The runs of the plan, as far as a page lists them.
    first_planned: Vec<PlannedRun>,
    /// The hashes of the ids of all runs of the plan, sorted.
    planned: Vec<u64>,
    runs: Vec<Run>,
    profiled: Vec<Untimed>,
    logged: Vec<Untimed>,
    torn: Option<TornLine>,
}

/// The failures of one kind.
#[derive(Debug)]
pub struct Failures {
    /// The number of runs that failed so.
    pub count: usize,
    /// The first one.
    pub first: RunRecord,
}

/// The hash of a run's id.
fn hash(id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    hasher.finish()
}

impl Results {
    /// Reads a folder: its plan, and what a page or a table shows of its runs.
    ///
    /// # Errors
    /// Fails if there is no plan, if a line other than a torn last one is not a record, if two
    /// different records have the same id, or if a newer gclab wrote the folder.
    pub fn open(path: impl Into<PathBuf>) -> Result<Results, ResultsError> {
        Results::read(path.into(), Keeper::new(Wanted::for_report()))
    }

    /// The same for the table of all runs: [`crate::csv()`].
    ///
    /// # Errors
    /// As [`Results::open`].
    pub fn open_table(path: impl Into<PathBuf>) -> Result<Results, ResultsError> {
        Results::read(path.into(), Keeper::new(Wanted::for_table()))
    }

    /// The same with those figures alone that comparisons judge, which take less memory and time:
    /// for [`crate::compare`] and [`crate::history_of`].
    ///
    /// # Errors
    /// As [`Results::open`].
    pub fn open_compared(path: impl Into<PathBuf>) -> Result<Results, ResultsError> {
        Results::read(path.into(), Keeper::new(Wanted::for_comparison()))
    }

    fn read(path: PathBuf, mut keeper: Keeper) -> Result<Results, ResultsError> {
        let (mut first_planned, mut planned) = (Vec::new(), Vec::new());
        let manifest = each_planned(&path, &mut |run| {
            planned.push(hash(&run.id));
            if keeper.wanted.planned && first_planned.len() < MOST_LISTED {
                first_planned.push(run);
            }
        })?;
        planned.sort_unstable();
        let mut results = Results {
            folders: vec![path.clone()],
            path,
            manifest,
            first_planned,
            planned,
            runs: Vec::new(),
            profiled: Vec::new(),
            logged: Vec::new(),
            torn: None,
        };
        results.read_runs(&mut keeper)?;
        Ok(results)
    }

    fn read_runs(&mut self, keeper: &mut Keeper) -> Result<(), ResultsError> {
        let folder: Arc<Path> = self.path.as_path().into();
        let mut places: HashMap<u64, u64> = HashMap::new();
        let mut had_too_many = false;
        let ending = each_run(&folder, |line| {
            match places.entry(hash(&line.run.id)) {
                Entry::Vacant(vacant) => {
                    vacant.insert(line.start);
                }
                Entry::Occupied(earlier) => {
                    let earlier = record_at(&folder, *earlier.get())?;
                    // The line was copied, as when folders of several machines are joined.
                    if earlier == line.run {
                        return Ok(());
                    }
                    // Else two ids have the same hash.
                    if earlier.id == line.run.id {
                        let number = number_of(&folder, &earlier)?;
                        return Err(other_figures(&folder, line.number, &earlier.id, number));
                    }
                }
            }
            self.put(line.run, keeper, &folder, line.start);
            if keeper.has_too_many_pauses() && !had_too_many {
                had_too_many = true;
                self.runs
                    .iter_mut()
                    .for_each(|run| run.pauses = without_single(&run.pauses));
            }
            Ok(())
        })?;
        self.torn = ending.torn;
        Ok(())
    }

    fn put(&mut self, mut record: RunRecord, keeper: &mut Keeper, folder: &Arc<Path>, start: u64) {
        let of_its_purpose = match record.purpose() {
            Purpose::Times => {
                self.runs.push(keeper.run(record, folder, start));
                return;
            }
            Purpose::HeapProfile(_) => &mut self.profiled,
            Purpose::EventLog => &mut self.logged,
        };
        if let Some(stats) = &mut record.stats {
            stats.collections = Vec::new();
        }
        let run = keeper.run(record.clone(), folder, start);
        of_its_purpose.push(Untimed { run, record });
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of its `runs.jsonl`.
    pub fn runs_file(&self) -> PathBuf {
        runs_file(&self.path)
    }

    /// The experiment, machine and build; its plan is empty.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The number of planned runs.
    pub fn planned(&self) -> usize {
        self.planned.len()
    }

    /// The first [`MOST_LISTED`] runs of the plan.
    pub(crate) fn first_planned(&self) -> &[PlannedRun] {
        &self.first_planned
    }

    /// The timed runs that are done, in the order in which they ended.
    pub(crate) fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// The runs for a heap profile that are done, in the order in which they ended.
    pub(crate) fn profiled(&self) -> &[Untimed] {
        &self.profiled
    }

    /// The runs for an event log that are done, in the order in which they ended.
    pub(crate) fn logged(&self) -> &[Untimed] {
        &self.logged
    }

    /// The runs that are done and were not timed: those for heap profiles, then those for event
    /// logs.
    pub(crate) fn untimed(&self) -> impl Iterator<Item = &Untimed> {
        self.profiled.iter().chain(&self.logged)
    }

    /// All runs that are done: the timed ones, then the others.
    pub(crate) fn all_runs(&self) -> impl Iterator<Item = &Run> {
        self.runs.iter().chain(self.untimed().map(|untimed| &untimed.run))
    }

    fn is_planned(&self, id: &str) -> bool {
        self.planned.binary_search(&hash(id)).is_ok()
    }

    /// The number of planned runs that are done, of any purpose and with any outcome.
    pub fn done(&self) -> usize {
        self.all_runs().filter(|run| self.is_planned(&run.id)).count()
    }

    /// The number of timed runs that are done.
    pub fn timed(&self) -> usize {
        self.runs.len()
    }

    /// The ids of runs that no run of the plan has: lines of another part, or of another plan.
    pub fn strays(&self) -> impl Iterator<Item = &str> {
        let ids = self.all_runs().map(|run| &*run.id);
        ids.filter(|id| !self.is_planned(id))
    }

    /// The torn last line, if the file has one.
    pub(crate) fn torn(&self) -> Option<&TornLine> {
        self.torn.as_ref()
    }

    /// The collectors of the timed runs.
    pub fn collectors(&self) -> BTreeSet<&str> {
        self.settings().map(|of| of.configuration.collector.as_str()).collect()
    }

    /// The builds of the timed runs, in an experiment with `builds`.
    pub fn builds(&self) -> BTreeSet<&str> {
        let builds = self.settings().filter_map(|of| of.configuration.settings.get("build"));
        builds.map(String::as_str).collect()
    }

    /// The facts that timed runs share, each at least once.
    fn settings(&self) -> impl Iterator<Item = &Shared> {
        self.runs.iter().map(|run| &*run.shared)
    }

    /// The number of timed runs during which a check failed.
    pub fn disturbed_by(&self, check: &str) -> usize {
        let failed = |run: &&Run| {
            let names = run.more().disturbances.as_ref();
            names.is_some_and(|names| names.iter().any(|name| name == check))
        };
        self.runs.iter().filter(failed).count()
    }

    /// The runs that failed in this way ([`Status::kind`]). With `heap`, a timeout is a result.
    ///
    /// # Errors
    /// If the record of the first one cannot be read again.
    pub fn failures(&self, kind: &str) -> Result<Option<Failures>, ResultsError> {
        let is_result = |run: &&Run| run.heap_multiple.is_some() && run.outcome == Status::Timeout;
        let mut failed = self
            .all_runs()
            .filter(|run| run.outcome.kind() == kind && !is_result(run));
        let Some(first) = failed.next() else { return Ok(None) };
        Ok(Some(Failures {
            first: first.record()?,
            count: failed.count() + 1,
        }))
    }

    /// The number of all runs that are done.
    pub fn all(&self) -> usize {
        self.all_runs().count()
    }

    /// The path of a heap profile: a file in [`PROFILES`].
    pub(crate) fn profile_file(&self, stem: &str, ending: &str) -> PathBuf {
        self.path.join(PROFILES).join(format!("{stem}.{ending}"))
    }

    /// The path of an event log: a file in [`EVENT_LOGS`] with a name from
    /// [`RunRecord::file_stem`]. Of several folders that were joined, it is in the one that has the
    /// file.
    pub(crate) fn event_log(&self, stem: &str) -> PathBuf {
        let in_folder = |folder: &PathBuf| folder.join(EVENT_LOGS).join(format!("{stem}.eventlog"));
        let mut paths = self.folders.iter().map(in_folder);
        paths
            .find(|path| path.exists())
            .unwrap_or_else(|| in_folder(&self.folders[0]))
    }
}

/// The facts of a planned run that other runs of its configuration have as well.
pub(crate) fn of_planned(planned: &PlannedRun, seed: u64) -> Shared {
    keep::shared(RunRecord::planned(planned, seed))
}

/// Reads a folder with all facts that any format shows.
#[cfg(test)]
pub(crate) fn opened(path: &Path) -> Results {
    let all = Wanted {
        planned: true,
        ..Wanted::for_table()
    };
    Results::read(path.to_owned(), Keeper::new(all)).expect("a folder of results")
}

/// The runs of these records, which are in no file.
#[cfg(test)]
pub(crate) fn kept(records: &[RunRecord]) -> Vec<Run> {
    let mut keeper = Keeper::new(Wanted::for_report());
    let folder: Arc<Path> = Path::new("nowhere").into();
    let run = |record: &RunRecord| keeper.run(record.clone(), &folder, 0);
    records.iter().map(run).collect()
}

/// The number of the line that holds this record.
fn number_of(folder: &Path, record: &RunRecord) -> Result<usize, ResultsError> {
    let mut number = None;
    each_run(folder, |line| {
        if number.is_none() && line.run == *record {
            number = Some(line.number);
        }
        Ok(())
    })?;
    Ok(number.unwrap_or_default())
}

#[cfg(test)]
mod tests;
