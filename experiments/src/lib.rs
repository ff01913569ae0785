//! Experiments: from a TOML file to a plan, one process per run, and results; and the `gclab` command.
//!
//! Where things are: `cli` (the command line, one file a subcommand), `spec` (an experiment file, read and checked), `plan` (the order of
//! runs), `minheap` (the least heap of a program), `folder` (which results folder), `runner` (processes, resuming), `profile` (heap profiles of a run), `record` and `machine` (what is written down), `verdict` (whether
//! a sweep went well). Collectors and workloads meet here and nowhere else.

use std::process::ExitCode;

use gclab_core::collector::CollectorList;
use gclab_workloads::WorkloadList;

/// A line on standard error, written at once. Where nobody listens any more (`2>&1 | head`) that is no reason to panic, as
/// `eprintln!` would.
macro_rules! tell {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        if cfg!(test) {
            // The test harness keeps what is printed in this way, and shows it when a test fails.
            eprintln!($($text)*);
        } else {
            let _ = std::io::stderr().write_all((format!($($text)*) + "\n").as_bytes());
        }
    }};
}

pub mod cli;
pub mod command_line;
pub mod execute;
pub mod folder;
pub mod machine;
pub mod minheap;
pub mod plan;
pub mod profile;
pub mod record;
pub mod registry;
pub mod runner;
pub mod spec;
pub mod suggest;
pub mod verdict;

/// The `gclab` command with these collectors and workloads, for a program's `main`.
///
/// A crate outside this workspace lengthens the lists with its own:
/// `gclab::main::<(MyCollector, gclab_collectors::All), gclab_workloads::All>()`. Runs of a sweep start the same program again.
pub fn main<Collectors: CollectorList, Workloads: WorkloadList>() -> ExitCode {
    let registry = registry::Registry::of::<Collectors, Workloads>();
    let words = match std::env::args_os()
        .skip(1)
        .map(|word| word.into_string())
        .collect::<Result<Vec<_>, _>>()
    {
        Ok(words) => words,
        Err(word) => {
            tell!("gclab: {} is not UTF-8", word.display());
            return ExitCode::from(2);
        }
    };
    cli::command(words, &registry, &execute::Lists::<Collectors, Workloads>::default())
}
