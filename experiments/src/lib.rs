//! The `gclab` command: the command line, over sweeps (`gclab_sweep`) and programs (`gclab_programs`).

#![forbid(unsafe_code)]

use std::process::ExitCode;

use gclab_core::collector::CollectorList;
use gclab_programs::{Executor, Lists};
use gclab_sweep::tell;
use gclab_workloads::WorkloadList;

mod cli;

/// The `gclab` command with these collectors and workloads, for a program's `main`.
///
/// A crate outside this workspace lengthens the lists with its own:
/// `gclab::main::<(MyCollector, gclab_collectors::All), gclab_workloads::All>()`. Runs of a sweep start the same program again.
pub fn main<Collectors: CollectorList, Workloads: WorkloadList>() -> ExitCode {
    start(&Lists::<Collectors, Workloads>::default())
}

/// The `gclab` command with the programs of `executor`: reads the words of this process's command line.
pub fn start(executor: &dyn Executor) -> ExitCode {
    let words = std::env::args_os().skip(1).map(|word| word.into_string());
    match words.collect::<Result<Vec<_>, _>>() {
        Ok(words) => cli::command(words, executor),
        Err(word) => {
            tell!("gclab: {} is not UTF-8", word.display());
            ExitCode::from(2)
        }
    }
}
