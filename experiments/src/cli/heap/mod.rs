//! `gclab heap`: heaps in files, those of other programs and our own.

mod analyse;
mod analysis;
mod text;

use std::process::ExitCode;

use clap::Subcommand;

use super::Executor;
use crate::registry::Registry;

/// What holds memory in a heap: that of a file, or of a workload
#[derive(Debug, Subcommand)]
pub enum Command {
    Analyse(analyse::Arguments),
}

pub fn heap(command: Command, _words: &[String], _registry: &Registry, _executor: &dyn Executor) -> ExitCode {
    match command {
        Command::Analyse(arguments) => analyse::analyse(&arguments),
    }
}
