//! A log over time, for drawing: the state of each capability at each moment, the pauses of the
//! program, its heap, its markers and its heap profile.
//!
//! **Memory** is bounded. Up to [`MOST`] entries, everything is kept individually. Beyond that,
//! entries in the same *cell* of time are merged into their sum (`series`), and the length of the
//! cells doubles as often as needed. Sums over whole cells stay exact: of a state, of the pauses,
//! of the allocation.
//!
//! **Order.** The fold needs order of time between capabilities, and file order within each
//! ([`Merged`]).

mod cap;
mod data;
mod entries;
mod fold;
mod marks;
mod pauses;
mod profile;
mod series;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::{Read, Seek};

pub use data::{
    Census, Collections, GENERATIONS, HeapProfile, Lane, Mark, Pause, Piece, STATES, Sample, SparkSample, State,
    Stretch, Timeline,
};

use crate::error::Error;
use crate::merged::Merged;

/// Limit on entries kept: some 30 MiB, and a picture of a few megabytes.
const MOST: usize = 300_000;

impl Timeline {
    /// Reads the rest of a log.
    ///
    /// # Errors
    /// If the log is damaged, unless the reader salvages.
    pub fn of<R: Read + Seek>(log: &mut Merged<R>) -> Result<Timeline, Error> {
        Timeline::keeping(log, MOST)
    }

    /// As [`Timeline::of`] for an open file, compiled in this crate.
    ///
    /// # Errors
    /// If the log is damaged, unless the reader salvages.
    pub fn of_open_file(log: &mut Merged<File>) -> Result<Timeline, Error> {
        Timeline::of(log)
    }

    /// Reads the rest of a log, and keeps about `most` entries.
    fn keeping<R: Read + Seek>(log: &mut Merged<R>, most: usize) -> Result<Timeline, Error> {
        let mut fold = fold::Fold::new(most, log.header());
        while let Some(event) = log.next_event()? {
            fold.event(&event);
        }
        Ok(fold.finish(log.lost_ends(), log.damage().is_some()))
    }

    /// Whether there is nothing to draw.
    pub fn is_empty(&self) -> bool {
        self.lanes.is_empty() && self.profile.is_none()
    }
}
