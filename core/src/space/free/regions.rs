//! The contents of the chunks, in the order of addresses.

use super::{FreeBlock, FreeList, FreeSpace};
use crate::block::Region;
use crate::closure::ClosureRef;
use crate::space::MarkBits;
use crate::words::{Addr, Words};

/// A part of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    /// A closure: its address and its words.
    Taken(Addr, Words),
    /// A free block and its words.
    Free(FreeBlock, Words),
    /// A free word at this address that is in no list.
    Fragment(Addr),
}

impl<L: FreeList> FreeSpace<L> {
    /// Calls `visit` with everything in the chunks, in order. It reads the header of each.
    pub fn for_each_piece(&self, mut visit: impl FnMut(Piece)) {
        for chunk in self.memory.chunks() {
            let mut at = chunk.start();
            while at < chunk.end() {
                let (piece, words) = self.piece(at);
                visit(piece);
                at = at + words;
            }
            debug_assert_eq!(at, chunk.end(), "the last piece ends with its chunk");
        }
    }

    /// Puts all free blocks into `list`, which is empty, and uses it from now on.
    ///
    /// # Panics
    /// If a sweep is under way.
    pub fn set_list(&mut self, list: L) {
        assert!(self.ahead.is_none(), "a sweep knows its list");
        let mut blocks = Vec::new();
        self.for_each_piece(|piece| {
            if let Piece::Free(block, _) = piece {
                blocks.push(block);
            }
        });
        for &block in &blocks {
            self.list.absorbed(&mut self.memory, block);
        }
        self.list = list;
        for block in blocks {
            self.list.add(&mut self.memory, block);
        }
    }

    /// What starts at `at`, where something does, and its words.
    fn piece(&self, at: Addr) -> (Piece, Words) {
        // SAFETY: the caller walks a chunk: a closure, a free block or a fragment starts there.
        match unsafe { self.memory.free_at(at) } {
            Some((_, words @ Words(1))) => (Piece::Fragment(at), words),
            Some((block, words)) => (Piece::Free(block, words), words),
            None => {
                // SAFETY: a closure then.
                let words = unsafe { ClosureRef(at.as_mut_ptr()).words() };
                (Piece::Taken(at, words), words)
            }
        }
    }

    /// Whether the closure at `at` is one that the sweep under way is going to free. Its slots may
    /// lead to closures that are gone.
    pub fn is_dead(&self, marks: &MarkBits, at: Addr) -> bool {
        self.ahead.is_some_and(|ahead| ahead.contains(at)) && !marks.get(at)
    }

    /// Visits the regions that hold closures: stretches of closures lying back to back. Closures
    /// that a sweep is going to free are in none.
    pub fn for_each_region(&self, starts: &MarkBits, marks: &MarkBits, visit: &mut dyn FnMut(Region)) {
        for &run in self.memory.chunks() {
            let region = |start, end| Region {
                run,
                start,
                end,
                step: self.step,
                large: false,
            };
            let mut open: Option<(Addr, Addr)> = None;
            let mut from = run.start();
            while let Some(at) = starts.next_set(from, run.end()) {
                from = starts.checked_end(at, run.end());
                if self.is_dead(marks, at) {
                    continue;
                }
                open = match open {
                    Some((start, end)) if end == at => Some((start, from)),
                    before => {
                        before.into_iter().for_each(|(start, end)| visit(region(start, end)));
                        Some((at, from))
                    }
                };
            }
            let (start, end) = open.unwrap_or((run.start(), run.start()));
            visit(region(start, end));
        }
    }
}
