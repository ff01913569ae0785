//! A log by time, for pictures of it: the state of each capability at each moment, the pauses of
//! the program, its heap, its markers and its heap profile.
//!
//! **Memory** is bounded. All that the log has is kept singly up to [`MOST`] entries. When there
//! are more, entries that lie close together become one with their sums (`series`). The length of
//! such a cell doubles as often as needed. A sum over whole cells stays exact: of a state, of
//! the pauses, of the allocation.
//!
//! **Order.** The fold needs the order of time between capabilities, and the order of the file
//! within each ([`Merged`]).

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
    Census, Collections, GENERATIONS, HeapProfile, Lane, Looked, Mark, Pause, Piece, STATES, Sample, State, Timeline,
};

use crate::error::Error;
use crate::merged::Merged;

/// The most entries that are kept: some 30 MiB, and a picture of a few megabytes.
const MOST: usize = 300_000;

impl Timeline {
    /// Reads the rest of a log.
    ///
    /// # Errors
    /// If the log is damaged, unless the reader salvages.
    pub fn of<R: Read + Seek>(log: &mut Merged<R>) -> Result<Timeline, Error> {
        Timeline::keeping(log, MOST)
    }

    /// Does the same as [`Timeline::of`] with an open file, and is compiled with this crate.
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
