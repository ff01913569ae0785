//! Probes on disk: one folder for each question under [`ROOT`], with one line for each probe. A
//! search that is started again repeats no probe, however it ended.
//!
//! A question is a configuration without `-M` and the executable that runs it; the folder's name
//! has both, so another build begins anew. Invariants: a line is on disk before the next probe
//! starts; a line that was cut short is removed and its probe repeated; one process at a time adds
//! to a folder, and a second one waits and then finds the probes.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use gclab_results::probe::PROBES_FILE;
use gclab_results::{Configuration, Probe, Status};

use super::error::SearchError;
use crate::runner::lock::{Lock, lock};
use crate::runner::stop::Stop;

/// The folder of all probes, below the current folder.
pub const ROOT: &str = "results/minheap";

/// A process that waits for a folder looks at it this often.
const LOOK: Duration = Duration::from_millis(100);

/// The probes of one question, and the right to add to them.
#[derive(Debug)]
pub(super) struct Store {
    folder: PathBuf,
    probes: Vec<Probe>,
    file: File,
    _lock: Lock,
}

/// The folder of a question under `root`.
pub fn folder(root: &Path, question: &Configuration, executable: &str) -> PathBuf {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let words: String = format!("{}-{}", question.workload, question.collector)
        .chars()
        .map(plain)
        .collect();
    root.join(format!("{words}-{}-{executable}", question.id()))
}

/// The probes in `folder`, for reading only; none if there is no such folder.
///
/// # Errors
/// If the file cannot be read, or has a line that is no probe.
pub(super) fn read(folder: &Path) -> Result<Vec<Probe>, SearchError> {
    Ok(parse(folder)?.0)
}

impl Store {
    /// Opens the folder, and makes it if it does not exist. With `fresh`, its probes are deleted.
    ///
    /// # Errors
    /// If the system refuses, a line is no probe, or a signal comes while another process has the
    /// folder.
    pub(super) fn open(folder: &Path, fresh: bool, stop: &Stop) -> Result<Store, SearchError> {
        fs::create_dir_all(folder).map_err(|source| SearchError::io(folder, source))?;
        let _lock = wait_for(folder, stop)?;
        let path = folder.join(PROBES_FILE);
        let failed = |source| SearchError::io(&path, source);
        let file = File::options().create(true).append(true).open(&path).map_err(failed)?;
        if fresh {
            file.set_len(0).map_err(failed)?;
        }
        let (probes, whole) = parse(folder)?;
        // A line that was cut short would corrupt the next one.
        file.set_len(whole).map_err(failed)?;
        Ok(Store {
            folder: folder.to_owned(),
            probes,
            file,
            _lock,
        })
    }

    /// The folder of the question.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// All probes so far, in the order of the file.
    pub(super) fn probes(&self) -> &[Probe] {
        &self.probes
    }

    /// Probe number `attempt` with this heap. A probe that timed out after less than `limit` does
    /// not count.
    pub(super) fn get(&self, heap: Option<u64>, attempt: u32, limit: Duration) -> Option<&Probe> {
        let timed_out_early =
            |probe: &Probe| probe.outcome == Status::Timeout && probe.limit_seconds < limit.as_secs_f64();
        self.probes
            .iter()
            .filter(|probe| probe.heap_bytes == heap && !timed_out_early(probe))
            .nth(attempt as usize)
    }

    /// Writes a probe; it is on disk when this returns.
    ///
    /// # Errors
    /// If the probe cannot be written.
    pub(super) fn add(&mut self, probe: Probe) -> Result<(), SearchError> {
        let mut line = serde_json::to_vec(&probe).map_err(|error| SearchError::io(&self.folder, error.into()))?;
        line.push(b'\n');
        self.file
            .write_all(&line)
            .and_then(|()| self.file.sync_data())
            .map_err(|source| SearchError::io(&self.folder, source))?;
        self.probes.push(probe);
        Ok(())
    }
}

