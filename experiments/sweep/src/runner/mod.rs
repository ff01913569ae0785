//! The runner: does the missing runs of a plan, one process after the other, and records each run
//! before it starts the next.
//!
//! Invariants: a run is in `runs.jsonl` if and only if its process ended (or was killed at the
//! deadline) and the line is on disk; an interrupted run leaves nothing. A heap profile or event
//! log is in place before the line of its run is written. So the next runner does exactly the
//! missing runs, however this one ends. The folder's lock keeps a second runner out.
//! `experiments/tests/it/resume.rs` kills runners at random moments to check this.
//!
//! [`go`] is the only loop. A [`Strategy`] names the runs: a plan with a precision or a time limit
//! ([`fixed`]), the search for the least heap ([`crate::minheap`]), the search for flags
//! ([`crate::tune`]).

pub mod builds;
mod child;
mod counters;
pub mod fixed;
mod leftover;
pub(crate) mod lock;
pub(crate) mod outcome;
mod pipe;
pub mod precision;
pub mod preflight;
pub mod progress;
pub mod status;
pub mod stop;
mod system;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use gclab_results::{Conditions, PlannedRun, Purpose, ResultsDir, ResultsError, RunRecord, Status};
use thiserror::Error;

use crate::command_line;
use crate::environment::{Root, Sample, Used};
use crate::machine;
use crate::program::Program;
use crate::run::Run;
use crate::runtime::{self, Files, Start};
#[cfg(test)]
pub(crate) use child::write_program;
use child::{End, Finished, Limits};
use outcome::{Assessed, Launch};
use stop::Stop;

/// Why a sweep cannot continue. All runs that ended are on disk.
#[derive(Debug, Error)]
pub enum RunnerError {
    /// The results folder cannot be read or written.
    #[error(transparent)]
    Results(#[from] ResultsError),
    /// A process could not be started or waited for, or the scratch folder could not be used.
    #[error("cannot run {run}: {source}")]
    Child {
        /// The run in one line.
        run: String,
        /// The error of the operating system.
        source: io::Error,
    },
}

/// The settings that all runs of a sweep share.
#[derive(Clone, Debug)]
pub struct Sweep<'s> {
    /// The program that does the runs, by its `exec`.
    pub program: &'s Path,
    /// Time limit of one run.
    pub timeout: Duration,
    /// Ends the sweep when a signal comes.
    pub stop: &'s Stop,
    /// The machine that does the runs.
    pub environment: Environment,
}

/// The machine of a sweep.
#[derive(Clone, Debug)]
pub struct Environment {
    /// The root of the kernel's files.
    pub root: Root,
    /// The number of processors that the runs may use.
    pub cpus: u32,
    /// The facts of the machine that are not as `plan.json` says.
    pub changes: BTreeMap<String, String>,
}

impl Default for Environment {
    fn default() -> Environment {
        let cpus = std::thread::available_parallelism().map_or(1, |cpus| cpus.get() as u32);
        Environment {
            root: Root::system(),
            cpus,
            changes: BTreeMap::new(),
        }
    }
}

/// Names the runs of an experiment, one after another. It knows earlier runs only by their records,
/// so an interrupted experiment resumes where it stopped.
pub trait Strategy {
    /// The next run, which is not in `done`; `None` if there is nothing more to do.
    fn next(&mut self, done: &ResultsDir) -> Option<Run>;

    /// The time limit of that run, if it is not the sweep's.
    fn timeout(&self) -> Option<Duration> {
        None
    }

    /// The run begins.
    fn begins(&mut self, _run: &PlannedRun) {}

    /// The run has ended, and its record is on disk.
    fn ended(&mut self, _record: &RunRecord) {}
}

/// Does the runs that `strategy` names, until there are none. Returns the signal that stopped it,
/// if any.
///
/// # Errors
/// If a process cannot be started or a line cannot be written. A run that fails is not an error but an
/// outcome.
pub fn go(dir: &mut ResultsDir, strategy: &mut dyn Strategy, sweep: &Sweep<'_>) -> Result<Option<i32>, RunnerError> {
    let failed = |run: &str, source| RunnerError::Child {
        run: run.to_owned(),
        source,
    };
    let scratch = Scratch::new(dir.path()).map_err(|source| failed("anything", source))?;
    while let Some(run) = strategy.next(dir) {
        let planned = &run.planned;
        // Without this file the sweep's status only lacks one line.
        let _ = status::begins(&scratch.path, planned);
        strategy.begins(planned);
        let limited = Sweep {
            timeout: strategy.timeout().unwrap_or(sweep.timeout),
            ..sweep.clone()
        };
        let record = one(&run, dir.manifest().seed, &limited, &scratch.path)
            .map_err(|source| failed(&crate::run::describe(planned), source))?;
        let Some(record) = record else {
            return Ok(sweep.stop.signal());
        };
        keep_files(dir, planned, &scratch.path).map_err(|source| {
            let run = format!("{}: its file cannot be kept", crate::run::describe(planned));
            failed(&run, source)
        })?;
        dir.append_run(record.clone())?;
        strategy.ended(&record);
    }
    Ok(None)
}

