//! The reasons why a results folder cannot be read or written, and the names of its files.

use crate::record::SCHEMA;
use std::io;
use std::path::{Path, PathBuf};

/// The file that holds the [`Manifest`](crate::Manifest).
pub(crate) const PLAN_FILE: &str = "plan.json";
/// The name of `PLAN_FILE` until the whole file is on disk.
pub const PLAN_DRAFT: &str = "plan.json.new";
/// The file that holds a [`RunRecord`](crate::RunRecord) on each line.
pub(crate) const RUNS_FILE: &str = "runs.jsonl";

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

pub(crate) fn io_error(action: &'static str, path: &Path, source: io::Error) -> ResultsError {
    ResultsError::Io {
        action,
        path: path.to_owned(),
        source,
    }
}
