//! One end of a pipe that a child writes to, and what is kept of an output of any length.

use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use super::system;

/// A run prints one line on standard output, and a table of its heap profile, with names of up to
/// 4000 letters; of a program that prints more than this, the end is kept.
pub(super) const MOST_STDOUT: usize = 1 << 20;
/// The bytes that are kept of the end of an output: runtimes print their statistics last.
pub(super) const MOST_END: usize = 64 << 10;
/// The bytes that one read takes from a pipe: what a pipe of Linux holds.
const PIPE: usize = 64 << 10;

/// One end of a pipe that a child writes to, and the bytes that are kept.
pub(super) struct Pipe<P> {
    /// The pipe; `None` once all its writers have closed it.
    from: Option<P>,
    /// The most bytes of `beginning`.
    most: usize,
    beginning: Vec<u8>,
    /// The last bytes after those, at most [`MOST_END`].
    end: Vec<u8>,
    /// Whether bytes between the two were dropped.
    dropped: bool,
    /// All bytes so far.
    pub(super) count: u64,
    pub(super) hash: Option<hmac_sha256::Hash>,
}

impl<P: Read + AsFd> Pipe<P> {
    pub(super) fn new(from: Option<P>, most: usize, hashes: bool) -> Pipe<P> {
        Pipe {
            from,
            most,
            beginning: Vec::new(),
            end: Vec::new(),
            dropped: false,
            count: 0,
            hash: hashes.then(hmac_sha256::Hash::new),
        }
    }

    pub(super) fn readable(&self) -> Option<BorrowedFd<'_>> {
        self.from.as_ref().map(AsFd::as_fd)
    }

    /// Reads once. The pipe is readable, so this does not wait.
    pub(super) fn read(&mut self) -> io::Result<()> {
        let Some(from) = &mut self.from else {
            return Ok(());
        };
        let mut buffer = [0; PIPE];
        let bytes = match from.read(&mut buffer) {
            Ok(length) => &buffer[..length],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(()),
            Err(error) => return Err(error),
        };
        if bytes.is_empty() {
            self.from = None;
        }
        self.count += bytes.len() as u64;
        if let Some(hash) = &mut self.hash {
            hash.update(bytes);
        }
        let room = self.most - self.beginning.len();
        let (first, rest) = bytes.split_at(bytes.len().min(room));
        self.beginning.extend(first);
        self.end.extend(rest);
        let surplus = self.end.len().saturating_sub(MOST_END);
        if surplus > 0 {
            self.end.drain(..surplus);
            self.dropped = true;
        }
        Ok(())
    }

    /// Reads the rest after the end of the child: at most what a pipe holds, since a process that
    /// left the child's group may still write to it.
    pub(super) fn drain(&mut self) -> io::Result<()> {
        const MOST_READS: usize = 16;
        for _ in 0..MOST_READS {
            let readable = system::wait_readable([self.readable()], Duration::ZERO)?;
            if self.from.is_none() || readable == [false] {
                break;
            }
            self.read()?;
        }
        Ok(())
    }

    /// The bytes that are kept, as text.
    pub(super) fn text(&self) -> String {
        let mut text = String::from_utf8_lossy(&self.beginning).into_owned();
        if self.dropped && !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&String::from_utf8_lossy(&self.end));
        text
    }
}
