//! Errors of reading a snapshot, and their places.

/// The reason why a snapshot could not be read: the file, the place in it, and the problem.
///
/// The contents are boxed, since readers return this from their innermost loops.
#[derive(Debug, thiserror::Error)]
#[error("{}: byte {}{}: {}", .0.file, .0.offset, if .0.gzip { " (decompressed)" } else { "" }, .0.problem)]
pub struct Error(Box<Place>);

#[derive(Debug)]
struct Place {
    file: String,
    gzip: bool,
    offset: u64,
    problem: Problem,
}

impl Error {
    pub(crate) fn new(file: &str, gzip: bool, offset: u64, problem: Problem) -> Self {
        Error(Box::new(Place {
            file: file.to_owned(),
            gzip,
            offset,
            problem,
        }))
    }

    /// The file's name, as it was given to the reader.
    pub fn file(&self) -> &str {
        &self.0.file
    }

    /// The bytes from the start of the file (of the decompressed one, if it is gzip) to the
    /// problem.
    pub fn offset(&self) -> u64 {
        self.0.offset
    }

    /// The problem at that place.
    pub fn problem(&self) -> &Problem {
        &self.0.problem
    }
}

/// The problem with a snapshot.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The file cannot be opened or read.
    #[error("cannot read: {0}")]
    Io(std::io::Error),
    /// The file begins as gzip does, and is cut off or damaged.
    #[error("damaged gzip data: {0}")]
    Gzip(std::io::Error),
    /// The file does not look like a heap snapshot.
    #[error("not a V8 heap snapshot: expected {expected}, found {found}")]
    NotASnapshot {
        /// The expected part of a snapshot.
        expected: &'static str,
        /// The text that is there.
        found: String,
    },
    /// The text ends too early.
    #[error("the file ends here, expected {0}: it was cut off")]
    Truncated(&'static str),
    /// The text is not the one that the format requires.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// The text that the format requires.
        expected: &'static str,
        /// The text that is there.
        found: String,
    },
    /// The `snapshot` value does not describe nodes and edges as a reader needs it.
    #[error("the `snapshot` description: {0}")]
    Header(String),
    /// One of the arrays that every snapshot has is missing.
    #[error("no `{0}` array in this snapshot")]
    Missing(&'static str),
    /// A JVM heap dump breaks the rules of its format.
    #[error("{0}")]
    Dump(String),
    /// The file has another number of records than it declares.
    #[error("{what}: declared {declared}, found {found}")]
    Count {
        /// The kind of records.
        what: &'static str,
        /// The number that the `snapshot` description declares.
        declared: u64,
        /// The number of records found (or a lower bound of it, if reading stopped there).
        found: u64,
    },
    /// An edge does not end at a node.
    #[error("edge {edge} leads to {to}, which is not the place of a node: expected a multiple of {step} below {end}")]
    NoSuchNode {
        /// The edge's place among the edges.
        edge: u64,
        /// The target of the edge, as an index into the flat array of nodes.
        to: u64,
        /// The number of fields in a node record.
        step: u64,
        /// The length of the array of nodes.
        end: u64,
    },
    /// A number is out of the range that the format allows.
    #[error("{what} is {value}, expected less than {end}")]
    Range {
        /// The meaning of the number.
        what: &'static str,
        /// The value of the number.
        value: u64,
        /// The first value that is too large.
        end: u64,
    },
}

/// A byte as messages show it.
pub(crate) fn show(byte: u8) -> String {
    if byte.is_ascii_graphic() {
        format!("`{}`", byte as char)
    } else {
        format!("byte 0x{byte:02x}")
    }
}
