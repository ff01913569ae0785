//! Ctrl-C and similar signals. The runner notices them at once, even while it waits.
//!
//! The signal handler only writes a byte to a pipe (the self-pipe trick, by signal-hook); the
//! runner polls that pipe while it waits for a child.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// Tells whether a signal asks the runner to stop. The first signal counts.
#[derive(Debug)]
pub struct Stop {
    signal: Arc<AtomicUsize>,
    pipe: UnixStream,
}

impl Stop {
    /// Listens for SIGINT, SIGTERM and SIGHUP from now on.
    ///
    /// # Errors
    /// If the system refuses the pipe or a handler.
    pub fn listen() -> io::Result<Stop> {
        let (pipe, writer) = UnixStream::pair()?;
        let signal = Arc::new(AtomicUsize::new(0));
        for number in [SIGINT, SIGTERM, SIGHUP] {
            // The number first: handlers run in registration order, so the number is set when the
            // pipe wakes the runner.
            signal_hook::flag::register_usize(number, Arc::clone(&signal), number as usize)?;
            signal_hook::low_level::pipe::register(number, writer.try_clone()?)?;
        }
        Ok(Stop { signal, pipe })
    }

    /// The signal that came, if one did.
    pub fn signal(&self) -> Option<i32> {
        // Relaxed: no other data is published with the number.
        i32::try_from(self.signal.load(Ordering::Relaxed))
            .ok()
            .filter(|&number| number != 0)
    }

    /// Becomes readable when a signal has come, and stays so.
    pub fn readable(&self) -> BorrowedFd<'_> {
        self.pipe.as_fd()
    }
}
