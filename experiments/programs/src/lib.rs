//! The programs: workloads compiled for collectors.
//!
//! Where things are: `request` (the data that a run needs and returns), `execute` (makes a heap and
//! runs a program in it), `interrupt` (statistics of a run that is interrupted), `profile` (heap
//! profiles of a run). Collectors and workloads meet here
//! and nowhere else. `Shipped` (feature `shipped`) runs those of this workspace. It is compiled
//! with this crate, so that the command line compiles at the same time and not after it.

#![forbid(unsafe_code)]

mod execute;
mod interrupt;
mod profile;
mod request;
#[cfg(feature = "shipped")]
mod shipped;

pub use execute::Lists;
pub use request::{Done, Ended, Executor, Request};
#[cfg(feature = "shipped")]
pub use shipped::Shipped;
