//! Sweeps: from an experiment file to a plan, one process for each run, and their records.
//!
//! Where things are: `registry` (descriptions of collectors and workloads), `axes` (what a sweep
//! varies), `build` (another build of gclab), `experiment` (a checked experiment), `run` (a run
//! with typed flags), `plan` (which runs there are, their ids and their order), `spec` (reads and
//! checks an experiment file), `program` (a program, gclab's own or foreign), `runtime` (the
//! adapters of other runtimes), `command_line` (the words that start a run), `runner` (processes,
//! resuming), `counters` (performance counters), `calibrate` (the time of a sweep), `grid` (its
//! grid as text), `folder` (chooses the results folder), `find` (finds one by its name), `minheap`
//! (the least heap of a program), `record` and `machine` (parts of the records), `script` (scripts
//! for several machines), `suggest` and `text` (parts of messages). This crate knows collectors and
//! workloads only by their descriptions.

#![deny(unsafe_code)]

/// Prints a line on standard error, at once, without characters that drive the terminal. `eprintln!`
/// would panic if the reader has closed the pipe (`2>&1 | head`); this ignores it.
#[macro_export]
macro_rules! tell {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        if cfg!(test) {
            // The test harness captures this output, and shows it when a test fails.
            eprintln!($($text)*);
        } else {
            let text = format!($($text)*) + "\n";
            let _ = std::io::stderr().write_all(gclab_results::printable(&text).as_bytes());
        }
    }};
}

pub mod axes;
pub mod build;
pub mod calibrate;
pub mod command_line;
pub mod counters;
pub mod environment;
pub mod experiment;
pub mod find;
pub mod folder;
pub mod grid;
pub mod machine;
pub mod minheap;
pub mod plan;
pub mod program;
pub mod record;
pub mod registry;
pub mod run;
pub mod runner;
pub mod runtime;
pub mod script;
pub mod spec;
pub mod suggest;
pub mod text;
pub mod tune;
mod units;
pub mod unmatched;
