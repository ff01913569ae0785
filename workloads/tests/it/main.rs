//! The workloads, under every collector, and their arguments.

mod args;
mod heap_snapshot;
mod latency;
mod matrix;
mod measured;
mod memory;
mod run;
mod threads;
mod word_index;
