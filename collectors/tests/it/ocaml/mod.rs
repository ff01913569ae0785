//! The parts of the collector `ocaml`.

mod compaction;
mod exhausted;
mod gc_module;
mod pace;
mod policies;
mod probe;
mod slices;
