//! The plan: each live closure of a lane gets a place in the first chunks of the lane.

use crate::space::{Chunk, ENTRY_BYTES, LiveMap};
use crate::words::{Addr, Words};
use std::ops::Range;

/// A lane whose live closures have been given places.
#[derive(Debug)]
pub(super) struct PlannedLane {
    /// The chunks as they were, in order.
    pub chunks: Vec<Chunk>,
    /// The future ends of the chunks still needed, which come first.
    pub ends: Vec<Addr>,
    /// For each chunk, the numbers of the chunks that its closures go to.
    pub into: Vec<Range<u32>>,
    /// Words of live closures.
    pub words: Words,
}

impl PlannedLane {
    /// A lane without chunks.
    pub(super) fn empty() -> Self {
        PlannedLane {
            chunks: Vec::new(),
            ends: Vec::new(),
            into: Vec::new(),
            words: Words::ZERO,
        }
    }

    /// Gives the live closures of these chunks their places in the first of them, in order.
    pub(super) fn new(chunks: Vec<Chunk>, map: &mut LiveMap) -> Self {
        let mut ends: Vec<Addr> = Vec::with_capacity(chunks.len());
        let mut into = Vec::with_capacity(chunks.len());
        let mut live = 0;
        let (mut free, mut limit) = (Addr(0), Addr(0));
        for (number, chunk) in chunks.iter().enumerate() {
            let mut reached = 0..0;
            let mut at = chunk.run.start();
            while at < chunk.end {
                let words = map.words_beginning(at);
                if words.0 > 0 {
                    live += words.0;
                    let needed = mutant!("compact/torn-apart", words.0 * 8 => 1);
                    if free.0 + needed > limit.0 {
                        let next = chunks[ends.len()].run;
                        ends.push(next.start());
                        (free, limit) = (next.start(), next.end());
                    }
                    let is_before = ends.len() <= number || free <= map.first_beginning(at);
                    assert!(is_before, "a closure would go behind its place");
                    map.set_destination(at, free);
                    free.0 += words.0 * 8;
                    if let Some(end) = ends.last_mut() {
                        *end = free;
                    }
                    let last = ends.len() as u32;
                    reached = if reached.is_empty() {
                        last - 1..last
                    } else {
                        reached.start..last
                    };
                }
                at.0 += ENTRY_BYTES;
            }
            into.push(reached);
        }
        PlannedLane {
            chunks,
            ends,
            into,
            words: Words(live),
        }
    }
}
