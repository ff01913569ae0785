//! Chooses the results folder of a sweep: the newest one that holds the same plan, or a new one.
//!
//! Two plans are the same if they have the same runs, by their ids, with the same seed and the same
//! time limit; the question, comments and the order of lists may change. A folder keeps its order
//! and its ids, also those that an older gclab made. Results of two builds, or of two kinds of
//! processor, are never mixed in one folder: an unfinished folder from another build is refused, a
//! finished one is only shown.
//!
//! A new folder under `results/runs` has a hidden name until its plan is on disk. So every visible
//! folder has a plan, even if its runner was killed. The next runner removes the hidden ones that
//! are left.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use gclab_results::folder::PLAN_DRAFT;
use gclab_results::{Manifest, Minimum, NamedBuild, ResultsDir, ResultsError, path_name, rfc3339};
use thiserror::Error;

use crate::counters::available;
use crate::experiment::Experiment;
use crate::machine;
use crate::plan::{ORDER, Shard, adopt, programs_of, why_other};
use crate::run::Run;
use crate::runner::lock::{LOCK_FILE, Lock, lock};

/// The folder of all results, below the current folder.
pub(crate) const RUNS: &str = "results/runs";

/// The prefix of folders whose plan is not on disk yet; the id of their process follows.
const BEGUN: &str = ".begun-";

/// Limit on folders of the same name. Names include the start time to the second, so more are
/// unlikely, and without a limit the search would never end if the system refused for another
/// reason.
const MOST_OF_A_NAME: u32 = 1000;

/// A results folder that only this process may write to.
#[derive(Debug)]
pub struct Folder {
    /// The plan and the runs.
    pub results: ResultsDir,
    /// The runs of the plan, in the order and with the ids that the folder has.
    pub runs: Vec<Run>,
    /// Facts that the user should know before the sweep continues.
    pub notes: Vec<String>,
    _lock: Lock,
}

/// Why the sweep has no folder.
#[derive(Debug, Error)]
pub enum FolderError {
    /// The folder cannot be read or made.
    #[error(transparent)]
    Results(#[from] ResultsError),
    /// The system refused a file or a folder.
    #[error("{}: {source}", path_name(path))]
    Io {
        /// The path of the folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Another process writes to it.
    #[error(
        "{}: {owner} is writing to this folder: wait for it, or use --out with another folder",
        path_name(path)
    )]
    Locked {
        /// The path of the folder.
        path: PathBuf,
        /// The other process.
        owner: String,
    },
    /// `--out` names a folder with other contents.
    #[error("{}: {problem}", path_name(path))]
    Taken {
        /// The path of the folder.
        path: PathBuf,
        /// Its contents, and the remedy.
        problem: String,
    },
    /// It is unfinished, and continuing would mix results that cannot be compared.
    #[error(
        "{}: begun with {was}; this is {is}: results of the two cannot be compared\n  --fresh begins a new folder; to finish this one, go back to {was}",
        path_name(path)
    )]
    Mixed {
        /// The path of the folder.
        path: PathBuf,
        /// The build or processor at its beginning.
        was: String,
        /// The build or processor now.
        is: String,
    },
}

