//! A results folder: `plan.json`, `runs.jsonl` and `collections.jsonl`.
//!
//! Invariants: `plan.json` is written completely before the first run. `runs.jsonl` only grows, by
//! a line for each finished run, and the line is on disk before [`ResultsDir::append_run`] returns.
//! If the process is killed, at most the line being written is lost: [`ResultsDir::torn`] reports
//! it, and the next append cuts it off. Any other text that cannot be read is an error with file
//! and line. A run's collections are written before the run itself; collections without a run are
//! ignored.
//!
//! Cost: all runs are in memory, some 4 kB each.

use crate::collections::Collections;
use crate::error::{PLAN_FILE, ResultsError, TornLine, io_error, malformed};
use crate::manifest::Manifest;
use crate::plan::{PlannedRun, Purpose};
use crate::record::RunRecord;
use serde::de::DeserializeOwned;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The folder for the files of heap profiles.
pub const PROFILES: &str = "profiles";
/// The folder for event logs.
pub const EVENT_LOGS: &str = "eventlogs";
/// The name of the plan until it is completely on disk.
pub const PLAN_DRAFT: &str = "plan.json.new";
const RUNS_FILE: &str = "runs.jsonl";
const COLLECTIONS_FILE: &str = "collections.jsonl";

/// An experiment's plan and the runs done so far, in one folder or in several with parts of one
/// plan.
#[derive(Debug)]
pub struct ResultsDir {
    /// The folders with the files; runs are appended to the first.
    folders: Vec<PathBuf>,
    manifest: Manifest,
    runs: Vec<RunRecord>,
    profiled: Vec<RunRecord>,
    logged: Vec<RunRecord>,
    done: HashSet<String>,
    torn: Option<TornLine>,
    ending: Ending,
}

/// The end of `runs.jsonl`.
#[derive(Debug, Clone, Copy, Default)]
struct Ending {
    /// How many bytes hold complete records.
    good_bytes: u64,
    /// Whether the last complete record lacks its newline.
    unterminated: bool,
    /// Whether more bytes follow, which the next append must cut off.
    leftover: bool,
}

impl ResultsDir {
    /// Creates the folder (and those above it) and writes its plan.
    ///
    /// # Errors
    /// Fails if the folder already has a plan, or cannot be written.
    pub fn create(path: impl Into<PathBuf>, manifest: Manifest) -> Result<ResultsDir, ResultsError> {
        let path = path.into();
        if path.join(PLAN_FILE).exists() {
            return Err(ResultsError::Exists { path });
        }
        fs::create_dir_all(&path).map_err(|e| io_error("make the folder", &path, e))?;
        write_plan(&path, &manifest)?;
        Ok(ResultsDir::without_runs(path, manifest))
    }