/// Does one run. Returns `None` if a signal came before it ended.
pub(crate) fn one(run: &Run, seed: u64, sweep: &Sweep<'_>, scratch: &Path) -> io::Result<Option<RunRecord>> {
    if sweep.stop.signal().is_some() {
        return Ok(None);
    }
    let line = scratch.join("record.json");
    let profile = scratch.join(PROFILE);
    let eventlog = scratch.join(EVENT_LOG);
    // The previous run's files must not be mistaken for this one's.
    let left = ENDINGS.map(|ending| profile.with_extension(ending));
    let left = left.into_iter().chain([eventlog.clone()]);
    for file in left.filter(|file| file.exists()).chain(parts_of(&line)?) {
        fs::remove_file(file)?;
    }
    if let Some((failed, prepared)) = prepare(&run.program, sweep)? {
        let launch = Launch::now(run, seed);
        let judged = Assessed::unprepared(&failed, &prepared);
        return Ok(record(run, launch, prepared, judged));
    }
    let launch = Launch::now(run, seed);
    let before = Sample::now(&sweep.environment.root);
    let files = Files {
        statistics: &line,
        profile: &profile,
        eventlog: &eventlog,
        pause_counters: launch.pause_counters,
    };
    let start = command_line::start(run, Some(files));
    let finished = program(&run.program, &start, sweep)?;
    let parts = parts_of(&line)?.into_iter().filter_map(|part| fs::read(part).ok());
    let statistics = parts.reduce(|all, part| [all, part].concat());
    let statistics = statistics.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let judged = Assessed::new(run, &start, &finished, statistics.as_deref(), &launch);
    if matches!(judged.outcome(), Status::Crash { .. } | Status::Usage) {
        has_room(scratch)?;
    }
    let conditions = conditions(&before, &finished, &sweep.environment);
    let record = record(run, launch, finished, judged);
    Ok(record.map(|record| RunRecord {
        conditions: Some(conditions),
        ..record
    }))
}

/// The file of a run's statistics, or the files of this name with an ending for each process.
fn parts_of(file: &Path) -> io::Result<Vec<PathBuf>> {
    let (folder, name) = (file.parent().unwrap_or(file), file.file_name().unwrap_or_default());
    let entries = fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
    let mut all: Vec<PathBuf> = entries.collect::<io::Result<_>>()?;
    let is_part = |path: &PathBuf| path.file_name() == Some(name) || path.file_stem() == Some(name);
    all.retain(is_part);
    all.sort_unstable();
    Ok(all)
}

/// The conditions since `before`, while a child ran.
fn conditions(before: &Sample, finished: &Finished, environment: &Environment) -> Conditions {
    let used = Used {
        wall: finished.wall,
        cpu: finished.used.user + finished.used.system,
        preempted: finished.used.switches.1,
        cpus: environment.cpus,
    };
    let after = Sample::now(&environment.root);
    Conditions {
        machine_changes: Some(environment.changes.clone()).filter(|changes| !changes.is_empty()),
        ..before.until(&after, &used, &environment.root)
    }
}

/// Free bytes without which a failed run is not to blame: more than most records need.
const ROOM: usize = 64 << 10;

/// Checks that the disk takes a file of [`ROOM`] bytes. On a full disk a run cannot write its
/// record. That is not the program's crash, and the run must be repeated.
fn has_room(scratch: &Path) -> io::Result<()> {
    let probe = scratch.join("room");
    let written = fs::write(&probe, vec![0; ROOM]);
    // If it stays, it is removed with the scratch folder.
    let _ = fs::remove_file(&probe);
    written
}

/// The record of a run that has ended; `None` if it was interrupted.
fn record(run: &Run, launch: Launch, finished: Finished, judged: Assessed) -> Option<RunRecord> {
    let interrupted = finished.end == End::Interrupted;
    (!interrupted).then(|| outcome::record(&run.planned, launch, finished, judged))
}

