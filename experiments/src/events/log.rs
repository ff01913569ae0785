//! The event log that a command names: a file, a pipe, or `-` for standard input.

use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::path::Path;

use gclab_eventlog::{Error, Merged, Reader};

/// The name of standard input in messages.
const STANDARD_INPUT: &str = "standard input";

/// The name of the log in messages.
pub(super) fn name(path: &Path) -> String {
    if is_standard_input(path) {
        STANDARD_INPUT.to_owned()
    } else {
        path.display().to_string()
    }
}

fn is_standard_input(path: &Path) -> bool {
    path.as_os_str() == "-"
}

fn open(path: &Path) -> Result<File, Error> {
    let path_or_input = if is_standard_input(path) {
        Path::new("/dev/stdin")
    } else {
        path
    };
    File::open(path_or_input).map_err(|error| Error::cannot_open(&name(path), error))
}

/// A reader in the order of the file.
///
/// # Errors
/// If the file cannot be read or is no event log.
pub(super) fn reader(path: &Path, salvage: bool) -> Result<Reader<File>, Error> {
    let reader = Reader::new(open(path)?, &name(path))?;
    Ok(if salvage { reader.salvage() } else { reader })
}

/// The log as a file in which a reader can go back. A pipe is copied to a temporary file first.
///
/// # Errors
/// If the file cannot be read, or if there is no room for the copy.
pub(super) fn seekable(path: &Path) -> Result<File, Error> {
    let mut file = open(path)?;
    if file.stream_position().is_err() {
        let cannot = |error| Error::cannot_open(&name(path), error);
        let mut copy = tempfile::tempfile().map_err(cannot)?;
        std::io::copy(&mut file, &mut copy).map_err(cannot)?;
        copy.seek(SeekFrom::Start(0)).map_err(cannot)?;
        file = copy;
    }
    Ok(file)
}

/// A reader in the order of time.
///
/// # Errors
/// If the file cannot be read or is no event log, or if there is no room for the copy of a pipe.
pub(super) fn merged(path: &Path, salvage: bool) -> Result<Merged<File>, Error> {
    Merged::new(seekable(path)?, &name(path), salvage)
}
