//! The `gclab` command, with the collectors and workloads of this workspace.

use std::process::ExitCode;

fn main() -> ExitCode {
    gclab::start(&gclab_programs::Shipped)
}
