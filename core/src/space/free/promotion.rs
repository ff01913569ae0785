//! A free space as the destination of closures that move.

use super::{FreeList, FreeSpace};
use crate::space::{Destination, MarkBits, Marks};
use crate::sync::Mutex;
use crate::words::{Addr, Words};

/// A [`FreeSpace`] to which closures of a nursery move, each into a free block for itself.
#[derive(Debug)]
pub struct Promotion<'s, L> {
    space: Mutex<&'s mut FreeSpace<L>>,
    marks: &'s MarkBits,
}

impl<L: FreeList> FreeSpace<L> {
    /// The space as a destination. `marks` are its marks. The marker that moves closures here marks
    /// in the table of starts.
    pub fn promotion<'s>(&'s mut self, marks: &'s MarkBits) -> Promotion<'s, L> {
        Promotion {
            space: Mutex::new(self),
            marks,
        }
    }
}

// SAFETY: the free list hands out free memory of chunks, once. These have the state of an old step.
unsafe impl<L: FreeList> Destination for Promotion<'_, L> {
    fn room(&self, words: Words) -> Option<(Addr, Addr)> {
        let mut space = self.space.lock();
        let at = space.take_or_grow(words)?;
        if space.is_black(at) && !mutant!("free/promoted-white") {
            self.marks.mark::<true>(at, words);
        }
        Some((at, at + words))
    }
}
