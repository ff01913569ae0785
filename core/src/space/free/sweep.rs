//! The sweep of a free space, a part at a time.

use super::ahead::Ahead;
use super::{FreeList, FreeSpace};
use crate::closure::ClosureRef;
use crate::prefetch::prefetch_line;
use crate::space::MarkBits;
use crate::words::{Addr, Words};

/// The distance at which a sweep brings memory into the cache.
const AHEAD: Words = Words(64);

/// The result of a part of a sweep.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Swept {
    /// The words that the part passed.
    pub passed: Words,
    /// Whether the sweep is over.
    pub is_over: bool,
}

/// Free memory that grows while the sweep continues: dead closures, and what is free beside them.
struct Run {
    /// The end of the live closure before it, or the start of its chunk.
    start: Addr,
    words: Words,
    /// The words that are work: of each closure, fragment and free block that the sweep comes to,
    /// but for those that a closure before them takes along.
    work: Words,
    /// The last of them was a dead closure or a fragment.
    is_white: bool,
}

impl<L: FreeList> FreeSpace<L> {
    /// A sweep begins: marking is over, and white closures are dead.
    pub fn begin_sweep(&mut self) {
        self.black = false;
        self.ahead = Some(Ahead::of_all(self.memory.chunks()));
        self.young_chunks.clear();
        self.list.begin_sweep();
    }

    /// Whether a sweep is under way.
    pub fn is_sweeping(&self) -> bool {
        self.ahead.is_some()
    }

    /// Sweeps `budget` words of the chunks, and on to the end of the closure or of the free block
    /// there. A list may ask for more ([`FreeList::sweeps_to_the_end`]).
    ///
    /// # Panics
    /// If no sweep is under way.
    pub fn sweep(&mut self, starts: &mut MarkBits, marks: &mut MarkBits, budget: Words) -> Swept {
        let mut ahead = self.ahead.expect("a sweep has begun");
        let (mut left, mut passed) = (budget, Words::ZERO);
        while left > Words::ZERO {
            let Some(Ahead { from, chunk }) = ahead.next(self.memory.chunks()) else {
                self.ahead = None;
                return Swept { passed, is_over: true };
            };
            if self.young_chunks.contains(&chunk.0) {
                // Nothing in it is dead. It is not work.
                marks.clear(chunk.0, chunk.1);
                ahead = Ahead { from: chunk.1, chunk };
                continue;
            }
            let mut end = from;
            while end < chunk.1 && left > Words::ZERO {
                let (part, work) = self.sweep_from(starts, marks, chunk, end, left);
                end = part;
                left = left.saturating_sub(work);
            }
            // The sweep looks at no mark after it.
            marks.clear(from, end);
            ahead = Ahead { from: end, chunk };
            passed += (end - from).to_words_up();
        }
        self.ahead = Some(ahead);
        Swept { passed, is_over: false }
    }

    /// Sweeps the part of a chunk from `from` on that has `left` words of work, up to the end of
    /// the first free memory that it makes. Returns the end of the part, and its work.
    fn sweep_from(
        &mut self,
        starts: &mut MarkBits,
        marks: &MarkBits,
        chunk: (Addr, Addr),
        from: Addr,
        left: Words,
    ) -> (Addr, Words) {
        let limit = from + left.min((chunk.1 - from).to_words_up());
        let Some(dead) = starts.next_set_but(marks, from, limit) else {
            let end = if limit < chunk.1 {
                self.end_of_piece(starts, chunk.0, limit)
            } else {
                limit
            };
            return (end, (end - from).to_words_up());
        };
        // The sweep reads this memory soon. It skips too much for the processor to foresee that.
        prefetch_line(dead + AHEAD);
        prefetch_line(dead + (AHEAD + Words(8)));
        // Behind the closure before, everything up to the dead one is free.
        let start = closure_before(starts, chunk.0, dead).unwrap_or(chunk.0);
        let passed = (start.max(from) - from).to_words_up();
        let (end, work) = self.free_run(starts, marks, (start, chunk.1), from.max(start), left - passed);
        (end, passed + work)
    }

    /// The end of the closure or of the free memory that ends at `limit` or continues there.
    fn end_of_piece(&self, starts: &MarkBits, chunk: Addr, limit: Addr) -> Addr {
        let mut at = closure_before(starts, chunk, limit).unwrap_or(chunk);
        while at < limit {
            // SAFETY: everything in a chunk has a header, and this is not a closure.
            let (_, words) = unsafe { self.memory.free_at(at) }.expect("free memory behind the last closure");
            at = at + words;
        }
        at
    }

    /// Frees dead closures from `start` on, up to the next live one or until `left` words of work
    /// are done. They become one block with the free memory from `start` on, and with that between
    /// them. What is before `from` was swept before. Returns the end of the block, and the work.
    fn free_run(
        &mut self,
        starts: &mut MarkBits,
        marks: &MarkBits,
        (start, end): (Addr, Addr),
        from: Addr,
        left: Words,
    ) -> (Addr, Words) {
        let to_the_end = self.list.sweeps_to_the_end();
        let mut run = Run {
            start,
            words: Words::ZERO,
            work: Words::ZERO,
            is_white: false,
        };
        let mut has_joined = false;
        let mut at = start;
        while at < end {
            // SAFETY: everything in a chunk has a header: see `free_at`. The walk goes from one to
            // the next.
            let (words, is_white) = if let Some((block, words)) = unsafe { self.memory.free_at(at) } {
                if words == Words(1) {
                    (self.memory.absorb_fragment(), true)
                } else if !mutant!("free/not-joined") || !has_joined {
                    self.list.absorbed(&mut self.memory, block);
                    (self.memory.absorb(block), false)
                } else {
                    break;
                }
            } else if marks.get(at) || run.work >= left && !(run.is_white && to_the_end) {
                break;
            } else {
                has_joined = true;
                // SAFETY: a closure, which is dead: nothing has written it since it was alive.
                (unsafe { ClosureRef(at.as_mut_ptr()).words() }, true)
            };
            run.add(words, is_white, at >= from, to_the_end);
            at = run.start + run.words;
        }
        starts.clear(start, at);
        // SAFETY: dead closures and free memory of a chunk, back to back.
        if let Some(block) = unsafe { self.memory.release(run.start, run.words) } {
            self.list.swept(&mut self.memory, block);
        }
        (at, run.work)
    }
}

impl Run {
    /// Adds a piece of memory. It is `new` if this part of the sweep has come to it.
    fn add(&mut self, words: Words, is_white: bool, new: bool, to_the_end: bool) {
        self.words += words;
        let is_taken_along = self.is_white && (to_the_end || !is_white);
        if new && !is_taken_along {
            self.work += words;
        }
        self.is_white = new && (is_white || self.is_white && to_the_end);
    }
}

/// The end of the last closure in the chunk from `chunk` on that starts before `at`.
fn closure_before(starts: &MarkBits, chunk: Addr, at: Addr) -> Option<Addr> {
    // SAFETY: a closure starts where a bit is set.
    let end_of = |at: Addr| at + unsafe { ClosureRef(at.as_mut_ptr()).words() };
    starts.last_set(chunk, at).map(end_of)
}
