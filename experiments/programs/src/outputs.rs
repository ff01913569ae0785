//! The files that a run writes, looked at before the first is opened.
//!
//! A run that is refused must leave the files of the run before as they are. So each file is opened
//! here without a change to it, and opened again, and emptied, when all have turned out well.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use gclab_core::config::Breakdown;

use crate::log;
use crate::profile::stem;
use crate::request::Request;

/// A file, and the words for it in a message.
type Output = (&'static str, PathBuf);

/// Checks that the files of a run can be written, and that no two are one.
///
/// # Errors
/// A message with the file that cannot be written, or has two purposes. All files are as before.
pub(crate) fn check(request: &Request<'_>) -> Result<(), String> {
    let mut made = Vec::new();
    let checked = check_all(&outputs(request)?, &mut made);
    if checked.is_err() {
        for path in made {
            // A file that stays is empty.
            let _ = fs::remove_file(path);
        }
    }
    checked
}

/// The files that the flags ask for.
fn outputs(request: &Request<'_>) -> Result<Vec<Output>, String> {
    let config = &request.flags.config;
    let mut outputs = Vec::new();
    let statistics = request.flags.stats.file.clone();
    outputs.extend(
        statistics
            .filter(|path| path.as_os_str() != "stderr")
            .map(|path| ("statistics file", path)),
    );
    let breakdown = config.profile.breakdown;
    if breakdown.is_some() {
        outputs.push(("heap profile", format!("{}.hp", stem(request)).into()));
    }
    // Both may write to this one: the time profile comes first.
    let prof = || format!("{}.prof", stem(request)).into();
    if config.time_profile.is_some() {
        outputs.push(("time profile", prof()));
    } else if breakdown == Some(Breakdown::Retainer) {
        outputs.push(("heap profile", prof()));
    }
    outputs.extend(log::path(request)?.map(|path| ("event log", path)));
    Ok(outputs)
}

/// Checks the files in turn. Those that it makes are added to `made`.
fn check_all(outputs: &[Output], made: &mut Vec<PathBuf>) -> Result<(), String> {
    let mut files: Vec<(u64, u64, &Output)> = Vec::new();
    for output in outputs {
        let (what, path) = output;
        let Some((device, number)) = look(path, made).map_err(|error| format!("{what} {}: {error}", path.display()))?
        else {
            continue;
        };
        let same = files.iter().find(|file| (file.0, file.1) == (device, number));
        if let Some((.., (other, first))) = same {
            return Err(format!(
                "{what} {}: the {other} {} is the same file; each needs its own name",
                path.display(),
                first.display()
            ));
        }
        files.push((device, number, output));
    }
    Ok(())
}

/// The device and the number of a file that can be written. `None` if it is a device, a pipe or the
/// like, which is opened once only.
fn look(path: &Path, made: &mut Vec<PathBuf>) -> io::Result<Option<(u64, u64)>> {
    match fs::metadata(path) {
        Ok(there) if !there.is_file() => return Ok(None),
        _ => {}
    }
    let is_new = fs::symlink_metadata(path).is_err();
    let file = File::options().write(true).create(true).truncate(false).open(path)?;
    if is_new {
        made.push(path.to_owned());
    }
    let there = file.metadata()?;
    Ok(Some((there.dev(), there.ino())))
}
