//! Programs given after `--` on the command line.

use std::path::Path;
use std::process::ExitCode;

use gclab_sweep::experiment::Experiment;
use gclab_sweep::program::find;
use gclab_sweep::registry::Registry;
use gclab_sweep::suggest::suggest;
use gclab_sweep::{runtime, spec, tell};

use crate::common::{refuse, refuse_file};

/// The experiment with these words as commands, `repeat` times each, under `runtime` or else the
/// runtime that each one's file shows.
///
/// # Errors
/// The exit status, after the message: there is no such runtime, a command is invalid, or a path
/// behind a `--` leads nowhere.
pub(crate) fn of_words(
    words: &[String],
    runtime: Option<&str>,
    repeat: u32,
    registry: &Registry,
) -> Result<Experiment, ExitCode> {
    if let Some(name) = runtime
        && runtime::named(name).is_none()
    {
        let names = suggest(name, "runtimes", &runtime::names());
        return Err(refuse(format!("--runtime: unknown runtime `{name}`; {names}")));
    }
    let behind_dashes = words.windows(2).filter(|pair| pair[0] == "--").map(|pair| &pair[1]);
    for word in behind_dashes.filter(|word| word.contains('/') && !begins_a_command(Some(word))) {
        if !Path::new(word).exists() {
            return Err(refuse(format!(
                "{word}: no such program; behind -- begins the next command. As an argument of {}, it needs an experiment file",
                words[0]
            )));
        }
        tell!("gclab: note: {word} is not a program, so it is an argument of the command before it");
    }
    spec::of_commands(&commands(words), runtime, repeat, registry).map_err(|error| refuse_file(&error))
}

/// The same for one command.
///
/// # Errors
/// As [`of_words`], and if there are several commands.
pub(crate) fn of_command(words: &[String], runtime: Option<&str>, registry: &Registry) -> Result<Experiment, ExitCode> {
    let experiment = of_words(words, runtime, 1, registry)?;
    match experiment.entries.len() {
        1 => Ok(experiment),
        several => Err(refuse(format!(
            "{several} commands, separated by --, where one is expected"
        ))),
    }
}

/// The commands of these words: a `--` before a program separates two. Any other `--` is a word of
/// its command.
fn commands(words: &[String]) -> Vec<&[String]> {
    let mut commands = Vec::new();
    let mut rest = words;
    while let Some(end) = (1..rest.len()).find(|&at| rest[at] == "--" && begins_a_command(rest.get(at + 1))) {
        commands.push(&rest[..end]);
        rest = &rest[end + 1..];
    }
    commands.push(rest);
    commands
}

fn begins_a_command(word: Option<&String>) -> bool {
    word.is_some_and(|word| find(word, Path::new(""), None).is_some())
}
