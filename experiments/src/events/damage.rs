//! The message for a log that cannot be read to its end.

use std::path::Path;

use gclab_eventlog::{Error, Problem};

use crate::input::hint;

/// The message about the log `path`, with the way to read the rest if there is one, or the command
/// that reads such a file.
pub(super) fn message(error: &Error, path: &Path) -> String {
    if matches!(error.problem(), Problem::NotALog(_) | Problem::Open(_)) {
        return format!("{error}{}", hint(path));
    }
    let can_be_salvaged = match error.problem() {
        Problem::NoEnd | Problem::Trailing | Problem::Undeclared(_) | Problem::Block(_) => true,
        Problem::Truncated(within) => ["an event", "a block"].contains(within),
        _ => false,
    };
    let hint = if can_be_salvaged {
        "; --salvage skips the damage and resumes at the next sound block"
    } else {
        ""
    };
    format!("{error}{hint}")
}

/// Says what happened to the readable events of a damaged log; `done` is a verb, such as "were
/// read".
pub(super) fn salvaged(done: &str) -> String {
    format!("all other events {done}")
}
