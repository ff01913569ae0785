//! A results folder: `plan.json` and `runs.jsonl`.
//!
//! Invariants: `plan.json` is written whole before the first run and never changed; `runs.jsonl` only grows, one line for
//! one finished run, and each line is on disk before [`ResultsDir::append_run`] returns. Whatever kills the process can
//! therefore cost the line that was being written and nothing before it. Such a torn last line is reported by
//! [`ResultsDir::torn`] and cut off by the next append; anything else that cannot be read is an error that names file
//! and line.
//!
//! Runs that were done for a heap profile ([`ResultsDir::profiled`]) are kept apart from those that are timed ([`ResultsDir::runs`]), so that whoever
//! makes statistics cannot take one for the other.

use crate::manifest::Manifest;
use crate::record::{RunRecord, SCHEMA};
use serde::Deserialize;
use std::collections::{HashMap, HashSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The file that holds the [`Manifest`].
pub const PLAN_FILE: &str = "plan.json";
/// What [`PLAN_FILE`] is called until all of it is on disk.
pub const PLAN_DRAFT: &str = "plan.json.new";
/// The file that holds one [`RunRecord`] a line.
pub const RUNS_FILE: &str = "runs.jsonl";
/// The folder that holds the files of heap profiles.
pub const PROFILES: &str = "profiles";

/// An experiment's plan and the runs done so far.
#[derive(Debug)]
pub struct ResultsDir {
    path: PathBuf,
    manifest: Manifest,
    runs: Vec<RunRecord>,
    profiled: Vec<RunRecord>,
    done: HashSet<String>,
    torn: Option<Torn>,
    /// Bytes of `runs.jsonl` that hold whole records.
    good_bytes: u64,
    /// Whether the last of them still lacks its line end.
    unterminated: bool,
    /// Whether there is something behind them that the next append must cut off.
    leftover: bool,
}

/// A last line of `runs.jsonl` that was not written to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Torn {
    /// The line's number, from 1.
    pub line: usize,
    /// Its length in bytes.
    pub bytes: usize,
}

/// Why a results folder could not be made, read or added to.
#[derive(Debug, thiserror::Error)]
pub enum ResultsError {
    /// The operating system refused.
    #[error("{path}: cannot {action}: {source}")]
    Io {
        /// What was to be done.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// A folder without `plan.json`.
    #[error("{path}: not a results folder: it has no {PLAN_FILE}")]
    NoPlan {
        /// The folder.
        path: PathBuf,
    },
    /// A folder that already holds results.
    #[error("{path}: already holds results; open the folder to go on, or choose another")]
    Exists {
        /// The folder.
        path: PathBuf,
    },
    /// Text that is not what it should be.
    #[error("{path}:{line}: {problem}")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// Written by a newer gclab.
    #[error(
        "{path}:{line}: schema {found} was written by gclab {gclab}; this gclab ({}) reads schemas up to {SCHEMA}: use gclab {gclab} or newer",
        env!("CARGO_PKG_VERSION")
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The schema found.
        found: u32,
        /// The version of the gclab that wrote it.
        gclab: String,
    },
}

impl ResultsDir {
    /// Makes the folder (and those above it) and writes its plan.
    ///
    /// # Errors
    /// When the folder already has a plan, or cannot be written.
    pub fn create(path: impl Into<PathBuf>, manifest: Manifest) -> Result<ResultsDir, ResultsError> {
        let path = path.into();
        let plan = path.join(PLAN_FILE);
        if plan.exists() {
            return Err(ResultsError::Exists { path });
        }
        fs::create_dir_all(&path).map_err(|e| io_error("make the folder", &path, e))?;
        let mut text = serde_json::to_string_pretty(&manifest).expect("a manifest has only string keys");
        text.push('\n');
        // A plan that exists is whole: it gets its name only when all of it is on disk.
        let draft = path.join(PLAN_DRAFT);
        write_synced(&draft, text.as_bytes()).map_err(|e| io_error("write", &draft, e))?;
        fs::rename(&draft, &plan).map_err(|e| io_error("rename to plan.json", &draft, e))?;
        Ok(ResultsDir::without_runs(path, manifest))
    }

