//! The least heap in which a program completes, for one configuration or several.
//!
//! Terms: a *question* is a configuration without `-M`. A *probe* is one run of it under one `-M`.
//! The first probe is *generous*: it has the memory of the machine, and shows where the search
//! should begin. A heap is too small if it is exhausted (status 251), which a run that thrashes is,
//! too (`--gc-overhead-limit`), or if its probe does not end in time. A crash is neither: it ends the
//! search and is reported. The unit is a megablock, since heaps take memory in megablocks.
//!
//! Each question has its own results folder, so a search can be resumed: `search` is a function of
//! the answers so far, and the next probe is the first whose answer is not in the folder.
//!
//! The ideas come from running-ng's `minheap`, which is one search over whole MB and treats a
//! timeout as an exhausted heap, and from the definition in Blackburn et al., "Rethinking Java
//! Performance Analysis" (ASPLOS 2025).

pub mod progress;
pub mod reference;
mod search;
#[cfg(test)]
mod tests;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use gclab_core::block::MEGABLOCK;
use gclab_core::heap::default_limit;
use gclab_results::{
    Fingerprint, Manifest, Minimum, ResultsDir, ResultsError, RunRecord, Status, path_name, shell_line,
};
use thiserror::Error;

use crate::run::{Combination, Run};
use crate::runner::lock::{Lock, lock};
use crate::runner::stop::Stop;
use crate::runner::{Environment, RunnerError, Strategy, Sweep, go};
use crate::text::{ends, mebibytes};
use progress::Progress;
use search::{Least, Search, least};

/// The folder of all searches, below the current folder.
pub const ROOT: &str = "results/minheap";

/// The default of [`Tools::tolerance`]: one percent.
pub const TOLERANCE: f64 = 0.01;

/// The default of [`Tools::runs`].
pub const RUNS: u32 = 3;

/// How often a process that waits for a folder checks it.
const LOOK: Duration = Duration::from_millis(100);

/// The settings of a search.
#[derive(Debug)]
pub struct Tools<'t> {
    /// The folder for the probes: [`ROOT`].
    pub root: PathBuf,
    /// The program that runs the probes, by its `exec`.
    pub program: &'t Path,
    /// The hash of the program.
    pub executable: String,
    /// Time limit of each probe.
    pub timeout: Duration,
    /// Relative width of the bracket at which the search ends.
    pub tolerance: f64,
    /// The number of runs that must complete with the least heap.
    pub runs: u32,
    /// Whether the search ignores earlier probes.
    pub fresh: bool,
    /// Ends the search when a signal comes.
    pub stop: &'t Stop,
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The part that goes into `plan.json`.
    pub minimum: Minimum,
    /// Time of the generous run.
    pub generous: Duration,
    /// Median time of the runs with the least heap.
    pub wall: Option<Duration>,
    /// The outcome of the first failed run with the next smaller heap.
    pub below: Option<Status>,
    /// The checksum of all runs that completed.
    pub checksum: Option<String>,
}

