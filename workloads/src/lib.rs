//! Programs that allocate, written against core's mutator API; each computes a checksum.
//!
//! A [`Workload`] is deterministic: the same arguments give the same checksum under every
//! collector. Each module states its definition; programs in other languages that follow the
//! definition of a classical workload compute the same checksum. A checksum shows that the answer
//! is right, not that memory is used as intended, so the tests also compare allocated bytes and
//! residency with what the definition implies.
//!
//! **To add a workload**: a module with a unit struct and its `impl Workload`, and one line in
//! [`All`]. The command line, experiment files and the tests follow from that line.
//!
//! Arguments are declared ([`ArgSpec`]) and checked before a heap exists ([`Args::parse`]).

#![forbid(unsafe_code)]

mod args;
mod description;
mod latency;
mod list;
mod metered;
mod rng;
mod threads;
mod workload;

mod binary_trees;
mod ephemeron_chain;
mod gcbench;
mod hash_churn;
mod hash_cons;
mod heap_snapshot;
mod hsc_env;
mod long_list;
mod message_window;
mod mut_array;
mod ocaml_gc;
mod par_shared;
mod par_skewed;
mod par_trees;
mod server;
mod word_index;

pub use args::{ArgError, Args};
pub use description::{ArgKind, ArgSpec, StressSize, TestSize, WorkloadDescription};
pub use latency::Latency;
pub use list::{WorkloadList, WorkloadVisitor};
pub use rng::{SplitMix64, mix};
pub use workload::{RunError, Workload};

/// Makes a list of types: `list![A, B]` is `(A, (B, ()))`.
macro_rules! list {
    () => { () };
    ($head:ty $(, $tail:ty)* $(,)?) => { ($head, list![$($tail),*]) };
}

/// The six small programs that also exist in other languages. A `main` with a new kind of mutator
/// compiles every workload of its list for it; this short list keeps the build quick.
pub type Classical = list![
    binary_trees::BinaryTrees,
    gcbench::GcBench,
    long_list::LongList,
    mut_array::MutArrayUpdates,
    hash_churn::HashChurn,
    message_window::MessageWindow,
];

/// Every workload of this crate: one line each.
pub type All = list![
    binary_trees::BinaryTrees,
    gcbench::GcBench,
    long_list::LongList,
    mut_array::MutArrayUpdates,
    hash_churn::HashChurn,
    message_window::MessageWindow,
    heap_snapshot::HeapSnapshot,
    word_index::WordIndex,
    hash_cons::HashCons,
    ephemeron_chain::EphemeronChain,
    par_trees::ParTrees,
    par_skewed::ParSkewed,
    par_shared::ParShared,
    server::Server,
    hsc_env::HscEnvRoots,
    ocaml_gc::OcamlGc,
];
