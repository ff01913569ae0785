//! `gclab tune`: which flags for this program?
//!
//! - `figures`: the figures of a run, goals and limits;
//! - `space`: the settings that a search may try;
//! - `rules` and `contestant`: what a search is told, and what becomes of each setting;
//! - `race`: the order of the settings by their runs, and which of them are out;
//! - `picks` and `search`: which runs to do next;
//! - `drive`: the loop of a search;
//! - `answer`: the conclusion; `front`: the settings that trade one figure for another;
//! - `offer`: the space of a program, from the adapter of its runtime or from gclab's own flags;
//! - `detect`: the runtime of a program;
//! - `energy`: the energy counters of the processor;
//! - `source`: the runs, as processes, with their records in a results folder.
//!
//! All before `offer` know no processes and no records. A recorded grid takes the place of the last
//! in the tests (`grids`, `replay`), which count how often a search finds a good setting.

pub mod answer;
pub mod contestant;
pub mod detect;
mod drive;
pub mod energy;
pub mod figures;
pub mod front;
#[cfg(test)]
mod grids;
pub mod offer;
mod picks;
mod race;
#[cfg(test)]
mod replay;
pub mod rules;
pub mod search;
pub mod source;
pub mod space;

pub use drive::{Source, drive};
#[cfg(test)]
mod searches;
