//! One search: probes that are read from disk or run now, and the least heap that they show.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use gclab_core::block::MEGABLOCK;
use gclab_core::heap::default_limit;
use gclab_results::{Fingerprint, Minimum, Probe, RunRecord, Status};

use super::error::SearchError;
use super::progress::Progress;
use super::search::{Least, Search, least};
use super::store::{self, Store};
use crate::run::{Combination, Run};
use crate::runner::stop::Stop;
use crate::runner::{Environment, Scratch, Sweep, one, outcome};
use crate::text::mebibytes;

/// A run that takes this many times as long as the generous one counts as thrashing.
const PATIENCE: f64 = 20.0;

/// The least time after which a run counts as thrashing. Short programs take most of their time to
/// start, and machines are busy at times.
pub const LEAST_PATIENCE: Duration = Duration::from_secs(10);

/// The default of [`Tools::tolerance`]: one percent.
pub const TOLERANCE: f64 = 0.01;

/// The default of [`Tools::runs`].
pub const RUNS: u32 = 3;

/// The settings of a search.
#[derive(Debug)]
pub struct Tools<'t> {
    /// The folder for probes: [`store::ROOT`].
    pub root: PathBuf,
    /// The program that runs the probes, by its `exec`.
    pub program: &'t Path,
    /// The hash of the program.
    pub executable: String,
    /// Time limit of the generous run.
    pub timeout: Duration,
    /// The least time after which a run counts as thrashing: [`LEAST_PATIENCE`].
    pub least_patience: Duration,
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

/// Finds the least heap of `question`.
///
/// # Errors
/// If the program fails for another reason than memory, a signal stops the search, or the system
/// refuses a file or a process.
pub fn find(question: &Combination, tools: &Tools<'_>, progress: &mut Progress) -> Result<Found, SearchError> {
    let store = Store::open(&folder(question, tools), tools.fresh, tools.stop)?;
    let scratch = Scratch::new(store.folder()).map_err(|source| SearchError::io(store.folder(), source))?;
    let mut prober = Prober {
        question,
        tools,
        store,
        scratch,
        limit: tools.timeout,
        checksum: None,
        progress,
    };
    let generous = prober.generous()?;
    let generous_time = Duration::from_secs_f64(generous.wall_seconds.unwrap_or(0.0));
    prober.limit = generous_time.mul_f64(PATIENCE).max(tools.least_patience);
    let unit = MEGABLOCK.0 as u64;
    let most = (default_limit().0 as u64 / unit).max(1);
    let search = Search {
        start: likely(question, &generous).unwrap_or(unit).div_ceil(unit),
        most,
        tolerance: tools.tolerance,
        runs: tools.runs,
    };
    let found = least(search, |units, attempt| match units * unit {
        bytes if bytes < question.least_heap() => Ok(false),
        bytes => prober.completes(bytes, attempt),
    })?;
    Ok(prober.found(&found, generous_time))
}

/// The minimum, if all its probes are on disk. Runs nothing.
pub(super) fn known(question: &Combination, tools: &Tools<'_>) -> Option<Minimum> {
    let probes = store::read(&folder(question, tools)).ok()?;
    let probe = |heap: Option<u64>, attempt: u32| probes.iter().filter(|p| p.heap_bytes == heap).nth(attempt as usize);
    let generous = probe(None, 0).filter(|probe| probe.outcome.is_ok())?;
    let unit = MEGABLOCK.0 as u64;
    let search = Search {
        start: likely(question, generous).unwrap_or(unit).div_ceil(unit),
        most: (default_limit().0 as u64 / unit).max(1),
        tolerance: tools.tolerance,
        runs: tools.runs,
    };
    let answer = |units: u64, attempt| {
        if units * unit < question.least_heap() {
            return Ok(false);
        }
        probe(Some(units * unit), attempt)
            .map(|probe| probe.outcome.is_ok())
            .ok_or(())
    };
    let found = least(search, answer).ok()?;
    Some(minimum(question, &found, probes.len()))
}

