//! The parts of `ocaml`.

mod compaction;
mod exhausted;
mod gc_finalisers;
mod gc_module;
mod gc_page;
mod gc_requests;
mod initial_heap;
mod limit;
mod pace;
mod parameters;
mod policies;
mod policy_change;
mod probe;
mod several;
mod slices;
mod top_heap;
mod verbose;
