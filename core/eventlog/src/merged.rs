//! Reads a log in the order of time.
//!
//! A log has the events of each capability in order, in blocks of up to 2 MiB, and the blocks of
//! the capabilities one behind the other. So one look at the block markers finds the *stream* of
//! each capability, as places in the file, and the streams are merged by time from a buffer for
//! each.
//!
//! **Order.** Events of one stream stay in the order of the file, even where their time stamps run
//! backwards: GHC stamps the end of a collection before it writes the statistics, and a sort by
//! time would tear the two apart. An event counts as late as the latest one before it in its
//! stream. Of streams with equal times, the one that begins first in the file comes first.
//!
//! **Memory**: a buffer for each stream, at most [`MOST_STREAMS`] times [`LEAST_CHUNK`] or 32 MiB,
//! and 16 bytes for each of at most [`MOST_EXTENTS`] runs of blocks.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;

use crate::error::{Error, Problem};
use crate::event::Event;
use crate::header::Header;
use crate::kinds::number;
use crate::reader::Reader;
use crate::wire::{Block, LONGEST, Raw, Step, step};

/// The most streams that are merged. GHC has at most 256 capabilities unless it is built for more.
const MOST_STREAMS: usize = 1024;

/// The most stretches of a file that are remembered: 64 MiB of memory, and a log of terabytes.
const MOST_EXTENTS: usize = 1 << 22;

/// The least size of a stream's buffer: twice the longest event.
const LEAST_CHUNK: usize = 128 << 10;

/// The memory for buffers, unless there are so many streams that each has the least.
const BUFFERS: usize = 32 << 20;

/// A stretch of the file, all of one stream.
#[derive(Debug, Clone, Copy)]
struct Extent {
    from: u64,
    to: u64,
}

/// The events of one capability, or the global ones.
#[derive(Debug)]
struct Stream {
    cap: Option<u16>,
    extents: Vec<Extent>,
    /// The number of extents that are in the buffer, or behind it.
    taken: usize,
    buffer: Vec<u8>,
    at: usize,
    /// The place in the file of `buffer[at]`.
    offset: u64,
    /// The latest time so far.
    latest: u64,
    block: Block,
    next: Option<Raw>,
    /// Whether it ended at damage.
    damaged: bool,
}

/// Reads the events of a log in the order of time, those of each capability in the order of the
/// file. Block markers are events, too.
#[derive(Debug)]
pub struct Merged<R> {
    source: R,
    file: String,
    file_bytes: u64,
    header: Header,
    streams: Vec<Stream>,
    order: BinaryHeap<Reverse<(u64, usize)>>,
    /// The stream of the event that was returned last.
    last: Option<usize>,
    salvage: bool,
    damage: Option<Error>,
    /// Whether the file lost its end, and every stream with it what came later.
    cut: bool,
    /// Whether the mark of the end is still to be found, within the last block.
    end_is_missing: bool,
    /// The first event outside of all blocks that an empty one is before.
    behind_empty: Option<u64>,
    done: bool,
}

impl Merged<File> {
    /// Opens a file, reads its header, and looks at its block markers.
    ///
    /// # Errors
    /// If the file cannot be read, is no event log, or is damaged between its blocks. A salvaging
    /// reader accepts the damage.
    pub fn open(path: &Path, salvage: bool) -> Result<Self, Error> {
        let name = path.display().to_string();
        let file = File::open(path).map_err(|error| Error::cannot_open(&name, error))?;
        Merged::new(file, &name, salvage)
    }
}

