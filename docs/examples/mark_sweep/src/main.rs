//! gclab with one more collector.

mod mark_sweep;

use std::process::ExitCode;

fn main() -> ExitCode {
    gclab::main::<(mark_sweep::MarkSweep, gclab_collectors::All), gclab_workloads::All>()
}

#[cfg(test)]
mod tests {
    use crate::mark_sweep::MarkSweep;

    #[test]
    fn random_programs_agree_with_a_plain_heap() {
        gclab_proof::random_programs::<MarkSweep>();
    }

    #[test]
    fn every_workload_has_its_checksum() {
        gclab_proof::workloads::<MarkSweep, gclab_workloads::All>();
    }
}
