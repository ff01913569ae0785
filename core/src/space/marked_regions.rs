//! The regions of a space in which mark bits say where closures are.

use super::MarkBits;
use crate::block::{BlockRun, Region};
use crate::closure::ClosureRef;
use crate::words::{Addr, Bytes, Words};

impl MarkBits {
    /// Calls `visit` for the regions of `run`, which belongs to `step`: stretches of closures lying
    /// back to back. `free` are the ranges in which mutators may still allocate, by address; they
    /// hold no closures, even where bits are set. A run without closures is shown as one empty
    /// region, because every block must belong to a region.
    pub fn for_each_region(&self, run: BlockRun, free: &[(Addr, Addr)], step: u8, visit: &mut dyn FnMut(Region)) {
        let region = |start, end| Region {
            run,
            start,
            end,
            step,
            large: false,
        };
        let mut open: Option<(Addr, Addr)> = None;
        let mut from = run.start();
        while let Some(at) = self.next_set(from, run.end()) {
            let (start, end) = free[free.partition_point(|(_, end)| *end <= at)..]
                .first()
                .copied()
                .unwrap_or_default();
            if (start..end).contains(&at) {
                from = end;
                continue;
            }
            from = self.checked_end(at, run.end());
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

    /// The bytes of the closures from `from` to `end`, ends of blocks, that have marks.
    pub(super) fn bytes_marked(&self, mut from: Addr, end: Addr) -> Bytes {
        let mut bytes = 0;
        while let Some(at) = self.next_set(from, end) {
            from = self.closure_end(at, end);
            bytes += (from - at).0;
        }
        Bytes(bytes)
    }

    /// The end of the closure at `at`, at most `limit`.
    #[inline]
    pub(super) fn closure_end(&self, at: Addr, limit: Addr) -> Addr {
        if cfg!(debug_assertions) {
            return self.checked_end(at, limit);
        }
        // SAFETY: a closure starts where a bit is set (the invariant of `MarkBits`).
        let words = unsafe { ClosureRef(at.as_mut_ptr()).words() };
        (at + words).min(limit)
    }

    /// As [`MarkBits::closure_end`], in a heap that may be damaged: a closure that cannot be read
    /// counts as one word. A checker will report it.
    pub(super) fn checked_end(&self, at: Addr, limit: Addr) -> Addr {
        let closure = ClosureRef(at.as_mut_ptr());
        let left = (limit - at).to_words_up();
        // SAFETY: a closure starts where a bit is set, and free ranges were left out. A header that
        // is not sane is not used, and a size only up to the limit.
        let words = unsafe { closure.header().is_sane().then(|| closure.words()) };
        at + words.unwrap_or(Words(1)).min(left)
    }
}