impl<R: Read + Seek> Merged<R> {
    /// Reads the header of a log, and looks at its block markers. Errors name the file `file`.
    ///
    /// # Errors
    /// If `source` cannot be read, is no event log, or is damaged between its blocks. A salvaging
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
        let (header, damage) = reader.into_parts();
        let mut merged = Merged {
            source,
            file: file.to_owned(),
            file_bytes,
            header,
            streams,
            order: BinaryHeap::new(),
            last: None,
            salvage,
            cut: damage.is_some(),
            damage,
            end_is_missing: ends_in_block,
            behind_empty,
            done: false,
        };
        for place in 0..merged.streams.len() {
            merged.advance(place)?;
        }
        Ok(merged)
    }

    /// The event types that the log declares.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The first damage that a salvaging reader met, if there was any.
    pub fn damage(&self) -> Option<&Error> {
        self.damage.as_ref()
    }

    /// The first damage, as [`Merged::damage`], by value.
    pub fn into_damage(self) -> Option<Error> {
        self.damage
    }

    /// The capabilities of a salvaged log whose later events are lost, `None` for the global
    /// events, each with the time of its last event. It is complete when the log was read to its
    /// end.
    pub fn lost_ends(&self) -> impl Iterator<Item = (Option<u16>, u64)> {
        let lost = self.streams.iter().filter(|stream| self.cut || stream.damaged);
        lost.map(|stream| (stream.cap, stream.latest))
    }

    /// The capabilities whose events the log has, `None` for global ones, in the order of the file.
    pub fn caps(&self) -> impl Iterator<Item = Option<u16>> {
        self.streams.iter().map(|stream| stream.cap)
    }

    /// The size of the file.
    pub fn file_bytes(&self) -> u64 {
        self.file_bytes
    }

    /// The place of the first event outside of all blocks that follows an empty block.
    pub(crate) fn behind_empty(&self) -> Option<u64> {
        self.behind_empty
    }

    /// The next event, or `None` at the end.
    ///
    /// # Errors
    /// If a stream is damaged, unless the reader salvages: then that stream ends. After an error
    /// the log is at its end.
    pub fn next_event(&mut self) -> Result<Option<Event<'_>>, Error> {
        if let Some(last) = self.last.take()
            && !self.done
        {
            let advanced = self.advance(last);
            self.done |= advanced.is_err();
            advanced?;
        }
        if self.done {
            return Ok(None);
        }
        let Some(Reverse((_, place))) = self.order.pop() else {
            self.done = true;
            if std::mem::take(&mut self.end_is_missing) {
                self.cut = true;
                self.meet(Error::new(&self.file, self.file_bytes, Problem::NoEnd))?;
            }
            return Ok(None);
        };
        self.last = Some(place);
        let stream = &mut self.streams[place];
        let Some(raw) = stream.next.take() else { return Ok(None) };
        let (at, offset) = (stream.at, stream.offset);
        stream.at += raw.bytes();
        stream.offset += raw.bytes() as u64;
        Ok(Some(Event {
            offset,
            time: raw.time,
            cap: stream.cap,
            declared: self.header.at(raw.place),
            payload: &stream.buffer[at + raw.head..at + raw.bytes()],
        }))
    }

    /// Keeps the first damage if the reader salvages; else returns it.
    fn meet(&mut self, error: Error) -> Result<(), Error> {
        if self.salvage {
            self.damage.get_or_insert(error);
            return Ok(());
        }
        Err(error)
    }

    /// Finds the next event of a stream, and puts it in order.
    fn advance(&mut self, place: usize) -> Result<(), Error> {
        match self.find(place) {
            Ok(Some(time)) => self.order.push(Reverse((time, place))),
            Ok(None) => {}
            Err(error) => {
                self.streams[place].damaged = true;
                self.meet(error)?;
            }
        }
        Ok(())
    }

    /// Finds the next event of a stream. Returns the time for which it counts.
    fn find(&mut self, place: usize) -> Result<Option<u64>, Error> {
        let chunk = (BUFFERS / self.streams.len()).max(LEAST_CHUNK);
        let stream = &mut self.streams[place];
        loop {
            let at_end = stream.fill(&mut self.source, &self.file, chunk)?;
            let bytes = &stream.buffer[stream.at..];
            if bytes.is_empty() {
                return Ok(None);
            }
            let error = |offset, problem| Err(Error::new(&self.file, offset, problem));
            match step(bytes, &self.header) {
                Step::Event(raw) => {
                    let payload = &bytes[raw.head..raw.bytes()];
                    if let Err(problem) = stream.block.pass(&raw, stream.offset, payload) {
                        return error(stream.offset, problem);
                    }
                    stream.latest = stream.latest.max(raw.time);
                    stream.next = Some(raw);
                    return Ok(Some(stream.latest));
                }
                Step::End if stream.offset + 2 == self.file_bytes => {
                    self.end_is_missing = false;
                    return Ok(None);
                }
                Step::End => return error(stream.offset + 2, Problem::Trailing),
                Step::Undeclared(number) => return error(stream.offset, Problem::Undeclared(number)),
                Step::Short if at_end => {
                    let end = stream.offset + bytes.len() as u64;
                    // The extent of a block that the file cuts off was cut off, too.
                    let problem = match stream.block.end {
                        Some(block) if block == end => {
                            Problem::Block("the event before this place passes the end of its block".to_owned())
                        }
                        _ => Problem::Truncated("an event"),
                    };
                    return error(end, problem);
                }
                Step::Short => {}
            }
        }
    }
}

