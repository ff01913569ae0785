//! `gclab tune`: which flags for this program?
//!
//! - `figures`: the figures of a run, goals and limits;
//! - `space`: the settings that a search may try;
//! - `search`: which runs to do next, and which settings to give up;
//! - `drive`: the loop of a search;
//! - `answer`: the conclusion, and the Pareto front;
//! - `offer`: the space of a program, from the adapter of its runtime or from gclab's own flags;
//! - `detect`: the runtime of a program;
//! - `energy`: the energy counters of the processor;
//! - `source`: the runs, as processes, with their records in a results folder.
//!
//! The first five know no processes and no records. A recorded grid takes the place of the last in
//! the tests (`replay`), which count how often a search finds a good setting.

pub mod answer;
pub mod detect;
mod drive;
pub mod energy;
pub mod figures;
pub mod offer;
#[cfg(test)]
mod replay;
pub mod search;
pub mod source;
pub mod space;

pub use drive::{Source, drive};