fn wait_for(folder: &Path, stop: &Stop) -> Result<Lock, SearchError> {
    let mut told = false;
    loop {
        match lock(folder).map_err(|source| SearchError::io(folder, source))? {
            Ok(lock) => return Ok(lock),
            Err(owner) if !told => {
                tell!(
                    "gclab: {}: {owner} searches for the same minimum: waiting for it",
                    folder.display()
                );
                told = true;
            }
            Err(_) => {}
        }
        if let Some(signal) = stop.signal() {
            return Err(SearchError::Stopped(signal));
        }
        std::thread::sleep(LOOK);
    }
}

/// The probes of a folder, and the length of the file's whole lines in bytes.
fn parse(folder: &Path) -> Result<(Vec<Probe>, u64), SearchError> {
    let path = folder.join(PROBES_FILE);
    let text = match fs::read(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((Vec::new(), 0)),
        other => other.map_err(|source| SearchError::io(&path, source))?,
    };
    let (mut probes, mut whole) = (Vec::new(), 0);
    for (index, line) in text.split_inclusive(|byte| *byte == b'\n').enumerate() {
        if !line.ends_with(b"\n") {
            break;
        }
        let probe: Probe = serde_json::from_slice(line).map_err(|error| SearchError::CorruptStore {
            path: path.clone(),
            line: index + 1,
            problem: error.to_string(),
        })?;
        probes.push(probe);
        whole += line.len() as u64;
    }
    Ok((probes, whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probe(heap: Option<u64>, attempt: u32) -> Probe {
        Probe {
            heap_bytes: heap,
            attempt,
            wall_seconds: Some(0.5),
            ..Probe::default()
        }
    }

    #[test]
    fn whole_lines_are_read_again_and_half_a_line_is_not() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("a question");
        let stop = Stop::listen().unwrap();
        let open = |fresh| Store::open(&folder, fresh, &stop).unwrap();
        let mut store = open(false);
        for probe in [probe(None, 0), probe(Some(1 << 20), 0), probe(Some(1 << 20), 1)] {
            store.add(probe).unwrap();
        }
        drop(store);
        let path = folder.join(PROBES_FILE);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, &text[..text.len() - 7]).unwrap();
        let mut store = open(false);
        assert_eq!(store.probes(), [probe(None, 0), probe(Some(1 << 20), 0)]);
        store.add(probe(Some(1 << 20), 1)).unwrap();
        let limit = Duration::ZERO;
        assert_eq!(store.get(Some(1 << 20), 1, limit), Some(&probe(Some(1 << 20), 1)));
        assert_eq!(
            (store.get(None, 1, limit), store.get(Some(2 << 20), 0, limit)),
            (None, None)
        );
        drop(store);
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
        assert_eq!(read(&folder).unwrap().len(), 3);
        assert_eq!(open(true).probes(), []);
        assert_eq!(read(&parent.path().join("nothing")).unwrap(), []);
    }

    #[test]
    fn an_early_timeout_is_probed_again() {
        let parent = tempfile::tempdir().unwrap();
        let stop = Stop::listen().unwrap();
        let mut store = Store::open(&parent.path().join("a question"), false, &stop).unwrap();
        let early = Probe {
            outcome: Status::Timeout,
            limit_seconds: 2.0,
            ..probe(None, 0)
        };
        store.add(early.clone()).unwrap();
        assert_eq!(store.get(None, 0, Duration::from_secs(2)), Some(&early));
        assert_eq!(store.get(None, 0, Duration::from_secs(3)), None);
        store.add(probe(None, 0)).unwrap();
        assert_eq!(store.get(None, 0, Duration::from_secs(3)), Some(&probe(None, 0)));
    }

    #[test]
    fn a_line_that_is_no_probe_is_named() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(PROBES_FILE), "{\"x\":1}\n").unwrap();
        let error = read(folder.path()).unwrap_err().to_string();
        assert!(
            error.contains("probes.jsonl:1: ") && error.contains("--fresh"),
            "{error}"
        );
    }
}
