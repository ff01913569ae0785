//! Errors of reading an event log, and their places.
//!
//! The reader of heap snapshots has a similar type. They stay separate: neither crate depends on
//! the other, and most of each type is its own problems.

use gclab_core::stats::render::escaped;

/// Why an event log cannot be read, or not any further: the file, the place in it, and the problem.
///
/// Boxed, since readers return it from their innermost loops.
#[derive(Debug, thiserror::Error)]
#[error("{}: {}{}{}", escaped(&.0.file), .0.byte(), .0.problem, .0.lost())]
pub struct Error(Box<Place>);

#[derive(Debug)]
struct Place {
    file: String,
    offset: u64,
    problem: Problem,
    /// Bytes that a reader skipped because of this problem and later ones, and in how many places.
    skipped: u64,
    places: u64,
}

impl Place {
    /// What was skipped, to follow the problem.
    fn lost(&self) -> String {
        match (self.skipped, self.places) {
            (0, _) => String::new(),
            (bytes, 1) => format!(", and {bytes} bytes were skipped, up to the end of the damaged block"),
            (bytes, places) => format!(", and {bytes} bytes were skipped in {places} damaged places"),
        }
    }

    /// The place as messages begin with it; empty if the problem concerns the whole file.
    fn byte(&self) -> String {
        match self.problem {
            Problem::Open(_) | Problem::TooMany { .. } => String::new(),
            _ => format!("byte {}: ", self.offset),
        }
    }
}

impl Error {
    pub(crate) fn new(file: &str, offset: u64, problem: Problem) -> Self {
        Error(Box::new(Place {
            file: file.to_owned(),
            offset,
            problem,
            skipped: 0,
            places: 0,
        }))
    }

    /// Adds bytes that a reader skipped. There are none after the place where a file is cut off.
    pub(crate) fn skipped(&mut self, bytes: u64) {
        if !matches!(self.0.problem, Problem::Truncated(_)) {
            self.0.skipped += bytes;
            self.0.places += u64::from(bytes > 0);
        }
    }

    /// The error for a file that cannot be opened.
    pub fn cannot_open(file: &str, error: std::io::Error) -> Self {
        Error::new(file, 0, Problem::Open(error))
    }

    /// The file's name, as given to the reader.
    pub fn file(&self) -> &str {
        &self.0.file
    }

    /// Offset of the problem in the file, in bytes.
    pub fn offset(&self) -> u64 {
        self.0.offset
    }

    /// The problem at that place.
    pub fn problem(&self) -> &Problem {
        &self.0.problem
    }
}

/// The problem with an event log.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The file cannot be opened or read at all.
    #[error("{}", cannot_open(.0))]
    Open(std::io::Error),
    /// The file cannot be read any further.
    #[error("cannot read: {0}")]
    Io(std::io::Error),
    /// The file does not begin like an event log.
    #[error("not a GHC event log: expected `hdrb`, found {0}")]
    NotALog(String),
    /// A part of the header differs from what the format requires.
    #[error("the header: expected {expected}, found {found}")]
    Header {
        /// The part required by the format.
        expected: &'static str,
        /// The bytes found.
        found: String,
    },
    /// The declaration of an event type cannot be used.
    #[error("the header: {0}")]
    Declaration(String),
    /// The file ends too early.
    #[error("the file ends here, within {0}: it was cut off")]
    Truncated(&'static str),
    /// The file ends between two events.
    #[error("the file ends here, without the end mark `ff ff`: the program was killed, or the file was cut off")]
    NoEnd,
    /// More bytes come after the end of the data.
    #[error("the data ends here, but more bytes follow")]
    Trailing,
    /// An event has a type that the header does not declare.
    #[error("event type {0}, which the header does not declare")]
    Undeclared(u16),
    /// A block of events breaks the format.
    #[error("{0}")]
    Block(String),
    /// The log has more of something than readers hold.
    #[error("more than {most} {of}")]
    TooMany {
        /// What there are too many of.
        of: &'static str,
        /// The limit.
        most: u64,
    },
}

fn cannot_open(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "no such file".to_owned(),
        std::io::ErrorKind::IsADirectory => "is a folder, not a file".to_owned(),
        _ => format!("cannot open: {error}"),
    }
}

/// Bytes for messages: as text if they are text, else hexadecimal.
pub(crate) fn show(bytes: &[u8]) -> String {
    match bytes {
        [] => "nothing".to_owned(),
        [0x1f, 0x8b, ..] => "gzip data, which must be unpacked first".to_owned(),
        _ if bytes.iter().all(|byte| (b' '..=b'~').contains(byte)) => {
            format!("`{}`", String::from_utf8_lossy(bytes))
        }
        _ => {
            let hex: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("bytes {}", hex.join(" "))
        }
    }
}
