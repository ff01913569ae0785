//! The sweep of a free space, a part at a time.

use super::{FreeList, FreeSpace};
use crate::closure::ClosureRef;
use crate::space::MarkBits;
use crate::words::{Addr, Words};

/// The result of a part of a sweep.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Swept {
    /// The words that the part passed.
    pub passed: Words,
    /// Whether the sweep is over.
    pub is_over: bool,
}

/// Free memory that grows while the sweep goes on: dead closures, and what is free beside them.
struct Run {
    start: Addr,
    words: Words,
}

impl<L: FreeList> FreeSpace<L> {
    /// A sweep begins: marking is over, and white closures are dead.
    pub fn begin_sweep(&mut self) {
        self.black = false;
        self.cursor = Some(Addr::NULL);
        self.list.begin_sweep();
    }

    /// Whether a sweep is under way.
    pub fn is_sweeping(&self) -> bool {
        self.cursor.is_some()
    }

    /// Sweeps `budget` words of the chunks, and at most one closure more.
    ///
    /// # Panics
    /// If no sweep is under way.
    pub fn sweep(&mut self, starts: &mut MarkBits, marks: &mut MarkBits, budget: Words) -> Swept {
        let mut cursor = self.cursor.expect("a sweep has begun");
        let mut left = budget;
        loop {
            let chunks = self.memory.chunks();
            let place = chunks.partition_point(|chunk| chunk.end() <= cursor);
            let Some(&chunk) = chunks.get(place) else {
                self.cursor = None;
                return Swept {
                    passed: budget - left,
                    is_over: true,
                };
            };
            let from = cursor.max(chunk.start());
            let limit = from + left.min((chunk.end() - from).to_words_up());
            cursor = self.sweep_from(starts, marks, (chunk.start(), chunk.end()), from, limit);
            marks.clear(from, cursor);
            self.cursor = Some(cursor);
            left = left.saturating_sub((cursor - from).to_words_up());
            if left == Words::ZERO {
                return Swept {
                    passed: budget,
                    is_over: false,
                };
            }
        }
    }

    /// Sweeps the part from `from` to `limit` of a chunk. Returns the end of the part: `limit`, or
    /// that of the free memory there.
    fn sweep_from(
        &mut self,
        starts: &mut MarkBits,
        marks: &MarkBits,
        chunk: (Addr, Addr),
        from: Addr,
        limit: Addr,
    ) -> Addr {
        let mut at = from;
        while let Some(dead) = starts.next_set_but(marks, at, limit) {
            // Behind the closure before, everything up to the dead one is free.
            let before = starts.last_set(chunk.0, dead);
            // SAFETY: a closure starts where a bit is set.
            let end_of = |at: Addr| at + unsafe { ClosureRef(at.as_mut_ptr()).words() };
            let start = before.map_or(chunk.0, end_of);
            at = self.free_run(starts, marks, (start, chunk.1), dead, limit);
        }
        at.max(limit)
    }

    /// Frees the dead closures from `dead` on, up to the next live one or to `limit`. They become
    /// one block with the free memory from `start` on, and with that between them. Returns its end.
    fn free_run(
        &mut self,
        starts: &mut MarkBits,
        marks: &MarkBits,
        (start, end): (Addr, Addr),
        dead: Addr,
        limit: Addr,
    ) -> Addr {
        let mut run = Run {
            start,
            words: Words::ZERO,
        };
        let mut at = start;
        while at < end {
            // SAFETY: everything in a chunk has a header: see `free_at`. The walk goes from one to
            // the next.
            if let Some((block, words)) = unsafe { self.memory.free_at(at) } {
                if words == Words(1) {
                    run.words += self.memory.absorb_fragment();
                } else if !mutant!("free/not-joined") || at < dead {
                    self.list.absorbed(&mut self.memory, block);
                    run.words += self.memory.absorb(block);
                } else {
                    break;
                }
            } else if at >= limit || marks.get(at) {
                break;
            } else {
                // SAFETY: a closure, which is dead: nothing has written it since it was alive.
                run.words += unsafe { ClosureRef(at.as_mut_ptr()).words() };
                starts.clear(at, at + Words(1));
            }
            at = run.start + run.words;
        }
        // SAFETY: dead closures and free memory of a chunk, one behind the other.
        if let Some(block) = unsafe { self.memory.release(run.start, run.words) } {
            self.list.swept(&mut self.memory, block);
        }
        at
    }
}
