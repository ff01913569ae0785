//! What can be wrong with a snapshot, and where.

/// A snapshot could not be read: which file, where in it, what is wrong.
///
/// Boxed inside, since readers return it from their innermost loops.
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

    /// Bytes from the start of the file (of the decompressed one, if it is gzip) to what is wrong.
    pub fn offset(&self) -> u64 {
        self.0.offset
    }

    /// What is wrong there.
    pub fn problem(&self) -> &Problem {
        &self.0.problem
    }
}

/// What is wrong with a snapshot.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The file cannot be opened or read.
    #[error("cannot read: {0}")]
    Io(std::io::Error),
    /// The file begins as gzip does, and is cut off or damaged.
    #[error("damaged gzip data: {0}")]
    Gzip(std::io::Error),
    /// Nothing says that this is a heap snapshot.
    #[error("not a V8 heap snapshot: expected {expected}, found {found}")]
    NotASnapshot {
        /// What a snapshot would have there.
        expected: &'static str,
        /// What is there.
        found: String,
    },
    /// The text ends too early.
    #[error("the file ends here, expected {0}: it was cut off")]
    Truncated(&'static str),
    /// Something else stands where the format wants something.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// What the format wants.
        expected: &'static str,
        /// What is there.
        found: String,
    },
    /// The `snapshot` value does not describe nodes and edges as a reader needs it.
    #[error("the `snapshot` description: {0}")]
    Header(String),
    /// One of the arrays that every snapshot has is missing.
    #[error("no `{0}` array in this snapshot")]
    Missing(&'static str),
    /// A JVM heap dump is not as its format wants it.
    #[error("{0}")]
    Dump(String),
    /// The file disagrees with itself about how many there are.
    #[error("{what}: declared {declared}, found {found}")]
    Count {
        /// What was counted.
        what: &'static str,
        /// How many the `snapshot` description promises.
        declared: u64,
        /// How many there are (or at least this many, if reading stopped there).
        found: u64,
    },
    /// An edge does not end at a node.
    #[error("edge {edge} leads to {to}, which is not the place of a node: expected a multiple of {step} below {end}")]
    NoSuchNode {
        /// The edge's place among the edges.
        edge: u64,
        /// Where it leads, as an index into the flat array of nodes.
        to: u64,
        /// Numbers in a node record.
        step: u64,
        /// Numbers in the array of nodes.
        end: u64,
    },
    /// A number is not one of those that the format allows there.
    #[error("{what} is {value}, expected less than {end}")]
    Range {
        /// Which number.
        what: &'static str,
        /// Its value.
        value: u64,
        /// The first value that is too large.
        end: u64,
    },
}

/// A byte as a message shows it.
pub(crate) fn show(byte: u8) -> String {
    if byte.is_ascii_graphic() {
        format!("`{}`", byte as char)
    } else {
        format!("byte 0x{byte:02x}")
    }
}
