//! The runner: does the missing runs of a plan, one process after the other, and records each run
//! before it starts the next.
//!
//! Invariants: a run is in `runs.jsonl` if and only if its process ended (or was killed at the
//! deadline) and the line is on disk; a run that was interrupted leaves nothing. A heap profile or
//! event log is in its place before the line of its run is written. So the next runner does exactly
//! the missing runs, however this one ends. The folder's lock keeps a second runner out.
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
mod prepare;
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

use gclab_flags::{ENVIRONMENT, GHC_ENVIRONMENT, OCAML_ENVIRONMENT};
use gclab_results::{Conditions, PlannedRun, Purpose, ResultsDir, ResultsError, RunRecord, Status};
use thiserror::Error;

use crate::command_line::{self, Files};
use crate::environment::{Root, Sample, Used};
use crate::machine;
use crate::program::Program;
use crate::run::{Run, Subject};
use crate::runtime::{self, Start};
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

/// Names the runs of an experiment, one after the other. It knows the earlier runs by their records
/// alone, so an interrupted experiment goes on where it stopped.
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

/// Does the runs that `strategy` names, until it names none. Returns the signal that stopped it, if
/// one did.
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
        // Without this file the status of the sweep lacks one line.
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
    // The files of the run before must not be taken for this one's.
    let left = ENDINGS.map(|ending| profile.with_extension(ending));
    for file in left.iter().chain([&line, &eventlog]).filter(|file| file.exists()) {
        fs::remove_file(file)?;
    }
    let files = Files {
        record: &line,
        profile: &profile,
        eventlog: &eventlog,
    };
    let by_itself = |folder: Option<&Path>, start: &Start| command(folder, start, None, sweep);
    if let Some((failed, prepared)) = prepare::prepare(run, by_itself)? {
        let launch = Launch::now(run, seed);
        let judged = Assessed::unprepared(&failed, &prepared);
        return Ok(record(run, launch, prepared, judged));
    }
    let launch = Launch::now(run, seed);
    let before = Sample::now(&sweep.environment.root);
    let (finished, judged) = match &run.subject {
        Subject::Workload(_) => {
            let finished = workload(run, sweep, &files)?;
            let line = fs::read_to_string(&line).ok();
            let judged = Assessed::workload(&run.planned, &finished, line.as_deref(), &launch);
            (finished, judged)
        }
        Subject::Program(program, setting) => {
            let start = command_line::start(run, program, setting, Some(&files));
            let finished = command(program.folder(), &start, Some(program), sweep)?;
            let statistics = fs::read(&line).ok();
            let statistics = statistics.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            let judged = Assessed::program(program, &start, &finished, statistics.as_deref(), &launch);
            (finished, judged)
        }
    };
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

/// The bytes that a failed run is not blamed for: more than most records have.
const ROOM: usize = 64 << 10;

/// Checks that the disk takes a file of [`ROOM`] bytes. On a full disk a run cannot write its
/// record. That is not a crash of the program, and the run must be done again.
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

/// Runs a workload of this program.
fn workload(run: &Run, sweep: &Sweep<'_>, files: &Files<'_>) -> io::Result<Finished> {
    let mut command = match &run.surroundings.build {
        Some(build) => {
            build.check()?;
            Command::new(&build.file)
        }
        None => Command::new(sweep.program),
    };
    command.args(command_line::exec(run, Some(files)));
    command.arg0(machine::name());
    // Flags come from the plan alone.
    command
        .env_remove(ENVIRONMENT)
        .env_remove(OCAML_ENVIRONMENT)
        .env_remove(GHC_ENVIRONMENT);
    // A backtrace would push the panic's message out of the recorded tail. The run's command,
    // repeated by hand, shows one.
    command.env("RUST_BACKTRACE", "0");
    command.envs(&run.surroundings.env);
    let limits = Limits {
        timeout: sweep.timeout,
        ..Limits::default()
    };
    child::run(command, None, limits, sweep.stop)
}

/// Runs a process in `folder`: `program`, or a command that prepares or probes one. Only the
/// program gets its standard input.
fn command(folder: Option<&Path>, start: &Start, program: Option<&Program>, sweep: &Sweep<'_>) -> io::Result<Finished> {
    let mut words = start.words.iter();
    let mut command = Command::new(words.next().map_or("", String::as_str));
    command.args(words);
    if let Some(folder) = folder {
        command.current_dir(folder);
    }
    // Flags come from the plan alone.
    for runtime in runtime::all() {
        runtime.variables().iter().for_each(|variable| {
            command.env_remove(variable);
        });
    }
    command.env_remove(ENVIRONMENT).env_remove(OCAML_ENVIRONMENT);
    command.envs(start.env.iter().map(|(name, value)| (name, value)));
    let stdin = program.and_then(|program| Some(program.path(program.description.stdin.as_ref()?)));
    let stdin = stdin.map(File::open).transpose()?;
    let limits = Limits {
        timeout: sweep.timeout,
        hashes: program.is_some(),
        address_space: start.address_space,
    };
    child::run(command, stdin, limits, sweep.stop)
}

/// The name of a run's heap profile until it is whole.
const PROFILE: &str = "profile";
/// The files of a heap profile: the bands, and the sets of retainers.
const ENDINGS: [&str; 2] = ["hp", "prof"];

/// The name of a run's event log until it is whole.
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
        // A folder that stays does no harm: the next runner uses it.
        let _ = fs::remove_dir_all(&self.path);
    }
}
