//! Tests for any collector, of gclab or of a crate elsewhere.
//!
//! A test of a collector is a call. [`random_programs`] searches for programs under which the
//! collector differs from a heap that never frees anything. [`workloads`] runs the programs of a
//! list at their test sizes and compares their checksums. In both, the checker checks the whole
//! heap after each collection. They panic with the fault: the closure, the slot and the slot's
//! content; or the shortest failing program that was found, and the seed that finds it again. A
//! panic or a crash of the collector is such a fault, too, and ends no other test: tests run in child
//! processes.
//!
//! A failing program of one thread is printed as a test to paste. [`replay`] runs exactly this
//! program there, until the fault is mended and ever after. Programs of several threads depend on
//! the order in which the threads run, so they are printed as a list of operations.
//!
//! [`slices`](slices::slices) is for collectors that work in slices: its programs try to hide
//! closures from a marking that is under way. [`cycles`](slices::cycles) waits for cycles that nobody
//! requests. [`deaths`](counting::deaths) is for those that count references. [`every_request_refused`] refuses
//! one request for memory after the other.
//!
//! ```no_run
//! # type MyCollector = gclab_collectors::Copying;
//! gclab_proof::random_programs::<MyCollector>();
//! gclab_proof::workloads::<MyCollector, gclab_workloads::All>();
//! gclab_proof::every_request_refused::<MyCollector>(&gclab_proof::small_heap::<MyCollector>());
//! ```

#![forbid(unsafe_code)]

pub mod counting;
mod faults;
mod random;
pub mod slices;
pub mod tier;
mod workloads;

pub use faults::{every_request_refused, small_heap};
pub use random::{hunt, hunt_in_threads, program, random_programs, replay, search_for};
pub use workloads::{workload, workloads};
