//! The events of one capability, buffered from its places in the file.

use std::io::{ErrorKind, Read, Seek, SeekFrom};

use crate::error::{Error, Problem};
use crate::event::Event;
use crate::header::Header;
use crate::wire::{Block, LONGEST, Raw, Step, step};

/// A stretch of the file, all of one stream.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extent {
    pub(super) from: u64,
    pub(super) to: u64,
}

/// The events of one capability, or the global ones.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) cap: Option<u16>,
    pub(super) extents: Vec<Extent>,
    /// The number of extents in the buffer or already passed.
    taken: usize,
    buffer: Vec<u8>,
    at: usize,
    /// The place in the file of `buffer[at]`.
    offset: u64,
    /// The latest time so far.
    pub(super) latest: u64,
    block: Block,
    next: Option<Raw>,
    /// Whether it ended at damage.
    pub(super) damaged: bool,
}

/// The log that a stream is a part of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Log<'a> {
    pub(super) file: &'a str,
    pub(super) file_bytes: u64,
    pub(super) header: &'a Header,
    /// The size of a buffer.
    pub(super) chunk: usize,
}

/// The next event of a stream, or its end.
#[derive(Debug)]
pub(super) enum Found {
    /// An event, ordered by this time.
    Event(u64),
    /// There are no more events.
    End,
    /// The mark at the end of the log.
    EndOfLog,
}

impl Stream {
    /// A stream without events.
    pub(super) fn new(cap: Option<u16>) -> Self {
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

    /// Finds the next event.
    ///
    /// # Errors
    /// If the source cannot be read, or the stream is damaged here.
    #[inline]
    pub(super) fn find<R: Read + Seek>(&mut self, source: &mut R, log: &Log<'_>) -> Result<Found, Error> {
        if let Step::Event(raw) = step(&self.buffer[self.at..], log.header) {
            return self.take(raw, log);
        }
        self.find_behind(source, log)
    }

    /// Goes past the event that starts here.
    #[inline]
    fn take(&mut self, raw: Raw, log: &Log<'_>) -> Result<Found, Error> {
        let payload = &self.buffer[self.at + raw.head..self.at + raw.bytes()];
        match self.block.pass(&raw, self.offset, payload) {
            Ok(()) => {
                self.latest = self.latest.max(raw.time);
                self.next = Some(raw);
                Ok(Found::Event(self.latest))
            }
            Err(problem) => Err(Error::new(log.file, self.offset, problem)),
        }
    }

    /// Finds the next event if it is not whole in the buffer, at the end of an extent, or at
    /// damage.
    #[cold]
    fn find_behind<R: Read + Seek>(&mut self, source: &mut R, log: &Log<'_>) -> Result<Found, Error> {
        loop {
            let at_end = self.fill(source, log)?;
            let bytes = &self.buffer[self.at..];
            if bytes.is_empty() {
                return Ok(Found::End);
            }
            let error = |offset, problem| Err(Error::new(log.file, offset, problem));
            match step(bytes, log.header) {
                Step::Event(raw) => return self.take(raw, log),
                Step::End if self.offset + 2 == log.file_bytes => return Ok(Found::EndOfLog),
                Step::End => return error(self.offset + 2, Problem::Trailing),
                Step::Undeclared(number) => return error(self.offset, Problem::Undeclared(number)),
                Step::Short if at_end => {
                    let end = self.offset + bytes.len() as u64;
                    // The extent of a block that the file cuts off is cut off, too.
                    let problem = match self.block.end {
                        Some(block) if block == end => {
                            Problem::Block("the event before this place runs past the end of its block".to_owned())
                        }
                        _ => Problem::Truncated("an event"),
                    };
                    return error(end, problem);
                }
                Step::Short => {}
            }
        }
    }

    /// The event that was found; the stream goes past it. `None` if none was.
    #[inline]
    pub(super) fn event<'a>(&'a mut self, header: &'a Header) -> Option<Event<'a>> {
        let raw = self.next.take()?;
        let (at, offset) = (self.at, self.offset);
        self.at += raw.bytes();
        self.offset += raw.bytes() as u64;
        Some(Event {
            offset,
            time: raw.time,
            cap: self.cap,
            declared: header.at(raw.place),
            payload: &self.buffer[at + raw.head..at + raw.bytes()],
        })
    }

    /// Fills the buffer with at least the longest event, or with all that is left of the extent.
    /// Returns whether the buffer ends where the extent does.
    #[cold]
    fn fill<R: Read + Seek>(&mut self, source: &mut R, log: &Log<'_>) -> Result<bool, Error> {
        let Log { file, chunk, .. } = *log;
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
            let cut = std::io::Error::new(ErrorKind::UnexpectedEof, "the file shrank while it was being read");
            return Err(Error::new(file, from + read, Problem::Io(cut)));
        }
        Ok(from + more == extent.to)
    }
}
