//! A free space as the destination of closures that move.

use super::{FreeList, FreeSpace, KnownClosures};
use crate::prefetch::prefetch_line;
use crate::space::Destination;
use crate::sync::Mutex;
use crate::words::{Addr, Words};

/// A [`FreeSpace`] to which closures of a nursery move, each into a free block for itself, or
/// several into one.
#[derive(Debug)]
pub struct Promotion<'s, L> {
    space: Mutex<&'s mut FreeSpace<L>>,
    known: &'s KnownClosures<'s>,
}

impl<L: FreeList> FreeSpace<L> {
    /// The space as a destination. The marker that moves closures here marks them as `known`: they
    /// have starts, and are black where they have to be.
    pub fn promotion<'s>(&'s mut self, known: &'s KnownClosures<'s>) -> Promotion<'s, L> {
        Promotion {
            space: Mutex::new(self),
            known,
        }
    }
}

// SAFETY: the free list hands out free memory of chunks, once. These have the state of an old step.
unsafe impl<L: FreeList> Destination for Promotion<'_, L> {
    fn room(&self, words: Words) -> Option<(Addr, Addr)> {
        let mut space = self.space.lock();
        let (at, taken) = space.take_or_grow(words)?;
        if let Some(next) = space.list.upcoming(words) {
            prefetch_line(next.at());
            self.known.prefetch(next.at());
        }
        Some((at, at + taken))
    }

    unsafe fn leave(&self, from: Addr, to: Addr) {
        let mut space = self.space.lock();
        let space = &mut **space;
        // SAFETY: words of a chunk that `room` has handed out; the caller vouches for the rest.
        let block = unsafe { space.memory.release(from, (to - from).to_words_up()) };
        if let Some(block) = block.filter(|_| !mutant!("free/rest-not-listed")) {
            space.list.add(&mut space.memory, block);
        }
    }
}