/// Runs the commands that prepare `program`, in its environment and its folder. Returns the first
/// one that failed.
fn prepare(program: &Program, sweep: &Sweep<'_>) -> io::Result<Option<(Vec<String>, Finished)>> {
    for words in &program.description.prepare {
        let start = Start {
            words: words.clone(),
            env: program.env().to_vec(),
            address_space: None,
        };
        let finished = by_itself(program, &start, sweep.timeout, sweep.stop)?;
        if finished.end != End::Exit(0) {
            return Ok(Some((words.clone(), finished)));
        }
    }
    Ok(None)
}

/// Runs a program.
fn program(program: &Program, start: &Start, sweep: &Sweep<'_>) -> io::Result<Finished> {
    let stdin = program.description.stdin.as_ref().map(|file| program.path(file));
    let limits = Limits {
        timeout: sweep.timeout,
        hashes: !program.is_own(),
        address_space: start.address_space,
    };
    let this_gclab = program.own.as_ref().is_some_and(|own| own.build.is_none());
    let mut command = command(this_gclab.then_some(sweep.program), program.folder(), start);
    if let Some(own) = &program.own {
        own.build.iter().try_for_each(|build| build.check())?;
        command.arg0(machine::name());
        // A backtrace would push the panic message out of the recorded tail. Repeating the run's
        // command by hand shows one.
        command.env("RUST_BACKTRACE", "0");
    }
    child::run(command, stdin.map(File::open).transpose()?, limits, sweep.stop)
}

/// Runs a command that prepares or probes a program, in its folder.
fn by_itself(program: &Program, start: &Start, timeout: Duration, stop: &Stop) -> io::Result<Finished> {
    let limits = Limits {
        timeout,
        address_space: start.address_space,
        ..Limits::default()
    };
    child::run(command(None, program.folder(), start), None, limits, stop)
}

/// The command of `start` in `folder`, by `file` if it is not the first word. Flags come only from
/// the plan.
fn command(file: Option<&Path>, folder: Option<&Path>, start: &Start) -> Command {
    let first = start.words.first().map_or(Path::new(""), Path::new);
    let mut command = Command::new(file.unwrap_or(first));
    command.args(start.words.iter().skip(1));
    if let Some(folder) = folder {
        command.current_dir(folder);
    }
    for runtime in runtime::all().into_iter().chain([runtime::GCLAB]) {
        for variable in runtime.variables() {
            command.env_remove(variable);
        }
    }
    command.envs(start.env.iter().map(|(name, value)| (name, value)));
    command
}

/// The name of a run's heap profile until it is complete.
const PROFILE: &str = "profile";
/// The files of a heap profile: the bands, and the sets of retainers.
const ENDINGS: [&str; 2] = ["hp", "prof"];

/// The name of a run's event log until it is complete.
const EVENT_LOG: &str = "run.eventlog";

/// Moves the files of a heap profile, or an event log, to their final place. A run that failed
/// keeps the files that it has.
fn keep_files(dir: &ResultsDir, run: &PlannedRun, scratch: &Path) -> io::Result<()> {
    let stem = run.file_stem();
    let files: Vec<(PathBuf, PathBuf)> = match run.purpose() {
        Purpose::Times => Vec::new(),
        Purpose::HeapProfile(_) => ENDINGS
            .iter()
            .map(|ending| {
                (
                    scratch.join(PROFILE).with_extension(ending),
                    dir.profile_file(&stem, ending),
                )
            })
            .collect(),
        Purpose::EventLog => vec![(scratch.join(EVENT_LOG), dir.event_log(&stem))],
    };
    for (written, place) in files.into_iter().filter(|(written, _)| written.exists()) {
        fs::create_dir_all(place.parent().unwrap_or(dir.path()))?;
        fs::rename(written, place)?;
    }
    Ok(())
}

/// A folder within the results for a run's files until the run ends; removed when dropped.
#[derive(Debug)]
pub(crate) struct Scratch {
    /// The path of the folder.
    pub path: PathBuf,
}

impl Scratch {
    /// Makes the folder. The processes of a run whose runner was killed end here.
    pub(crate) fn new(results: &Path) -> io::Result<Scratch> {
        // Absolute, because the child gets the path.
        let path = std::path::absolute(results)?.join(status::SCRATCH);
        fs::create_dir_all(&path)?;
        let killed = leftover::begin(&path)?;
        if killed > 0 {
            let processes = if killed == 1 { "process" } else { "processes" };
            tell!("gclab: note: killed {killed} {processes} of a run whose gclab was killed");
        }
        Ok(Scratch { path })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A leftover folder is harmless: the next runner uses it.
        let _ = fs::remove_dir_all(&self.path);
    }
}
