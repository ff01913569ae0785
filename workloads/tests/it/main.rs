//! The workloads, under every collector, and their arguments.

mod args;
