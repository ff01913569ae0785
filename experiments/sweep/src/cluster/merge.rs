//! Joins the folders of the shards of a plan into one folder, which reads as if one runner had made
//! it.
//!
//! Invariants: the parts are only read. The joined folder has a hidden name until it is whole
//! (`folder::begun`), so an interrupted merge leaves no visible folder, and the
//! next one removes the rest. Lines are copied as they stand, in the order of the plan: keys of
//! a newer gclab stay. Memory is that of the plans and of a place for each run; no record is kept.

use gclab_results::order::Arrange;
use std::collections::{BTreeSet, HashSet};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use gclab_results::{EVENT_LOGS, Machine, Manifest, PROFILES, ResultsDir, ResultsError};
use thiserror::Error;

use super::parts::{Part, read_at};
use super::troubles::troubles;
use crate::folder::{FolderError, begun, name_folder};
use crate::runner::lock;
use crate::text::counted;

/// Why folders are not joined. Nothing was changed.
#[derive(Debug, Error)]
pub enum MergeError {
    /// A folder cannot be read.
    #[error(transparent)]
    Results(#[from] ResultsError),
    /// The joined folder cannot be made.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The folders cannot be joined, for these reasons.
    #[error("{}", .0.join("\ngclab: "))]
    Troubles(Vec<String>),
}

/// The folders and runs that were joined.
#[derive(Debug, PartialEq, Eq)]
pub struct Merged {
    /// The number of runs in the joined folder.
    pub runs: usize,
    /// Facts that the user should know.
    pub notes: Vec<String>,
}

/// Joins the parts of a plan into a new folder at `into`. With `mixed`, parts of several kinds of
/// processor are joined, too, with a warning in the joined plan.
///
/// # Errors
/// If a folder cannot be read, if `into` exists, or if the parts are not one whole.
pub fn merge(folders: &[PathBuf], into: &Path, mixed: bool) -> Result<Merged, MergeError> {
    let refused = |trouble: String| Err(MergeError::Troubles(vec![trouble]));
    if !is_free(into) {
        return refused(format!(
            "{}: is already there: --into names a new folder",
            into.display()
        ));
    }
    let mut parts = Vec::new();
    for folder in folders {
        let owner = lock::owner(folder);
        if let Some(owner) = owner.map_err(|error| failed(folder, error))? {
            return refused(format!(
                "{}: {owner} is writing to this folder: wait for its end",
                folder.display()
            ));
        }
        parts.push(Part::read(folder)?);
    }
    let troubles = troubles(&parts, mixed);
    if !troubles.is_empty() {
        return Err(MergeError::Troubles(troubles));
    }
    let manifest = joined(&parts);
    let notes = notes(&parts, &manifest);
    let parent = into.parent().filter(|parent| !parent.as_os_str().is_empty());
    let (draft, _lock) = begun(parent.unwrap_or(Path::new(".")))?;
    let written = write(&draft, &parts, manifest).and_then(|runs| {
        name_folder(&draft, into)?;
        Ok(runs)
    });
    if written.is_err() {
        // A draft that cannot be removed is hidden, and the next merge removes it.
        let _ = fs::remove_dir_all(&draft);
    }
    Ok(Merged { runs: written?, notes })
}

/// Whether a folder can be made at `path`: nothing is there, or an empty folder.
fn is_free(path: &Path) -> bool {
    match fs::read_dir(path) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

/// The plan of all parts together.
fn joined(parts: &[Part]) -> Manifest {
    let mut manifest = parts[0].manifest.clone();
    manifest.shard = None;
    let started = parts.iter().map(|part| &part.manifest.started);
    manifest.started = started.min().cloned().unwrap_or_default();
    manifest.command = whole_command(&manifest.command);
    let mut seen = HashSet::new();
    let runs = parts.iter().flat_map(|part| &part.manifest.plan);
    manifest.plan = runs.filter(|run| seen.insert(run.position)).cloned().collect();
    manifest.plan.arrange_by_key(|run| run.position);
    let machines = || parts.iter().map(|part| &part.manifest.machine);
    let all = |of: fn(&Machine) -> Option<&String>| {
        let names: BTreeSet<&str> = machines().filter_map(of).map(String::as_str).collect();
        let names: Vec<&str> = names.into_iter().collect();
        (!names.is_empty()).then(|| names.join(" and "))
    };
    let warnings: BTreeSet<String> = machines().flat_map(|machine| machine.warnings.clone()).collect();
    let mut warnings: Vec<String> = warnings.into_iter().collect();
    let processors: BTreeSet<Option<&str>> = machines().map(|machine| machine.cpu.as_deref()).collect();
    if processors.len() > 1 {
        warnings.insert(
            0,
            "the runs come from several kinds of processor: only figures of one round and workload were measured on one machine"
                .to_owned(),
        );
    }
    let (host, cpu) = (
        all(|machine| machine.host.as_ref()),
        all(|machine| machine.cpu.as_ref()),
    );
    manifest.machine.host = host;
    manifest.machine.cpu = cpu;
    manifest.machine.warnings = warnings;
    manifest
}

/// The command without its shard and its folder.
fn whole_command(words: &[String]) -> Vec<String> {
    let mut whole = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            // Words after this one are those of another command.
            "--" => {
                whole.push(word.clone());
                whole.extend(words.by_ref().cloned());
            }
            "--shard" | "--out" => {
                words.next();
            }
            _ => whole.push(word.clone()),
        }
    }
    whole
}