/// The folder of the probes of a question. A workload that is prepared in another way has another
/// one. (The id of a program's configuration has its preparation.)
pub fn folder(question: &Combination, tools: &Tools<'_>) -> PathBuf {
    let executable = executable(question, tools);
    let prepare = &question.surroundings().prepare;
    if prepare.is_empty() {
        return store::folder(&tools.root, question.configuration(), executable);
    }
    let mut hash = Fingerprint::new();
    for command in prepare {
        command.iter().for_each(|word| hash.part(word));
        hash.end_of_list();
    }
    let made_of = format!("{executable}-{}", hash.text());
    store::folder(&tools.root, question.configuration(), &made_of)
}

/// The hash of the file that a question runs.
pub fn executable<'t>(question: &'t Combination, tools: &'t Tools<'_>) -> &'t str {
    match question.program() {
        None => match &question.surroundings().build {
            Some(build) => &build.executable,
            None => &tools.executable,
        },
        Some(program) => program.description.executable.as_deref().unwrap_or("unknown"),
    }
}

/// The size from which a search starts: the peak that the heap tells, or else the resident memory
/// that the system saw. An address space has more in it than the heap, so there the larger one
/// counts.
fn likely(question: &Combination, generous: &Probe) -> Option<u64> {
    let (peak, resident) = (generous.peak_in_use_bytes, generous.max_rss_bytes);
    if question.is_limited_by_address_space() {
        peak.max(resident)
    } else {
        peak.or(resident)
    }
}

struct Prober<'p> {
    question: &'p Combination,
    tools: &'p Tools<'p>,
    store: Store,
    scratch: Scratch,
    /// Time limit of the next run.
    limit: Duration,
    /// The checksum of the first run that completed, which a program may not have; all others must
    /// have the same.
    checksum: Option<Option<String>>,
    progress: &'p mut Progress,
}

