//! A program that has flags by itself, forbids flags to its users, and says in its own words that
//! memory has run out: GHC's `-with-rtsopts`, `-rtsopts` and `OutOfHeapHook`.
//!
//! `cargo run --example own_settings -- exec rings 1000`

#[allow(dead_code, reason = "another example, for its workload")]
#[path = "own_workload.rs"]
mod own_workload;

use std::process::ExitCode;

use gclab::{RtsOpts, Settings};
use gclab_collectors::Copying;
use own_workload::Rings;

type Collectors = (Copying, ());
type Workloads = (Rings, ());

fn main() -> ExitCode {
    gclab::start::<Collectors, Workloads>(&Settings {
        with_rtsopts: "-A64k -M4m",
        rtsopts: RtsOpts::Some,
        out_of_heap: Some(|error| {
            let limit = error.limit.map_or(0, |limit| limit.0 >> 20);
            format!("settled: out of memory, of {limit} MiB")
        }),
        ..Settings::default()
    })
}
