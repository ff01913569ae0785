//! The programs: workloads compiled for kinds of mutators.
//!
//! Where things are: `request` (the data that a run needs and returns), `execute` (makes a heap and
//! runs a program in it), `compiled` (the programs that are compiled with this crate), `interrupt`
//! (statistics of a run that is interrupted), `log` (event
//! logs of a run), `profile` (heap profiles of a run). Lists of
//! collectors and workloads meet in [`Lists`].

#![forbid(unsafe_code)]

mod compiled;
mod execute;
mod interrupt;
mod log;
mod profile;
mod request;

pub use execute::Lists;
pub use request::{Done, Ended, Executor, Request};
