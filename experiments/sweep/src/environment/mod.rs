//! The environment of runs: fixed facts (once per folder), varying figures (with every run), and
//! checks of both.
//!
//! Everything is read from the kernel's files under a [`Root`], so that tests can fake a machine.
//! An unknown fact is absent, never guessed, and no function here can fail a run.
//!
//! From the ground up:
//!
//! - `root`: files and folders of the kernel's;
//! - `groups`: the limits of control groups, of both versions;
//! - `facts`: the facts that are fixed, and the differences between two machines;
//! - `check`: checks before the first run;
//! - `sample`: the figures that vary, and checks during each run.

mod check;
mod facts;
mod groups;
mod root;
mod sample;
#[cfg(test)]
mod tests;

pub use check::{Finding, findings, findings_on_threads};
pub use facts::{changes, machine};
pub use root::Root;
pub use sample::{Disturbance, Sample, Used};
