//! The statistics that a run prints, and where.

use std::path::PathBuf;

/// How much of the statistics is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StatsLevel {
    /// Nothing is printed. (The run record still has the statistics.)
    #[default]
    None,
    /// `-T`: the statistics are only available to the program; nothing is printed.
    Collect,
    /// `-t`: one line, or the machine-readable list.
    OneLine,
    /// `-s`: the summary.
    Summary,
    /// `-S`: a row for each collection, then the summary.
    Each,
}

/// The statistics that a run prints, and where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatsOption {
    /// How much is printed.
    pub level: StatsLevel,
    /// The file of `-s<file>`; standard error if there is none.
    pub file: Option<PathBuf>,
    /// `--machine-readable`: `-t` prints a list of keys and values.
    pub machine_readable: bool,
}
