//! What waits to be scavenged, and how much of it makes workers worth waking.

use crate::words::Words;
use crate::workers::Workers;

/// Pending words at which workers are woken: 128 KiB, four chunks of to-space. To copy that takes a thread longer than to
/// wake another (some 50 µs), and what is reached from there comes on top. Builds for tests share far less.
const SHARE_AT: Words = Words(if cfg!(debug_assertions) { 1 << 7 } else { 1 << 14 });

/// Chunks of to-space, filled by one thread, after which workers are woken for anything that can be split: 256 KiB. Where
/// closures without pointers make up most of what is copied, little is ever pending.
const SHARE_AFTER_CHUNKS: usize = if cfg!(debug_assertions) { 1 } else { 8 };

/// What is left to do, as far as it is known, and when to share it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    /// Words in ranges and large objects that wait to be scavenged. (In parallel they wait in work queues.)
    pub words: usize,
    /// Chunks of to-space that became full.
    pub chunks: usize,
    /// Wake workers once this many words are pending.
    pub share_at: usize,
    /// After this many chunks, share anything that can be split: a collection that has copied much will copy more.
    pub share_after_chunks: usize,
    /// Half of the work at hand is to be shared, if it can be split. Tested whenever a chunk is full: often enough, and not
    /// so often that it slows down structures with nothing to split.
    pub shares: bool,
}

impl Pending {
    /// Nothing is pending, and there are no workers to share with.
    pub const ALONE: Pending = Pending {
        words: 0,
        chunks: 0,
        share_at: usize::MAX,
        share_after_chunks: usize::MAX,
        shares: false,
    };

    /// Nothing is pending yet, and `workers` may be woken. Without load balancing they are woken for their tasks alone.
    pub fn shared_with(workers: &Workers<'_>) -> Pending {
        if !workers.is_balanced() {
            return Pending::ALONE;
        }
        Pending {
            share_at: SHARE_AT.0,
            share_after_chunks: SHARE_AFTER_CHUNKS,
            ..Pending::ALONE
        }
    }

    /// Whether enough is pending to wake workers.
    #[inline(always)]
    pub fn is_worth_sharing(&self) -> bool {
        self.words >= self.share_at
    }
}
