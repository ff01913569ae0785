//! The destination of a [`Marker`](crate::trace::Marker) that moves closures: memory for their
//! copies.
//!
//! A type, chosen when the marker is made. So a marker that moves nothing ([`InPlace`]) has no
//! instruction for it.

use crate::words::{Addr, Words};
use std::fmt::Debug;

/// The memory to which a marker moves closures of condemned blocks. As long as there is some, they
/// move; then they are marked where they are. Large objects never move.
///
/// # Safety
/// Memory in the [`Room`] of a thread lies in blocks of the heap that are not condemned, holds no
/// closure, has no marks, and belongs to the thread until the marking ends. It is whole words.
pub unsafe trait Destination: Sync {
    /// Whether any closure moves. If not, the marker has no code that moves one.
    const MOVES: bool = true;
    /// What one thread has of the memory.
    type Room: Room;

    /// Gives a thread more memory, with room for a closure of `words` words, and takes back what it
    /// cannot use then. Returns whether there was any. Several threads may call it at a time.
    fn refill(&self, room: &mut Self::Room, words: Words) -> bool;

    /// Takes back what is left in `room`, at the end of a marking. By default it is lost until the
    /// blocks are swept.
    fn leave(&self, room: Self::Room) {
        let _ = room;
    }
}

/// Memory for the copies of one thread.
pub trait Room: Debug + Default + Send {
    /// Where a closure of `words` words has room.
    fn reserve(&self, words: Words) -> Option<Addr>;

    /// Takes `words` words at `at`, which were reserved.
    fn commit(&mut self, at: Addr, words: Words);
}

/// Room from one address to another, in which copies lie back to back.
#[derive(Debug)]
pub struct BumpRoom {
    /// Where the next copy goes.
    pub free: Addr,
    /// The end of the room.
    pub limit: Addr,
}

impl Default for BumpRoom {
    fn default() -> Self {
        BumpRoom {
            free: Addr::NULL,
            limit: Addr::NULL,
        }
    }
}

impl BumpRoom {
    /// Replaces it by `next`, if there is any. Returns whether there is.
    pub fn renew(&mut self, next: Option<(Addr, Addr)>) -> bool {
        if let Some((free, limit)) = next {
            *self = BumpRoom { free, limit };
        }
        next.is_some()
    }
}

impl Room for BumpRoom {
    #[inline(always)]
    fn reserve(&self, words: Words) -> Option<Addr> {
        (self.limit - self.free >= words.to_bytes()).then_some(self.free)
    }

    #[inline(always)]
    fn commit(&mut self, at: Addr, words: Words) {
        self.free = at + words;
    }
}

/// No destination: every closure is marked where it is.
#[derive(Clone, Copy, Debug)]
pub struct InPlace;

// SAFETY: it gives no memory.
unsafe impl Destination for InPlace {
    const MOVES: bool = false;
    type Room = BumpRoom;

    fn refill(&self, _: &mut BumpRoom, _: Words) -> bool {
        false
    }
}
