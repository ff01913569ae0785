//! A results folder as reports read it: its plan in numbers, and its runs with the facts that a
//! report asks for.
//!
//! Cost: the files are read once, line by line. In memory are 48 bytes for each timed run
//! ([`crate::run`]) and eight for each planned one, some hundred bytes for the facts that runs
//! share, at most [`ROOM`] figures, and the records of runs for heap profiles and event logs
//! without their single collections. Other figures are in a temporary file. A page lists the first
//! [`MOST_LISTED`] runs and no more, so neither its size nor the memory for its texts grows beyond
//! them.

mod join;
mod keep;

pub use join::put_together;
pub(crate) use keep::MOST_LISTED;

use crate::figures::Room;
use crate::run::{Run, Shared, each_facts, hash};
use gclab_results::reading::{each_planned, each_run, other_figures, record_at, runs_file};
use gclab_results::{EVENT_LOGS, Manifest, PROFILES, PlannedRun, Purpose, ResultsError, RunRecord, Status, TornLine};
use keep::{Keeper, Wanted};
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The figures that are in memory at the same time: 64 MiB.
const ROOM: usize = 1 << 23;

/// Reads folders for one purpose. All folders that it reads share the room for figures in memory.
#[derive(Debug)]
pub struct Reader {
    wanted: Wanted,
    room: Arc<Room>,
}

impl Reader {
    fn new(wanted: Wanted) -> Reader {
        Reader {
            wanted,
            room: Room::of(ROOM),
        }
    }

    /// The same reader with this many figures in memory at the same time, of eight bytes each,
    /// instead of eight million. Those beyond are in a temporary file. The more there are, the
    /// fewer times the file is read.
    #[must_use]
    pub fn with_room(self, figures: usize) -> Reader {
        Reader {
            room: Room::of(figures),
            ..self
        }
    }

    /// For pages and tables of configurations.
    pub fn for_reports() -> Reader {
        Reader::new(Wanted::for_report())
    }

    /// For the table of all runs: [`crate::csv()`].
    pub fn for_tables() -> Reader {
        Reader::new(Wanted::for_table())
    }

    /// For [`crate::compare`] and [`crate::history_of`]: those figures alone that comparisons
    /// judge, which takes less time.
    pub fn for_comparisons() -> Reader {
        Reader::new(Wanted::for_comparison())
    }

    /// Reads a folder: its plan and its runs.
    ///
    /// # Errors
    /// Fails if there is no plan, if a line other than a torn last one is not a record, if two
    /// different records have the same id, if a newer gclab wrote the folder, or if the figures of
    /// many runs cannot be written to a temporary file.
    pub fn read(&self, path: impl Into<PathBuf>) -> Result<Results, ResultsError> {
        Results::read(path.into(), Keeper::new(self.wanted.clone(), Arc::clone(&self.room)))
    }
}

/// The lines that are of no planned run: those of another part, or of another plan.
#[derive(Debug, PartialEq, Eq)]
pub struct Strays {
    /// The number of these lines.
    pub count: usize,
    /// The name of the first one.
    pub first: String,
}

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

/// The lines of runs: the first byte of each, by the hash of its run's id.
struct Lines {
    /// Those of planned runs, in the order of the hashes of the plan.
    planned: Vec<u64>,
    others: HashMap<u64, u64>,
}

impl Lines {
    /// No line yet, of a plan with this many runs.
    fn of(planned: usize) -> Lines {
        Lines {
            planned: vec![NO_LINE; planned],
            others: HashMap::new(),
        }
    }

    /// Notes a line, and returns that of an earlier run with the same hash.
    fn put(&mut self, plan: &[u64], hash: u64, start: u64) -> Option<u64> {
        let line = match plan.binary_search(&hash) {
            Ok(place) => &mut self.planned[place],
            Err(_) => self.others.entry(hash).or_insert(NO_LINE),
        };
        if *line == NO_LINE {
            *line = start;
            return None;
        }
        Some(*line)
    }
}

/// The place of a line that was not read.
const NO_LINE: u64 = u64::MAX;