impl Prober<'_> {
    fn generous(&mut self) -> Result<Probe, SearchError> {
        let probe = self.probe(None, 0)?;
        let what = match &probe.outcome {
            Status::Ok => return Ok(probe),
            Status::HeapExhausted => "even the memory of the machine is not enough".to_owned(),
            Status::Timeout => format!(
                "it did not end within {} s with the memory of the machine (a larger --timeout, or a smaller program)",
                probe.limit_seconds
            ),
            other => other.to_string(),
        };
        Err(SearchError::Failed(what, Box::new(probe)))
    }

    /// Whether a run with this heap completes.
    fn completes(&mut self, heap: u64, attempt: u32) -> Result<bool, SearchError> {
        let probe = self.probe(Some(heap), attempt)?;
        match &probe.outcome {
            Status::Ok => Ok(true),
            Status::HeapExhausted | Status::Timeout => Ok(false),
            other => Err(SearchError::Failed(
                format!("{other} with {}", mebibytes(heap)),
                Box::new(probe),
            )),
        }
    }

    /// The probe, read from disk or run now. All that complete must have the same checksum.
    fn probe(&mut self, heap: Option<u64>, attempt: u32) -> Result<Probe, SearchError> {
        let probe = match self.store.get(heap, attempt, self.limit) {
            Some(probe) => probe.clone(),
            None => {
                let probe = self.run(heap, attempt)?;
                self.store.add(probe.clone())?;
                self.progress.finish(&probe);
                probe
            }
        };
        if probe.outcome.is_ok() {
            let first = self.checksum.get_or_insert_with(|| probe.checksum.clone());
            if probe.checksum != *first {
                let text = |checksum: &Option<String>| checksum.clone().unwrap_or_else(|| "none".to_owned());
                let what = format!(
                    "WRONG RESULTS: checksum {} where it was {} before",
                    text(&probe.checksum),
                    text(first)
                );
                return Err(SearchError::Failed(what, Box::new(probe)));
            }
        }
        Ok(probe)
    }

    fn run(&mut self, heap: Option<u64>, attempt: u32) -> Result<Probe, SearchError> {
        self.progress.start(self.question.configuration(), heap);
        let combination = match heap {
            Some(heap) => {
                let limited = self.question.with_heap(heap);
                limited.map_err(|error| SearchError::io(self.tools.program, io::Error::other(error)))?
            }
            None => self.question.with_generous_heap(),
        };
        let run = Run::new(&combination, attempt, 0);
        let sweep = Sweep {
            program: self.tools.program,
            timeout: self.limit,
            stop: self.tools.stop,
            environment: Environment::default(),
        };
        let record =
            one(&run, 0, &sweep, &self.scratch.path).map_err(|source| SearchError::io(self.tools.program, source))?;
        match record {
            Some(record) => Ok(self.line(record, heap, attempt)),
            None => Err(SearchError::Stopped(self.tools.stop.signal().unwrap_or(0))),
        }
    }

    fn line(&self, record: RunRecord, heap: Option<u64>, attempt: u32) -> Probe {
        let own = self.question.program().is_none();
        let exit_code = match &record.outcome {
            Status::Ok => Some(
                self.question
                    .program()
                    .map_or(0, |program| program.description.expect.status),
            ),
            Status::HeapExhausted => Some(gclab_core::heap::EXIT_HEAP_EXHAUSTED).filter(|_| own),
            Status::Usage => Some(outcome::EXIT_USAGE).filter(|_| own),
            Status::Crash { exit_code, .. } => *exit_code,
            Status::Timeout | Status::WrongAnswer | Status::Unprepared => None,
        };
        let question = self.question.configuration().clone();
        Probe {
            collector: question.collector,
            workload: question.workload,
            args: question.args,
            flags: question.flags,
            executable: Some(executable(self.question, self.tools).to_owned()),
            heap_bytes: heap,
            attempt,
            started: record.started.unwrap_or_default(),
            outcome: record.outcome,
            exit_code,
            checksum: record.checksum,
            wall_seconds: record.wall_seconds,
            limit_seconds: self.limit.as_secs_f64(),
            peak_in_use_bytes: record.stats.and_then(|stats| stats.peak_in_use_bytes),
            max_rss_bytes: record.max_rss_bytes,
            stderr_tail: record.stderr_tail,
            command: record.command,
        }
    }

    fn found(&self, found: &Least, generous: Duration) -> Found {
        let minimum = minimum(self.question, found, self.store.probes().len());
        let with = |heap: Option<u64>| {
            self.store
                .probes()
                .iter()
                .filter(move |probe| heap.is_some() && probe.heap_bytes == heap)
        };
        let mut walls: Vec<f64> = with(minimum.minimum_bytes)
            .filter_map(|probe| probe.wall_seconds)
            .collect();
        walls.sort_by(f64::total_cmp);
        Found {
            generous,
            wall: (!walls.is_empty()).then(|| Duration::from_secs_f64(walls[walls.len() / 2])),
            below: with(minimum.too_small_bytes)
                .map(|probe| probe.outcome.clone())
                .find(|outcome| !outcome.is_ok()),
            checksum: self.checksum.clone().flatten(),
            minimum,
        }
    }
}

fn minimum(question: &Combination, found: &Least, probes: usize) -> Minimum {
    let bytes = |units: u64| units * MEGABLOCK.0 as u64;
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
            question.limit_name()
        )),
        Some(_) => (!holes.is_empty()).then(|| format!("not monotone: {}", holes.join("; "))),
    };
    let question = question.configuration().clone();
    Minimum {
        collector: question.collector,
        workload: question.workload,
        args: question.args,
        flags: question.flags,
        settings: Some(question.settings).filter(|settings| !settings.is_empty()),
        minimum_bytes: found.size.map(bytes),
        too_small_bytes: Some(bytes(found.too_small)).filter(|bytes| *bytes > 0),
        probes: u32::try_from(probes).unwrap_or(u32::MAX),
        note,
    }
}
