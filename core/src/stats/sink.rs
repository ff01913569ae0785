//! Where statistics are written: standard error or a file. A write failure never loses the run.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::render::path_name;

/// The place where statistics go. Clones write to the same place.
///
/// Writing never fails. Text that cannot be written to a file goes to standard error from then on,
/// after one message that names the file; text that standard error does not take is dropped.
#[derive(Clone, Debug)]
pub struct Sink(Arc<Mutex<To>>);

enum To {
    Stderr,
    File(PathBuf, Box<dyn Write + Send>),
    Buffer(Vec<u8>),
}

impl std::fmt::Debug for To {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            To::Stderr => f.write_str("Stderr"),
            To::File(path, _) => write!(f, "File({})", path.display()),
            To::Buffer(text) => write!(f, "Buffer({} bytes)", text.len()),
        }
    }
}

impl Sink {
    /// The standard error stream.
    pub fn stderr() -> Self {
        Self(Arc::new(Mutex::new(To::Stderr)))
    }

    /// A new file at `path`; an old one is overwritten.
    ///
    /// # Errors
    /// As [`File::create`]: the program can refuse a run before it begins if its figures could not
    /// be written.
    pub fn file(path: &Path) -> io::Result<Self> {
        Ok(Self::open_file(path, Box::new(File::create(path)?)))
    }

    /// The file at `path`, which the caller has opened.
    pub fn open_file(path: &Path, file: Box<dyn Write + Send>) -> Self {
        Self(Arc::new(Mutex::new(To::File(path.to_owned(), file))))
    }

    /// A buffer in memory, to be read by [`Sink::buffered`].
    pub fn buffer() -> Self {
        Self(Arc::new(Mutex::new(To::Buffer(Vec::new()))))
    }

    /// Writes `text` at once.
    pub fn write(&self, text: &str) {
        // A thread that panicked while writing left half a line at worst.
        let mut to = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let failed = match &mut *to {
            To::Stderr => {
                let _ = io::stderr().write_all(text.as_bytes());
                return;
            }
            To::Buffer(buffer) => return buffer.extend_from_slice(text.as_bytes()),
            To::File(path, file) => match file.write_all(text.as_bytes()) {
                Ok(()) => return,
                Err(error) => format!(
                    "gclab: cannot write statistics to {}: {error}; they follow here\n{text}",
                    path_name(path)
                ),
            },
        };
        *to = To::Stderr;
        let _ = io::stderr().write_all(failed.as_bytes());
    }

    /// The text written to a [`Sink::buffer`] so far; empty for the other kinds.
    pub fn buffered(&self) -> String {
        match &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            To::Buffer(buffer) => String::from_utf8_lossy(buffer).into_owned(),
            _ => String::new(),
        }
    }
}
