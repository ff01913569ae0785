//! The bytes of a snapshot, decompressed, through one buffer, with their offsets.

use std::io::{Cursor, Read};

use flate2::read::MultiGzDecoder;

use crate::error::{Error, Problem, show};

/// The size of the buffer in bytes: large enough that a refill costs little compared with scanning
/// it, small enough for the second-level cache.
const BUFFER: usize = 128 << 10;

/// The first bytes of every gzip file (RFC 1952).
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// A source of bytes. `buffer[at..end]` has been read from the source and not taken yet.
pub(crate) struct Input<'r> {
    source: Box<dyn Read + 'r>,
    file: String,
    gzip: bool,
    buffer: Box<[u8]>,
    at: usize,
    end: usize,
    /// The offset of `buffer[0]` in the text.
    before: u64,
    /// Limit on the bytes of text read.
    limit: u64,
    /// About how long the text may be.
    expected: u64,
}

/// The shortest length expected of a text, and how many times as long as its gzip file it is
/// expected to be.
const SHORTEST: u64 = 1 << 16;
const UNPACKED: u64 = 8;

impl<'r> Input<'r> {
    /// Makes an input of at most `limit` bytes, whose file has `length` bytes, if that is known. Looks
    /// at the first bytes to tell gzip from plain text. Errors name the file `file`.
    pub(crate) fn new(
        mut reader: Box<dyn Read + 'r>,
        file: &str,
        limit: u64,
        length: Option<u64>,
    ) -> Result<Self, Error> {
        let mut head = Vec::new();
        let sniffed = reader.by_ref().take(GZIP_MAGIC.len() as u64).read_to_end(&mut head);
        sniffed.map_err(|error| Error::new(file, false, 0, Problem::Open(error)))?;
        let gzip = head == GZIP_MAGIC;
        let whole = Cursor::new(head).chain(reader);
        let source: Box<dyn Read + 'r> = if gzip {
            Box::new(MultiGzDecoder::new(whole))
        } else {
            Box::new(whole)
        };
        let buffer = vec![0; BUFFER].into_boxed_slice();
        Ok(Input {
            source,
            file: file.to_owned(),
            gzip,
            buffer,
            at: 0,
            end: 0,
            before: 0,
            limit,
            expected: (length.unwrap_or(0) * if gzip { UNPACKED } else { 1 }).max(SHORTEST),
        })
    }

    /// How many of the promised records to reserve memory for, each of at least `width` one-digit
    /// numbers. Memory for more is allocated only as they appear.
    pub(crate) fn room(&self, promised: u64, width: usize) -> usize {
        promised.min(self.expected / (2 * width as u64)) as usize
    }

    /// The buffered bytes that have not been taken. Empty only at the end of the text.
    #[inline]
    pub(crate) fn rest(&mut self) -> Result<&[u8], Error> {
        if self.at == self.end {
            self.fill()?;
        }
        Ok(&self.buffer[self.at..self.end])
    }

    /// The next byte, without taking it. `None` at the end of the text.
    #[inline]
    pub(crate) fn peek(&mut self) -> Result<Option<u8>, Error> {
        Ok(self.rest()?.first().copied())
    }

    /// The next `count` bytes, at most half the buffer, or all that are left of the text.
    pub(crate) fn head(&mut self, count: usize) -> Result<&[u8], Error> {
        if self.end - self.at < count {
            self.buffer.copy_within(self.at..self.end, 0);
            self.before += self.at as u64;
            (self.at, self.end) = (0, self.end - self.at);
            while self.end < count && self.read()? > 0 {}
        }
        Ok(&self.buffer[self.at..self.end.min(self.at + count)])
    }

    /// Takes `count` of the bytes that `rest`, `head` or `peek` showed.
    #[inline]
    pub(crate) fn take(&mut self, count: usize) {
        self.at += count;
        debug_assert!(self.at <= self.end);
    }

    /// The offset of the next byte in the text.
    pub(crate) fn offset(&self) -> u64 {
        self.before + self.at as u64
    }

    /// An error at the next byte.
    pub(crate) fn error(&self, problem: Problem) -> Error {
        self.error_at(self.offset(), problem)
    }

    /// An error at `offset`.
    pub(crate) fn error_at(&self, offset: u64, problem: Problem) -> Error {
        Error::new(&self.file, self.gzip, offset, problem)
    }

    /// The error for a next byte that is not `expected`.
    #[cold]
    pub(crate) fn unexpected(&mut self, expected: &'static str) -> Error {
        match self.peek() {
            Err(error) => error,
            Ok(None) => self.error(Problem::Truncated(expected)),
            Ok(Some(byte)) => self.error(Problem::Expected {
                expected,
                found: show(byte),
            }),
        }
    }

    /// Whether the text begins with `magic`.
    ///
    /// # Panics
    /// If anything was taken before.
    pub(crate) fn starts_with(&mut self, magic: &[u8]) -> Result<bool, Error> {
        assert_eq!((self.before, self.at), (0, 0), "the beginning was taken");
        // The first reads may return few bytes.
        while self.end < magic.len() {
            let more = self.read()?;
            if more == 0 {
                break;
            }
        }
        Ok(self.buffer[..self.end].starts_with(magic))
    }

    #[cold]
    fn fill(&mut self) -> Result<(), Error> {
        self.before += self.end as u64;
        (self.at, self.end) = (0, 0);
        self.read().map(|_| ())
    }

    /// Reads more bytes after the buffered ones. Returns their number.
    fn read(&mut self) -> Result<usize, Error> {
        loop {
            match self.source.read(&mut self.buffer[self.end..]) {
                Ok(count) => {
                    self.end += count;
                    if self.before + self.end as u64 > self.limit {
                        return Err(self.error(Problem::TooLong { limit: self.limit }));
                    }
                    return Ok(count);
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                // A gzip file that is cut off: its text is cut off here.
                Err(error) if self.gzip && error.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(0),
                Err(error) if self.gzip && error.raw_os_error().is_none() => {
                    return Err(self.error(Problem::Gzip(error)));
                }
                Err(error) => return Err(self.error(Problem::Io(error))),
            }
        }
    }
}