impl Results {
    /// Reads a folder as [`Reader::for_reports`] does.
    ///
    /// # Errors
    /// As [`Reader::read`].
    pub fn open(path: impl Into<PathBuf>) -> Result<Results, ResultsError> {
        Reader::for_reports().read(path)
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
        planned.shrink_to_fit();
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
        let mut lines = Lines::of(self.planned.len());
        let mut had_too_many = false;
        self.runs.reserve_exact(self.planned.len());
        let ending = each_run(&folder, |line| {
            if let Some(earlier) = lines.put(&self.planned, hash(&line.run.id), line.start) {
                let earlier = record_at(&folder, earlier)?;
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
            self.put(line.run, keeper, &folder, line.start)?;
            if keeper.has_too_many_pauses() && !had_too_many {
                had_too_many = true;
                self.runs.iter_mut().for_each(|run| run.single = None);
            }
            Ok(())
        })?;
        self.torn = ending.torn;
        keeper.finish()
    }

    fn put(
        &mut self,
        mut record: RunRecord,
        keeper: &mut Keeper,
        folder: &Arc<Path>,
        start: u64,
    ) -> Result<(), ResultsError> {
        let of_its_purpose = match record.purpose() {
            Purpose::Times => {
                self.runs.push(keeper.run(record, folder, start)?);
                return Ok(());
            }
            Purpose::HeapProfile(_) => &mut self.profiled,
            Purpose::EventLog => &mut self.logged,
        };
        if let Some(stats) = &mut record.stats {
            stats.collections = Vec::new();
        }
        let run = keeper.run(record.clone(), folder, start)?;
        of_its_purpose.push(Untimed { run, record });
        Ok(())
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

    fn is_planned(&self, run: &Run) -> bool {
        self.planned.binary_search(&run.hash).is_ok()
    }

    /// The number of planned runs that are done, of any purpose and with any outcome.
    pub fn done(&self) -> usize {
        self.all_runs().filter(|run| self.is_planned(run)).count()
    }

    /// The number of timed runs that are done.
    pub fn timed(&self) -> usize {
        self.runs.len()
    }

    /// The lines that are of no planned run, if there are any.
    ///
    /// # Errors
    /// If the record of the first one is to be read again and cannot be.
    pub fn strays(&self) -> Result<Option<Strays>, ResultsError> {
        let mut strays = self.all_runs().filter(|run| !self.is_planned(run));
        let Some(first) = strays.next() else { return Ok(None) };
        Ok(Some(Strays {
            first: first.id()?,
            count: strays.count() + 1,
        }))
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
        each_facts(&self.runs).map(|run| &**run)
    }

    /// The number of timed runs during which a check failed.
    pub fn disturbed_by(&self, check: &str) -> usize {
        let failed = |run: &&Run| {
            let names = run.kind().disturbances.as_ref();
            names.is_some_and(|names| names.iter().any(|name| name == check))
        };
        self.runs.iter().filter(failed).count()
    }

    /// The runs that failed in this way ([`Status::kind`]). With `heap`, a timeout is a result.
    ///
    /// # Errors
    /// If the record of the first one cannot be read again.
    pub fn failures(&self, kind: &str) -> Result<Option<Failures>, ResultsError> {
        let is_result = |run: &&Run| run.heap_multiple.is_some() && *run.outcome() == Status::Timeout;
        let mut failed = self
            .all_runs()
            .filter(|run| run.outcome().kind() == kind && !is_result(run));
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
    Reader::new(all).read(path).expect("a folder of results")
}

/// The runs of these records, which are in no file.
#[cfg(test)]
pub(crate) fn kept(records: &[RunRecord]) -> Vec<Run> {
    let mut keeper = Keeper::new(Wanted::for_report(), Room::of(ROOM));
    let folder: Arc<Path> = Path::new("nowhere").into();
    let mut run = |record: &RunRecord| keeper.run(record.clone(), &folder, 0).expect("it is kept");
    let runs = records.iter().map(&mut run).collect();
    keeper.finish().expect("it is kept");
    runs
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
