//! The command line: `gclab exec | run | minheap | report | compare | list | heap | profile`.
//!
//! Flags between `+RTS` and `-RTS` may stand anywhere; they are cut out first, and clap sees the
//! rest.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use gclab_flags::{CommandLine, split};
use gclab_programs::Executor;
use gclab_sweep::registry::Registry;

use crate::common::{EXIT_USAGE, refuse};
use crate::{exec, heap, list, minheap, profile, report, run};

/// A laboratory for garbage collectors: one heap, many collectors, the same programs, honest
/// numbers.
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
    #[command(subcommand)]
    Profile(profile::Command),
}

/// Runs the command that `words` name; the program's own name is not among them.
pub(crate) fn command(words: impl IntoIterator<Item = String>, executor: &dyn Executor) -> ExitCode {
    let registry = &Registry::new(executor.collectors(), executor.workloads());
    let CommandLine { mut program, rts } = split(words);
    // `gclab +RTS --info`, as for a GHC program.
    if program.is_empty() && !rts.is_empty() {
        program.push("exec".into());
    }
    let cli = match Cli::try_parse_from(std::iter::once("gclab".to_owned()).chain(program)) {
        Ok(cli) => cli,
        Err(error) => {
            // If standard error is closed, there is no place for the message.
            let _ = error.print();
            return if error.use_stderr() {
                ExitCode::from(EXIT_USAGE)
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
        return refuse(
            "flags between +RTS and -RTS are for `gclab exec`, `gclab minheap` and `gclab heap dump`; in an experiment file they stand under [flags] and \
             [sweep]",
        );
    }
    match cli.command {
        Command::Exec(arguments) => exec::exec(&arguments, &rts, registry, executor),
        Command::Run(arguments) => run::run(&arguments, registry),
        Command::Minheap(arguments) => minheap::minheap(&arguments, &rts, registry),
        Command::Report(arguments) => report::report(&arguments),
        Command::Compare(arguments) => report::compare(&arguments),
        Command::List(arguments) => list::list(&arguments, registry),
        Command::Heap(command) => heap::heap(command, &rts, registry, executor),
        Command::Profile(command) => profile::profile(&command),
    }
}