/// Facts about the parts that are no trouble.
fn notes(parts: &[Part], manifest: &Manifest) -> Vec<String> {
    let all: usize = parts.iter().map(|part| part.runs.len()).sum();
    let once: HashSet<&String> = parts.iter().flat_map(|part| part.runs.keys()).collect();
    let mut notes = Vec::new();
    if all > once.len() {
        notes.push(format!(
            "{} in several folders, with the same figures: each counts once",
            match all - once.len() {
                1 => "one run is".to_owned(),
                more => format!("{more} runs are"),
            }
        ));
    }
    if once.len() < manifest.plan.len() {
        notes.push(format!(
            "{} left out, because the times have the precision that the file asks for",
            counted(manifest.plan.len() - once.len(), "run")
        ));
    }
    let torn = parts.iter().filter(|part| part.torn.is_some());
    notes.extend(torn.map(|part| format!("{}: a last line that was cut short is left out", part.path.display())));
    notes
}

/// Writes the joined folder at `draft`. Returns the number of its runs.
fn write(draft: &Path, parts: &[Part], manifest: Manifest) -> Result<usize, MergeError> {
    let results = ResultsDir::create(draft, manifest)?;
    let path = results.runs_file();
    let mut written = 0;
    let mut out = BufWriter::new(File::create(&path).map_err(|error| failed(&path, error))?);
    let mut sources = Vec::new();
    for part in parts {
        let file = part.path.join("runs.jsonl");
        // A shard whose runs are all in another folder may have no file.
        sources.push(if part.runs.is_empty() {
            None
        } else {
            Some((File::open(&file).map_err(|error| failed(&file, error))?, file))
        });
    }
    for run in &results.manifest().plan {
        let mut holders = parts.iter().zip(&mut sources);
        let found = holders.find_map(|(part, source)| Some((part.runs.get(&run.id)?, source.as_mut()?)));
        let Some((place, (file, name))) = found else { continue };
        let text = read_at(file, *place).map_err(|error| failed(name, error))?;
        let line = out.write_all(&text).and_then(|()| out.write_all(b"\n"));
        line.map_err(|error| failed(&path, error))?;
        written += 1;
    }
    let file = out.into_inner().map_err(|error| failed(&path, error.into_error()))?;
    file.sync_all().map_err(|error| failed(&path, error))?;
    for part in parts {
        for kind in [PROFILES, EVENT_LOGS] {
            copy_files(&part.path.join(kind), &draft.join(kind))?;
        }
    }
    Ok(written)
}

/// Copies the files of a folder, if there is one.
fn copy_files(from: &Path, to: &Path) -> Result<(), MergeError> {
    let entries = match fs::read_dir(from) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        other => other.map_err(|error| failed(from, error))?,
    };
    fs::create_dir_all(to).map_err(|error| failed(to, error))?;
    for entry in entries {
        let entry = entry.map_err(|error| failed(from, error))?;
        let copied = fs::copy(entry.path(), to.join(entry.file_name()));
        copied.map_err(|error| failed(&entry.path(), error))?;
    }
    Ok(())
}

fn failed(path: &Path, source: io::Error) -> MergeError {
    MergeError::Io {
        path: path.to_owned(),
        source,
    }
}
