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

use errors::Source;

use crate::experiment::Experiment;
use crate::registry::Registry;

/// Reads and checks the experiment file at `path`.
///
/// # Errors
/// The first fault of the file.
pub fn load(path: &Path, registry: &Registry) -> Result<Experiment, Box<SpecError>> {
    let source = read::read(path)?;
    let name = path
        .file_stem()
        .map_or_else(|| "experiment".into(), |stem| stem.to_string_lossy().into_owned());
    from_source(name, source, registry)
}

/// Checks the text of an experiment file.
///
/// # Errors
/// The first fault of the text.
fn from_source(name: String, source: Source, registry: &Registry) -> Result<Experiment, Box<SpecError>> {
    let raw = parse::parse(&source)?;
    validate::validate(name, &source, raw, registry)
}
