//! The destination of a [`Marker`](crate::trace::Marker) that moves closures: memory for their
//! copies.
//!
//! A type, chosen when the marker is made. So a marker that moves nothing ([`InPlace`]) has no
//! instruction for it.

use crate::words::{Addr, Words};

/// The memory to which a marker moves closures of condemned blocks. As long as there is some, they
/// move; then they are marked where they are. Large objects never move.
///
/// # Safety
/// Memory that [`Destination::room`] returns lies in blocks of the heap that are not condemned,
/// holds no closure, has no marks, and belongs to the caller until the marking ends. It is whole
/// words.
pub unsafe trait Destination: Sync {
    /// Whether any closure moves. If not, the marker has no code that moves one.
    const MOVES: bool = true;

    /// Returns the start and the end of more memory, with room for a closure of `words` words, or
    /// `None` if none is left. Several threads may call it at a time.
    fn room(&self, words: Words) -> Option<(Addr, Addr)>;

    /// Takes back the memory from `from` to `to`, the end of what [`Destination::room`] returned:
    /// the caller has no more use of it, and has put nothing there. By default it is lost until
    /// the blocks are swept.
    ///
    /// # Safety
    /// It is that memory, and the caller does not use it from now on.
    unsafe fn leave(&self, from: Addr, to: Addr) {
        let _ = (from, to);
    }
}

/// No destination: every closure is marked where it is.
#[derive(Clone, Copy, Debug)]
pub struct InPlace;

// SAFETY: it returns no memory.
unsafe impl Destination for InPlace {
    const MOVES: bool = false;

    fn room(&self, _: Words) -> Option<(Addr, Addr)> {
        None
    }
}
