//! The `gclab` command: the command line over sweeps (`gclab_sweep`), programs (`gclab_programs`)
//! and reports (`gclab_report`).
//!
//! Where things are: `cli` (the words of the command line, and the subcommand that they name), one
//! module for each subcommand, `dry_run` and `run_arguments` (parts of `run`), `record_file` (a
//! part of `exec`), `settings` and `given` (flags and their sources), `exhausted` and `verdict`
//! (long messages), `common` (messages, exit statuses and look-ups that the subcommands share), and
//! with the feature `bench` the benchmarks of criterion (`bench`).

#![forbid(unsafe_code)]

use std::process::ExitCode;

use gclab_core::collector::CollectorList;
use gclab_programs::{Executor, Lists};
use gclab_workloads::WorkloadList;

#[cfg(feature = "bench")]
mod bench;
mod cli;
mod common;
mod compare;
mod conditions;
mod dry_run;
mod emit;
mod events;
mod exec;
mod exhausted;
mod given;
mod heap;
mod input;
mod inspect;
mod list;
mod minheap;
mod new;
mod own_program;
mod plan;
mod profile;
mod record_file;
mod report;
mod reproduce;
mod run;
mod run_arguments;
mod settings;
mod shell;
mod status;
mod tune;
mod verdict;
mod watched;

#[cfg(feature = "bench")]
pub use bench::bench;
pub use settings::{Hook, RtsOpts, Settings};

/// The `gclab` command with these collectors and workloads, for a program's `main`.
///
/// A crate outside this workspace adds its own to the lists: `gclab::main::<(MyCollector,
/// gclab_collectors::All), gclab_workloads::All>()`. A sweep starts the same program again for each
/// of its runs.
pub fn main<Collectors: CollectorList, Workloads: WorkloadList>() -> ExitCode {
    start::<Collectors, Workloads>(&Settings::default())
}

/// Like [`main`], with settings: built-in flags, flags that the program forbids, and its own
/// messages.
pub fn start<Collectors: CollectorList, Workloads: WorkloadList>(settings: &Settings) -> ExitCode {
    command(&Lists::<Collectors, Workloads>::NEW, settings)
}

/// The `gclab` command with the programs of `executor`. It reads the command line of this process.
pub fn command(executor: &dyn Executor, settings: &Settings) -> ExitCode {
    let words = std::env::args_os().skip(1).map(|word| word.into_string());
    match words.collect::<Result<Vec<_>, _>>() {
        Ok(words) => cli::command(words, executor, settings),
        Err(word) => common::refuse(format!("{} is not UTF-8", word.display())),
    }
}
