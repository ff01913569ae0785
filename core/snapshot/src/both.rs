//! Work for two cores.

use std::io;
use std::panic::resume_unwind;
use std::thread::{Builder, scope};

/// Runs two functions at the same time, the second one on a new thread.
///
/// # Errors
/// If the system cannot start the thread; then neither function runs.
pub fn both<A, B: Send>(here: impl FnOnce() -> A, there: impl FnOnce() -> B + Send) -> io::Result<(A, B)> {
    scope(|scope| {
        let there = Builder::new().spawn_scoped(scope, there)?;
        let here = here();
        Ok((here, there.join().unwrap_or_else(|panic| resume_unwind(panic))))
    })
}
