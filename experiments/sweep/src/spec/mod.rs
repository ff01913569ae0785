//! An experiment file, from text to an [`Experiment`] in which every name exists and every value is
//! legal.
//!
//! Three steps: `read` (bytes to text), `parse` (TOML, keys, types), `validate` (names, flags,
//! arguments), each with errors that point into the file (`errors`). No run starts before the whole
//! file is checked.

mod duration;
mod errors;
mod parse;
mod profiles;
mod read;
#[cfg(test)]
mod tests;
mod validate;

use std::path::Path;

pub use duration::parse_duration;
pub use errors::SpecError;
pub use parse::MAX_REPEAT;

use errors::Source;

use crate::experiment::Experiment;
use crate::registry::Registry;

/// Reads and checks the experiment file at `path`. `repeat` replaces that of the file.
///
/// # Errors
/// The first fault of the file.
pub fn load(path: &Path, repeat: Option<u32>, registry: &Registry) -> Result<Experiment, Box<SpecError>> {
    let source = read::read(path)?;
    let name = path
        .file_stem()
        .map_or_else(|| "experiment".into(), |stem| stem.to_string_lossy().into_owned());
    if name.starts_with('.') {
        return Err(SpecError::file(
            path,
            "begins with a dot, and so would its folder of results, which would be hidden",
        )
        .help("give the file another name"));
    }
    from_source(name, source, repeat, registry)
}

/// Checks the text of an experiment file.
///
/// # Errors
/// The first fault of the text.
fn from_source(
    name: String,
    source: Source,
    repeat: Option<u32>,
    registry: &Registry,
) -> Result<Experiment, Box<SpecError>> {
    let mut raw = parse::parse(&source)?;
    raw.repeat = repeat.unwrap_or(raw.repeat);
    validate::validate(name, &source, raw, registry)
}
