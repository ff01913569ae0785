//! The `gclab` command, with the collectors and workloads of this workspace.

use std::process::ExitCode;

fn main() -> ExitCode {
    gclab::main::<gclab_collectors::All, gclab_workloads::All>()
}
