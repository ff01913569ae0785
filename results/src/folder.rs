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

pub use crate::error::PLAN_DRAFT;
use crate::error::{PLAN_FILE, RUNS_FILE, ResultsError, TornLine, io_error};
use crate::manifest::Manifest;
use crate::plan::PlannedRun;
use crate::purpose::Purpose;
use crate::reading::{each_run, other_figures, read_plan};
use crate::record::RunRecord;
use std::collections::{HashMap, HashSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

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
        write_plan(&path, &manifest)?;
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
        let manifest = read_plan(&path)?;
        let mut dir = ResultsDir::without_runs(path, manifest);
        dir.totals_only = totals_only;
        dir.load_runs()?;
        let all = std::mem::take(&mut dir.runs);
        all.into_iter().for_each(|run| dir.put(run));
        Ok(dir)
    }

    fn without_runs(path: PathBuf, manifest: Manifest) -> ResultsDir {
        ResultsDir {
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
        let mut line_of: HashMap<String, (usize, usize)> = HashMap::new();
        let folder = self.path.clone();
        let ending = each_run(&folder, |line| {
            let run = self.kept(line.run);
            match line_of.get(&run.id) {
                None => {
                    line_of.insert(run.id.clone(), (line.number, self.runs.len()));
                    self.runs.push(run);
                }
                // The line was copied, as when folders of several machines are joined.
                Some(&(_, earlier)) if self.runs[earlier] == run => {}
                Some(&(earlier, _)) => return Err(other_figures(&folder, line.number, &run.id, earlier)),
            }
            Ok(())
        })?;
        self.leftover = ending.torn.is_some();
        self.torn = ending.torn;
        self.good_bytes = ending.good_bytes;
        self.unterminated = ending.unterminated;
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

    /// Makes these runs the plan of the folder: those that were done, of a search that could have
    /// asked for others.
    ///
    /// # Errors
    /// Fails if the plan cannot be written; then the folder has the plan that it had.
    pub fn replace_plan(&mut self, plan: Vec<PlannedRun>) -> Result<(), ResultsError> {
        let manifest = Manifest {
            plan,
            ..self.manifest.clone()
        };
        write_plan(&self.path, &manifest)?;
        self.manifest = manifest;
        Ok(())
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
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
    /// [`RunRecord::file_stem`].
    pub fn event_log(&self, stem: &str) -> PathBuf {
        self.path.join(EVENT_LOGS).join(format!("{stem}.eventlog"))
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

/// Writes the plan of a folder.
fn write_plan(folder: &Path, manifest: &Manifest) -> Result<(), ResultsError> {
    let mut text = serde_json::to_string_pretty(manifest).expect("a manifest has only string keys");
    text.push('\n');
    // A plan that exists is whole: it gets its name only when the whole file is on disk.
    let draft = folder.join(PLAN_DRAFT);
    write_synced(&draft, text.as_bytes()).map_err(|e| io_error("write", &draft, e))?;
    fs::rename(&draft, folder.join(PLAN_FILE)).map_err(|e| io_error("rename to plan.json", &draft, e))
}

fn write_synced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}
