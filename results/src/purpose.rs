//! The purpose of a run: its times, a heap profile, or an event log.
//!
//! Only timed runs enter statistics. A run of another purpose is slower than the plain program, and
//! is done once for each configuration.

use crate::plan::PlannedRun;
use crate::record::RunRecord;
use std::fmt;

/// The purpose of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Purpose<'r> {
    /// The run is timed, and enters statistics.
    Times,
    /// The run writes the heap profile with these flags.
    HeapProfile(&'r str),
    /// The run writes an event log.
    EventLog,
}

impl<'r> Purpose<'r> {
    /// The purpose of a run with these flags of a heap profile, and with or without an event log.
    pub fn new(profile_flags: Option<&'r str>, eventlog: Option<bool>) -> Purpose<'r> {
        match (profile_flags, eventlog) {
            (Some(flags), _) => Purpose::HeapProfile(flags),
            (None, Some(true)) => Purpose::EventLog,
            (None, _) => Purpose::Times,
        }
    }

    /// Whether the run is timed.
    pub fn is_timed(self) -> bool {
        self == Purpose::Times
    }
}

impl fmt::Display for Purpose<'_> {
    /// Writes the flags of a profile, or a word.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Purpose::Times => "timed",
            Purpose::HeapProfile(flags) => flags,
            Purpose::EventLog => "event log",
        })
    }
}

impl PlannedRun {
    /// The purpose of the run.
    pub fn purpose(&self) -> Purpose<'_> {
        Purpose::new(self.profile_flags.as_deref(), self.eventlog)
    }
}

impl RunRecord {
    /// The purpose of the run.
    pub fn purpose(&self) -> Purpose<'_> {
        Purpose::new(self.profile_flags.as_deref(), self.eventlog)
    }
}
