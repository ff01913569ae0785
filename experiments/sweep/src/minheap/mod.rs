//! The least heap with which a program completes: for one configuration or several, by processes of their own, cached and resumable.
//!
//! Terms: a *question* is a configuration without `-M`; a *probe* is one run of it under one `-M`; the first probe is *generous*: it has the memory of
//! the machine, and says how long the program takes and where to begin to look. A probe that takes [`PATIENCE`] times as long is *thrashing*: it would
//! perhaps end, but nobody would wait for it, so that heap is too small, as one that is exhausted (status 251). A crash is neither: it ends the search, and
//! is reported. The unit is a megablock, since that is what heaps take memory in.
//!
//! `search` finds, `store` keeps, `progress` shows; `reference` asks for all configurations of an experiment. Where the ideas are from: running-ng's `minheap`,
//! which is one search over whole MB where a timeout and an exhausted heap are the same, and the definition in Blackburn et al., "Rethinking
//! Java Performance Analysis" (ASPLOS 2025).

pub mod progress;
pub mod reference;
pub mod search;
pub mod store;
#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use gclab_core::block::MEGABLOCK;
use gclab_core::config::LEAST_MAX_HEAP;
use gclab_core::heap::default_limit;
use gclab_results::{Configuration, Minimum, PlannedRun, Probe, RunRecord, SCHEMA, Status, shell_line};
use thiserror::Error;

use crate::runner::stop::Stop;
use crate::runner::{Scratch, Sweep, one};
use progress::Progress;
use search::{Least, Search, least};
use store::Store;

/// How many times as long as with a generous heap a run may take before it counts as thrashing.
pub const PATIENCE: f64 = 20.0;

/// The least time after which a run counts as thrashing: short programs take most of their time to start, and machines are busy at times.
pub const LEAST_PATIENCE: Duration = Duration::from_secs(2);

/// Relative width of the bracket when nobody says otherwise: one percent.
pub const TOLERANCE: f64 = 0.01;

/// How many runs must complete when nobody says otherwise.
pub const RUNS: u32 = 3;

/// How to search.
#[derive(Debug)]
pub struct Tools<'t> {
    /// Where probes are kept: [`store::ROOT`].
    pub root: PathBuf,
    /// The program to start; it must understand `exec`.
    pub program: &'t Path,
    /// Its hash.
    pub executable: String,
    /// Longest time for the generous run.
    pub timeout: Duration,
    /// The least time after which a run counts as thrashing: [`LEAST_PATIENCE`].
    pub least_patience: Duration,
    /// Relative width of the bracket to end at.
    pub tolerance: f64,
    /// How many runs must complete.
    pub runs: u32,
    /// Whether to forget earlier probes.
    pub fresh: bool,
    /// Whether to stop.
    pub stop: &'t Stop,
}

/// The answer to a question.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// What goes into `plan.json`.
    pub minimum: Minimum,
    /// Time of the generous run.
    pub generous: Duration,
    /// Median time of the runs with the least heap.
    pub wall: Option<Duration>,
    /// How the first run with the size below ended.
    pub below: Option<Status>,
    /// Checksum of all good runs.
    pub checksum: Option<String>,
}

/// Why a search ended without an answer. What was probed until then is on disk.
#[derive(Debug, Error)]
pub enum Halt {
    /// This signal stopped it.
    #[error("stopped by signal {0}")]
    Stopped(i32),
    /// The program did not complete, or gave a wrong result, and not for want of memory.
    #[error("{}", describe(.0, .1))]
    Failed(String, Box<Probe>),
    /// A file or a process.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// A file of probes that somebody else wrote to.
    #[error("{}:{line}: {problem}: this is no probe; --fresh begins anew", path.display())]
    Spoilt {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
}

impl Halt {
    fn io(path: &Path, source: io::Error) -> Halt {
        Halt::Io {
            path: path.to_owned(),
            source,
        }
    }

    /// In one line, for `plan.json` and tables.
    pub fn note(&self) -> String {
        match self {
            Halt::Failed(what, _) => what.clone(),
            other => other.to_string(),
        }
    }
}

/// What failed, the command that shows it, and what it said.
fn describe(what: &str, probe: &Probe) -> String {
    let said = probe.stderr_tail.as_deref().unwrap_or("");
    let lines: Vec<&str> = said.lines().collect();
    let last: String = lines[lines.len().saturating_sub(8)..]
        .iter()
        .map(|line| format!("\n    {line}"))
        .collect();
    format!("{what}: {}{last}", shell_line(&probe.command))
}

/// Finds the least heap of `question`.
///
/// # Errors
/// When the program fails otherwise than for want of memory, the search was stopped, or a file or process could not be had.
pub fn find(question: &Configuration, tools: &Tools<'_>, progress: &mut Progress) -> Result<Found, Halt> {
    let store = Store::open(
        &store::folder(&tools.root, question, &tools.executable),
        tools.fresh,
        tools.stop,
    )?;
    let scratch = Scratch::new(store.folder()).map_err(|source| Halt::io(store.folder(), source))?;
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
        start: generous.peak_in_use_bytes.unwrap_or(unit).div_ceil(unit),
        most,
        tolerance: tools.tolerance,
        runs: tools.runs,
    };
    let found = least(search, |units, attempt| match units * unit {
        bytes if bytes < LEAST_MAX_HEAP.0 as u64 => Ok(false),
        bytes => prober.completes(bytes, attempt),
    })?;
    Ok(prober.found(&found, generous_time))
}

