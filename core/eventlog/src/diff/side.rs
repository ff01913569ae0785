//! One side of a comparison: the summary and contents of a log.

use std::fs::File;
use std::io::{Read, Seek};

use super::contents::Contents;
use crate::error::Error;
use crate::merged::Merged;
use crate::reader::Reader;
use crate::summary::{Interval, Summary};

/// One of the two logs.
#[derive(Debug)]
pub struct Side {
    pub(super) summary: Summary,
    pub(super) contents: Contents,
}

impl Side {
    /// Reads the rest of a log.
    ///
    /// # Errors
    /// If the log is damaged, unless the reader salvages.
    pub fn of<R: Read>(reader: &mut Reader<R>, interval: Interval) -> Result<Side, Error> {
        let mut contents = Contents::new(interval, reader.header().has_statuses_of_7_8_2());
        let summary = Summary::with(reader, interval, |event| contents.event(event))?;
        Ok(Side { summary, contents })
    }

    /// As [`Side::of`] for an open file, compiled in this crate.
    ///
    /// # Errors
    /// If the log is damaged, unless the reader salvages.
    pub fn of_open_file(reader: &mut Reader<File>, interval: Interval) -> Result<Side, Error> {
        Side::of(reader, interval)
    }

    /// Reads the rest of a log in order of time. Of a damaged log that is salvaged, it takes what
    /// [`Summary::of_merged`] does.
    ///
    /// # Errors
    /// If the log is damaged, unless the reader salvages.
    pub fn of_merged<R: Read + Seek>(log: &mut Merged<R>, interval: Interval) -> Result<Side, Error> {
        let mut contents = Contents::new(interval, log.header().has_statuses_of_7_8_2());
        let summary = Summary::with_merged(log, interval, |event| contents.event(event))?;
        Ok(Side { summary, contents })
    }

    /// As [`Side::of_merged`] for an open file, compiled in this crate.
    ///
    /// # Errors
    /// If the log is damaged, unless the reader salvages.
    pub fn of_merged_file(log: &mut Merged<File>, interval: Interval) -> Result<Side, Error> {
        Side::of_merged(log, interval)
    }

    /// The summary of the log.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }
}
