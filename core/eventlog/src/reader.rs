//! Reads a log front to back.

use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;

use crate::error::{Error, Problem};
use crate::event::Event;
use crate::header::Header;
use crate::input::Input;
use crate::kind::END;
use crate::kinds::number;
use crate::value;
use crate::wire::{Block, LONGEST, Raw, Step, is_block, is_marker, step};

/// Reads the events of a log in file order.
///
/// Block markers are events, too. The blocks of one capability are in order of time; those of
/// different capabilities are not ([`crate::Merged`]).
#[derive(Debug)]
pub struct Reader<R> {
    input: Input<R>,
    header: Header,
    block: Block,
    salvage: bool,
    /// The capability of the block in which it met damage, until that is asked for.
    interrupted: Option<Option<u16>>,
    /// Whether it found no block after the last damage.
    cut: bool,
    /// Whether there is nothing more to read.
    done: bool,
    damage: Option<Error>,
}

impl Reader<File> {
    /// Opens a file and reads its header.
    ///
    /// # Errors
    /// If the file cannot be read or is not an event log.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let name = path.display().to_string();
        let file = File::open(path).map_err(|error| Error::cannot_open(&name, error))?;
        Reader::new(file, &name)
    }
}

impl<R: Read> Reader<R> {
    /// Reads the header of a log. Errors name the file `file`.
    ///
    /// # Errors
    /// If `source` cannot be read or is not an event log.
    pub fn new(source: R, file: &str) -> Result<Self, Error> {
        let mut input = Input::new(source, file);
        let header = Header::read(&mut input)?;
        Ok(Reader {
            input,
            header,
            block: Block::OUTSIDE,
            salvage: false,
            interrupted: None,
            cut: false,
            done: false,
            damage: None,
        })
    }

    /// Resumes after damage at the next block whose first events are sound, or that begins where the
    /// damaged one ends. An event whose time is not within its block's is damage, too: a reader that
    /// lost its place takes any bytes for an event, and the event at which it did cannot be trusted.
    /// [`Reader::damage`] returns the first damage.
    #[must_use]
    pub fn salvage(mut self) -> Self {
        self.salvage = true;
        self
    }

    /// The event types that the log declares.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The first damage that a salvaging reader met, if any, with the bytes that it skipped there
    /// and later.
    pub fn damage(&self) -> Option<&Error> {
        self.damage.as_ref()
    }

    /// The bytes of the file read so far as header and events.
    pub fn offset(&self) -> u64 {
        self.input.offset()
    }

