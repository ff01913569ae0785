//! Heap profiles: the contents of a heap, repeatedly through a run.
//!
//! A *census* counts the bytes of all closures that roots keep alive, in *bands*, by one breakdown
//! ([`gclab_core::config::Breakdown`]): by the kind of closure ([`census`](self), `-hT -hd -hy
//! -hm`), by retainers (`-hr`), or by the named roots that reach them (`-ho`). It looks at a
//! stopped heap and needs no collection. It is taken every `-i` seconds ([`HeapProfiler::sample`]),
//! at each collection (`-i0`), and at each marker that a program sets
//! ([`gclab_core::mutator::Mutator::phase_marker`]). [`HeapProfiler`] listens, counts and writes;
//! [`Profile`] is the result at the end. [`TimeProfiler`] samples the program, not the heap.
//!
//! The time of a census is the CPU time of the mutators before it, as in GHC, without collections
//! and censuses. Everything is checked against its definition on random heaps under every collector
//! (`tests/it/random.rs`).

mod bands;
mod biography;
mod census;
mod names;
mod prof;
mod profiler;
mod reach;
mod retainers;
mod roots;
mod sampling;
mod sets;
mod time_profile;

pub use names::{closure_type, description, type_name};
pub use prof::retainer_table;
pub use profiler::{Census, Counter, HeapProfiler, Profile, Visits};
pub use retainers::{Retainer, RetainerSet, is_retainer};
pub use time_profile::{Head, TimeProfile, TimeProfiler, TimeSample};
