//! A results folder: `plan.json` and `runs.jsonl`.
//!
//! Invariants: `plan.json` is written as a whole before the first run and never changed.
//! `runs.jsonl` only grows, by a line for each finished run, and the line is on disk before
//! [`ResultsDir::append_run`] returns. If the process is killed, at most the line that it was
//! writing is lost. [`ResultsDir::torn`] reports such a torn last line, and the next append cuts it
//! off. Any other text that cannot be read is an error that names file and line.
//!
//! Runs for a heap profile ([`ResultsDir::profiled`]) and runs for an event log
//! ([`ResultsDir::logged`]) are kept apart from timed runs ([`ResultsDir::runs`]), so that
//! statistics do not mix them.

use crate::manifest::Manifest;
use crate::purpose::Purpose;
use crate::record::{RunRecord, SCHEMA};
use serde::Deserialize;
use std::collections::{HashMap, HashSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The file that holds the [`Manifest`].
const PLAN_FILE: &str = "plan.json";
/// The name of `PLAN_FILE` until the whole file is on disk.
pub const PLAN_DRAFT: &str = "plan.json.new";
/// The file that holds a [`RunRecord`] on each line.
const RUNS_FILE: &str = "runs.jsonl";
/// The folder that holds the files of heap profiles.
pub const PROFILES: &str = "profiles";
/// The folder that holds event logs.
pub const EVENT_LOGS: &str = "eventlogs";

/// An experiment's plan and the runs done so far.
#[derive(Debug)]
pub struct ResultsDir {
    path: PathBuf,
    manifest: Manifest,
    runs: Vec<RunRecord>,
    profiled: Vec<RunRecord>,
    logged: Vec<RunRecord>,
    /// The folders that hold the files of the runs: this one, or those that it was joined from.
    folders: Vec<PathBuf>,
    done: HashSet<String>,
    torn: Option<TornLine>,
    /// The number of bytes of `runs.jsonl` that hold whole records.
    good_bytes: u64,
    /// Whether the last whole record lacks its line end.
    unterminated: bool,
    /// Whether there are bytes after these that the next append must cut off.
    leftover: bool,
    /// Whether runs are kept without their single collections and censuses.
    totals_only: bool,
}

/// A last line of `runs.jsonl` that was not written completely.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TornLine {
    /// The line's number, from 1.
    pub line: usize,
    /// The length of the line in bytes.
    pub bytes: usize,
}

/// The reason why a results folder could not be created, read or extended.
#[derive(Debug, thiserror::Error)]
pub enum ResultsError {
    /// The operating system refused an operation.
    #[error("{path}: cannot {action}: {source}")]
    Io {
        /// The operation, as a verb.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A folder without `plan.json`.
    #[error("{path}: not a results folder: it has no {PLAN_FILE}")]
    NoPlan {
        /// The path of the folder.
        path: PathBuf,
    },
    /// A folder that already holds results.
    #[error("{path}: already holds results; continue this folder, or choose another")]
    Exists {
        /// The path of the folder.
        path: PathBuf,
    },
    /// Text that is not a record or a plan.
    #[error("{path}:{line}: {problem}")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The reason why it cannot be read.
        problem: String,
    },
    /// A schema of a newer gclab.
    #[error(
        "{path}:{line}: schema {found} was written by gclab {gclab}; this gclab ({}) reads schemas up to {SCHEMA}: use gclab {gclab} or newer",
        env!("CARGO_PKG_VERSION")
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The schema of the file.
        found: u32,
        /// The version of the gclab that wrote the file.
        gclab: String,
    },
}

impl ResultsDir {
    /// Creates the folder (and those above it) and writes its plan.
    ///
    /// # Errors
    /// Fails if the folder already has a plan, or cannot be written.
    pub fn create(path: impl Into<PathBuf>, manifest: Manifest) -> Result<ResultsDir, ResultsError> {
        let path = path.into();
        let plan = path.join(PLAN_FILE);
        if plan.exists() {
            return Err(ResultsError::Exists { path });
        }
        fs::create_dir_all(&path).map_err(|e| io_error("make the folder", &path, e))?;
        let mut text = serde_json::to_string_pretty(&manifest).expect("a manifest has only string keys");
        text.push('\n');
        // A plan that exists is whole: it gets its name only when the whole file is on disk.
        let draft = path.join(PLAN_DRAFT);
        write_synced(&draft, text.as_bytes()).map_err(|e| io_error("write", &draft, e))?;
        fs::rename(&draft, &plan).map_err(|e| io_error("rename to plan.json", &draft, e))?;
        Ok(ResultsDir::without_runs(path, manifest))
    }

    /// Reads a folder: its plan, and all runs that are done, if any.
    ///
    /// # Errors
    /// Fails if there is no plan, if a line other than a torn last one is not a record, if two
    /// different records have the same id, or if a newer gclab wrote the folder.
    pub fn open(path: impl Into<PathBuf>) -> Result<ResultsDir, ResultsError> {
        ResultsDir::load(path.into(), false)
    }

