//! `gclab heap`: heaps in files, those of other programs and our own.

mod analyse;
mod analysis;
mod dump;
mod text;

use std::process::ExitCode;

use clap::Subcommand;

use gclab_programs::Executor;
use gclab_sweep::registry::Registry;

/// What holds memory: in a heap that a file has, or in one of a workload
#[derive(Debug, Subcommand)]
pub enum Command {
    Analyse(analyse::Arguments),
    Dump(dump::Arguments),
}

pub fn heap(command: Command, words: &[String], registry: &Registry, executor: &dyn Executor) -> ExitCode {
    match command {
        Command::Analyse(arguments) => analyse::analyse(&arguments),
        Command::Dump(arguments) => dump::dump(&arguments, words, registry, executor),
    }
}