/// The manifest of a sweep that starts now. `runs` are the runs of `shard`; `minima` belong to its
/// configurations, if the experiment has `heap`.
pub fn manifest(
    experiment: &Experiment,
    runs: &[Run],
    minima: Vec<Minimum>,
    shard: Shard,
    command: Vec<String>,
) -> Manifest {
    let mut manifest = Manifest::new(&experiment.name);
    manifest.question = Some(experiment.question.clone()).filter(|question| !question.is_empty());
    manifest.experiment.clone_from(&experiment.text);
    manifest.seed = experiment.seed;
    manifest.order = Some(ORDER.to_owned());
    manifest.shard = (!shard.is_all()).then(|| shard.to_string());
    manifest.timeout_seconds = Some(experiment.timeout.as_secs_f64());
    manifest.repeat = experiment.repeat;
    manifest.precision = experiment.precision;
    manifest.pause_counters = experiment.pause_counters.then_some(true);
    manifest.sweep = experiment.axes();
    let builds = experiment.builds.iter();
    manifest.builds = builds
        .map(|build| NamedBuild {
            name: build.name.clone(),
            file: build.file.display().to_string(),
            executable: build.executable.clone(),
        })
        .collect();
    manifest.programs = experiment
        .programs()
        .flat_map(programs_of)
        .map(|program| program.description.clone())
        .collect();
    manifest.machine = machine::machine();
    (manifest.machine.counters, manifest.machine.counters_absent) = available();
    manifest.build = machine::build();
    manifest.started = rfc3339(SystemTime::now());
    manifest.command = command;
    manifest.plan = runs.iter().map(|run| run.planned.clone()).collect();
    manifest.heap.clone_from(&experiment.heap);
    manifest.pause = experiment.pause.iter().map(Duration::as_secs_f64).collect();
    manifest.minima = minima;
    manifest
}

/// The folder to continue in, or a new one: at `out` if given, else under `results/runs`. With
/// `fresh` always a new one.
///
/// # Errors
/// If the folder has other contents, is in use, is from another build, or cannot be read or
/// written.
pub fn choose(
    manifest: Manifest,
    runs: &[Run],
    shard: Shard,
    out: Option<&Path>,
    fresh: bool,
) -> Result<Folder, FolderError> {
    let existing = match out {
        Some(out) if is_results(out) => {
            if fresh {
                return Err(taken(
                    out,
                    "already holds results: --fresh needs a folder that does not exist yet: give --out another name",
                ));
            }
            Some(out.to_owned())
        }
        Some(out) => {
            let leftover = fs::read_dir(out)
                .into_iter()
                .flatten()
                .flatten()
                .any(|entry| entry.file_name() != LOCK_FILE && entry.file_name() != PLAN_DRAFT);
            // Another runner may have begun here a moment ago: then its lock decides.
            let begun_meanwhile = leftover && is_results(out);
            if leftover && !begun_meanwhile {
                return Err(taken(out, "is not empty and holds no results: choose another folder"));
            }
            begun_meanwhile.then(|| out.to_owned())
        }
        None if fresh => None,
        None => newest(Path::new(RUNS), &manifest, runs),
    };
    match existing {
        Some(path) => resume(path, &manifest, runs),
        None => begin(out, manifest, runs, shard),
    }
}

fn taken(path: &Path, problem: &str) -> FolderError {
    FolderError::Taken {
        path: path.to_owned(),
        problem: problem.to_owned(),
    }
}

/// Whether a folder holds results.
pub fn is_results(path: &Path) -> bool {
    path.join("plan.json").exists()
}

/// The runs of a plan in the order of the folder that has it, and with the ids of that folder;
/// `None` if it is the plan of other runs.
fn same_plan(found: &Manifest, wanted: &Manifest, runs: &[Run]) -> Option<Vec<Run>> {
    let key = |manifest: &Manifest| (manifest.seed, manifest.timeout_seconds);
    let builds = |manifest: &Manifest| -> Vec<(String, String)> {
        let builds = manifest.builds.iter();
        builds
            .map(|build| (build.name.clone(), build.executable.clone()))
            .collect()
    };
    let is_same = key(found) == key(wanted) && found.programs == wanted.programs && builds(found) == builds(wanted);
    is_same.then(|| adopt(runs, found)).flatten()
}

/// The plan of a folder; `None` if it cannot be read.
fn plan_of(path: &Path) -> Option<Manifest> {
    serde_json::from_str(&fs::read_to_string(path.join("plan.json")).ok()?).ok()
}

fn newest(root: &Path, wanted: &Manifest, runs: &[Run]) -> Option<PathBuf> {
    folders(root)
        .filter_map(|path| Some((plan_of(&path)?, path)))
        .filter(|(manifest, _)| manifest.name == wanted.name && same_plan(manifest, wanted, runs).is_some())
        .max_by(|(one, one_path), (other, other_path)| (&one.started, one_path).cmp(&(&other.started, other_path)))
        .map(|(_, path)| path)
}

