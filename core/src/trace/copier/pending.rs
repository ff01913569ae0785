//! Work that waits at a copier, and how much of it makes workers worth waking.

use crate::words::Words;
use crate::workers::Workers;

/// Pending words at which workers are woken: 128 KiB, four chunks of to-space. Copying that takes
/// longer than waking a thread (about 50 µs), and more closures will be reached from there. Test
/// builds share far less.
const SHARE_AT: Words = Words(if cfg!(debug_assertions) { 1 << 7 } else { 1 << 14 });

/// Chunks of to-space, filled by one thread, after which workers are woken for anything that can be
/// split: 256 KiB. If closures without pointers make up most of the copies, little is ever
/// pending.
const SHARE_AFTER_CHUNKS: usize = if cfg!(debug_assertions) { 1 } else { 8 };

/// The pending work, as far as it is known, and when to share it.
#[derive(Clone, Copy, Debug)]
pub(in crate::trace) struct Pending {
    /// Words in ranges and large objects that wait to be scavenged. (In parallel they wait in work
    /// queues.)
    pub words: Words,
    /// Chunks of to-space that became full.
    pub chunks: usize,
    /// Wake workers once this many words are pending.
    share_at: Words,
    /// After this many chunks, share anything that can be split: a collection that has copied much
    /// will copy more.
    share_after_chunks: usize,
    /// Whether to share half of the current work, if it can be split. Tested whenever a chunk fills
    /// up: often enough, but not so often that it slows down structures with nothing to split.
    pub shares: bool,
}

impl Pending {
    /// Nothing is pending, and there are no workers to share with.
    pub const ALONE: Pending = Pending {
        words: Words(0),
        chunks: 0,
        share_at: Words(usize::MAX),
        share_after_chunks: usize::MAX,
        shares: false,
    };

    /// Nothing is pending yet, and `workers` may be woken. Without load balancing they are woken
    /// for their tasks alone.
    pub fn shared_with(workers: &Workers<'_>) -> Pending {
        if !workers.is_balanced() {
            return Pending::ALONE;
        }
        Pending {
            share_at: SHARE_AT,
            share_after_chunks: SHARE_AFTER_CHUNKS,
            ..Pending::ALONE
        }
    }

    /// From now on there are no workers to wake: they have been woken.
    pub fn share_no_more(&mut self) {
        self.share_at = Pending::ALONE.share_at;
        self.share_after_chunks = Pending::ALONE.share_after_chunks;
    }

    /// Whether `words` pending words would be enough to wake workers.
    pub fn would_share(&self, words: Words) -> bool {
        words >= self.share_at
    }

    /// Whether enough is pending to wake workers.
    #[inline(always)]
    pub fn is_worth_sharing(&self) -> bool {
        self.words >= self.share_at
    }

    /// Whether `share_after_chunks` chunks were filled: then anything that can be split is worth
    /// sharing.
    pub fn shares_anything(&self) -> bool {
        self.chunks >= self.share_after_chunks
    }
}
