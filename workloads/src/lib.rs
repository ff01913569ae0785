//! Programs that allocate, written against core's mutator API; each ends in a checksum.
//!
//! A [`Workload`] is deterministic: the same arguments give the same checksum under every collector, and for the classical ones the same as
//! the programs of other languages that follow the same definition (each module states it). A checksum says that the answer is right, not that the
//! memory behaves as meant: the tests also hold allocated bytes and residency against what the definition implies.
//!
//! **To add a workload**: a module with a unit struct and its `impl Workload`, and one line in [`All`].
//! The command line, the names in experiment files and the tests follow from that line.
//!
//! Arguments are declared ([`ArgSpec`]) and checked before a heap exists ([`Args::parse`]).

mod args;
mod list;
mod rng;
mod workload;

pub use args::{ArgError, ArgKind, ArgSpec, Args};
pub use list::{WorkloadList, WorkloadVisitor};
pub use rng::{SplitMix64, mix};
pub use workload::{TestSize, Workload, WorkloadDescription};

/// Every workload of this crate: one line each.
pub type All = ();