/// The folders of runs under `root`.
pub(crate) fn folders(root: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    entries
        .filter(|entry| !is_begun(&entry.file_name()))
        .map(|entry| entry.path())
}

/// Whether a folder of this name has no plan yet: [`BEGUN`] and the number of a process.
fn is_begun(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    let process = name.strip_prefix(BEGUN).unwrap_or_default();
    !process.is_empty() && process.bytes().all(|byte| byte.is_ascii_digit())
}

fn take_lock(path: &Path) -> Result<Lock, FolderError> {
    match lock(path) {
        Ok(Ok(lock)) => Ok(lock),
        Ok(Err(owner)) => Err(FolderError::Locked {
            path: path.to_owned(),
            owner,
        }),
        Err(source) => Err(FolderError::Io {
            path: path.to_owned(),
            source,
        }),
    }
}

fn resume(path: PathBuf, wanted: &Manifest, runs: &[Run]) -> Result<Folder, FolderError> {
    let _lock = take_lock(&path)?;
    let results = ResultsDir::open(&path)?;
    let found = results.manifest();
    let Some(runs) = same_plan(found, wanted, runs) else {
        let why = why_other(runs, found).map_or_else(String::new, |why| format!("; {why}"));
        return Err(taken(
            &path,
            &format!(
                "holds another plan (experiment {}, {} runs){why}: choose another folder, or leave out --out",
                found.name,
                found.plan.len()
            ),
        ));
    };
    let mut notes = Vec::new();
    let complete = found.plan.iter().all(|run| results.is_done(&run.id));
    if let Some((was, is)) = difference(found, wanted) {
        if !complete {
            return Err(FolderError::Mixed { path, was, is });
        }
        notes.push(format!(
            "these results come from {was}, but this is {is}: --fresh measures again"
        ));
    }
    if let Some(torn) = results.torn() {
        notes.push(format!(
            "line {} of runs.jsonl was cut short ({} bytes): that run will be repeated",
            torn.line, torn.bytes
        ));
    }
    notes.extend(strays(&results));
    Ok(Folder {
        results,
        runs,
        notes,
        _lock,
    })
}

/// A note on the lines of `runs.jsonl` that belong to no planned run, if there are any.
fn strays(results: &ResultsDir) -> Option<String> {
    let strays = results.strays();
    let first = strays.first()?;
    Some(note_on_strays(&results.runs_file(), first, strays.len()))
}

/// A note on the lines of a `runs.jsonl` that belong to no planned run: their number, and the id of
/// the first one.
pub fn note_on_strays(runs_file: &Path, first: &str, all: usize) -> String {
    format!(
        "{}: {} not part of this plan (the first is {first}); figures include them, but they do not count as planned runs. \
         `gclab report` takes several folders and joins the parts of one plan",
        path_name(runs_file),
        if all == 1 {
            "one line is".to_owned()
        } else {
            format!("{all} lines are")
        }
    )
}

/// The difference that makes the results of two sweeps incomparable: the builds, or else the
/// processors.
fn difference(found: &Manifest, wanted: &Manifest) -> Option<(String, String)> {
    let (one, other) = (&found.build, &wanted.build);
    if one.executable != other.executable {
        return Some((describe(found), describe(wanted)));
    }
    let cpu = |manifest: &Manifest| {
        format!(
            "the processor {}",
            manifest.machine.cpu.as_deref().unwrap_or("(unknown)")
        )
    };
    (found.machine.cpu != wanted.machine.cpu).then(|| (cpu(found), cpu(wanted)))
}

/// A build in words: `the release build 0123456789abcdef (commit 01234567, changed)`.
pub(crate) fn describe(manifest: &Manifest) -> String {
    let build = &manifest.build;
    let commit = build.git_commit.as_deref().map_or_else(String::new, |commit| {
        let changed = if build.git_dirty == Some(true) { ", changed" } else { "" };
        format!(" (commit {}{changed})", &commit[..commit.len().min(8)])
    });
    format!(
        "the {} build {}{commit}",
        build.profile.as_deref().unwrap_or("unknown"),
        build.executable.as_deref().unwrap_or("(unknown)")
    )
}

