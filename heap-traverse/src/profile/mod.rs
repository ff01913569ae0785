//! Heap profiles: what is in a heap, again and again through a run.
//!
//! A *census* counts the bytes of all that roots keep alive, in *bands*, by one breakdown ([`gclab_core::config::Breakdown`]): by what the closures are
//! ([`census`](self), `-hT -hd -hy -hm`), by who retains them (`-hr`), by which named roots they can be reached from (`-ho`). It looks at a stopped heap
//! and needs no collection, so it is taken every `-i` seconds ([`while_sampling`]), at each collection (`-i0`), and at each marker that a program sets
//! ([`gclab_core::mutator::Mutator::phase_marker`]). [`HeapProfiler`] listens, counts and writes; [`Profile`] is what is left at the end.
//!
//! A census is given the CPU time of the mutators before it, as in GHC: neither collections nor censuses are in that.
//! All of it is checked against its definition on random heaps under every collector (`tests/it/random.rs`).

mod bands;
mod biography;
mod census;
mod hp;
mod names;
mod prof;
mod profiler;
mod reach;
mod retainers;
mod roots;
mod sampling;
mod sets;

pub use hp::HpWriter;
pub use names::{closure_type, description, type_name};
pub use prof::retainer_table;
pub use profiler::{Census, Counter, HeapProfiler, Profile, Visits};
pub use retainers::{Retainer, RetainerSet, is_retainer};
pub use sampling::while_sampling;
