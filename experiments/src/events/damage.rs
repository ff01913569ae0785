//! The message for a log that cannot be read to its end.

use gclab_eventlog::{Error, Problem};

/// The message, with the way to read the rest if there is one.
pub(super) fn message(error: &Error) -> String {
    let can_be_salvaged = match error.problem() {
        Problem::NoEnd | Problem::Trailing | Problem::Undeclared(_) | Problem::Block(_) => true,
        Problem::Truncated(within) => ["an event", "a block"].contains(within),
        _ => false,
    };
    let hint = if can_be_salvaged {
        "; --salvage uses the events of each capability before its own damage"
    } else {
        ""
    };
    format!("{error}{hint}")
}

/// Says of which events of a damaged log something is true: `done` is a verb, such as "were read".
pub(super) fn salvaged(done: &str) -> String {
    format!("the events of each capability before its own damage {done}")
}
