//! The bytes of a log, through one buffer, with their offsets.

use std::io::{ErrorKind, Read, Seek, SeekFrom};

use crate::error::{Error, Problem};

/// The size of the buffer in bytes: several times the longest event, and small enough for the
/// second-level cache.
pub(crate) const BUFFER: usize = 512 << 10;

/// A source of bytes. `buffer[at..end]` has been read from the source and not taken yet.
#[derive(Debug)]
pub(crate) struct Input<R> {
    source: R,
    file: String,
    buffer: Box<[u8]>,
    at: usize,
    end: usize,
    /// The offset of `buffer[0]` in the file.
    before: u64,
    /// Whether the source has no more bytes.
    ended: bool,
}

impl<R: Read> Input<R> {
    pub(crate) fn new(source: R, file: &str) -> Self {
        Input {
            source,
            file: file.to_owned(),
            buffer: vec![0; BUFFER].into_boxed_slice(),
            at: 0,
            end: 0,
            before: 0,
            ended: false,
        }
    }

    /// The bytes not taken yet: at least `count`, unless the file ends before. `count` is at most
    /// half the buffer.
    #[inline]
    pub(crate) fn head(&mut self, count: usize) -> Result<&[u8], Error> {
        if self.end - self.at < count && !self.ended {
            self.fill(count)?;
        }
        let end = self.end.min(self.at + count);
        Ok(&self.buffer[self.at..end])
    }

    /// The bytes read from the source and not taken yet.
    #[inline]
    pub(crate) fn buffered(&self) -> &[u8] {
        &self.buffer[self.at..self.end]
    }

    /// Takes `count` of the bytes that `head` or `buffered` showed.
    #[inline]
    pub(crate) fn take(&mut self, count: usize) {
        self.at += count;
        debug_assert!(self.at <= self.end);
    }

    /// Takes `count` of the bytes that `head` showed, and returns them.
    #[inline]
    pub(crate) fn taken(&mut self, count: usize) -> &[u8] {
        self.take(count);
        self.last(count)
    }

    /// The last `count` bytes that were taken since the last call of `head`.
    #[inline]
    pub(crate) fn last(&self, count: usize) -> &[u8] {
        &self.buffer[self.at - count..self.at]
    }

    /// The offset of the next byte in the file.
    #[inline]
    pub(crate) fn offset(&self) -> u64 {
        self.before + self.at as u64
    }

    /// An error at the next byte.
    pub(crate) fn error(&self, problem: Problem) -> Error {
        self.error_at(self.offset(), problem)
    }

    /// An error at `offset`.
    pub(crate) fn error_at(&self, offset: u64, problem: Problem) -> Error {
        Error::new(&self.file, offset, problem)
    }

    #[cold]
    fn fill(&mut self, count: usize) -> Result<(), Error> {
        self.buffer.copy_within(self.at..self.end, 0);
        self.before += self.at as u64;
        self.end -= self.at;
        self.at = 0;
        while self.end < count && !self.ended {
            match self.source.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.ended = true,
                Ok(more) => self.end += more,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if self.offset() == 0 => return Err(self.error(Problem::Open(error))),
                Err(error) => return Err(self.error_at(self.before + self.end as u64, Problem::Io(error))),
            }
        }
        Ok(())
    }
}

impl<R: Read + Seek> Input<R> {
    /// Takes bytes up to `offset` without looking at them.
    pub(crate) fn skip_to(&mut self, offset: u64) -> Result<(), Error> {
        let buffered = self.before + self.end as u64;
        if offset <= buffered {
            self.at = (offset - self.before) as usize;
            return Ok(());
        }
        (self.before, self.at, self.end) = (offset, 0, 0);
        self.ended = false;
        let sought = self.source.seek(SeekFrom::Start(offset));
        sought
            .map(|_| ())
            .map_err(|error| Error::new(&self.file, offset, Problem::Io(error)))
    }
}
