//! The state of a sweep, seen from another process: what is done, what runs, what is left, and how
//! long that will take.
//!
//! A runner holds the folder's lock, and records the current run in its scratch folder. A reader
//! trusts that file only while the lock is held: a killed runner leaves the file behind, but not
//! the lock.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};

use gclab_results::{PlannedRun, ResultsDir, RunRecord, Status as Outcome};

use super::progress::{Estimator, Left};
use super::{lock, precision};
use crate::run::describe;

/// The name of the scratch folder within the results.
pub(super) const SCRATCH: &str = ".scratch";

/// The file with the id of the current run in its first line, in the scratch folder. Its time is the
/// start of the run.
const RUNNING: &str = "running";

/// Notes in the scratch folder that `run` begins.
pub(super) fn begins(scratch: &Path, run: &PlannedRun) -> io::Result<()> {
    // The file keeps its length: ext4 takes as long to cut it as the disk takes to write it.
    let mut file = File::options()
        .write(true)
        .create(true)
        .truncate(false)
        .open(scratch.join(RUNNING))?;
    file.write_all(format!("{}\n", run.id).as_bytes())
}

/// A run in progress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Running {
    /// The id of the run.
    pub id: String,
    /// The run in one line.
    pub run: String,
    /// The time since its start.
    pub since: Duration,
}

/// The state of a sweep.
#[derive(Clone, Debug)]
pub struct Status {
    /// The number of planned runs.
    pub planned: usize,
    /// The number of runs that are done, with any outcome.
    pub done: usize,
    /// The failed runs, by outcome. If heaps are multiples of the least heap, an exhausted heap
    /// or a timeout is a result, and not counted here.
    pub failed: BTreeMap<&'static str, usize>,
    /// The complete rounds, and all rounds.
    pub rounds: (u32, u32),
    /// The number of planned runs that are still to be done.
    pub left: usize,
    /// The process that does the runs, in words, if there is one; of shards, all of them.
    pub runner: Option<String>,
    /// The current run.
    pub running: Option<Running>,
    /// The time that the remaining runs will take; `None` if no run is done.
    pub remaining: Option<Duration>,
    /// Whether the times have the plan's requested precision, so that the remaining timed runs are
    /// skipped.
    pub is_precise: bool,
}

/// Whether a run failed.
fn failed(run: &RunRecord) -> bool {
    let by_heap = run.heap_multiple.is_some() && matches!(run.outcome, Outcome::HeapExhausted | Outcome::Timeout);
    !run.outcome.is_ok() && !by_heap
}

/// The state of the sweep in `dir`.
///
/// # Errors
/// If the system refuses to look at the lock.
pub fn status(dir: &ResultsDir) -> io::Result<Status> {
    let manifest = dir.manifest();
    let mut estimator = Estimator::default();
    dir.all_runs().for_each(|run| estimator.learn(run));
    let is_precise = precision::is_reached(dir);
    let todo: Vec<&PlannedRun> = manifest.plan.iter().filter(|run| !dir.is_done(&run.id)).collect();
    let will_run = |run: &&PlannedRun| !(is_precise && run.purpose().is_timed());
    let will_run: Vec<&PlannedRun> = todo.iter().copied().filter(will_run).collect();
    let (mut runners, mut running) = (Vec::new(), None);
    for folder in dir.folders() {
        if let Some(owner) = lock::owner(folder)? {
            runners.push(owner);
            running = running.or_else(|| running_in(folder, dir));
        }
    }
    let remaining = estimator.estimate(&Left::of(will_run.iter().copied())).map(|all| {
        // Shards run side by side.
        let all = all / runners.len().max(1) as u32;
        let spent = running.as_ref().and_then(|running| {
            let run = will_run.iter().find(|run| run.id == running.id)?;
            let takes = estimator.estimate(&Left::of([*run]))?;
            Some(running.since.min(takes))
        });
        all.saturating_sub(spent.unwrap_or_default())
    });
    let mut by_outcome = BTreeMap::new();
    for run in dir.all_runs().filter(|run| failed(run)) {
        *by_outcome.entry(run.outcome.kind()).or_insert(0) += 1;
    }
    let timed = todo.iter().filter(|run| run.purpose().is_timed());
    let whole = timed.map(|run| run.round).min().unwrap_or(manifest.repeat);
    Ok(Status {
        planned: manifest.plan.len(),
        done: manifest.plan.len() - todo.len(),
        failed: by_outcome,
        rounds: (whole, manifest.repeat),
        left: will_run.len(),
        runner: Some(runners.join(" and ")).filter(|runners| !runners.is_empty()),
        running,
        remaining,
        is_precise,
    })
}

/// The run under way in a folder, if the runner's file names one that is not done.
fn running_in(folder: &Path, dir: &ResultsDir) -> Option<Running> {
    let file = folder.join(SCRATCH).join(RUNNING);
    let id = fs::read_to_string(&file).ok()?.lines().next()?.to_owned();
    let begun = fs::metadata(&file).ok()?.modified().ok()?;
    let planned = dir.manifest().plan.iter().find(|run| run.id == id)?;
    (!dir.is_done(&id)).then(|| Running {
        run: describe(planned),
        since: SystemTime::now().duration_since(begun).unwrap_or_default(),
        id,
    })
}
