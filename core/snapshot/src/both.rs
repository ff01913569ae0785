//! Work for two cores.

use std::io;
use std::panic::resume_unwind;
use std::thread::{Builder, scope};

/// Runs two functions at once, the second one on a thread of its own.
///
/// # Errors
/// If the system grants no thread. Then neither is run.
pub fn both<A, B: Send>(here: impl FnOnce() -> A, there: impl FnOnce() -> B + Send) -> io::Result<(A, B)> {
    scope(|scope| {
        let there = Builder::new().spawn_scoped(scope, there)?;
        let here = here();
        Ok((here, there.join().unwrap_or_else(|panic| resume_unwind(panic))))
    })
}
