//! The runner: does what is left of a plan, one process after the other, and writes down each run before it starts the next.
//!
//! Invariants: a run is in `runs.jsonl` if and only if its process ended (or was killed at the deadline) and the line is on disk; a run that was
//! interrupted leaves nothing. A heap profile is in its place before the line of its run is written. So whatever stops the runner, the next one does exactly what is missing. The folder's lock keeps a second
//! runner out. `tests/it/resume.rs` kills runners at random moments to check this.

pub mod child;
pub mod lock;
pub mod outcome;
pub mod progress;
pub mod stop;

#[cfg(test)]
mod tests;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use gclab_results::{PlannedRun, ResultsDir, ResultsError, rfc3339};
use thiserror::Error;

use crate::command_line::{self, Files};
use crate::machine;
use child::End;
use outcome::Before;
use progress::{Estimator, Progress};
use stop::Stop;

/// Why a sweep could not go on. What was done until then is on disk.
#[derive(Debug, Error)]
pub enum RunnerError {
    /// The results folder.
    #[error(transparent)]
    Results(#[from] ResultsError),
    /// A process could not be started or waited for, or the scratch folder could not be used.
    #[error("cannot run {what}: {source}")]
    Child {
        /// The run.
        what: String,
        /// What the operating system said.
        source: io::Error,
    },
}

/// How a sweep went on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Swept {
    /// Every run of the plan is done.
    Complete,
    /// This signal stopped it.
    Stopped(i32),
}

/// What all runs of a sweep have in common.
#[derive(Debug)]
pub struct Sweep<'s> {
    /// The program to start; it must understand `exec`.
    pub program: &'s Path,
    /// Longest time for one run.
    pub timeout: Duration,
    /// Whether to stop.
    pub stop: &'s Stop,
}

/// Does every run of the folder's plan that is not done yet, in the plan's order.
///
/// # Errors
/// When a process cannot be started or a line cannot be written. A run that fails is no error but an outcome.
pub fn sweep(dir: &mut ResultsDir, sweep: &Sweep<'_>) -> Result<Swept, RunnerError> {
    let todo: Vec<PlannedRun> = dir
        .manifest()
        .plan
        .iter()
        .filter(|run| !dir.is_done(&run.id))
        .cloned()
        .collect();
    let total = dir.manifest().plan.len();
    let mut estimator = Estimator::default();
    dir.all_runs().for_each(|run| estimator.learn(run));
    let mut progress = Progress::begin(total - todo.len(), total);
    let scratch = Scratch::new(dir.path()).map_err(|source| RunnerError::Child {
        what: "anything".into(),
        source,
    })?;
    for (index, run) in todo.iter().enumerate() {
        progress.start(run, estimator.estimate(&todo[index..]));
        let record = match one(run, dir.manifest().seed, sweep, &scratch.path) {
            Ok(Some(record)) => record,
            Ok(None) => break,
            Err(source) => {
                return Err(RunnerError::Child {
                    what: progress::describe(run),
                    source,
                });
            }
        };
        let kept = keep_profile(dir, run, &scratch.path);
        kept.map_err(|source| RunnerError::Child {
            what: format!("{}: its heap profile cannot be kept", progress::describe(run)),
            source,
        })?;
        dir.append_run(&record)?;
        estimator.learn(&record);
        progress.finish(run, &record, estimator.estimate(&todo[index + 1..]));
    }
    progress.end();
    let complete = dir.manifest().plan.iter().all(|run| dir.is_done(&run.id));
    match sweep.stop.signal() {
        Some(signal) if !complete => Ok(Swept::Stopped(signal)),
        _ => Ok(Swept::Complete),
    }
}

/// One run; nothing if a stop was asked for before it ended.
pub(crate) fn one(
    run: &PlannedRun,
    seed: u64,
    sweep: &Sweep<'_>,
    scratch: &Path,
) -> io::Result<Option<gclab_results::RunRecord>> {
    if sweep.stop.signal().is_some() {
        return Ok(None);
    }
    let line = scratch.join("record.json");
    let profile = scratch.join(PROFILE);
    // What the run before left must not be taken for this one's.
    let left = ENDINGS.map(|ending| profile.with_extension(ending));
    for file in left.iter().chain([&line]).filter(|file| file.exists()) {
        fs::remove_file(file)?;
    }
    let files = Files {
        record: &line,
        profile: &profile,
    };
    let mut command = Command::new(sweep.program);
    let illegal = |error| io::Error::new(io::ErrorKind::InvalidInput, format!("plan.json: {error}"));
    command.args(command_line::exec(run, Some(&files)).map_err(illegal)?);
    // Flags come from the plan alone.
    command.env_remove("GCLABRTS");
    // A backtrace would push the panic's message out of the tail that is kept; repeating the run's command shows one.
    command.env("RUST_BACKTRACE", "0");
    let before = Before {
        started: rfc3339(SystemTime::now()),
        load_average: machine::load_average(),
        host: machine::host(),
        command: command_line::shown(run).map_err(illegal)?,
        seed,
    };
    let finished = child::run(command, scratch, sweep.timeout, sweep.stop)?;
    if finished.end == End::Interrupted {
        return Ok(None);
    }
    let line = fs::read_to_string(&line).ok();
    Ok(Some(outcome::record(run, before, finished, line.as_deref())))
}

/// What a run calls its heap profile until it is known to be whole.
const PROFILE: &str = "profile";
/// The files of a heap profile: the bands, and the sets of retainers.
const ENDINGS: [&str; 2] = ["hp", "prof"];

/// Moves the files of a heap profile to where they stay; those of a run that did not end well too, as far as there are any.
fn keep_profile(dir: &ResultsDir, run: &PlannedRun, scratch: &Path) -> io::Result<()> {
    for ending in ENDINGS.iter().filter(|_| run.profile_flags.is_some()) {
        let written = scratch.join(PROFILE).with_extension(ending);
        if written.exists() {
            let place = dir.profile_file(&run.id, ending);
            fs::create_dir_all(place.parent().unwrap_or(dir.path()))?;
            fs::rename(written, place)?;
        }
    }
    Ok(())
}

/// A folder beside the results for what a run writes before it is known to be whole; removed at the end.
#[derive(Debug)]
pub(crate) struct Scratch {
    /// The folder.
    pub path: PathBuf,
}

impl Scratch {
    /// Makes it.
    pub fn new(results: &Path) -> io::Result<Scratch> {
        // Absolute, because the child is told of it.
        let path = std::path::absolute(results)?.join(".scratch");
        fs::create_dir_all(&path)?;
        Ok(Scratch { path })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Left behind it does no harm: the next runner uses the same.
        let _ = fs::remove_dir_all(&self.path);
    }
}
