//! The parts of a configuration that only some collectors honour, and the groups in which
//! collectors list them.

use super::{OcamlLetter, OwnFlag};

/// A part of a [`Config`](super::Config) that has an effect only if the collector honours it. All
/// other parts apply to every heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Parameter {
    /// [`allocation_area`](super::Config::allocation_area) (`-A`).
    AllocationArea,
    /// [`chunk`](super::Config::chunk) (`-n`).
    Chunk,
    /// [`large_area`](super::Config::large_area) (`-AL`).
    LargeArea,
    /// [`old_factor`](super::Config::old_factor) (`-F`).
    OldFactor,
    /// [`old_min`](super::Config::old_min) (`-O`).
    OldMin,
    /// [`generations`](super::Config::generations) (`-G`).
    Generations,
    /// [`heap_hint`](super::Config::heap_hint) (`-H`).
    HeapHint,
    /// [`min_free`](super::Config::min_free) (`-m`).
    MinFree,
    /// [`compact`](super::Config::compact) (`-c`).
    Compact,
    /// [`nonmoving`](super::Config::nonmoving) (`-xn`).
    Nonmoving,
    /// [`sizing`](super::Config::sizing) (`--sizing`).
    Sizing,
    /// [`parallel_gc`](super::Config::parallel_gc) (`-qg`).
    ParallelGc,
    /// [`load_balance`](super::Config::load_balance) (`-qb`).
    LoadBalance,
    /// [`gc_threads`](super::Config::gc_threads) (`-qn`).
    GcThreads,
    /// [`slice_limit`](super::Config::slice_limit) (`-DI`).
    SliceLimit,
    /// A letter of `OCAMLRUNPARAM`, in [`ocaml`](super::Config::ocaml) (`--ocaml`).
    Ocaml(OcamlLetter),
    /// One of the collector's own flags, in [`own`](super::Config::own) (`--own`).
    Own(&'static OwnFlag),
}

/// A collector with a [`Nursery`](crate::space::Nursery): size and chunks of the allocation area,
/// and the limit on large objects.
pub const AREA: &[Parameter] = &[Parameter::AllocationArea, Parameter::Chunk, Parameter::LargeArea];
/// A collector whose heap grows as [`Sizing`](crate::sizing::Sizing) says.
pub const SIZING: &[Parameter] = &[Parameter::OldFactor, Parameter::MinFree, Parameter::Sizing];
/// A generational collector: the number of generations, the least size of an old one, and an
/// allocation area that grows into `-H`.
pub const GENERATIONS: &[Parameter] = &[Parameter::Generations, Parameter::OldMin, Parameter::HeapHint];
/// A collector that compacts the oldest generation.
pub const COMPACTION: &[Parameter] = &[Parameter::Compact];
/// A collector that works in slices.
pub const SLICES: &[Parameter] = &[Parameter::SliceLimit];
/// A collector with GC threads that share its work.
pub const SHARING: &[Parameter] = &[Parameter::ParallelGc, Parameter::LoadBalance, Parameter::GcThreads];
/// OCaml's letters.
pub const OCAML: &[Parameter] = &[
    Parameter::Ocaml(OcamlLetter::MinorHeap),
    Parameter::Ocaml(OcamlLetter::Increment),
    Parameter::Ocaml(OcamlLetter::SpaceOverhead),
    Parameter::Ocaml(OcamlLetter::MaxOverhead),
    Parameter::Ocaml(OcamlLetter::Policy),
    Parameter::Ocaml(OcamlLetter::Window),
    Parameter::Ocaml(OcamlLetter::InitialHeap),
    Parameter::Ocaml(OcamlLetter::Verbose),
    Parameter::Ocaml(OcamlLetter::CustomMajor),
    Parameter::Ocaml(OcamlLetter::CustomMinor),
    Parameter::Ocaml(OcamlLetter::CustomMinorMax),
];