    /// Reads a folder: its plan, and all finished runs.
    ///
    /// # Errors
    /// Fails if there is no plan, if a line other than a torn last one is not a record, or if two
    /// different records have the same id.
    pub fn open(path: impl Into<PathBuf>) -> Result<ResultsDir, ResultsError> {
        let path = path.into();
        let plan = path.join(PLAN_FILE);
        let text = match fs::read_to_string(&plan) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Err(ResultsError::NoPlan { path }),
            other => other.map_err(|e| io_error("read", &plan, e))?,
        };
        let manifest = parse(&text, &plan, 1)?;
        let mut dir = ResultsDir::without_runs(path, manifest);
        dir.load_runs()?;
        Ok(dir)
    }

    fn without_runs(path: PathBuf, manifest: Manifest) -> ResultsDir {
        ResultsDir {
            folders: vec![path],
            manifest,
            runs: Vec::new(),
            profiled: Vec::new(),
            logged: Vec::new(),
            done: HashSet::new(),
            torn: None,
            ending: Ending::default(),
        }
    }

    fn load_runs(&mut self) -> Result<(), ResultsError> {
        let path = self.runs_file();
        let Some(bytes) = read_if_there(&path)? else {
            return Ok(());
        };
        let mut lines: HashMap<String, (usize, RunRecord)> = HashMap::new();
        let mut order = Vec::new();
        for (number, line) in (1..).zip(bytes.split_inclusive(|byte| *byte == b'\n')) {
            let whole = line.ends_with(b"\n");
            if !(whole && line.trim_ascii().is_empty()) {
                let run = match parse_line::<RunRecord>(line, &path, number) {
                    Err(_) if !whole => {
                        self.torn = Some(TornLine {
                            line: number,
                            bytes: line.len(),
                        });
                        self.ending.leftover = true;
                        break;
                    }
                    other => other?,
                };
                match lines.get(&run.id) {
                    // The line was copied.
                    Some((_, earlier)) if *earlier == run => {}
                    Some((earlier, _)) => {
                        let problem = format!("run {} is already on line {earlier}, with other figures", run.id);
                        return Err(malformed(&path, number, problem));
                    }
                    None => {
                        order.push(run.id.clone());
                        lines.insert(run.id.clone(), (number, run));
                    }
                }
            }
            self.ending.good_bytes += line.len() as u64;
            self.ending.unterminated = !whole;
        }
        let runs = order.into_iter().filter_map(|id| lines.remove(&id));
        runs.for_each(|(_, run)| self.put(run));
        Ok(())
    }

    fn put(&mut self, run: RunRecord) {
        self.done.insert(run.id.clone());
        let of_its_purpose = match run.purpose() {
            Purpose::Times => &mut self.runs,
            Purpose::HeapProfile(_) => &mut self.profiled,
            Purpose::EventLog => &mut self.logged,
        };
        of_its_purpose.push(run);
    }

    /// Appends a run, and its collections to their own file. The lines are on disk when this
    /// returns. Cuts off a torn last line first.
    ///
    /// # Errors
    /// Fails if a file cannot be written, or if it or the plan has been deleted. No earlier run is
    /// lost, and the next append cuts off whatever was written of the line.
    pub fn append_run(&mut self, mut run: RunRecord) -> Result<(), ResultsError> {
        let plan = self.path().join(PLAN_FILE);
        fs::metadata(&plan).map_err(|e| io_error("find", &plan, e))?;
        if let Some(collections) = run.collections.take() {
            self.append_collections(&collections)?;
        }
        let path = self.runs_file();
        let mut line = Vec::with_capacity(4096);
        if self.ending.unterminated {
            line.push(b'\n');
        }
        serde_json::to_writer(&mut line, &run).expect("a record has only string keys");
        line.push(b'\n');
        // A single write in append mode, so that two processes do not mix their lines.
        let append = |Ending {
                          good_bytes, leftover, ..
                      }: Ending|
         -> io::Result<()> {
            // A file that is gone is not recreated, because it would lack the earlier runs.
            let mut file = OpenOptions::new().create(good_bytes == 0).append(true).open(&path)?;
            if leftover {
                file.set_len(good_bytes)?;
            }
            file.write_all(&line)?;
            file.sync_all()
        };
        let written = append(self.ending);
        // After a failure (a full disk) the file may contain part of the line.
        self.ending.leftover = written.is_err();
        written.map_err(|e| io_error("add a line to", &path, e))?;
        self.ending.good_bytes += line.len() as u64;
        self.ending.unterminated = false;
        self.torn = None;
        self.put(run);
        Ok(())
    }

    /// Appends a line to `collections.jsonl`, on a new line if the last one was cut short.
    fn append_collections(&self, collections: &Collections) -> Result<(), ResultsError> {
        let path = self.path().join(COLLECTIONS_FILE);
        let mut line = serde_json::to_vec(collections).expect("collections have only string keys");
        line.push(b'\n');
        let mut append = || -> io::Result<()> {
            let mut file = OpenOptions::new().create(true).append(true).read(true).open(&path)?;
            if !ends_with_line_end(&mut file)? {
                line.insert(0, b'\n');
            }
            file.write_all(&line)
        };
        append().map_err(|e| io_error("add a line to", &path, e))
    }

    /// The individual collections of the runs, by run id. Runs with too many collections have none.
    ///
    /// # Errors
    /// If a file cannot be read. A line that was cut short is skipped.
    pub fn collections(&self) -> Result<HashMap<String, Collections>, ResultsError> {
        let mut all = HashMap::new();
        for folder in &self.folders {
            let bytes = read_if_there(&folder.join(COLLECTIONS_FILE))?.unwrap_or_default();
            let lines = bytes.split(|byte| *byte == b'\n');
            let read = lines.filter_map(|line| serde_json::from_slice::<Collections>(line).ok());
            let known = read.filter(|one| one.is_whole() && self.is_done(&one.id));
            all.extend(known.map(|one| (one.id.clone(), one)));
        }
        Ok(all)
    }

    /// Makes these runs the folder's plan: the finished runs of a search, which might have chosen
    /// others.
    ///
    /// # Errors
    /// Fails if the plan cannot be written; the folder then keeps its old plan.
    pub fn replace_plan(&mut self, plan: Vec<PlannedRun>) -> Result<(), ResultsError> {
        let manifest = Manifest {
            plan,
            ..self.manifest.clone()
        };
        write_plan(self.path(), &manifest)?;
        self.manifest = manifest;
        Ok(())
    }

    /// The folder, or the first of several.
    pub fn path(&self) -> &Path {
        &self.folders[0]
    }

    /// The folder's path for people, or all of several: `a + b`.
    pub fn name(&self) -> String {
        let names = self.folders.iter().map(|folder| folder.display().to_string());
        names.collect::<Vec<_>>().join(" + ")
    }

    /// The experiment, machine, build and plan.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The folders with the files: several if they were joined.
    pub fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// The finished timed runs, in the order in which they ended (for several folders, in the order
    /// of the plan).
    pub fn runs(&self) -> &[RunRecord] {
        &self.runs
    }

    /// The finished runs for heap profiles. Their times are not the program's.
    pub fn profiled(&self) -> &[RunRecord] {
        &self.profiled
    }

    /// The finished runs for event logs.
    pub fn logged(&self) -> &[RunRecord] {
        &self.logged
    }

    /// All finished runs: first the timed ones, then those for profiles and for event logs.
    pub fn all_runs(&self) -> impl Iterator<Item = &RunRecord> {
        self.runs.iter().chain(&self.profiled).chain(&self.logged)
    }

    /// How many planned runs are finished, whatever their purpose and outcome.
    pub fn done(&self) -> usize {
        self.manifest.plan.iter().filter(|run| self.is_done(&run.id)).count()
    }

    /// Whether the planned run with this id is finished, whatever its outcome.
    pub fn is_done(&self, id: &str) -> bool {
        self.done.contains(id)
    }

    /// The ids of runs that are not in the plan: lines of another shard, or of another plan.
    pub fn strays(&self) -> Vec<&str> {
        let planned: HashSet<&str> = self.manifest.plan.iter().map(|run| run.id.as_str()).collect();
        let ids = self.all_runs().map(|run| run.id.as_str());
        ids.filter(|id| !planned.contains(id)).collect()
    }

    /// The collectors of the timed runs.
    pub fn collectors(&self) -> BTreeSet<&str> {
        self.runs.iter().map(|run| run.collector.as_str()).collect()
    }

    /// The builds of the timed runs, in an experiment with `builds`.
    pub fn builds(&self) -> BTreeSet<&str> {
        let builds = self.runs.iter().filter_map(|run| run.settings.get("build"));
        builds.map(String::as_str).collect()
    }

    /// The torn last line, if the file has one.
    pub fn torn(&self) -> Option<&TornLine> {
        self.torn.as_ref()
    }

    /// The path of a heap profile: a file in [`PROFILES`] named by [`PlannedRun::file_stem`],
    /// ending in `hp`, or in `prof` for retainer sets.
    pub fn profile_file(&self, stem: &str, ending: &str) -> PathBuf {
        self.file(PROFILES, &format!("{stem}.{ending}"))
    }

    /// The path of an event log: a file in [`EVENT_LOGS`] named by [`PlannedRun::file_stem`].
    pub fn event_log(&self, stem: &str) -> PathBuf {
        self.file(EVENT_LOGS, &format!("{stem}.eventlog"))
    }

    /// The file in the folder that has it, otherwise in the first.
    fn file(&self, kind: &str, name: &str) -> PathBuf {
        let path = |folder: &PathBuf| folder.join(kind).join(name);
        let mut paths = self.folders.iter().map(path);
        paths
            .find(|path| path.exists())
            .unwrap_or_else(|| path(&self.folders[0]))
    }

    /// The path of `runs.jsonl`.
    pub fn runs_file(&self) -> PathBuf {
        self.path().join(RUNS_FILE)
    }

    /// Joins folders with parts of one plan (`gclab run --shard I/N`), each group in place of its
    /// first folder. Only parts of the same experiment, run by the same executable on the same kind
    /// of processor, are joined; other folders are left alone. A run that is in two parts counts
    /// once.
    pub fn join(folders: Vec<ResultsDir>) -> Vec<ResultsDir> {
        let mut groups: Vec<ResultsDir> = Vec::new();
        for folder in folders {
            let is_other_part = |group: &&mut ResultsDir| group.manifest.is_part_beside(&folder.manifest);
            match groups.iter_mut().find(is_other_part) {
                Some(group) => group.take_in(folder),
                None => groups.push(folder),
            }
        }
        groups
    }

    /// Adds another part of the same plan.
    fn take_in(&mut self, part: ResultsDir) {
        let manifest = &mut self.manifest;
        let shards = [manifest.shard.take(), part.manifest.shard].into_iter().flatten();
        let shards: BTreeSet<String> = shards
            .flat_map(|shard| shard.split(" and ").map(str::to_owned).collect::<Vec<_>>())
            .collect();
        manifest.shard = Some(shards.into_iter().collect::<Vec<_>>().join(" and "));
        manifest.started = std::mem::take(&mut manifest.started).min(part.manifest.started);
        manifest.plan.extend(part.manifest.plan);
        manifest
            .plan
            .sort_by(|a, b| (a.position, &a.id).cmp(&(b.position, &b.id)));
        manifest.plan.dedup_by(|a, b| a.id == b.id);
        self.folders.extend(part.folders);
        self.done.extend(part.done);
        self.torn = self.torn.take().or(part.torn);
        for (own, others) in [
            (&mut self.runs, part.runs),
            (&mut self.profiled, part.profiled),
            (&mut self.logged, part.logged),
        ] {
            own.extend(others);
            own.sort_by(|a, b| (a.position, &a.id).cmp(&(b.position, &b.id)));
            own.dedup_by(|a, b| a.id == b.id);
        }
    }
}

