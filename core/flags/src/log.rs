//! The event log requested by flags.

use std::path::PathBuf;

use gclab_eventlog::Classes;

/// The event log of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogOption {
    /// `-l<classes>` or `-v<classes>`, whichever is last: the classes of events; `None` without a
    /// log.
    pub classes: Option<Classes>,
    /// `-v`: the log goes to standard output as text.
    pub text: bool,
    /// `-ol<file>`: its file; by default the name of the program plus `.eventlog`, in the working
    /// directory.
    pub file: Option<PathBuf>,
    /// `--eventlog-paused`: leave out events until the program resumes the log.
    pub paused: bool,
}

impl LogOption {
    /// Whether the log goes to a file.
    pub fn is_file(&self) -> bool {
        self.classes.is_some() && !self.text
    }
}
