//! `gclab heap`: heaps in files, of other programs and of our own.

mod analyse;
mod arguments;
mod diff;
pub(crate) mod dump;
mod holders;
mod json;
mod owners;
mod page;
mod questions;
mod stacks;
mod tables;
mod text;
pub(crate) mod words;

use std::process::ExitCode;

use clap::Subcommand;
use gclab_programs::Executor;
use gclab_sweep::registry::Registry;

use crate::settings::Settings;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Analyse(analyse::Arguments),
    Diff(diff::Arguments),
    Dump(dump::Arguments),
}

pub(crate) fn heap(
    command: Command,
    words: &[String],
    registry: &Registry,
    executor: &dyn Executor,
    settings: &Settings,
) -> ExitCode {
    match command {
        Command::Analyse(arguments) => analyse::analyse(&arguments),
        Command::Diff(arguments) => diff::diff(&arguments),
        Command::Dump(arguments) => dump::dump(&arguments, words, registry, executor, settings),
    }
}
