//! The commands that prepare a run: `prepare` of an experiment file.

use std::io;
use std::path::{Path, PathBuf};

use super::child::{End, Finished};
use crate::run::{Run, Subject};
use crate::runtime::{Setting, Start};

/// A command that failed, and its end.
pub(super) type Failed = (Vec<String>, Finished);

/// Runs the commands that prepare `run`, in the environment of the run and in its folder, by
/// `command`. Returns the first one that failed.
pub(super) fn prepare(
    run: &Run,
    command: impl Fn(Option<&Path>, &Start) -> io::Result<Finished>,
) -> io::Result<Option<Failed>> {
    let (commands, env, folder) = match &run.subject {
        Subject::Workload(_) => {
            let env = run.surroundings.env.clone();
            (&run.surroundings.prepare, env.into_iter().collect(), None)
        }
        Subject::Program(program, _) => {
            let env = program.start(&Setting::default(), None).env;
            (&program.description.prepare, env, program.folder())
        }
    };
    for words in commands {
        let start = Start {
            words: words.clone(),
            env: env.clone(),
            address_space: None,
        };
        let finished = command(folder, &start)?;
        if finished.end != End::Exit(0) {
            return Ok(Some((words.clone(), finished)));
        }
    }
    Ok(None)
}

/// The first word of the first of `commands` that nothing can run, as the message of a refusal has
/// it. A later one that is a path may be a file that an earlier one makes.
pub(super) fn missing(commands: &[Vec<String>], found: impl Fn(&str) -> Option<PathBuf>) -> Option<&str> {
    let first_words = commands.iter().map(|words| words.first().map_or("", String::as_str));
    let mut missing = first_words.enumerate().filter(|(index, word)| {
        let is_made = *index > 0 && word.contains('/');
        !is_made && found(word).is_none()
    });
    missing.next().map(|(_, word)| word)
}