/// A file's bytes; `None` if it does not exist.
fn read_if_there(path: &Path) -> Result<Option<Vec<u8>>, ResultsError> {
    match fs::read(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        other => Ok(Some(other.map_err(|e| io_error("read", path, e))?)),
    }
}

fn ends_with_line_end(file: &mut File) -> io::Result<bool> {
    use std::io::{Read, Seek, SeekFrom};
    if file.metadata()?.len() == 0 {
        return Ok(true);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

fn parse_line<T: DeserializeOwned>(line: &[u8], path: &Path, number: usize) -> Result<T, ResultsError> {
    let text = std::str::from_utf8(line).map_err(|e| malformed(path, number, format!("not UTF-8 text: {e}")))?;
    parse(text.trim_end(), path, number)
}

/// Reads a JSON text that starts on line `first` of the file.
fn parse<T: DeserializeOwned>(text: &str, path: &Path, first: usize) -> Result<T, ResultsError> {
    serde_json::from_str(text).map_err(|error| {
        let message = error.to_string();
        let what = message.rsplit_once(" at line ").map_or(&*message, |(what, _)| what);
        let problem = format!("column {}: not what gclab writes: {what}", error.column());
        malformed(path, first + error.line().saturating_sub(1), problem)
    })
}

/// Writes a folder's plan.
fn write_plan(folder: &Path, manifest: &Manifest) -> Result<(), ResultsError> {
    let mut text = serde_json::to_string_pretty(manifest).expect("a manifest has only string keys");
    text.push('\n');
    // An existing plan is complete: it gets its name only once the whole file is on disk.
    let draft = folder.join(PLAN_DRAFT);
    write_synced(&draft, text.as_bytes()).map_err(|e| io_error("write", &draft, e))?;
    fs::rename(&draft, folder.join(PLAN_FILE)).map_err(|e| io_error("rename to plan.json", &draft, e))
}

fn write_synced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}
