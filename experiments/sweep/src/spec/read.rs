//! An experiment file from the disk, as text.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use gclab_results::printable;

use super::errors::{Source, SpecError};

/// Limit on the size of an experiment file, in bytes: ten times the largest possible plan.
const MOST: u64 = 16 << 20;

/// Reads the whole file. A folder, a missing file, and invalid UTF-8 have separate errors, since
/// each has its own remedy.
pub(super) fn read(path: &Path) -> Result<Source, Box<SpecError>> {
    if path.is_dir() {
        return Err(SpecError::file(path, "is a folder").help(toml_files_in(path)));
    }
    let read = File::open(path).and_then(|file| {
        let mut bytes = Vec::new();
        file.take(MOST + 1).read_to_end(&mut bytes).map(|_| bytes)
    });
    let bytes = read.map_err(|error| match error.kind() {
        ErrorKind::NotFound => {
            SpecError::file(path, "does not exist").help(toml_files_in(path.parent().unwrap_or(path)))
        }
        _ => SpecError::file(path, format!("cannot be read: {error}")),
    })?;
    if bytes.len() as u64 > MOST {
        return Err(
            SpecError::file(path, format!("is longer than {} MiB", MOST >> 20)).help("it is not an experiment file")
        );
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let byte = error.as_bytes()[valid];
        // Up to this byte the text with replacements is that of the file, so the place is the same.
        let shown = Source {
            name: printable(&path.display().to_string()).into_owned(),
            text: String::from_utf8_lossy(error.as_bytes()).into_owned(),
        };
        SpecError::at(
            &shown,
            valid..valid + char::REPLACEMENT_CHARACTER.len_utf8(),
            format!("{} is not UTF-8", shown.name),
            format!("byte 0x{byte:02x}"),
        )
        .help("save the file as UTF-8; TOML allows nothing else")
    })?;
    Ok(Source {
        name: printable(&path.display().to_string()).into_owned(),
        text,
    })
}

fn toml_files_in(folder: &Path) -> String {
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| {
            path.extension().is_some_and(|extension| extension == "toml")
                && path.file_name().is_some_and(|name| name != "Cargo.toml")
        })
        .map(|path| path.display().to_string())
        .collect();
    names.sort();
    match names.len() {
        0 => "name an experiment file, for example experiments/quick.toml".into(),
        _ => format!("experiment files there: {}", names.join(", ")),
    }
}
