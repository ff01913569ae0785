//! The part of a space that a sweep has yet to come to.

use crate::block::BlockRun;
use crate::words::Addr;

/// The part of a space that a sweep has ahead of it: the rest of a chunk, and all chunks below that
/// chunk. A sweep takes the chunks from the highest address to the lowest, and each from its start
/// to its end. So chunks that are added meanwhile are behind it, if they lie above the others. (The
/// sweep passes those that do not without work.)
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Ahead {
    pub(super) from: Addr,
    pub(super) chunk: (Addr, Addr),
}

impl Ahead {
    /// Everything.
    pub(super) const ALL: Ahead = Ahead::chunks_below(Addr(usize::MAX));
    pub(super) const NOTHING: Ahead = Ahead::chunks_below(Addr::NULL);

    /// All of `chunks`, which are by address.
    pub(super) fn of_all(chunks: &[BlockRun]) -> Ahead {
        chunks
            .last()
            .map_or(Ahead::NOTHING, |last| Ahead::chunks_below(last.end()))
    }

    /// The chunks below `end`.
    const fn chunks_below(end: Addr) -> Ahead {
        Ahead {
            from: end,
            chunk: (end, end),
        }
    }

    #[inline(always)]
    pub(super) fn contains(&self, at: Addr) -> bool {
        at < self.chunk.0 || at >= self.from && at < self.chunk.1
    }

    /// The chunk in which the sweep continues, and the place there. `chunks` are by address.
    pub(super) fn next(&self, chunks: &[BlockRun]) -> Option<Ahead> {
        if self.from < self.chunk.1 {
            return Some(*self);
        }
        let place = chunks.partition_point(|chunk| chunk.end() <= self.chunk.0);
        let chunk = chunks[..place].last()?;
        Some(Ahead {
            from: chunk.start(),
            chunk: (chunk.start(), chunk.end()),
        })
    }
}
