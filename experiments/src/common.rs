//! Shared by the subcommands: messages, exit statuses, and names that are looked up.
//!
//! Exit statuses: 0; 1 if the command did its work and the answer is bad (a regression, failed
//! runs), or could not finish it; 2 for anything wrong with the request; 128 + n after signal n.

use std::fmt::Display;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

use gclab_core::collector::Description;
use gclab_results::printable;
use gclab_sweep::registry::{Registry, usage};
use gclab_sweep::spec::SpecError;
use gclab_sweep::suggest::suggest;
use gclab_sweep::tell;
use gclab_sweep::text::cut;
use gclab_workloads::{Args, WorkloadDescription};

/// Exit status for anything that is wrong with the request.
pub(crate) const EXIT_USAGE: u8 = 2;

/// The most characters of a message: a screen of 40 lines. A message may quote its input, which has
/// any length.
const SCREEN: usize = 4000;

/// Exit status of a panic. A collector that damages the heap has crashed, even if the checker
/// notices it first.
pub(crate) const EXIT_PANIC: u8 = 101;

/// Prints text to standard output. A reader that closes the pipe early (`| head`) is not an error.
pub(crate) fn print(text: &str) -> ExitCode {
    print_by(|stdout| stdout.write_all(printable(text).as_bytes()))
}

/// Like [`print`], but streams what a function writes instead of keeping it in memory.
pub(crate) fn print_by(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> ExitCode {
    let mut stdout = io::stdout().lock();
    match write(&mut stdout).and_then(|()| stdout.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => fail(format!("standard output: {error}")),
    }
}

/// Prints a message about the request; returns exit status 2.
pub(crate) fn refuse(message: impl Display) -> ExitCode {
    tell!("gclab: {}", cut(&message.to_string(), SCREEN));
    ExitCode::from(EXIT_USAGE)
}

/// Prints an error in an experiment file, with its location; returns exit status 2.
pub(crate) fn refuse_file(error: &SpecError) -> ExitCode {
    let colours = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    // The error's messages are already printable; colours are not.
    let _ = writeln!(io::stderr(), "{}", error.render(colours).trim_end());
    ExitCode::from(EXIT_USAGE)
}

/// Prints a message about work that could not be finished; returns exit status 1.
pub(crate) fn fail(message: impl Display) -> ExitCode {
    tell!("gclab: {}", cut(&message.to_string(), SCREEN));
    ExitCode::FAILURE
}

/// The shell's exit status for a program killed by this signal.
pub(crate) fn ended_by(signal: i32) -> ExitCode {
    ExitCode::from(u8::try_from(128 + signal).unwrap_or(u8::MAX))
}

/// This process's command without `--fresh`: repeated, it continues what was interrupted.
pub(crate) fn own_command() -> Vec<String> {
    without_fresh(std::iter::once("gclab".to_owned()).chain(std::env::args().skip(1)))
}

fn without_fresh(words: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut is_own = true;
    let keeps = |word: &String| {
        is_own &= word != "--";
        !is_own || word != "--fresh"
    };
    words.into_iter().filter(keeps).collect()
}

/// The command that continues what `command` started in a folder.
pub(crate) fn continued_in(command: &[String], folder: &Path) -> Vec<String> {
    let mut words = without_fresh(command.iter().cloned());
    let own = words.iter().position(|word| word == "--").unwrap_or(words.len());
    if !words[..own]
        .iter()
        .any(|word| word == "--out" || word.starts_with("--out="))
    {
        words.splice(own..own, ["--out".to_owned(), folder.display().to_string()]);
    }
    words
}

/// The workload of this name.
///
/// # Errors
/// A message with the nearest name and all names.
pub(crate) fn workload(name: &str, registry: &Registry) -> Result<&'static WorkloadDescription, String> {
    registry.workload(name).ok_or_else(|| {
        let names = suggest(name, "workloads", &registry.workload_names());
        format!("unknown workload `{name}`; {names}")
    })
}

/// The arguments of `workload` from `words`.
///
/// # Errors
/// A message with the workload's usage.
pub(crate) fn arguments<S: AsRef<str>>(workload: &WorkloadDescription, words: &[S]) -> Result<Args, String> {
    Args::parse(workload, words).map_err(|error| format!("{error}\n\n{}", usage(workload)))
}

/// The collector of this name.
///
/// # Errors
/// A message with the nearest name and all names.
pub(crate) fn collector(name: &str, registry: &Registry) -> Result<&'static Description, String> {
    registry.collector(name).ok_or_else(|| {
        let names = suggest(name, "collectors", &registry.collector_names());
        format!("unknown collector `{name}`; {names}")
    })
}

/// A fraction from `3%` or `0.03`.
pub(crate) fn fraction(text: &str) -> Option<f64> {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    match text.strip_suffix('%') {
        Some(percent) => number(percent).map(|percent| percent / 100.0),
        None => number(text),
    }
}

#[cfg(test)]
mod tests {
    use gclab_results::shell_line;

    use super::*;

    #[test]
    fn a_sweep_goes_on_in_its_folder_by_the_command_of_its_beginning() {
        let go_on = |words: &str| {
            let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
            shell_line(&continued_in(&words, Path::new("results/runs/x")))
        };
        assert_eq!(
            go_on("gclab run x.toml --repeat 3 --fresh"),
            "gclab run x.toml --repeat 3 --out results/runs/x"
        );
        assert_eq!(go_on("gclab run x.toml --out a --fresh"), "gclab run x.toml --out a");
        assert_eq!(
            go_on("gclab run --repeat 3 -- prog --fresh"),
            "gclab run --repeat 3 --out results/runs/x -- prog --fresh"
        );
    }
}
