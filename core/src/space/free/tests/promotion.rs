//! Promotion to a free space, with several closures in one free block.

use super::super::unwritten::write_room;
use super::*;
use crate::block::{Shortage, blocks_for};
use crate::heap::AfterMajor;
use crate::space::{BumpRoom, Destination, Marks, Room};

impl Model {
    /// Promotes closures of these sizes. The space grows by small chunks.
    pub(super) fn promote(&mut self, sizes: &[Words]) {
        self.promote_by(Words(512), sizes);
    }

    /// Promotes closures of these sizes, like one thread of a marking. The space grows by chunks of
    /// `chunk` words.
    fn promote_by(&mut self, chunk: Words, sizes: &[Words]) {
        let words = sizes.iter().copied().sum();
        self.space.prepare(&mut self.heap, words).expect("room");
        let known = self.space.known_closures(&self.starts, &self.marks);
        let chunk = |_| chunk;
        let promotion = self.space.promotion(&mut self.heap, &known, &chunk);
        let mut room = BumpRoom::default();
        for &words in sizes {
            if room.reserve(words).is_none() {
                assert!(promotion.refill(&mut room, words), "what was prepared");
            }
            let free = room.reserve(words).expect("what refill says");
            // SAFETY: words of the room, which is unused.
            unsafe { write_room(free, words) };
            assert!(known.mark::<false>(free, words), "{free} has a closure");
            assert!(self.closures.insert(free, (words, true)).is_none(), "{free} is in use");
            self.kept.insert(free);
            room.commit(free, words);
        }
        promotion.leave(room);
        self.heap.end_promotion();
    }

    /// Keeps room to promote 1500 KiB. Megablocks of `free` bytes are free, which is enough.
    fn keep_room_in_free_megablocks(&mut self, free: Bytes) {
        let run = self.heap.allocate_beside_kept(blocks_for(free)).expect("room");
        self.heap.free(run);
        let kept = self.space.keep_room(&mut self.heap, Bytes::kib(1500).to_words_up());
        kept.expect("room");
    }

    /// Others take all memory up to the limit.
    fn fill_the_limit(&self) {
        while self.heap.charges().charge(Bytes::kib(4)).is_ok() {}
    }

    /// A promotion inspects all closures except those that the sweep is about to free.
    pub(super) fn check_known(&self) {
        let known = self.space.known_closures(&self.starts, &self.marks);
        let mut found = Vec::new();
        for chunk in self.space.memory().chunks() {
            let mut from = chunk.start();
            while let Some(at) = known.next_marked(from, chunk.end()) {
                found.push(at);
                from = at + Words(1);
            }
        }
        let closures = self.closures.keys().copied();
        let expected: Vec<Addr> = closures.filter(|&at| !self.space.is_dead(&self.marks, at)).collect();
        assert_eq!(found, expected);
    }
}

/// The blocks on the free list, with their words.
fn listed(model: &Model) -> Vec<(Addr, Words)> {
    let memory = model.space.memory();
    let blocks = model.space.list().0.iter();
    blocks.map(|&block| (block.at(), memory.words(block))).collect()
}

#[test]
fn what_closures_do_not_fill_is_a_free_block_again() {
    let mut model = Model::new();
    let block = fresh_block(&mut model);
    let (at, words) = (block.at(), model.space.memory().words(block));
    model.promote(&[Words(3), Words(9), Words(3)]);
    model.check();
    assert_eq!(listed(&model), [(at + Words(15), words - Words(15))]);
    assert!(
        [0, 3, 12]
            .into_iter()
            .eq(model.closures.keys().map(|&start| (start - at).0 / 8))
    );
}

#[test]
fn a_word_that_closures_do_not_fill_is_a_fragment() {
    let mut model = Model::new();
    let block = fresh_block(&mut model);
    let words = model.space.memory().words(block);
    let mut sizes = vec![Words(201); (words.0 - 1) / 201];
    sizes.extend([Words((words.0 - 1) % 201)]);
    model.promote(&sizes);
    model.check();
    assert_eq!(listed(&model), []);
    assert_eq!(
        (model.space.memory().free(), model.space.memory().fragments()),
        (Words(0), Words(1))
    );
}

#[test]
fn a_room_that_is_filled_leaves_nothing() {
    let mut model = Model::new();
    let block = fresh_block(&mut model);
    let words = model.space.memory().words(block);
    model.promote(&[Words(300), words - Words(300)]);
    model.check();
    assert_eq!(listed(&model), []);
    assert_eq!(model.space.memory().in_use(), words);
}

#[test]
fn room_that_is_kept_takes_no_block_and_a_promotion_takes_what_it_needs() {
    let mut model = Model::new();
    model.space.keep_room(&mut model.heap, Words(100_000)).expect("room");
    assert_eq!(model.heap.blocks().accounting().megablocks_in_use, 0);
    model.promote(&[Words(3), Words(408), Words(408)]);
    model.check();
    assert_eq!(model.space.memory().held(), Words(8 * 512));
}

