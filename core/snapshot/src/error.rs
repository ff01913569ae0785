//! Errors of reading a snapshot, and their places.

/// Why a snapshot could not be read: the file, the place in it, and the problem.
///
/// Boxed, since readers return it from their innermost loops.
#[derive(Debug, thiserror::Error)]
#[error("{}: {}{}", .0.file, .0.byte(), .0.problem)]
pub struct Error(Box<Place>);

#[derive(Debug)]
struct Place {
    file: String,
    gzip: bool,
    offset: u64,
    problem: Problem,
}

impl Place {
    /// The place as messages begin with it; empty if the problem concerns the whole file.
    fn byte(&self) -> String {
        match self.problem {
            Problem::Open(_)
            | Problem::TooLong { .. }
            | Problem::OutOfMemory
            | Problem::Core(_)
            | Problem::Whole(_) => String::new(),
            _ if self.gzip => format!("byte {} (decompressed): ", self.offset),
            _ => format!("byte {}: ", self.offset),
        }
    }
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

    /// The error for a file `name` that cannot be opened or copied.
    pub fn cannot_open(name: &str, error: std::io::Error) -> Self {
        Error::new(name, false, 0, Problem::Open(error))
    }

    /// The file's name, as given to the reader.
    pub fn file(&self) -> &str {
        &self.0.file
    }

    /// Offset of the problem in the file (once decompressed), in bytes.
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
    /// The file cannot be opened or read at all.
    #[error("{}", cannot_open(.0))]
    Open(std::io::Error),
    /// The file cannot be read any further.
    #[error("cannot read: {0}")]
    Io(std::io::Error),
    /// The file is longer, unpacked, than [`crate::Options::limit`] allows.
    #[error("more than {limit} bytes, unpacked")]
    TooLong {
        /// The limit, in bytes.
        limit: u64,
    },
    /// The system grants no memory for more of the file.
    #[error("out of memory: the heap in this file needs more than the system grants")]
    OutOfMemory,
    /// The sum of the nodes' sizes overflows.
    #[error("the node's self size is {size}, and the sizes up to it add up to 2^64 bytes or more")]
    Sizes {
        /// The size of the node at which the sum overflowed.
        size: u64,
    },
    /// The file begins like gzip, but is cut off or damaged.
    #[error("damaged gzip data: {0}")]
    Gzip(std::io::Error),
    /// The file does not look like a heap snapshot.
    #[error("not a V8 heap snapshot: expected {expected}, found {found}")]
    NotASnapshot {
        /// The expected part of a snapshot.
        expected: &'static str,
        /// The text found.
        found: String,
    },
    /// The text ends too early.
    #[error("the file ends here, expected {0}: it was cut off")]
    Truncated(&'static str),
    /// The text differs from what the format requires.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// The text required by the format.
        expected: &'static str,
        /// The text found.
        found: String,
    },
    /// The `snapshot` value does not describe nodes and edges in the way that a reader needs.
    #[error("the `snapshot` description: {0}")]
    Header(String),
    /// One of the arrays that every snapshot has is missing.
    #[error("no `{0}` array in this snapshot")]
    Missing(&'static str),
    /// A JVM heap dump breaks the rules of its format.
    #[error("{0}")]
    Dump(String),
    /// The file is empty, or not of the kind that an option is for.
    #[error("{0}")]
    Whole(&'static str),
    /// Something is wrong with a core file or its program. The text names the address.
    #[error("{0}")]
    Core(String),
    /// The file does not have as many records as it declares.
    #[error("{what}: declared {declared}, found {found}")]
    Count {
        /// The kind of records.
        what: &'static str,
        /// The number that the `snapshot` description declares.
        declared: u64,
        /// The number of records found (or a lower bound, if reading stopped there).
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

fn cannot_open(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "no such file".to_owned(),
        std::io::ErrorKind::IsADirectory => "is a folder, not a file".to_owned(),
        _ => format!("cannot open: {error}"),
    }
}

/// A byte for messages.
pub(crate) fn show(byte: u8) -> String {
    if byte.is_ascii_graphic() {
        format!("`{}`", byte as char)
    } else {
        format!("byte 0x{byte:02x}")
    }
}
