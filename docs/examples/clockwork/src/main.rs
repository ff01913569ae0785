//! gclab with one more collector and one more workload.

mod clockwork;
mod pipeline;

use std::process::ExitCode;

fn main() -> ExitCode {
    gclab::main::<(clockwork::Clockwork, gclab_collectors::All), (pipeline::Pipeline, gclab_workloads::All)>()
}

#[cfg(test)]
mod tests {
    use crate::clockwork::Clockwork;

    #[test]
    fn random_programs_agree_with_a_plain_heap() {
        gclab_proof::random_programs::<Clockwork>();
    }

    #[test]
    fn every_workload_has_its_checksum() {
        gclab_proof::workloads::<Clockwork, gclab_workloads::All>();
    }
}
