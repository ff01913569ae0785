//! gclab with one collector and one workload more.

mod clockwork;
mod pipeline;

use std::process::ExitCode;

fn main() -> ExitCode {
    gclab::main::<(clockwork::Clockwork, gclab_collectors::All), (pipeline::Pipeline, gclab_workloads::All)>()
}