    /// The next event, or `None` at the end.
    ///
    /// # Errors
    /// If the log is damaged here, unless the reader salvages. Afterwards the log is at its end.
    #[inline]
    pub fn next_event(&mut self) -> Result<Option<Event<'_>>, Error> {
        let raw = loop {
            match self.advance() {
                Ok(Some(raw)) => break raw,
                Ok(None) => return Ok(None),
                Err(error) => self.go_on(error)?,
            }
        };
        Ok(Some(Event {
            offset: self.input.offset() - raw.bytes() as u64,
            time: raw.time,
            cap: self.block.cap,
            declared: self.header.at(raw.place),
            payload: self.input.last(raw.payload),
        }))
    }

    /// Calls `visit` with each remaining event: the same as [`Reader::next_event`] until the end,
    /// but faster. Events that lie whole in the buffer are taken without consulting the source.
    ///
    /// # Errors
    /// If the log is damaged, unless the reader salvages. Afterwards the log is at its end.
    pub fn for_each(&mut self, mut visit: impl FnMut(&Event<'_>)) -> Result<(), Error> {
        loop {
            if !self.done && !self.salvage {
                let taken = self.visit_buffered(&mut visit);
                self.input.take(taken);
            }
            // The next event is not whole in the buffer, or is damaged, or there is none.
            match self.next_event()? {
                Some(event) => visit(&event),
                None => return Ok(()),
            }
        }
    }

    /// Calls `visit` with the sound events that lie whole in the buffer. Returns their bytes.
    #[inline]
    fn visit_buffered(&mut self, visit: &mut impl FnMut(&Event<'_>)) -> usize {
        let (bytes, before) = (self.input.buffered(), self.input.offset());
        let header = &self.header;
        let event = |at: usize, raw: &Raw, cap| Event {
            offset: before + at as u64,
            time: raw.time,
            cap,
            declared: header.at(raw.place),
            payload: &bytes[at + raw.head..at + raw.bytes()],
        };
        let mut at = 0;
        loop {
            self.block.leave(before + at as u64);
            // No event up to here passes the end of the block, so none is checked.
            let limit = self.block.end.map_or(u64::MAX, |end| end - before);
            let limit = limit.min(bytes.len() as u64) as usize;
            let cap = self.block.cap;
            let marker = loop {
                match step(&bytes[at..limit], header) {
                    Step::Event(raw) if raw.number != number::BLOCK_MARKER => {
                        visit(&event(at, &raw, cap));
                        at += raw.bytes();
                    }
                    Step::Event(marker) => break Some(marker),
                    _ => break None,
                }
            };
            if let Some(raw) = marker {
                let payload = &bytes[at + raw.head..at + raw.bytes()];
                if self.block.pass(&raw, before + at as u64, payload).is_err() {
                    return at;
                }
                visit(&event(at, &raw, self.block.cap));
                at += raw.bytes();
            } else if at < limit || limit == bytes.len() {
                return at;
            }
        }
    }

    /// Takes the next event.
    #[inline]
    fn advance(&mut self) -> Result<Option<Raw>, Error> {
        if self.done {
            return Ok(None);
        }
        let offset = self.input.offset();
        let bytes = self.input.head(LONGEST)?;
        match step(bytes, &self.header) {
            Step::Event(raw) => {
                let payload = &bytes[raw.head..raw.bytes()];
                if let Err(problem) = self.block.pass(&raw, offset, payload) {
                    return Err(self.input.error(problem));
                }
                if self.salvage {
                    let wrong = out_of_order(&raw, &bytes[raw.bytes()..], offset, &self.block);
                    if let Some(problem) = wrong {
                        return Err(self.input.error(problem));
                    }
                }
                self.input.take(raw.bytes());
                Ok(Some(raw))
            }
            other => self.no_event(&other),
        }
    }

    #[cold]
    fn no_event(&mut self, step: &Step) -> Result<Option<Raw>, Error> {
        let offset = self.input.offset();
        let left = self.input.head(LONGEST)?.len();
        match step {
            Step::End => {
                self.done = true;
                if left > 2 {
                    let problem = Problem::Trailing;
                    return Err(self.input.error_at(offset + 2, problem));
                }
                if let Some(end) = self.block.end.filter(|end| *end == offset + 1) {
                    let problem = format!("the log's end mark runs past the end of its block, at byte {end}");
                    return Err(self.input.error(Problem::Block(problem)));
                }
                self.input.take(2);
                Ok(None)
            }
            Step::Undeclared(number) => Err(self.input.error(Problem::Undeclared(*number))),
            Step::Event(_) | Step::Short if left > 0 => Err(self
                .input
                .error_at(offset + left as u64, Problem::Truncated("an event"))),
            _ if self.block.end.is_some_and(|end| offset < end) => Err(self.input.error(Problem::Truncated("a block"))),
            _ => Err(self.input.error(Problem::NoEnd)),
        }
    }

    /// Goes on at the next block, if the reader salvages and finds one, or at the end of the log.
    #[cold]
    fn go_on(&mut self, error: Error) -> Result<(), Error> {
        self.done = true;
        if !self.salvage {
            return Err(error);
        }
        let damage = self.damage.get_or_insert(error);
        let from = self.input.offset();
        let block = std::mem::replace(&mut self.block, Block::OUTSIDE);
        self.interrupted = Some(block.cap);
        loop {
            let offset = self.input.offset();
            let bytes = self.input.head(LONGEST)?;
            let is_end = bytes == END.to_be_bytes() && block.end.is_none_or(|end| end == offset);
            let follows = || block.end == Some(offset) || is_block(bytes, &self.header);
            if is_end || is_marker(bytes, &self.header) && follows() {
                self.done = false;
                break;
            }
            if bytes.is_empty() {
                self.cut = true;
                break;
            }
            self.input.take(1);
        }
        damage.skipped(self.input.offset() - from);
        Ok(())
    }

    /// Whether the block of the last event ends here.
    pub(crate) fn is_at_end_of_block(&self) -> bool {
        self.block.end == Some(self.input.offset())
    }

    /// Whether the reader salvages.
    pub(crate) fn salvages(&self) -> bool {
        self.salvage
    }

    /// The capability of the block in which the reader met damage since the last call; its `None`
    /// is for damage outside of blocks.
    pub(crate) fn interrupted(&mut self) -> Option<Option<u16>> {
        self.interrupted.take()
    }

    /// The header, the first damage, and whether the reader found no block after the last damage.
    pub(crate) fn into_parts(self) -> (Header, Option<Error>, bool) {
        (self.header, self.damage, self.cut)
    }
}

/// The problem of an event at `offset` whose time is not within its block's; or of the event before
/// such a one, whose length is wrong then, and its contents are, too.
fn out_of_order(raw: &Raw, next: &[u8], offset: u64, block: &Block) -> Option<Problem> {
    let says = |what: &str, time: u64| {
        let [time, first, last] = [time, block.times.0, block.times.1].map(|ns| ns as f64 / 1e9);
        let problem = format!("{what} is at {time:.6} s, in a block from {first:.6} s to {last:.6} s");
        Some(Problem::Block(problem))
    };
    if !block.covers(raw.time) {
        return says("the event here", raw.time);
    }
    let is_last = block.end.is_none_or(|end| offset + raw.bytes() as u64 >= end);
    let time = next
        .get(2..10)
        .filter(|_| !is_last && raw.number != number::BLOCK_MARKER)?;
    let time = value::number(time);
    (!block.covers(time)).then(|| says("the event after the one here", time))?
}

impl<R: Read + Seek> Reader<R> {
    /// Skips the rest of the block that the last event was in, or began. Returns the place after
    /// the block.
    pub(crate) fn skip_block(&mut self, file_bytes: u64) -> Result<u64, Error> {
        let end = self.block.end.unwrap_or_else(|| self.input.offset()).min(file_bytes);
        self.input.skip_to(end)?;
        self.block = Block::OUTSIDE;
        Ok(end)
    }
}
