//! The heap of gclab: blocks, closures, the mutator API, the Collector trait and the parts of
//! collectors.
//!
//! Read in this order: [`words`], [`block`] (memory), [`closure`] (the object model), [`mutator`]
//! (how programs use it), [`collector`] (the traits of a collector), [`space`], [`workers`] and
//! [`trace`] (the parts of collectors), [`world`] (all of it together). Files import downwards in
//! roughly this order.

extern crate self as gclab_core;

#[macro_use]
pub mod mutants;

mod abort;
mod alloc;
mod barrier;
pub mod block;
mod capability;
mod capability_events;
mod cause;
pub mod clock;
#[allow(unreachable_pub, reason = "items of its private files are for core")]
pub mod closure;
pub mod collector;
pub mod config;
pub mod events;
mod field_log;
pub mod heap;
mod inspect;
mod kind;
pub mod memory;
#[cfg(miri)]
mod miri_libc;
pub mod mutator;
mod overhead;
mod overwritten;
pub mod prefetch;
pub mod profile;
pub mod recorder;
pub mod remembered;
mod roots;
mod sampled;
mod session;
pub mod sizing;
pub mod space;
pub mod stats;
mod sync;
pub mod timer;
pub mod trace;
pub mod words;
pub mod workers;
pub mod world;
