//! Compaction of random heaps is planned: every live closure gets a place.

use super::*;
use crate::block::{BLOCK, BlockState};
use crate::closure::ClosureRef;
use crate::config::Config;
use crate::words::Addr;
use proptest::prelude::*;

/// Chunks of these blocks at random places, among twice as many, filled with random closures of
/// which some live.
fn chunks(heap: &mut Heap, blocks: &[u32]) -> Vec<Chunk> {
    let gap = heap.allocate(3, 3, BlockState::NURSERY).expect("a small heap");
    let mut chunks: Vec<Chunk> = Vec::new();
    for &blocks in blocks {
        let run = heap
            .allocate(blocks, blocks, BlockState::of_step(2))
            .expect("a small heap");
        chunks.push(Chunk { run, end: run.start() });
    }
    heap.free(gap);
    chunks
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 4 } else { 64 }, ..ProptestConfig::default() })]

    /// Every live closure goes to its own place, whole, in address order, in a chunk, and not to a
    /// higher address.
    #[test]
    fn live_closures_are_slid_together(
        blocks in proptest::collection::vec(1..9u32, 1..if cfg!(miri) { 5 } else { 12 }),
        closures in proptest::collection::vec((prop_oneof![6 => 1..8usize, 2 => 8..80usize, 1 => 300..409usize], any::<bool>()), 1..if cfg!(miri) { 200 } else { 4000 }),
        all in any::<bool>(),
    ) {
        let config = Config { reserve: Bytes::mib(if cfg!(miri) { 2 } else { 16 }), ..Config::default() };
        let mut heap = Heap::new(&config).expect("a small heap");
        let mut map = LiveMap::new(&heap).expect("a small map");
        let mut chunks = chunks(&mut heap, &blocks);
        let mut live = Vec::new();
        let mut closures = closures.into_iter();
        for chunk in &mut chunks {
            let room = chunk.run.blocks() as usize * BLOCK.0 / 8;
            let mut used = 0;
            for (words, lives) in closures.by_ref() {
                if used + words > room {
                    break;
                }
                let at = Addr(chunk.run.start().0 + used * 8);
                if lives || all {
                    prop_assert!(map.mark::<false>(at, Words(words)));
                    live.push((at, words));
                }
                used += words;
            }
            chunk.end = Addr(chunk.run.start().0 + used * 8);
        }
        live.sort();
        for &(at, words) in &live {
            prop_assert!(map.is_marked(at) && !map.mark::<false>(at, Words(words)));
        }
        let PlannedLane { chunks, ends, into, words } = PlannedLane::new(chunks, &mut map);
        prop_assert!(ends.len() <= chunks.len());
        prop_assert_eq!(words.0, live.iter().map(|(_, words)| words).sum::<usize>());
        let (mut chunk, mut free) = (0, Addr(0));
        for (at, words) in live {
            // SAFETY: an address of this heap.
            let to = Addr(unsafe { map.view().forward(ClosureRef(at.as_mut_ptr())) }.addr().0);
            prop_assert!(to <= at && (!all || blocks.len() > 1 || to == at), "{at} goes to {to}");
            while !(chunks[chunk].run.start() <= to && to < ends[chunk]) {
                prop_assert!(chunk == 0 && free.0 == 0 || free == ends[chunk]);
                chunk += 1;
                free = chunks[chunk].run.start();
            }
            free = if free.0 == 0 { chunks[chunk].run.start() } else { free };
            prop_assert!(free == to, "between {free} and {to} there is a gap");
            free = Addr(to.0 + words * 8);
            prop_assert!(free <= ends[chunk] && ends[chunk] <= chunks[chunk].run.end());
            let from = chunks.partition_point(|chunk| chunk.run.start() <= at) - 1;
            prop_assert!(into[from].contains(&(chunk as u32)) && into[from].end as usize <= from + 1);
        }
        prop_assert!(ends.is_empty() || free == ends[ends.len() - 1]);
    }
}
