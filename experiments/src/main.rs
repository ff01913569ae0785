//! The `gclab` command, with the collectors and workloads of this workspace.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    gclab::command(&gclab_programs::Shipped, &gclab::Settings::default())
}
