//! The workloads, under every collector, and their arguments.

mod args;
mod checksums;
mod heap_snapshot;
mod memory;
mod run;
mod word_index;
