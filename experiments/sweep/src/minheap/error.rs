//! Why a search has no result.

use std::io;
use std::path::{Path, PathBuf};

use gclab_results::{Probe, shell_line};
use thiserror::Error;

use crate::text::last_lines;

/// Lines of a failed probe's standard error that its message shows.
const LINES: usize = 8;

/// Why a search has no result. All probes that ended are on disk.
#[derive(Debug, Error)]
pub enum SearchError {
    /// This signal stopped the search.
    #[error("stopped by signal {0}")]
    Stopped(i32),
    /// The program failed for another reason than memory, or its result is wrong.
    #[error("{}", describe(.0, .1))]
    Failed(String, Box<Probe>),
    /// The system refused a file or a process.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file of probes has a line that is no probe: another program wrote to it.
    #[error("{}:{line}: {problem}: this is no probe; --fresh begins anew", path.display())]
    CorruptStore {
        /// The file with that line.
        path: PathBuf,
        /// The number of the line, from 1.
        line: usize,
        /// The fault in the line.
        problem: String,
    },
}

impl SearchError {
    pub(super) fn io(path: &Path, source: io::Error) -> SearchError {
        SearchError::Io {
            path: path.to_owned(),
            source,
        }
    }

    /// Whether the folder of the probes is at fault: then nothing was begun.
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

/// The reason, the command that shows it, and the end of its standard error.
fn describe(reason: &str, probe: &Probe) -> String {
    let stderr = last_lines(probe.stderr_tail.as_deref().unwrap_or(""), LINES);
    format!("{reason}: {}{stderr}", shell_line(&probe.command))
}
