//! An experiment file, from text to an [`Experiment`] in which every name exists and every value is
//! legal.
//!
//! Three steps: `read` (bytes to text), `file` (TOML, keys, types), `validate` (names, flags, arguments), each with errors that point into the file
//! (`errors`). No run starts before the whole file is checked.

mod duration;
mod errors;
mod excludes;
mod file;
mod profiles;
mod programs;
mod read;
mod share;
mod sweeps;
#[cfg(test)]
mod tests;
mod validate;
mod works;

use std::path::Path;

pub use duration::parse_duration;
pub use errors::SpecError;
pub use file::MAX_REPEAT;
pub use share::parse_share;

use errors::Source;

use crate::experiment::Experiment;
use crate::registry::Registry;

/// Reads and checks the experiment file at `path`. `repeat` replaces the file's.
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

/// The experiment that runs one command, `repeat` times. Its text is a file that does the
/// same.
///
/// # Errors
/// If the command or the runtime is not legal.
pub fn of_command(
    command: &[String],
    runtime: Option<&str>,
    repeat: u32,
    registry: &Registry,
) -> Result<Experiment, Box<SpecError>> {
    let file = command.first().map(Path::new).and_then(Path::file_name);
    let file = file.map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || "-_.".contains(c) {
            c
        } else {
            '_'
        }
    };
    let name: String = file.chars().map(plain).collect();
    let name = Some(name.trim_start_matches('.'))
        .filter(|name| !name.is_empty())
        .unwrap_or("command");
    let words: Vec<String> = command.iter().map(|word| toml_string(word)).collect();
    let text = format!(
        "repeat = {repeat}\n\n[[program]]\nname    = {}\nruntime = {}\ncommand = [{}]\n",
        toml_string(name),
        toml_string(runtime.unwrap_or("none")),
        words.join(", ")
    );
    let source = Source {
        name: "the command as an experiment".to_owned(),
        text,
    };
    from_source(name.to_owned(), source, None, registry)
}

/// A string of TOML.
fn toml_string(text: &str) -> String {
    // The escapes of JSON are legal in TOML; only DEL needs one in TOML alone.
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007F")
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
    let mut file = file::parse(&source)?;
    file.repeat = repeat.unwrap_or(file.repeat);
    validate::validate(name, &source, file, registry)
}
