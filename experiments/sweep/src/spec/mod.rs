//! An experiment file, from text to a specification in which every name exists and every value is legal.
//!
//! Four steps: `read` (bytes to text), `parse` (TOML, keys, types), `validate` (names, flags, arguments), each with errors that point into the
//! file (`errors`). Nothing runs before all of it is right.

mod errors;
mod parse;
mod profiles;
mod read;
#[cfg(test)]
mod tests;
mod validate;

use std::path::Path;

pub use errors::{Source, SpecError};
pub use parse::parse_duration;

use crate::experiment::Spec;
use crate::registry::Registry;

/// Reads and checks the experiment file at `path`.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn load(path: &Path, registry: &Registry) -> Result<Spec, Box<SpecError>> {
    let source = read::read(path)?;
    let name = path
        .file_stem()
        .map_or_else(|| "experiment".into(), |stem| stem.to_string_lossy().into_owned());
    from_source(name, source, registry)
}

/// Checks the text of an experiment file.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn from_source(name: String, source: Source, registry: &Registry) -> Result<Spec, Box<SpecError>> {
    let raw = parse::parse(&source)?;
    validate::validate(name, &source, raw, registry)
}
