//! Every collector on every workload, by criterion: `docs/measuring-well.md` says when.

fn main() -> std::process::ExitCode {
    gclab::bench::<gclab_collectors::All, gclab_workloads::All>(&["-A256k"], &[])
}
