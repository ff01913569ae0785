//! The event log that a command names.

use std::fs::File;
use std::path::Path;

use gclab_eventlog::{Error, Merged, Reader};

pub(super) use crate::input::name;
use crate::input::{self, is_standard_input};

/// Whether a later command finds the log under this path: neither standard input nor a pipe.
pub(super) fn is_regular(path: &Path) -> bool {
    !is_standard_input(path) && path.is_file()
}

/// The log as a seekable file.
///
/// # Errors
/// If the file cannot be read, or if there is no room for the copy of a pipe.
pub(super) fn seekable(path: &Path) -> Result<File, Error> {
    input::plain(path).map_err(|error| Error::cannot_open(&name(path), error))
}

/// A reader in the order of the file.
///
/// # Errors
/// If the file cannot be read or is not an event log.
pub(super) fn reader(path: &Path, salvage: bool) -> Result<Reader<File>, Error> {
    let reader = Reader::new(seekable(path)?, &name(path))?;
    Ok(if salvage { reader.salvage() } else { reader })
}

/// A reader in the order of time.
///
/// # Errors
/// If the file cannot be read or is not an event log, or if there is no room for the copy of a pipe.
pub(super) fn merged(path: &Path, salvage: bool) -> Result<Merged<File>, Error> {
    Merged::new(seekable(path)?, &name(path), salvage)
}