/// Why a search has no result. All probes that ended are on disk.
#[derive(Debug, Error)]
pub enum SearchError {
    /// This signal stopped the search.
    #[error("stopped by signal {0}")]
    Stopped(i32),
    /// The program failed for another reason than memory, or its result is wrong.
    #[error("{}", describe(.0, .1))]
    Failed(String, Box<RunRecord>),
    /// No heap can be requested.
    #[error("{0}")]
    Heap(String),
    /// The folder of the question cannot be made, or is locked by the system.
    #[error("{}: {source}", path_name(path))]
    Io {
        /// The folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The folder cannot be read.
    #[error("{0}; --fresh begins anew")]
    Folder(#[from] ResultsError),
    /// A probe cannot be run or recorded.
    #[error(transparent)]
    Runner(#[from] RunnerError),
}

impl SearchError {
    /// Whether the folder of the probes is at fault, so that nothing was started.
    pub fn is_refusal(&self) -> bool {
        use io::ErrorKind::{AlreadyExists, NotADirectory, PermissionDenied, ReadOnlyFilesystem};
        let SearchError::Io { source, .. } = self else {
            return false;
        };
        matches!(
            source.kind(),
            AlreadyExists | NotADirectory | PermissionDenied | ReadOnlyFilesystem
        )
    }

    /// The error in one line, for `plan.json` and tables.
    pub fn note(&self) -> String {
        match self {
            SearchError::Failed(reason, _) => reason.clone(),
            other => other.to_string(),
        }
    }
}

/// The reason, the command that shows it, and the ends of its standard error.
fn describe(reason: &str, probe: &RunRecord) -> String {
    let stderr = ends(probe.stderr_tail.as_deref().unwrap_or(""));
    format!("{reason}: {}{stderr}", shell_line(&probe.command))
}

/// Finds the least heap of `question`.
///
/// # Errors
/// If the program fails for another reason than memory, a signal stops the search, or the system
/// refuses a file or a process.
pub fn find(question: &Combination, tools: &Tools<'_>, progress: &mut Progress) -> Result<Found, SearchError> {
    let (mut dir, _lock) = open(question, tools)?;
    let mut probes = LeastHeap {
        question,
        tools,
        progress,
        result: None,
    };
    let sweep = Sweep {
        program: tools.program,
        timeout: tools.timeout,
        stop: tools.stop,
        environment: Environment::default(),
    };
    let signal = go(&mut dir, &mut probes, &sweep)?;
    match (probes.result, signal) {
        (Some(result), _) => result,
        (None, signal) => Err(SearchError::Stopped(signal.unwrap_or(0))),
    }
}

/// The minimum, if all its probes are on disk. Runs nothing.
pub(super) fn known(question: &Combination, tools: &Tools<'_>) -> Option<Minimum> {
    let dir = ResultsDir::open(folder(question, tools)).ok()?;
    match look(question, tools, &dir) {
        Look::Found(found) => Some(found.minimum),
        Look::Probe { .. } | Look::Failed(_) => None,
    }
}

/// The folder of a question. Its name covers the executable, so that another build starts afresh,
/// and the preparation, which may create the input.
pub fn folder(question: &Combination, tools: &Tools<'_>) -> PathBuf {
    let configuration = question.configuration();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let words: String = format!("{}-{}", configuration.workload, configuration.collector)
        .chars()
        .map(|c| if is_plain(c) { c } else { '_' })
        .collect();
    let mut hash = Fingerprint::new();
    hash.part(executable(question, tools));
    for command in &question.program().description.prepare {
        command.iter().for_each(|word| hash.part(word));
        hash.end_of_list();
    }
    tools
        .root
        .join(format!("{words}-{}-{}", configuration.id(), hash.text()))
}

/// The hash of the file that a question runs.
pub fn executable<'t>(question: &'t Combination, tools: &'t Tools<'_>) -> &'t str {
    let program = question.program();
    match &program.description.executable {
        Some(executable) => executable,
        None if program.is_own() => &tools.executable,
        None => "unknown",
    }
}

/// The folder of a question, and the right to add to it. A second process waits, and then finds the
/// probes there.
fn open(question: &Combination, tools: &Tools<'_>) -> Result<(ResultsDir, Lock), SearchError> {
    let path = folder(question, tools);
    let io = |source| SearchError::Io {
        path: path.clone(),
        source,
    };
    fs::create_dir_all(&path).map_err(io)?;
    let mut told = false;
    let lock = loop {
        match lock(&path).map_err(io)? {
            Ok(lock) => break lock,
            Err(owner) if !told => {
                tell!(
                    "gclab: {}: {owner} is searching for the same minimum: waiting for it",
                    path_name(&path)
                );
                told = true;
            }
            Err(_) => {}
        }
        if let Some(signal) = tools.stop.signal() {
            return Err(SearchError::Stopped(signal));
        }
        std::thread::sleep(LOOK);
    };
    if !tools.fresh {
        match ResultsDir::open(&path) {
            Ok(dir) if !was_impatient(question, tools, &dir) => return Ok((dir, lock)),
            Ok(_) | Err(ResultsError::NoPlan { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    for name in ["plan.json", "runs.jsonl", "collections.jsonl"] {
        match fs::remove_file(path.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(io(error)),
            _ => {}
        }
    }
    let mut manifest = Manifest::new("minheap");
    manifest.question = Some(format!("What is the least heap of {}?", question.configuration()));
    manifest.build.executable = Some(executable(question, tools).to_owned());
    Ok((ResultsDir::create(&path, manifest)?, lock))
}

/// Whether the generous run was killed at a shorter limit than today's.
fn was_impatient(question: &Combination, tools: &Tools<'_>, dir: &ResultsDir) -> bool {
    record(question, dir, None, 0).ok().flatten().is_some_and(|generous| {
        generous.outcome == Status::Timeout && generous.wall_seconds < Some(tools.timeout.as_secs_f64())
    })
}

/// The run of a probe: number `attempt` with this heap.
fn probe(question: &Combination, heap: Option<u64>, attempt: u32) -> Result<Run, SearchError> {
    let combination = match heap {
        Some(heap) => question.with_heap(heap).map_err(SearchError::Heap)?,
        None => question.with_generous_heap(),
    };
    Ok(Run::new(&combination, attempt, 0))
}

/// The record of a probe, if it was run.
fn record<'d>(
    question: &Combination,
    dir: &'d ResultsDir,
    heap: Option<u64>,
    attempt: u32,
) -> Result<Option<&'d RunRecord>, SearchError> {
    let run = probe(question, heap, attempt)?;
    Ok(dir.runs().iter().find(|done| done.id == run.planned.id))
}

/// The result of the probes in a folder.
enum Look {
    /// This probe is missing.
    Probe {
        heap: Option<u64>,
        attempt: u32,
    },
    Found(Box<Found>),
    Failed(SearchError),
}

/// Searches with the probes of the folder.
fn look(question: &Combination, tools: &Tools<'_>, dir: &ResultsDir) -> Look {
    let missing = |heap, attempt| Look::Probe { heap, attempt };
    let generous = match record(question, dir, None, 0) {
        Err(error) => return Look::Failed(error),
        Ok(None) => return missing(None, 0),
        Ok(Some(generous)) => generous,
    };
    let failed = |what: String, probe: &RunRecord| Look::Failed(SearchError::Failed(what, Box::new(probe.clone())));
    match &generous.outcome {
        Status::Ok => {}
        Status::HeapExhausted => return failed("even the memory of the machine is not enough".to_owned(), generous),
        Status::Timeout => {
            let seconds = tools.timeout.as_secs_f64();
            let what = format!(
                "it did not end within {seconds} s with the memory of the machine (a larger --timeout, or a smaller program)"
            );
            return failed(what, generous);
        }
        other => return failed(other.to_string(), generous),
    }
    let unit = MEGABLOCK.0 as u64;
    let search = Search {
        start: likely(question, generous).unwrap_or(unit).div_ceil(unit),
        most: (default_limit().0 as u64 / unit).max(1),
        tolerance: tools.tolerance,
        runs: tools.runs,
    };
    let found = least(search, |units, attempt| {
        let heap = units * unit;
        if heap < question.program().runtime.least_limit() {
            return Ok(false);
        }
        let probe = record(question, dir, Some(heap), attempt).map_err(Look::Failed)?;
        let probe = probe.ok_or_else(|| missing(Some(heap), attempt))?;
        match &probe.outcome {
            Status::Ok if probe.checksum == generous.checksum => Ok(true),
            Status::Ok => {
                let text = |run: &RunRecord| run.checksum.clone().unwrap_or_else(|| "none".to_owned());
                let what = format!(
                    "WRONG RESULTS: checksum {} where it was {} before",
                    text(probe),
                    text(generous)
                );
                Err(failed(what, probe))
            }
            Status::HeapExhausted | Status::Timeout => Ok(false),
            other => Err(failed(format!("{other} with {}", mebibytes(heap)), probe)),
        }
    });
    match found {
        Ok(found) => Look::Found(Box::new(conclude(question, dir, &found, generous))),
        Err(look) => look,
    }
}

/// The size from which a search starts: the peak that the heap reports, or else the resident memory
/// that the system saw; under a limit on address space, which holds more than the heap, the larger
/// of the two.
fn likely(question: &Combination, generous: &RunRecord) -> Option<u64> {
    let peak = generous.stats.as_ref().and_then(|stats| stats.peak_in_use_bytes);
    let resident = generous.max_rss_bytes;
    if question.is_limited_by_address_space() {
        peak.max(resident)
    } else {
        peak.or(resident)
    }
}

fn conclude(question: &Combination, dir: &ResultsDir, found: &Least, generous: &RunRecord) -> Found {
    let bytes = |units: u64| units * MEGABLOCK.0 as u64;
    let with = |heap: Option<u64>| {
        let cell = heap.and_then(|heap| Some(probe(question, Some(heap), 0).ok()?.planned.cell));
        dir.runs().iter().filter(move |run| cell.as_ref() == Some(&run.cell))
    };
    let holes: Vec<String> = found
        .holes
        .iter()
        .map(|hole| match hole.completed == hole.failed {
            true => format!("{} completes only now and then", mebibytes(bytes(hole.failed))),
            false => format!(
                "{} completes, {} does not",
                mebibytes(bytes(hole.completed)),
                mebibytes(bytes(hole.failed))
            ),
        })
        .collect();
    let note = match found.size {
        None => Some(format!(
            "it never completes with up to {}, though it does without {}",
            mebibytes(bytes(found.too_small)),
            question.program().runtime.limit_name()
        )),
        Some(_) => (!holes.is_empty()).then(|| format!("not monotone: {}", holes.join("; "))),
    };
    let too_small = Some(bytes(found.too_small)).filter(|bytes| *bytes > 0);
    let mut walls: Vec<f64> = with(found.size.map(bytes)).filter_map(|run| run.wall_seconds).collect();
    walls.sort_by(f64::total_cmp);
    Found {
        generous: Duration::from_secs_f64(generous.wall_seconds.unwrap_or(0.0)),
        wall: (!walls.is_empty()).then(|| Duration::from_secs_f64(walls[walls.len() / 2])),
        below: with(too_small)
            .map(|run| run.outcome.clone())
            .find(|outcome| !outcome.is_ok()),
        checksum: generous.checksum.clone(),
        minimum: Minimum {
            configuration: question.configuration().clone(),
            minimum_bytes: found.size.map(bytes),
            too_small_bytes: too_small,
            probes: u32::try_from(dir.runs().len()).unwrap_or(u32::MAX),
            note,
        },
    }
}

/// The search as a strategy.
struct LeastHeap<'s> {
    question: &'s Combination,
    tools: &'s Tools<'s>,
    progress: &'s mut Progress,
    result: Option<Result<Found, SearchError>>,
}

impl Strategy for LeastHeap<'_> {
    fn next(&mut self, done: &ResultsDir) -> Option<Run> {
        match look(self.question, self.tools, done) {
            Look::Probe { heap, attempt } => match probe(self.question, heap, attempt) {
                Ok(run) => {
                    self.progress.start(self.question.configuration(), heap);
                    return Some(run);
                }
                Err(error) => self.result = Some(Err(error)),
            },
            Look::Found(found) => self.result = Some(Ok(*found)),
            Look::Failed(error) => self.result = Some(Err(error)),
        }
        None
    }

    fn timeout(&self) -> Option<Duration> {
        Some(self.tools.timeout)
    }

    fn ended(&mut self, record: &RunRecord) {
        self.progress.finish(record);
    }
}