/// The answer, if all that it needs is on disk; nothing is run.
pub fn known(question: &Configuration, tools: &Tools<'_>) -> Option<Minimum> {
    let probes = store::read(&store::folder(&tools.root, question, &tools.executable)).ok()?;
    let probe = |heap: Option<u64>, attempt: u32| probes.iter().filter(|p| p.heap_bytes == heap).nth(attempt as usize);
    let generous = probe(None, 0).filter(|probe| probe.outcome.is_ok())?;
    let unit = MEGABLOCK.0 as u64;
    let search = Search {
        start: generous.peak_in_use_bytes?.div_ceil(unit),
        most: (default_limit().0 as u64 / unit).max(1),
        tolerance: tools.tolerance,
        runs: tools.runs,
    };
    let answer = |units: u64, attempt| {
        if units * unit < LEAST_MAX_HEAP.0 as u64 {
            return Ok(false);
        }
        probe(Some(units * unit), attempt)
            .map(|probe| probe.outcome.is_ok())
            .ok_or(())
    };
    let found = least(search, answer).ok()?;
    Some(minimum(question, &found, probes.len()))
}

struct Prober<'p> {
    question: &'p Configuration,
    tools: &'p Tools<'p>,
    store: Store,
    scratch: Scratch,
    /// Longest time for a run.
    limit: Duration,
    /// What good runs must give: what the first one gave.
    checksum: Option<String>,
    progress: &'p mut Progress,
}

impl Prober<'_> {
    fn generous(&mut self) -> Result<Probe, Halt> {
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
        Err(Halt::Failed(what, Box::new(probe)))
    }

    /// Whether a run with this heap completes.
    fn completes(&mut self, heap: u64, attempt: u32) -> Result<bool, Halt> {
        let probe = self.probe(Some(heap), attempt)?;
        match &probe.outcome {
            Status::Ok => Ok(true),
            Status::HeapExhausted | Status::Timeout => Ok(false),
            other => Err(Halt::Failed(format!("{other} with {}", size(heap)), Box::new(probe))),
        }
    }

    /// The probe, from the disk or done now. Two good ones must agree.
    fn probe(&mut self, heap: Option<u64>, attempt: u32) -> Result<Probe, Halt> {
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
            let first = self
                .checksum
                .get_or_insert_with(|| probe.checksum.clone().unwrap_or_default());
            if probe.checksum.as_ref() != Some(first) {
                let what = format!(
                    "WRONG RESULTS: checksum {} where it was {first} before",
                    probe.checksum.as_deref().unwrap_or("none")
                );
                return Err(Halt::Failed(what, Box::new(probe)));
            }
        }
        Ok(probe)
    }

    fn run(&mut self, heap: Option<u64>, attempt: u32) -> Result<Probe, Halt> {
        self.progress.start(self.question, heap);
        let mut configuration = self.question.clone();
        match heap {
            Some(heap) => _ = configuration.flags.insert("M".to_owned(), heap.to_string()),
            // A heap of fixed size takes its size from -M: how much the program needs, the default policy says.
            None if configuration
                .flags
                .get("sizing")
                .is_some_and(|policy| policy == "fixed") =>
            {
                configuration.flags.remove("sizing");
            }
            None => {}
        }
        let planned = PlannedRun::new(configuration, attempt, 0);
        let sweep = Sweep {
            program: self.tools.program,
            timeout: self.limit,
            stop: self.tools.stop,
        };
        let record =
            one(&planned, 0, &sweep, &self.scratch.path).map_err(|source| Halt::io(self.tools.program, source))?;
        match record {
            Some(record) => Ok(self.line(record, heap, attempt)),
            None => Err(Halt::Stopped(self.tools.stop.signal().unwrap_or(0))),
        }
    }

    fn line(&self, record: RunRecord, heap: Option<u64>, attempt: u32) -> Probe {
        let exit_code = match &record.outcome {
            Status::Ok => Some(0),
            Status::HeapExhausted => Some(gclab_core::heap::EXIT_HEAP_EXHAUSTED),
            Status::Usage => Some(crate::runner::outcome::EXIT_USAGE),
            Status::Crash { exit_code, .. } => *exit_code,
            Status::Timeout => None,
        };
        Probe {
            schema: SCHEMA,
            collector: self.question.collector.clone(),
            workload: self.question.workload.clone(),
            args: self.question.args.clone(),
            flags: self.question.flags.clone(),
            executable: Some(self.tools.executable.clone()),
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
            checksum: self.checksum.clone(),
            minimum,
        }
    }
}

fn minimum(question: &Configuration, found: &Least, probes: usize) -> Minimum {
    let bytes = |units: u64| units * MEGABLOCK.0 as u64;
    let holes: Vec<String> = found
        .holes
        .iter()
        .map(|hole| match hole.completed == hole.failed {
            true => format!("{} completes only now and then", size(bytes(hole.failed))),
            false => format!(
                "{} completes, {} does not",
                size(bytes(hole.completed)),
                size(bytes(hole.failed))
            ),
        })
        .collect();
    let note = match found.size {
        None => Some(format!(
            "it never completes with up to {}, though it does without -M",
            size(bytes(found.too_small))
        )),
        Some(_) => (!holes.is_empty()).then(|| format!("not monotone: {}", holes.join("; "))),
    };
    Minimum {
        collector: question.collector.clone(),
        workload: question.workload.clone(),
        args: question.args.clone(),
        flags: question.flags.clone(),
        minimum_bytes: found.size.map(bytes),
        too_small_bytes: Some(bytes(found.too_small)).filter(|bytes| *bytes > 0),
        probes: u32::try_from(probes).unwrap_or(u32::MAX),
        note,
    }
}

/// `24 MiB`, `24.5 MiB`.
pub fn size(bytes: u64) -> String {
    let mebibytes = bytes as f64 / f64::from(1 << 20);
    let decimals = if mebibytes.fract() == 0.0 { 0 } else { 1 };
    format!("{mebibytes:.decimals$} MiB")
}