#[test]
fn no_other_use_of_memory_gets_what_is_kept() {
    let mut model = Model::with_limit(Plain::default(), Some(Bytes::mib(4)));
    let (heap, space) = (&mut model.heap, &model.space);
    space.keep_room(heap, Bytes::mib(2).to_words_up()).expect("room");
    let large = blocks_for(Bytes::mib(2));
    let refused = heap.allocate_beside_kept(large).expect_err("room is kept");
    assert_eq!(refused.cause, Shortage::Limit);
    let more = Bytes::mib(5).to_words_up();
    space.keep_room(heap, more).expect_err("there is too little");
    // Nothing is reserved now.
    heap.allocate_beside_kept(large).expect("room");
}

#[test]
fn a_large_object_leaves_room_where_it_takes_free_blocks() {
    let mut model = Model::with_limit(Plain::default(), Some(Bytes::mib(4)));
    model.keep_room_in_free_megablocks(Bytes::mib(2));
    model
        .heap
        .allocate_beside_kept(blocks_for(Bytes::mib(1)))
        .expect("room");
    model.fill_the_limit();
    model.promote(&[Words(408); 1500 * 128 / 408]);
    model.check();
}

#[test]
fn megablocks_that_go_back_to_the_system_are_still_kept() {
    let mut model = Model::with_limit(Plain::default(), Some(Bytes::mib(4)));
    model.keep_room_in_free_megablocks(Bytes::mib(2));
    let kept = model.heap.end_collection(Some(AfterMajor::default()), true);
    assert_eq!(kept.map(|kept| kept.returned), Some(2));
    model.fill_the_limit();
    model.promote(&[Words(408); 1500 * 128 / 408]);
    model.check();
}

#[test]
fn free_megablocks_that_are_kept_stay_where_more_is_taken_than_the_limit() {
    let mut model = Model::with_limit(Plain::default(), Some(Bytes::mib(4)));
    model.keep_room_in_free_megablocks(Bytes::mib(3));
    let heap = &mut model.heap;
    // As remembered sets do.
    heap.charges().charge_anyway(Bytes::mib(4));
    assert_eq!(heap.end_collection(None, true), None);
    assert_eq!(heap.blocks().accounting().megablocks_in_use, 2);
    model.promote(&[Words(408); 1500 * 128 / 408]);
    model.check();
}

proptest! {
    /// For any free blocks in the space and in the heap, any closures and any chunks: if room was
    /// kept, it suffices, even if others take all memory up to the limit.
    #[test]
    fn room_that_is_kept_suffices(
        before in proptest::collection::vec(1_usize..409, 0..if cfg!(miri) { 9 } else { 900 }),
        free in proptest::collection::vec((1_u32..300, any::<bool>()), 0..9),
        sizes in proptest::collection::vec(
            prop_oneof![1_usize..9, 300_usize..409], 1..if cfg!(miri) { 9 } else { 3000 },
        ),
        chunk in 1_usize..70_000,
        limit in 2_usize..9,
    ) {
        let mut model = Model::with_limit(Plain(BTreeSet::new(), true), Some(Bytes::mib(limit)));
        let state = BlockState::of_step(1);
        let runs: Vec<_> = free.iter().map_while(|&(blocks, _)| model.heap.allocate(blocks, blocks, state).ok()).collect();
        let before: Vec<Words> = before.into_iter().map(Words).collect();
        if model.space.prepare(&mut model.heap, before.iter().copied().sum()).is_err() {
            return Ok(());
        }
        model.heap.end_promotion();
        model.promote_by(Words(chunk), &before);
        let dead: Vec<Addr> = model.closures.keys().copied().step_by(2).collect();
        model.condemn(&dead);
        model.sweep(Words(usize::MAX));
        let given = runs.into_iter().zip(&free).filter(|(_, (_, stays))| !stays);
        given.for_each(|(run, _)| model.heap.free(run));
        let sizes: Vec<Words> = sizes.into_iter().map(Words).collect();
        let words = sizes.iter().copied().sum();
        if model.space.keep_room(&mut model.heap, words).is_ok() {
            model.fill_the_limit();
            model.promote_by(Words(chunk), &sizes);
            model.check();
            prop_assert!(model.heap.blocks().accounting().peak_taken <= Bytes::mib(limit));
            prop_assert_eq!(model.heap.blocks().check(), Ok(()));
        }
    }
}

#[test]
fn a_space_that_grows_in_parts_leaves_no_megablock_half_empty() {
    let mut model = Model::with_limit(Plain::default(), Some(Bytes::mib(6)));
    let (heap, space) = (&mut model.heap, &mut model.space);
    for _ in 0..2 {
        space.grow_in_parts(heap, Words(300 * 512)).expect("room");
    }
    assert_eq!(space.memory().held(), Words(600 * 512));
    assert_eq!(heap.blocks().accounting().megablocks_in_use, 3);
    // It grows by all parts or by none.
    let more = Words((2 * 256 + 200) * 512);
    space
        .grow_in_parts(heap, more)
        .expect_err("two megablocks and 168 blocks are left");
    assert_eq!(heap.blocks().accounting().blocks_in_use, 600);
}
