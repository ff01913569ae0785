//! Ctrl-C and its kin, noticed at once wherever the runner waits.
//!
//! The signal handler only writes a byte to a pipe (the self-pipe trick, by signal-hook); whoever waits for a child polls that pipe too.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// Whether somebody asked the runner to stop. Ignores nothing: the first signal counts.
#[derive(Debug)]
pub struct Stop {
    signal: Arc<AtomicUsize>,
    pipe: UnixStream,
}

impl Stop {
    /// Listens for SIGINT, SIGTERM and SIGHUP from now on.
    ///
    /// # Errors
    /// When the pipe or a handler cannot be had.
    pub fn listen() -> io::Result<Stop> {
        let (pipe, writer) = UnixStream::pair()?;
        let signal = Arc::new(AtomicUsize::new(0));
        for number in [SIGINT, SIGTERM, SIGHUP] {
            // The number first: handlers run in the order of registration, so it is there when the pipe wakes the runner.
            signal_hook::flag::register_usize(number, Arc::clone(&signal), number as usize)?;
            signal_hook::low_level::pipe::register(number, writer.try_clone()?)?;
        }
        Ok(Stop { signal, pipe })
    }

    /// The signal that came, if one did.
    pub fn signal(&self) -> Option<i32> {
        // Relaxed: nothing else is published with the number.
        i32::try_from(self.signal.load(Ordering::Relaxed))
            .ok()
            .filter(|&number| number != 0)
    }

    /// Becomes readable when a signal has come, and stays so.
    pub fn readable(&self) -> BorrowedFd<'_> {
        self.pipe.as_fd()
    }
}