    /// Opens a folder to append to it. The runs in memory have their totals, but neither their
    /// single collections nor the censuses of their profiles: so the memory of a process that
    /// appends stays small. [`ResultsDir::open`] reads all figures.
    ///
    /// # Errors
    /// As [`ResultsDir::open`].
    pub fn open_totals(path: impl Into<PathBuf>) -> Result<ResultsDir, ResultsError> {
        ResultsDir::load(path.into(), true)
    }

    fn load(path: PathBuf, totals_only: bool) -> Result<ResultsDir, ResultsError> {
        let plan = path.join(PLAN_FILE);
        let text = match fs::read_to_string(&plan) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                return Err(ResultsError::NoPlan { path });
            }
            other => other.map_err(|e| io_error("read", &plan, e))?,
        };
        let manifest = parse::<Manifest>(&text, &plan, 1)?;
        let mut dir = ResultsDir::without_runs(path, manifest);
        dir.totals_only = totals_only;
        dir.load_runs()?;
        let all = std::mem::take(&mut dir.runs);
        all.into_iter().for_each(|run| dir.put(run));
        Ok(dir)
    }

    fn without_runs(path: PathBuf, manifest: Manifest) -> ResultsDir {
        ResultsDir {
            folders: vec![path.clone()],
            path,
            manifest,
            runs: Vec::new(),
            profiled: Vec::new(),
            logged: Vec::new(),
            done: HashSet::new(),
            torn: None,
            good_bytes: 0,
            unterminated: false,
            leftover: false,
            totals_only: false,
        }
    }

    /// A plan and runs that were joined from several folders; nothing can be appended.
    pub(crate) fn assembled(
        path: PathBuf,
        folders: Vec<PathBuf>,
        manifest: Manifest,
        runs: Vec<RunRecord>,
    ) -> ResultsDir {
        let mut dir = ResultsDir::without_runs(path, manifest);
        dir.folders = folders;
        runs.into_iter().for_each(|run| dir.put(run));
        dir
    }

    /// The part of a run that this folder keeps in memory.
    fn kept(&self, mut run: RunRecord) -> RunRecord {
        if self.totals_only {
            if let Some(stats) = &mut run.stats {
                stats.collections = Vec::new();
            }
            run.profile = None;
        }
        run
    }

    fn put(&mut self, run: RunRecord) {
        let run = self.kept(run);
        self.done.insert(run.id.clone());
        let of_its_purpose = match run.purpose() {
            Purpose::Times => &mut self.runs,
            Purpose::HeapProfile(_) => &mut self.profiled,
            Purpose::EventLog => &mut self.logged,
        };
        of_its_purpose.push(run);
    }

    /// Reads all runs into `runs`, whatever their purpose.
    fn load_runs(&mut self) -> Result<(), ResultsError> {
        let file = self.runs_file();
        let bytes = match fs::read(&file) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
            other => other.map_err(|e| io_error("read", &file, e))?,
        };
        let mut line_of: HashMap<String, (usize, usize)> = HashMap::new();
        for (index, line) in bytes.split_inclusive(|&b| b == b'\n').enumerate() {
            let number = index + 1;
            let whole = line.ends_with(b"\n");
            let parsed = std::str::from_utf8(line.trim_ascii_end())
                .map_err(|e| malformed(&file, number, format!("not UTF-8 text: {e}")))
                .and_then(|text| parse::<RunRecord>(text, &file, number))
                .map(|run| self.kept(run));
            match parsed {
                _ if line.trim_ascii().is_empty() && whole => {}
                Ok(run) => match line_of.get(&run.id) {
                    None => {
                        line_of.insert(run.id.clone(), (number, self.runs.len()));
                        self.runs.push(run);
                    }
                    // The line was copied, as when folders of several machines are joined.
                    Some(&(_, earlier)) if self.runs[earlier] == run => {}
                    Some(&(earlier, _)) => {
                        let problem = format!("run {} is already on line {earlier}, with other figures", run.id);
                        return Err(malformed(&file, number, problem));
                    }
                },
                Err(ResultsError::Malformed { .. }) if !whole => {
                    self.torn = Some(TornLine {
                        line: number,
                        bytes: line.len(),
                    });
                    self.leftover = true;
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
            self.good_bytes += line.len() as u64;
            self.unterminated = !whole;
        }
        Ok(())
    }

    /// Appends a run; the line is on disk when this returns. Cuts off a torn last line first.
    ///
    /// # Errors
    /// Fails if `runs.jsonl` cannot be written, or if it or the plan was deleted meanwhile. No
    /// earlier run is lost, and the next append cuts off the part of the line that was written.
    pub fn append_run(&mut self, run: &RunRecord) -> Result<(), ResultsError> {
        let path = self.runs_file();
        let plan = self.path.join(PLAN_FILE);
        fs::metadata(&plan).map_err(|e| io_error("find", &plan, e))?;
        let mut line = Vec::with_capacity(4096);
        if self.unterminated {
            line.push(b'\n');
        }
        serde_json::to_writer(&mut line, run).expect("a record has only string keys");
        line.push(b'\n');
        // The line is one write in append mode, so that two processes do not mix their lines.
        let append = |good_bytes: u64, leftover: bool| -> io::Result<()> {
            // A file that is gone is not made anew: the earlier runs would be missing in it.
            let mut file = OpenOptions::new().create(good_bytes == 0).append(true).open(&path)?;
            if leftover {
                file.set_len(good_bytes)?;
            }
            file.write_all(&line)?;
            file.sync_all()
        };
        let written = append(self.good_bytes, self.leftover);
        // After a failure (a full disk) the file may have a part of the line.
        self.leftover = written.is_err();
        written.map_err(|e| io_error("add a line to", &path, e))?;
        self.good_bytes += line.len() as u64;
        self.unterminated = false;
        self.torn = None;
        self.put(run.clone());
        Ok(())
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folders that hold the files of the runs.
    pub(crate) fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// The experiment, machine, build and plan.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The timed runs that are done, in the order in which they ended: all runs except those of
    /// [`ResultsDir::profiled`] and [`ResultsDir::logged`].
    pub fn runs(&self) -> &[RunRecord] {
        &self.runs
    }

    /// The runs for a heap profile that are done, in the order in which they ended. Their times are
    /// not those of the program.
    pub fn profiled(&self) -> &[RunRecord] {
        &self.profiled
    }

    /// The runs for an event log that are done, in the order in which they ended.
    pub fn logged(&self) -> &[RunRecord] {
        &self.logged
    }

    /// The runs that are done and were not timed: those for heap profiles, then those for event
    /// logs.
    pub fn untimed(&self) -> impl Iterator<Item = &RunRecord> {
        self.profiled.iter().chain(&self.logged)
    }

    /// All runs that are done: the timed ones, then the others.
    pub fn all_runs(&self) -> impl Iterator<Item = &RunRecord> {
        self.runs.iter().chain(self.untimed())
    }

    /// The number of planned runs that are done, of any purpose and with any outcome.
    pub fn done(&self) -> usize {
        self.manifest.plan.iter().filter(|run| self.is_done(&run.id)).count()
    }

    /// The ids of runs that no run of the plan has: lines of another part, or of another plan.
    pub fn strays(&self) -> Vec<&str> {
        let planned: HashSet<&str> = self.manifest.plan.iter().map(|run| run.id.as_str()).collect();
        let ids = self.all_runs().map(|run| run.id.as_str());
        ids.filter(|id| !planned.contains(id)).collect()
    }

    /// The path of a heap profile: a file in [`PROFILES`] with a name from
    /// [`RunRecord::file_stem`] and the ending `hp`, or `prof` for sets of retainers.
    pub fn profile_file(&self, stem: &str, ending: &str) -> PathBuf {
        self.path.join(PROFILES).join(format!("{stem}.{ending}"))
    }

    /// The path of an event log: a file in [`EVENT_LOGS`] with a name from
    /// [`RunRecord::file_stem`]. Of several folders that were joined, it is in the one that has the
    /// file.
    pub fn event_log(&self, stem: &str) -> PathBuf {
        let in_folder = |folder: &PathBuf| folder.join(EVENT_LOGS).join(format!("{stem}.eventlog"));
        let mut paths = self.folders.iter().map(in_folder);
        paths
            .find(|path| path.exists())
            .unwrap_or_else(|| in_folder(&self.folders[0]))
    }

    /// The torn last line, if the file has one.
    pub fn torn(&self) -> Option<&TornLine> {
        self.torn.as_ref()
    }

    /// Whether the planned run with this id is done, with any outcome.
    pub fn is_done(&self, id: &str) -> bool {
        self.done.contains(id)
    }

    /// The path of `runs.jsonl`.
    pub fn runs_file(&self) -> PathBuf {
        self.path.join(RUNS_FILE)
    }
}

/// Reads one JSON text. The schema is checked first, so that a newer text is not taken for a broken
/// one.
fn parse<T: for<'de> Deserialize<'de>>(text: &str, path: &Path, line: usize) -> Result<T, ResultsError> {
    #[derive(Deserialize)]
    struct Head {
        schema: u32,
        gclab: Option<String>,
    }
    let wrong = |e: serde_json::Error| {
        // A plan has several lines. A record is one line, whose number in the file counts.
        let line = line + e.line().saturating_sub(1);
        let text = e.to_string();
        let what = text.rsplit_once(" at line ").map_or(&*text, |(what, _)| what);
        malformed(
            path,
            line,
            format!("column {}: not what gclab writes: {what}", e.column()),
        )
    };
    let head: Head = serde_json::from_str(text).map_err(wrong)?;
    if head.schema > SCHEMA {
        let gclab = head.gclab.unwrap_or_else(|| "(unknown version)".to_owned());
        return Err(ResultsError::Newer {
            path: path.to_owned(),
            line,
            found: head.schema,
            gclab,
        });
    }
    serde_json::from_str(text).map_err(wrong)
}

fn malformed(path: &Path, line: usize, problem: String) -> ResultsError {
    ResultsError::Malformed {
        path: path.to_owned(),
        line,
        problem,
    }
}

fn io_error(action: &'static str, path: &Path, source: io::Error) -> ResultsError {
    ResultsError::Io {
        action,
        path: path.to_owned(),
        source,
    }
}

fn write_synced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}
