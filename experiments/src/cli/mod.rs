//! The command line: `gclab exec | run | minheap | report | compare | list | heap`.
//!
//! Flags between `+RTS` and `-RTS` are cut out first, wherever they stand; clap sees the rest. Exit statuses: 0; 1 when what was asked for
//! was done and the answer is bad (a regression, failed runs); 2 for anything that is wrong with what was asked.

mod exec;
mod exhausted;
mod heap;
mod list;
mod minheap;
mod report;
mod run;

use gclab_sweep::tell;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use gclab_flags::{CommandLine, split};
use gclab_programs::Executor;
use gclab_sweep::registry::Registry;
use gclab_sweep::spec::SpecError;

/// A laboratory for garbage collectors: one heap, many collectors, the same programs, honest numbers.
#[derive(Debug, Parser)]
#[command(name = "gclab", version, max_term_width = 100, disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Exec(exec::Arguments),
    Run(run::Arguments),
    Minheap(minheap::Arguments),
    Report(report::ReportArguments),
    Compare(report::CompareArguments),
    List(list::Arguments),
    #[command(subcommand)]
    Heap(heap::Command),
}

/// Exit status for whatever is wrong with what was asked.
const USAGE: u8 = 2;

/// Runs the command that `words` (without the program's name) ask for.
pub fn command(words: impl IntoIterator<Item = String>, executor: &dyn Executor) -> ExitCode {
    let registry = &Registry::new(executor.collectors(), executor.workloads());
    let CommandLine { mut program, rts } = split(words);
    // `gclab +RTS --info`, as one would ask a GHC program.
    if program.is_empty() && !rts.is_empty() {
        program.push("exec".into());
    }
    let cli = match Cli::try_parse_from(std::iter::once("gclab".to_owned()).chain(program)) {
        Ok(cli) => cli,
        Err(error) => {
            // Nothing to be done when standard error is gone.
            let _ = error.print();
            return if error.use_stderr() {
                ExitCode::from(USAGE)
            } else {
                ExitCode::SUCCESS
            };
        }
    };
    let takes_flags = matches!(
        cli.command,
        Command::Exec(_) | Command::Minheap(_) | Command::Heap(heap::Command::Dump(_))
    );
    if !rts.is_empty() && !takes_flags {
        return usage(
            "flags between +RTS and -RTS are for `gclab exec`, `gclab minheap` and `gclab heap dump`; in an experiment file they stand under [flags] and \
             [sweep]",
        );
    }
    match cli.command {
        Command::Exec(arguments) => exec::exec(arguments, &rts, registry, executor),
        Command::Run(arguments) => run::run(&arguments, registry),
        Command::Minheap(arguments) => minheap::minheap(&arguments, &rts, registry),
        Command::Report(arguments) => report::report(&arguments),
        Command::Compare(arguments) => report::compare(&arguments),
        Command::List(arguments) => list::list(&arguments, registry),
        Command::Heap(command) => heap::heap(command, &rts, registry, executor),
    }
}

/// Prints to standard output. A reader who has seen enough (`| head`) is no error.
pub(crate) fn print(text: &str) -> ExitCode {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            tell!("gclab: standard output: {error}");
            ExitCode::FAILURE
        }
    }
}

/// One message and exit status 2.
fn usage(message: impl std::fmt::Display) -> ExitCode {
    tell!("gclab: {message}");
    ExitCode::from(USAGE)
}

/// One message with the place it is about, and exit status 2.
fn show(error: &SpecError) -> ExitCode {
    let colours = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    tell!("{}", error.render(colours).trim_end());
    ExitCode::from(USAGE)
}
