//! Why a results folder cannot be read or written, and the names of its files.

use std::io;
use std::path::{Path, PathBuf};

use gclab_core::stats::render::path_name;

/// The file that holds the [`Manifest`](crate::Manifest).
pub(crate) const PLAN_FILE: &str = "plan.json";

/// A last line of `runs.jsonl` that was not written completely.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TornLine {
    /// The line's number, from 1.
    pub line: usize,
    /// The length of the line in bytes.
    pub bytes: usize,
}

/// Why a results folder could not be created, read or extended.
#[derive(Debug, thiserror::Error)]
pub enum ResultsError {
    /// The operating system refused an operation.
    #[error("{}: cannot {action}: {source}", path_name(path))]
    Io {
        /// The operation, as a verb.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// A folder without `plan.json`.
    #[error("{}: not a results folder: it has no {PLAN_FILE}", path_name(path))]
    NoPlan {
        /// The path of the folder.
        path: PathBuf,
    },
    /// A folder that already holds results.
    #[error(
        "{}: already holds results; continue this folder, or choose another",
        path_name(path)
    )]
    Exists {
        /// The path of the folder.
        path: PathBuf,
    },
    /// Text that is not a record or a plan.
    #[error("{}:{line}: {problem}", path_name(path))]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// Why it cannot be read.
        problem: String,
    },
}

pub(crate) fn io_error(action: &'static str, path: &Path, source: io::Error) -> ResultsError {
    ResultsError::Io {
        action,
        path: path.to_owned(),
        source,
    }
}

pub(crate) fn malformed(path: &Path, line: usize, problem: String) -> ResultsError {
    ResultsError::Malformed {
        path: path.to_owned(),
        line,
        problem,
    }
}
