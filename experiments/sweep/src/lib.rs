//! Sweeps: from an experiment file to a plan, one process for each run, and their records.
//!
//! Where things are: `registry` (collectors and workloads, as descriptions), `experiment` (an experiment, checked), `plan` (the order of its runs), `spec`
//! (an experiment file, read and checked), `command_line` (what a run's process is told), `runner` (processes, resuming), `folder` (which results
//! folder), `minheap` (the least heap of a program), `record` and `machine` (what is written down), `verdict` (whether a sweep went well).
//! No type of a collector or a workload occurs here.

/// A line on standard error, written at once. Where nobody listens any more (`2>&1 | head`) that is no reason to panic, as
/// `eprintln!` would.
#[macro_export]
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

pub mod command_line;
pub mod experiment;
pub mod folder;
pub mod machine;
pub mod minheap;
pub mod plan;
pub mod record;
pub mod registry;
pub mod runner;
pub mod spec;
pub mod suggest;
pub mod verdict;
