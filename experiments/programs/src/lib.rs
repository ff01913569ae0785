//! The programs: workloads compiled for kinds of mutators.
//!
//! Where things are: `request` (the data that a run needs and returns), `execute` (makes a heap and
//! runs a program in it), `compiled` (the programs that are compiled with this crate), `shipped`
//! (these under the collectors of this workspace), `outputs`
//! (the files of a run), `interrupt` (runs that a signal ends early), `log` (event logs of a run),
//! `profile` (heap profiles of a run), `time_profile` (time profiles of a run), `timer` (censuses,
//! samples and idle collections at intervals). Lists of collectors and workloads meet in [`Lists`].

#![forbid(unsafe_code)]

mod compiled;
mod execute;
mod interrupt;
mod log;
mod outputs;
mod profile;
mod request;
mod shipped;
mod time_profile;
mod timer;

pub use execute::Lists;
pub use interrupt::end_by;
pub use request::{Done, Ended, Executor, Request};
pub use shipped::Shipped;