impl Stream {
    fn new(cap: Option<u16>) -> Self {
        Stream {
            cap,
            extents: Vec::new(),
            taken: 0,
            buffer: Vec::new(),
            at: 0,
            offset: 0,
            latest: 0,
            block: Block::OUTSIDE,
            next: None,
            damaged: false,
        }
    }

    /// Sees to it that the longest event is in the buffer, or all that is left of the extent.
    /// Returns whether the buffer ends where the extent does.
    fn fill<R: Read + Seek>(&mut self, source: &mut R, file: &str, chunk: usize) -> Result<bool, Error> {
        let left = self.buffer.len() - self.at;
        if left == 0 {
            let Some(extent) = self.extents.get(self.taken) else {
                return Ok(true);
            };
            self.taken += 1;
            self.offset = extent.from;
            self.block = Block::OUTSIDE;
        }
        let extent = self.extents[self.taken - 1];
        let from = self.offset + left as u64;
        if left >= LONGEST || from == extent.to {
            return Ok(from == extent.to);
        }
        self.buffer.drain(..self.at);
        self.at = 0;
        let more = (extent.to - from).min((chunk - left) as u64);
        let error = |error| Error::new(file, from, Problem::Io(error));
        source.seek(SeekFrom::Start(from)).map_err(error)?;
        let read = source.take(more).read_to_end(&mut self.buffer).map_err(error)? as u64;
        if read < more {
            let cut = std::io::Error::new(ErrorKind::UnexpectedEof, "the file became shorter while it was read");
            return Err(Error::new(file, from + read, Problem::Io(cut)));
        }
        Ok(from + more == extent.to)
    }
}

/// The streams of a log.
#[derive(Debug)]
struct Index {
    streams: Vec<Stream>,
    /// Whether the file ends behind a block, without a mark of the end of its own.
    ends_in_block: bool,
    behind_empty: Option<u64>,
}

/// Finds the streams of a log.
fn index<R: Read + Seek>(reader: &mut Reader<R>, file: &str, file_bytes: u64) -> Result<Index, Error> {
    let mut streams: Vec<Stream> = Vec::new();
    // By capability; the global stream comes last.
    let mut places: Vec<Option<usize>> = Vec::new();
    let mut extents = 0;
    let (mut last_block, mut behind_empty, mut empty) = (None, None, None);
    loop {
        let ends_in_block = last_block == Some(file_bytes);
        let next = if ends_in_block { None } else { reader.next_event()? };
        let Some(event) = next else {
            return Ok(Index {
                streams,
                ends_in_block,
                behind_empty,
            });
        };
        let (from, cap) = (event.offset, event.cap);
        let is_block = event.known() == number::BLOCK_MARKER;
        let own = from + 10 + event.payload().len() as u64;
        let to = if is_block {
            reader.skip_block(file_bytes)?
        } else {
            reader.offset()
        };
        last_block = is_block.then_some(to);
        if !is_block && empty == Some(from) {
            behind_empty.get_or_insert(from);
        }
        empty = (is_block && to == own).then_some(to);
        let key = cap.map_or(0, |cap| usize::from(cap) + 1);
        if places.len() <= key {
            places.resize(key + 1, None);
        }
        let place = *places[key].get_or_insert_with(|| {
            streams.push(Stream::new(cap));
            streams.len() - 1
        });
        let known = &mut streams[place].extents;
        match known.last_mut() {
            Some(extent) if extent.to == from => extent.to = to,
            _ => {
                known.push(Extent { from, to });
                extents += 1;
            }
        }
        let too_many = |of, most: usize| Error::new(file, from, Problem::TooMany { of, most: most as u64 });
        if extents > MOST_EXTENTS {
            return Err(too_many(
                "blocks of alternating capabilities, which cannot be put in order of time",
                MOST_EXTENTS,
            ));
        }
        if streams.len() > MOST_STREAMS {
            return Err(too_many(
                "capabilities, which cannot be put in order of time",
                MOST_STREAMS,
            ));
        }
    }
}
