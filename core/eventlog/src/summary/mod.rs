//! The figures of `+RTS -s` from a log, for the whole run or an interval of it.
//!
//! A collection's pause is that of its leader, from `GC_START` to `GC_END`, to which GHC gives the
//! time stamps of its statistics. The leader is the capability that writes the statistics between
//! the two. This works only in file order: by time, the statistics come after the end.

mod calls;
mod cap;
mod cap_pauses;
mod data;
mod figures;
mod finish;
mod gather;
mod looks;
mod samples;
mod sentence;
mod spans;
mod text;

use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;

pub use data::{CapTimes, Generation, Interval, Live, LookTimes, Parallel, Sparks, Stops, Summary, TimeSamples};
pub use figures::Figure;
pub(crate) use figures::PERCENTILES;
pub(crate) use finish::WINDOWS;

use crate::error::Error;
use crate::event::Event;
use crate::merged::Merged;
use crate::reader::Reader;

impl Summary {
    /// Reads the rest of a log and adds up the events of `interval`.
    ///
    /// # Errors
    /// If the log is damaged, unless the reader salvages.
    pub fn of<R: Read>(reader: &mut Reader<R>, interval: Interval) -> Result<Summary, Error> {
        Summary::with(reader, interval, |_| {})
    }

    /// Reads the rest of a log, adds up the events of `interval`, and calls `look` with each event
    /// of the log.
    ///
    /// # Errors
    /// If the log is damaged, unless the reader salvages.
    pub fn with<R: Read>(
        reader: &mut Reader<R>,
        interval: Interval,
        mut look: impl FnMut(&Event<'_>),
    ) -> Result<Summary, Error> {
        let mut gather = gather::Gather::new(interval);
        reader.for_each(|event| {
            gather.event(event);
            look(event);
        })?;
        Ok(gather.finish(reader.damage().is_some()))
    }

    /// Reads the rest of a log in order of time and adds up the events of `interval`. Of a damaged
    /// log that is salvaged, it takes those before the damage of each capability, as a
    /// [`Timeline`](crate::Timeline) does.
    ///
    /// # Errors
    /// If the log is damaged, unless the reader salvages.
    pub fn of_merged<R: Read + Seek>(log: &mut Merged<R>, interval: Interval) -> Result<Summary, Error> {
        Summary::with_merged(log, interval, |_| {})
    }

    /// As [`Summary::of_merged`], and calls `look` with each event of the log.
    pub(crate) fn with_merged<R: Read + Seek>(
        log: &mut Merged<R>,
        interval: Interval,
        mut look: impl FnMut(&Event<'_>),
    ) -> Result<Summary, Error> {
        let mut gather = gather::Gather::new(interval);
        while let Some(event) = log.next_event()? {
            gather.event(&event);
            look(&event);
        }
        Ok(gather.finish(log.damage().is_some()))
    }

    /// As [`Summary::of_merged`] for an open file, compiled in this crate.
    ///
    /// # Errors
    /// If the log is damaged, unless the reader salvages.
    pub fn of_merged_file(log: &mut Merged<File>, interval: Interval) -> Result<Summary, Error> {
        Summary::of_merged(log, interval)
    }

    /// Opens a file and adds up the events of `interval`. If asked to salvage, also returns the
    /// first damage ([`Summary::of_merged`]).
    ///
    /// # Errors
    /// If the file cannot be read, is not an event log, or is damaged and not to be salvaged.
    pub fn of_file(path: &Path, interval: Interval, salvage: bool) -> Result<(Summary, Option<Error>), Error> {
        if !salvage {
            return Ok((Summary::of(&mut Reader::open(path)?, interval)?, None));
        }
        let mut log = Merged::open(path, salvage)?;
        let summary = Summary::of_merged(&mut log, interval)?;
        Ok((summary, log.into_damage()))
    }

    /// As [`Summary::of`] for an open file. Compiled in this crate, it is as fast in a program
    /// built without optimisation.
    ///
    /// # Errors
    /// If the log is damaged, unless the reader salvages.
    pub fn of_open_file(reader: &mut Reader<File>, interval: Interval) -> Result<Summary, Error> {
        Summary::of(reader, interval)
    }

    /// Mutator time as a share of the run or interval, approximately.
    pub fn productivity(&self) -> Option<f64> {
        let total = self.total_ns.filter(|total| *total > 0)?;
        Some(self.mutator_ns? as f64 / total as f64)
    }

    /// Bytes allocated per second of elapsed mutator time, approximately.
    pub fn allocation_rate(&self) -> Option<u64> {
        let seconds = self.mutator_ns.filter(|ns| *ns > 0)? as f64 / 1e9;
        Some((self.allocated? as f64 / seconds) as u64)
    }

    /// Every figure that the log determines, by name. The names follow GHC's statistics:
    /// `gen_0.max_pause_s` as `-s` rounds it, `gen_0_max_pause_seconds` as `-t --machine-readable`
    /// does. Figures in `_ns` are exact.
    pub fn figures(&self) -> Vec<(String, Figure)> {
        figures::figures(self)
    }

    /// The summary in the layout of `-s`.
    pub fn text(&self) -> String {
        text::text(self)
    }
}
