//! The event log that a command names: a file, a pipe, or `-` for standard input.

use std::fs::{self, File, Metadata};
use std::io::{Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
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

/// Whether a later command finds the log under this path: neither standard input nor a pipe.
pub(super) fn is_regular(path: &Path) -> bool {
    !is_standard_input(path) && path.is_file()
}

/// The path under which the system knows the log.
fn path_or_input(path: &Path) -> &Path {
    if is_standard_input(path) {
        Path::new("/dev/stdin")
    } else {
        path
    }
}

/// Checks that a command may write `output`: a log that is written over is lost. The log may have
/// several names.
///
/// # Errors
/// If `output` is the log.
pub(super) fn may_write(output: &Path, log: &Path) -> Result<(), String> {
    let place = |path: &Path| {
        let file = fs::metadata(path).ok().filter(Metadata::is_file)?;
        Some((file.dev(), file.ino()))
    };
    match place(output) {
        Some(found) if place(path_or_input(log)) == Some(found) => Err(format!(
            "{}: this is the log, expected another file to write: -o FILE",
            output.display()
        )),
        _ => Ok(()),
    }
}

fn open(path: &Path) -> Result<File, Error> {
    File::open(path_or_input(path)).map_err(|error| Error::cannot_open(&name(path), error))
}

/// A reader in the order of the file.
///
/// # Errors
/// If the file cannot be read or is not an event log.
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
/// If the file cannot be read or is not an event log, or if there is no room for the copy of a pipe.
pub(super) fn merged(path: &Path, salvage: bool) -> Result<Merged<File>, Error> {
    Merged::new(seekable(path)?, &name(path), salvage)
}
