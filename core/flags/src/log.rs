//! The event log that flags ask for.

use std::path::PathBuf;

use gclab_eventlog::Classes;

/// The event log of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogOption {
    /// `-l<classes>` or `-v<classes>`, the last of them: the classes of events; `None` without a
    /// log.
    pub classes: Option<Classes>,
    /// `-v`: the log goes to standard output as text.
    pub text: bool,
    /// `-ol<file>`: its file; by default the name of the program with `.eventlog` behind it, in the
    /// working directory.
    pub file: Option<PathBuf>,
    /// `--eventlog-paused`: what happens before the program goes on with the log is left out.
    pub paused: bool,
}

impl LogOption {
    /// Whether the run has a log in a file.
    pub fn is_file(&self) -> bool {
        self.classes.is_some() && !self.text
    }
}
