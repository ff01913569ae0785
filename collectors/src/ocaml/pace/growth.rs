//! The size of the major heap: its growth by chunks, and when it is compacted.

use gclab_core::words::Words;

/// The smallest chunk: 15 pages of 4096 words.
pub const LEAST_CHUNK: Words = Words(15 * 4096);

/// A page: a small difference in sizes does not matter.
const PAGE: Words = Words(512);

/// The minimum growth of the heap (`i`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Increment {
    /// This many percent of the heap.
    Percent(u64),
    /// This many words.
    Words(Words),
}

impl Increment {
    /// The increment with this number: a percentage up to 1000, and words above.
    pub fn of_number(number: u64) -> Increment {
        if number <= 1000 {
            Increment::Percent(number)
        } else {
            Increment::Words(Words(number as usize))
        }
    }

    /// The number of this increment, as [`Increment::of_number`] reads it.
    pub fn to_number(self) -> u64 {
        match self {
            Increment::Percent(percent) => percent,
            Increment::Words(words) => words.0 as u64,
        }
    }

    /// The size of a chunk for a heap of `heap` words that needs `words` more.
    pub fn clip(self, heap: Words, words: Words) -> Words {
        let increment = match self {
            Increment::Percent(percent) => Words(heap.0 / 100 * percent as usize),
            Increment::Words(words) => words,
        };
        words.max(increment).max(LEAST_CHUNK)
    }
}

/// The size of the next chunk of a heap of `heap` words in which no block has room for `request`
/// words. It has room for more, as much as the space overhead allows.
pub fn chunk_words(request: Words, heap: Words, increment: Increment, space_overhead: u64) -> Words {
    let extra = Words(request.0 / 100 * space_overhead as usize);
    increment.clip(heap, request + extra)
}

/// The rule of compaction (`O`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compaction {
    /// The overhead, in percent, from which the heap is compacted; a million or more means never.
    pub max_overhead: u64,
}

impl Compaction {
    /// This overhead and above is never reached.
    const NEVER: u64 = 1_000_000;
    /// Cycles that must be over before the first compaction.
    const CYCLES_BEFORE: u64 = 3;

    /// The overhead that a cycle shows, in percent of the words that it marked. It started with a
    /// heap of `heap` words. If nothing was marked, the overhead is a million.
    pub fn estimated_overhead(heap: Words, marked: Words) -> f64 {
        if marked == Words::ZERO {
            return Compaction::NEVER as f64;
        }
        100.0 * heap.saturating_sub(marked).0 as f64 / marked.0 as f64
    }

    /// The overhead of a heap of `heap` words of which `free` are free, in percent of the others:
    /// at most 999,999, which is below the number that means never.
    pub fn overhead(heap: Words, free: Words) -> f64 {
        let most = (Compaction::NEVER - 1) as f64;
        match heap.saturating_sub(free) {
            Words(0) if free == Words::ZERO => 0.0,
            in_use => (100.0 * free.0 as f64 / in_use.0 as f64).min(most),
        }
    }

    /// The words that stay free in a heap with `live` words in use: their space overhead, and a
    /// word for each percent of it.
    pub fn free_words(live: Words, space_overhead: u64) -> Words {
        Words(space_overhead as usize * (live.0 / 100 + 1))
    }

    /// The size of a new chunk to move everything into, if the heap is more than twice as large: of
    /// its `heap` words `moving` move there, of `live` in use. `None` if the chunks need not
    /// change.
    pub fn one_chunk(
        heap: Words,
        moving: Words,
        live: Words,
        increment: Increment,
        space_overhead: u64,
    ) -> Option<Words> {
        let target = moving + Compaction::free_words(live, space_overhead) + PAGE;
        let target = increment.clip(heap, target);
        (target.0 < heap.0 / 2).then_some(target)
    }

    /// Whether the heap may be compacted at all, after `cycles` whole cycles.
    pub fn is_possible(self, cycles: u64, heap: Words, increment: Increment) -> bool {
        let least = increment.clip(heap, Words::ZERO);
        self.max_overhead < Compaction::NEVER && cycles >= Compaction::CYCLES_BEFORE && heap.0 > 2 * least.0
    }

    /// Whether an overhead calls for compaction.
    pub fn is_due(self, overhead: f64) -> bool {
        overhead >= self.max_overhead as f64
    }
}