fn io_failed(path: &Path, source: io::Error) -> FolderError {
    FolderError::Io {
        path: path.to_owned(),
        source,
    }
}

fn begin(out: Option<&Path>, manifest: Manifest, runs: &[Run], shard: Shard) -> Result<Folder, FolderError> {
    let (results, _lock) = match out {
        Some(out) => {
            if out.exists() && !out.is_dir() {
                return Err(FolderError::Taken {
                    path: out.to_owned(),
                    problem: "is not a folder; --out names a folder, and creates it if needed".to_owned(),
                });
            }
            fs::create_dir_all(out).map_err(|source| io_failed(out, source))?;
            let lock = take_lock(out)?;
            ResultsDir::create(out, manifest)?;
            (ResultsDir::open(out)?, lock)
        }
        None => {
            let name = format!("{}-{}{}", manifest.name, stamp(&manifest.started), shard.suffix());
            new_folder(Path::new(RUNS), &name, manifest)?
        }
    };
    Ok(Folder {
        results,
        runs: runs.to_vec(),
        notes: Vec::new(),
        _lock,
    })
}

/// A time as part of a file name: `2026-01-31-120005` for `2026-01-31T12:00:05Z`.
fn stamp(started: &str) -> String {
    started
        .replace(':', "")
        .replace('T', "-")
        .trim_end_matches('Z')
        .to_owned()
}

/// Makes the new folder `root/name`, or `root/name-2` and so on. It is complete and locked before
/// it gets that name.
fn new_folder(root: &Path, name: &str, manifest: Manifest) -> Result<(ResultsDir, Lock), FolderError> {
    let (draft, lock) = begun(root)?;
    ResultsDir::create(&draft, manifest)?;
    let mut path = root.join(name);
    for number in 2.. {
        match fs::rename(&draft, &path) {
            Ok(()) => break,
            // The path is a folder that is not empty, or a file.
            Err(error) if path.exists() => {
                if number > MOST_OF_A_NAME {
                    return Err(io_failed(&path, error));
                }
                path = root.join(format!("{name}-{number}"));
            }
            Err(source) => return Err(io_failed(&path, source)),
        }
    }
    Ok((ResultsDir::open(path)?, lock))
}

/// Makes a locked folder with a hidden name under `root`, after those that killed processes left
/// there were removed.
pub(crate) fn begun(root: &Path) -> Result<(PathBuf, Lock), FolderError> {
    fs::create_dir_all(root).map_err(|source| io_failed(root, source))?;
    remove_begun(root);
    let draft = root.join(format!("{BEGUN}{}", std::process::id()));
    fs::create_dir(&draft).map_err(|source| io_failed(&draft, source))?;
    let lock = take_lock(&draft)?;
    Ok((draft, lock))
}

/// Removes the folders of runners that were killed before their plan was on disk. A folder whose
/// runner lives is locked, and stays. A folder without a lock yet is empty. Two runners that start
/// in the same millisecond may remove it from each other; the loser prints an error and can be
/// started again.
fn remove_begun(root: &Path) {
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| is_begun(&entry.file_name())) {
        let path = entry.path();
        if matches!(lock(&path), Ok(Ok(_))) {
            // A folder that cannot be removed is harmless.
            let _ = fs::remove_dir_all(&path);
        }
    }
}

/// Earlier runs under `results/runs` of the plan's workloads, for estimates: all that can be read,
/// of any build.
pub fn earlier_runs(works: &HashSet<(String, Vec<String>)>) -> Vec<gclab_results::RunRecord> {
    let runs = folders(Path::new(RUNS))
        .filter(|path| is_results(path))
        .filter_map(|path| ResultsDir::open(path).ok());
    runs.flat_map(|dir| dir.all_runs().cloned().collect::<Vec<_>>())
        .filter(|run| works.contains(&(run.workload.clone(), run.args.clone())))
        .collect()
}
