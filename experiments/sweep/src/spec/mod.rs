//! An experiment file, from text to an [`Experiment`] in which every name exists and every value is
//! valid.
//!
//! Three steps: `read` (bytes to text), `file` (TOML, keys, types), `validate` (names, flags,
//! arguments), each with errors that point into the file (`errors`). No run starts before the whole
//! file is checked.

mod duration;
mod errors;
mod excludes;
mod file;
mod node;
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
use gclab_results::ResultsDir;

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

/// The experiment that runs these commands, `repeat` times each, under `runtime` or else the runtime
/// that each one's file shows. Its text is a file that does the same.
///
/// # Errors
/// If a command or the runtime is invalid.
pub fn of_commands(
    commands: &[&[String]],
    runtime: Option<&str>,
    repeat: u32,
    registry: &Registry,
) -> Result<Experiment, Box<SpecError>> {
    let mut text = format!("repeat = {repeat}\n");
    let names = numbered(commands.iter().map(|command| label(command, commands)));
    for (command, name) in commands.iter().zip(&names) {
        let words: Vec<String> = command.iter().map(|word| toml_string(word)).collect();
        text += &format!("\n[[program]]\nname    = {}\n", toml_string(name));
        text += &runtime.map_or_else(String::new, |runtime| format!("runtime = {}\n", toml_string(runtime)));
        text += &format!("command = [{}]\n", words.join(", "));
    }
    let source = Source {
        name: "the command as an experiment".to_owned(),
        text,
    };
    let name = numbered(commands.iter().map(|command| name_of(command))).join("-");
    let experiment = from_source(name, source, None, registry)?;
    Ok(Experiment {
        is_of_commands: true,
        ..experiment
    })
}

/// The experiment of a results folder: the text of the file that its plan keeps, and its `repeat`,
/// unless there is another one.
///
/// # Errors
/// The first fault of the text: another gclab wrote it.
pub fn again(published: &ResultsDir, repeat: Option<u32>, registry: &Registry) -> Result<Experiment, Box<SpecError>> {
    let manifest = published.manifest();
    let source = Source {
        name: format!("the experiment of {}", published.path().display()),
        text: manifest.experiment.clone(),
    };
    let repeat = repeat.unwrap_or(manifest.repeat);
    from_source(manifest.name.clone(), source, Some(repeat), registry)
}

/// The names, with a number behind those that were there before.
fn numbered(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for plain in names {
        let others = (2..).map(|number| format!("{plain}-{number}"));
        let name = std::iter::once(plain.clone())
            .chain(others)
            .find(|name| !all.contains(name));
        all.extend(name);
    }
    all
}

/// The most characters of a command in tables.
const LONGEST_LABEL: usize = 40;

/// A command in tables: the name of its program, with the words that not all commands of this name
/// have, without the end of a list of flags.
fn label(command: &[String], all: &[&[String]]) -> String {
    let plain = name_of(command);
    let same = || all.iter().filter(|other| name_of(other) == plain);
    let differs = |word: &&String| same().any(|other| !other.contains(*word));
    let first = command.first().filter(differs).unwrap_or(&plain);
    let rest = command.iter().skip(1).filter(differs).filter(|word| *word != "-RTS");
    let words: Vec<&str> = std::iter::once(first).chain(rest).map(String::as_str).collect();
    let label = words.join(" ");
    let is_short = label.chars().count() <= LONGEST_LABEL && !label.contains(char::is_control);
    if is_short { label } else { plain }
}

/// The name of a command's program in folders.
fn name_of(command: &[String]) -> String {
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
    match name.trim_start_matches('.') {
        "" => "command".to_owned(),
        name => name.to_owned(),
    }
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
