//! Programs that a command line has behind `--`.

use std::process::ExitCode;

use gclab_sweep::experiment::Experiment;
use gclab_sweep::registry::Registry;
use gclab_sweep::suggest::suggest;
use gclab_sweep::tune::detect;
use gclab_sweep::{runtime, spec};

use crate::common::{refuse, refuse_file};

/// The experiment with `command` alone, `repeat` times, under `runtime` or else the runtime that
/// detected from its file.
///
/// # Errors
/// The exit status, after the message: there is no such runtime, or the command is not legal.
pub(crate) fn of_command(
    command: &[String],
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
    let load = |runtime: Option<&str>| {
        spec::of_command(command, runtime, repeat, registry).map_err(|error| refuse_file(&error))
    };
    let plain = load(runtime)?;
    if runtime.is_some() {
        return Ok(plain);
    }
    let file = plain.programs().next().and_then(|entry| entry.file());
    match file.and_then(|file| detect::runtime_of(&file)) {
        Some(found) => load(Some(found.name())),
        None => Ok(plain),
    }
}
