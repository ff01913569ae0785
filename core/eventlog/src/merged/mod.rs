//! Reads a log in order of time.
//!
//! A log has the events of each capability in order, in blocks of up to 2 MiB, and the blocks of
//! all capabilities one after another. One pass over the block markers finds the *stream* of each
//! capability, as places in the file; the streams are then merged by time, with a buffer each.
//!
//! **Order.** Events of one stream stay in file order, even where their time stamps run backwards:
//! GHC stamps the end of a collection before it writes the statistics, and sorting by time would
//! tear the two apart. An event is never taken to be earlier than one before it in its stream. Of
//! streams at equal times, the one that begins first in the file comes first.
//!
//! **Memory**: a buffer for each stream, at most [`index::MOST_STREAMS`] times [`LEAST_CHUNK`] or
//! 32 MiB, and 16 bytes for each of at most [`index::MOST_EXTENTS`] runs of blocks.

mod index;
mod stream;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use crate::error::{Error, Problem};
use crate::event::Event;
use crate::header::Header;
use crate::reader::Reader;
use index::{Index, index};
use stream::{Found, Log, Stream};

/// The least size of a stream's buffer: twice the longest event.
const LEAST_CHUNK: usize = 128 << 10;

/// The memory for all buffers, unless there are so many streams that each gets [`LEAST_CHUNK`].
const BUFFERS: usize = 32 << 20;

/// Reads the events of a log in order of time, those of each capability in file order. Block
/// markers are events, too.
#[derive(Debug)]
pub struct Merged<R> {
    source: R,
    file: String,
    file_bytes: u64,
    header: Header,
    streams: Vec<Stream>,
    /// The size of a stream's buffer.
    chunk: usize,
    /// The next events of all streams except the last event's.
    order: BinaryHeap<Reverse<(u64, usize)>>,
    /// The stream of the event that was returned last.
    last: Option<usize>,
    damage: Option<Error>,
    /// Whether the file lost its end, and with it the later events of every stream.
    cut: bool,
    /// Whether the end mark is still to be found, within the last block.
    end_is_missing: bool,
    /// The place of the first event outside blocks that follows an empty block.
    behind_empty: Option<u64>,
    done: bool,
}

impl Merged<File> {
    /// Opens a file and reads its header and block markers.
    ///
    /// # Errors
    /// If the file cannot be read, is not an event log, or is damaged between its blocks. A salvaging
    /// reader accepts the damage.
    pub fn open(path: &Path, salvage: bool) -> Result<Self, Error> {
        let name = path.display().to_string();
        let file = File::open(path).map_err(|error| Error::cannot_open(&name, error))?;
        Merged::new(file, &name, salvage)
    }
}

impl<R: Read + Seek> Merged<R> {
    /// Reads the header and block markers of a log. Errors name the file `file`.
    ///
    /// # Errors
    /// If `source` cannot be read, is not an event log, or is damaged between its blocks. A salvaging
    /// reader accepts the damage.
    pub fn new(mut source: R, file: &str, salvage: bool) -> Result<Self, Error> {
        let opened = |error| Error::cannot_open(file, error);
        let file_bytes = source.seek(SeekFrom::End(0)).map_err(opened)?;
        source.seek(SeekFrom::Start(0)).map_err(opened)?;
        let mut reader = Reader::new(&mut source, file)?;
        if salvage {
            reader = reader.salvage();
        }
        let Index {
            streams,
            ends_in_block,
            behind_empty,
        } = index(&mut reader, file, file_bytes)?;
        let (header, damage, cut) = reader.into_parts();
        let mut merged = Merged {
            source,
            file: file.to_owned(),
            file_bytes,
            header,
            chunk: (BUFFERS / streams.len().max(1)).max(LEAST_CHUNK),
            streams,
            order: BinaryHeap::new(),
            last: None,
            cut,
            damage,
            end_is_missing: ends_in_block,
            behind_empty,
            done: false,
        };
        for place in 0..merged.streams.len() {
            let next = merged.advance(place)?;
            merged.order.extend(next.map(|time| Reverse((time, place))));
        }
        Ok(merged)
    }

    /// The event types that the log declares.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The first damage that a salvaging reader met when it was opened, if there was any, with the
    /// bytes that it skipped there and elsewhere.
    pub fn damage(&self) -> Option<&Error> {
        self.damage.as_ref()
    }

    /// The first damage, as [`Merged::damage`], by value.
    pub fn into_damage(self) -> Option<Error> {
        self.damage
    }

    /// The capabilities of a salvaged log whose later events are lost, `None` for the global
    /// events, each with the time of its last event. Complete once the log has been read to its
    /// end.
    pub fn lost_ends(&self) -> impl Iterator<Item = (Option<u16>, u64)> {
        let lost = self.streams.iter().filter(|stream| self.cut || stream.damaged);
        lost.map(|stream| (stream.cap, stream.latest))
    }

    /// The capabilities with events in the log, `None` for global ones, in file order.
    pub fn caps(&self) -> impl Iterator<Item = Option<u16>> {
        self.streams.iter().map(|stream| stream.cap)
    }

    /// The size of the file.
    pub fn file_bytes(&self) -> u64 {
        self.file_bytes
    }

    /// The place of the first event outside blocks that follows an empty block.
    pub(crate) fn behind_empty(&self) -> Option<u64> {
        self.behind_empty
    }

    /// The next event, or `None` at the end.
    ///
    /// # Errors
    /// If a stream is damaged, unless the reader salvages: then the stream goes on at the next block
    /// that is found. After an error the log is at its end.
    pub fn next_event(&mut self) -> Result<Option<Event<'_>>, Error> {
        let Some(place) = self.next_stream()? else {
            self.end()?;
            return Ok(None);
        };
        self.last = Some(place);
        Ok(self.streams[place].event(&self.header))
    }

    /// There are no more events.
    #[cold]
    fn end(&mut self) -> Result<(), Error> {
        self.done = true;
        if std::mem::take(&mut self.end_is_missing) {
            return Err(Error::new(&self.file, self.file_bytes, Problem::NoEnd));
        }
        Ok(())
    }

    /// Finds the next event of a stream. Returns the time for which it counts; `None` if there is
    /// none.
    fn advance(&mut self, place: usize) -> Result<Option<u64>, Error> {
        let log = Log {
            file: &self.file,
            file_bytes: self.file_bytes,
            header: &self.header,
            chunk: self.chunk,
        };
        Ok(match self.streams[place].find(&mut self.source, &log)? {
            Found::Event(time) => Some(time),
            Found::End => None,
            Found::EndOfLog => {
                self.end_is_missing = false;
                None
            }
        })
    }

    /// The stream with the next event: the last event's, or the first in order. `None` at the end.
    fn next_stream(&mut self) -> Result<Option<usize>, Error> {
        let last = self.last.take().filter(|_| !self.done);
        let Some(last) = last else {
            let first = self.order.pop().filter(|_| !self.done);
            return Ok(first.map(|Reverse((_, place))| place));
        };
        let next = self.advance(last).inspect_err(|_| self.done = true)?;
        let Some(time) = next else {
            return Ok(self.order.pop().map(|Reverse((_, place))| place));
        };
        // One heap operation instead of two: the last stream replaces the first one.
        let own = Reverse((time, last));
        Ok(Some(match self.order.peek_mut() {
            Some(mut first) if *first > own => {
                let Reverse((_, place)) = std::mem::replace(&mut *first, own);
                place
            }
            _ => last,
        }))
    }
}
