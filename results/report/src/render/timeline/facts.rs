//! The contents of a page of a timeline.

use gclab_eventlog::{Summary, Timeline};

/// A folded log, and the facts above its picture.
#[derive(Debug)]
pub struct TimelineFacts<'a> {
    /// The name of the log, for the title.
    pub file: &'a str,
    /// The path of the log for a command; `None` if it came through a pipe.
    pub path: Option<&'a str>,
    /// The folded log.
    pub timeline: &'a Timeline,
    /// The figures of the whole run.
    pub summary: &'a Summary,
    /// The damage of a log that was salvaged.
    pub damage: Option<String>,
}
