//! The figures of `+RTS -s` from a log, for the whole run or an interval of it.
//!
//! The pause of a collection is that of its leader, from `GC_START` to `GC_END`, to which GHC gives
//! the time stamps of its statistics. The leader is the capability that writes the statistics
//! between the two. Both are found in the order of the file: by time, the statistics come after the
//! end.

mod calls;
mod cap;
mod data;
mod figures;
mod gather;
mod spans;
mod text;

use std::fs::File;
use std::io::Read;
use std::path::Path;

pub use data::{CapTimes, Generation, Interval, Live, Parallel, Sparks, Stops, Summary};
pub use figures::Figure;
pub(crate) use figures::PERCENTILES;
pub(crate) use gather::WINDOWS;

use crate::error::Error;
use crate::event::Event;
use crate::reader::Reader;

impl Summary {
    /// Reads the rest of a log, and adds up the events of `interval`.
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

    /// Opens a file, and adds up the events of `interval`. If the reader salvages, returns also the
    /// damage at which it ended.
    ///
    /// # Errors
    /// If the file cannot be read or is no event log, or if it is damaged and the reader does not
    /// salvage.
    pub fn of_file(path: &Path, interval: Interval, salvage: bool) -> Result<(Summary, Option<Error>), Error> {
        let mut reader = Reader::open(path)?;
        if salvage {
            reader = reader.salvage();
        }
        let summary = Summary::of(&mut reader, interval)?;
        Ok((summary, reader.into_parts().1))
    }

    /// Does the same as [`Summary::of`] with an open file. It is compiled with this crate, so it is
    /// as fast in a program that is built without optimisation.
    ///
    /// # Errors
    /// If the log is damaged, unless the reader salvages.
    pub fn of_open_file(reader: &mut Reader<File>, interval: Interval) -> Result<Summary, Error> {
        Summary::of(reader, interval)
    }

    /// The share of mutator time in the length of the run or interval, about.
    pub fn productivity(&self) -> Option<f64> {
        let total = self.total_ns.filter(|total| *total > 0)?;
        Some(self.mutator_ns? as f64 / total as f64)
    }

    /// Bytes allocated in a second of elapsed mutator time, about.
    pub fn allocation_rate(&self) -> Option<u64> {
        let seconds = self.mutator_ns.filter(|ns| *ns > 0)? as f64 / 1e9;
        Some((self.allocated? as f64 / seconds) as u64)
    }

    /// Every figure that the log determines, by name. The names are those of GHC's statistics:
    /// `gen_0.max_pause_s` as `-s` rounds it, `gen_0_max_pause_seconds` as `-t --machine-readable`
    /// does. Those in `_ns` are exact.
    pub fn figures(&self) -> Vec<(String, Figure)> {
        figures::figures(self)
    }

    /// The summary in the layout of `-s`.
    pub fn text(&self) -> String {
        text::text(self)
    }
}
