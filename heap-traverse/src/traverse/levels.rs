//! The stack of a depth-first traversal: levels in chunks. It never takes more memory than its
//! levels plus one chunk.

use gclab_core::words::Bytes;

/// The number of levels in a chunk: 96 KiB at most.
const CHUNK: usize = 4096;

/// A stack that grows and shrinks by chunks. It keeps one empty chunk, so that a path that goes up
/// and down at a chunk's end needs no allocation.
pub(super) struct Levels<T> {
    full: Vec<Vec<T>>,
    newest: Vec<T>,
    spare: Vec<T>,
    /// The most chunks that were full at the same time.
    most_full: usize,
}

impl<T> Levels<T> {
    pub(super) fn new() -> Self {
        Levels {
            full: Vec::new(),
            newest: Vec::new(),
            spare: Vec::new(),
            most_full: 0,
        }
    }

    /// The memory of all chunks at the time when there were most.
    pub(super) fn most(&self) -> Bytes {
        // Add the list of chunks, and the empty one.
        let chunks = self.most_full + 2;
        Bytes(chunks * (CHUNK * size_of::<T>() + size_of::<Vec<T>>()))
    }

    #[inline(always)]
    pub(super) fn push(&mut self, level: T) {
        if self.newest.len() == CHUNK {
            self.another();
        }
        self.newest.push(level);
    }

    #[inline(always)]
    pub(super) fn pop(&mut self) -> Option<T> {
        if self.newest.is_empty() {
            self.one_less();
        }
        self.newest.pop()
    }

    #[inline(always)]
    pub(super) fn last_mut(&mut self) -> Option<&mut T> {
        if self.newest.is_empty() {
            self.one_less();
        }
        self.newest.last_mut()
    }

    #[cold]
    fn another(&mut self) {
        let mut chunk = std::mem::take(&mut self.spare);
        chunk.reserve_exact(CHUNK);
        self.full.push(std::mem::replace(&mut self.newest, chunk));
        self.most_full = self.most_full.max(self.full.len());
    }

    #[cold]
    fn one_less(&mut self) {
        if let Some(full) = self.full.pop() {
            self.spare = std::mem::replace(&mut self.newest, full);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_come_back_in_reverse_order_across_chunks() {
        let mut levels = Levels::new();
        for round in 0..3 {
            (0..3 * CHUNK + 5).for_each(|i| levels.push(i));
            assert_eq!(levels.last_mut(), Some(&mut (3 * CHUNK + 4)), "round {round}");
            assert!((0..3 * CHUNK + 5).rev().all(|i| levels.pop() == Some(i)));
            assert_eq!((levels.pop(), levels.last_mut()), (None, None));
        }
    }

    #[test]
    fn a_path_that_goes_up_and_down_at_a_chunks_end_needs_no_new_memory() {
        let mut levels = Levels::new();
        (0..=CHUNK).for_each(|i| levels.push(i));
        let chunk = levels.newest.as_ptr();
        levels.pop();
        levels.pop();
        (0..2).for_each(|i| levels.push(i));
        assert_eq!(levels.newest.as_ptr(), chunk);
    }
}
