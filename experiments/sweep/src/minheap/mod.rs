//! The least heap with which a program completes, for one configuration or several. Each probe is
//! a process of its own and is kept on disk, so a search can be resumed.
//!
//! Terms: a *question* is a configuration without `-M`. A *probe* is one run of it under one `-M`.
//! The first probe is *generous*: it has the memory of the machine, and shows how long the program
//! takes and where the search should begin. A probe that takes `PATIENCE` times as long is
//! *thrashing*: it might end, but too late to be useful, so that heap is too small, as is one that
//! is exhausted (status 251). A crash is neither: it ends the search and is reported. The unit is a
//! megablock, since heaps take memory in megablocks.
//!
//! `prober` runs probes, `search` decides which one is next, `store` keeps them, `progress` shows
//! them; `reference` asks for all configurations of an experiment. Sources of the ideas:
//! running-ng's `minheap`, which is one search over whole MB and takes a timeout for an exhausted
//! heap, and the definition in Blackburn et al., "Rethinking Java Performance Analysis" (ASPLOS
//! 2025).

mod error;
mod prober;
pub mod progress;
pub mod reference;
mod search;
pub mod store;
#[cfg(test)]
mod tests;

pub use error::SearchError;
pub use prober::{Found, LEAST_PATIENCE, RUNS, TOLERANCE, Tools, executable, find, folder};