    /// Reads a folder: its plan, and all runs done so far (none is fine).
    ///
    /// # Errors
    /// When there is no plan, when a line other than a torn last one is no record, when two different records have one id,
    /// or when a newer gclab wrote the folder.
    pub fn open(path: impl Into<PathBuf>) -> Result<ResultsDir, ResultsError> {
        let path = path.into();
        let plan = path.join(PLAN_FILE);
        let text = match fs::read_to_string(&plan) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                return Err(ResultsError::NoPlan { path });
            }
            other => other.map_err(|e| io_error("read", &plan, e))?,
        };
        let manifest = parse::<Manifest>(&text, &plan, 1)?;
        let mut dir = ResultsDir::without_runs(path, manifest);
        dir.load_runs()?;
        let all = std::mem::take(&mut dir.runs);
        all.into_iter().for_each(|run| dir.put(run));
        Ok(dir)
    }

    fn without_runs(path: PathBuf, manifest: Manifest) -> ResultsDir {
        let (runs, profiled, done) = (Vec::new(), Vec::new(), HashSet::new());
        ResultsDir {
            path,
            manifest,
            runs,
            profiled,
            done,
            torn: None,
            good_bytes: 0,
            unterminated: false,
            leftover: false,
        }
    }

    /// Plan and runs that were put together from several folders; there is no folder to append to.
    pub(crate) fn assembled(path: PathBuf, manifest: Manifest, runs: Vec<RunRecord>) -> ResultsDir {
        let mut dir = ResultsDir::without_runs(path, manifest);
        runs.into_iter().for_each(|run| dir.put(run));
        dir
    }

    fn put(&mut self, run: RunRecord) {
        let of_its_kind = if run.is_profiled() {
            &mut self.profiled
        } else {
            &mut self.runs
        };
        of_its_kind.push(run);
    }

    /// Reads all runs into `runs`, profiled ones among them.
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
                .and_then(|text| parse::<RunRecord>(text, &file, number));
            match parsed {
                _ if line.trim_ascii().is_empty() && whole => {}
                Ok(run) => match line_of.get(&run.id) {
                    None => {
                        line_of.insert(run.id.clone(), (number, self.runs.len()));
                        self.done.insert(run.id.clone());
                        self.runs.push(run);
                    }
                    // Copied twice, as when folders of several machines are put together.
                    Some(&(_, earlier)) if self.runs[earlier] == run => {}
                    Some(&(earlier, _)) => {
                        let problem = format!("run {} is already on line {earlier}, with other figures", run.id);
                        return Err(malformed(&file, number, problem));
                    }
                },
                Err(ResultsError::Malformed { .. }) if !whole => {
                    self.torn = Some(Torn {
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

    /// Adds one run: the line is on disk when this returns. Cuts off a torn last line first.
    ///
    /// # Errors
    /// When `runs.jsonl` cannot be written; no run is lost, and what is left of the line is cut off next time.
    pub fn append_run(&mut self, run: &RunRecord) -> Result<(), ResultsError> {
        let path = self.runs_file();
        let mut line = Vec::with_capacity(4096);
        if self.unterminated {
            line.push(b'\n');
        }
        serde_json::to_writer(&mut line, run).expect("a record has only string keys");
        line.push(b'\n');
        // One write of a whole line in append mode: two processes that share a folder do not mix their lines.
        let append = |good_bytes: u64, leftover: bool| -> io::Result<()> {
            let mut file = OpenOptions::new().create(true).append(true).open(&path)?;
            if leftover {
                file.set_len(good_bytes)?;
            }
            file.write_all(&line)?;
            file.sync_all()
        };
        let written = append(self.good_bytes, self.leftover);
        // After a failure (a full disk) part of the line may be there.
        self.leftover = written.is_err();
        written.map_err(|e| io_error("add a line to", &path, e))?;
        self.good_bytes += line.len() as u64;
        self.unterminated = false;
        self.torn = None;
        self.done.insert(run.id.clone());
        self.put(run.clone());
        Ok(())
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The experiment, machine, build and plan.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The runs done so far that are timed, in the order in which they ended: all but those of [`ResultsDir::profiled`].
    pub fn runs(&self) -> &[RunRecord] {
        &self.runs
    }

    /// The runs done so far for a heap profile alone, in the order in which they ended. Their times are not those of the program.
    pub fn profiled(&self) -> &[RunRecord] {
        &self.profiled
    }

    /// All runs done so far: those that are timed, then those that were profiled.
    pub fn all_runs(&self) -> impl Iterator<Item = &RunRecord> {
        self.runs.iter().chain(&self.profiled)
    }

    /// How many runs of the plan are done, of both kinds and however they ended.
    pub fn done(&self) -> usize {
        self.runs.len() + self.profiled.len()
    }

    /// Where the heap profile of a profiled run is kept: [`PROFILES`], the run's id, and this ending (`hp`; `prof`, for sets of retainers).
    pub fn profile_file(&self, id: &str, ending: &str) -> PathBuf {
        self.path.join(PROFILES).join(format!("{id}.{ending}"))
    }

    /// The torn last line, if there is one.
    pub fn torn(&self) -> Option<&Torn> {
        self.torn.as_ref()
    }

    /// Whether the planned run of this id is done, however it ended.
    pub fn is_done(&self, id: &str) -> bool {
        self.done.contains(id)
    }

    /// The path of `runs.jsonl`.
    pub fn runs_file(&self) -> PathBuf {
        self.path.join(RUNS_FILE)
    }
}

/// Reads one JSON text; checks the schema first, so that a newer one is told apart from a broken one.
fn parse<T: for<'de> Deserialize<'de>>(text: &str, path: &Path, line: usize) -> Result<T, ResultsError> {
    #[derive(Deserialize)]
    struct Head {
        schema: u32,
        gclab: Option<String>,
    }
    let wrong = |e: serde_json::Error| {
        // A plan spans lines; a record is one line, and then the line in the file is what counts.
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
