//! The flags of a command, from the program's `main`, the environment and the command line.

use gclab_flags::{ENVIRONMENT, GHC_ENVIRONMENT, Given, OCAML_ENVIRONMENT, Sources};
use gclab_sweep::tell;

use crate::settings::Settings;

/// Reads the flags of all sources, and prints notes on flags that were overridden.
///
/// # Errors
/// A message about the first flag at fault.
pub(crate) fn given(words: &[String], settings: &Settings) -> Result<Given, String> {
    with_defaults(settings.with_rtsopts, words, settings)
}

/// The same with other flags of the program.
///
/// # Errors
/// As [`given`].
pub(crate) fn with_defaults(program: &str, words: &[String], settings: &Settings) -> Result<Given, String> {
    let (environment, ocaml_environment) = (variable(ENVIRONMENT)?, variable(OCAML_ENVIRONMENT)?);
    let given = Given::read(&Sources {
        program,
        environment: environment.as_deref(),
        ocaml_environment: ocaml_environment.as_deref(),
        words,
        allowed: settings.rtsopts,
    })
    .map_err(|error| error.to_string())?;
    for (theirs, ours, value) in [
        (GHC_ENVIRONMENT, ENVIRONMENT, &environment),
        ("OCAMLRUNPARAM", OCAML_ENVIRONMENT, &ocaml_environment),
    ] {
        if value.is_none() && std::env::var_os(theirs).is_some_and(|flags| !flags.is_empty()) {
            tell!("gclab: note: {theirs} is set, but gclab reads {ours}: its flags are not used");
        }
    }
    notes(given.notes());
    Ok(given)
}

/// The flags of a run: OCaml's letters from before `+RTS`, then the words after it.
pub(crate) fn with_letters(letters: &[String], words: &[String]) -> Vec<String> {
    let letters = letters.iter().map(|letters| format!("--ocaml={letters}"));
    letters.chain(words.iter().cloned()).collect()
}

/// The value of a variable of the environment, if it is set.
fn variable(name: &str) -> Result<Option<String>, String> {
    std::env::var_os(name)
        .map(|text| text.into_string())
        .transpose()
        .map_err(|text| format!("{name}: {} is not UTF-8", text.display()))
}

/// Prints notes on flags.
pub(crate) fn notes(notes: &[String]) {
    notes.iter().for_each(|note| tell!("gclab: note: {note}"));
}
