//! The collector against gclab's own, by criterion: `cargo bench --features bench --bench collectors`.

#[path = "../src/mark_sweep.rs"]
mod mark_sweep;

fn main() -> std::process::ExitCode {
    gclab::bench::<(mark_sweep::MarkSweep, gclab_collectors::All), gclab_workloads::All>(&["-A256k"], &[])
}
