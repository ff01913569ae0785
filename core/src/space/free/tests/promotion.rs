//! Closures that move to a free space, several into one free block.

use super::super::unwritten::write_room;
use super::*;
use crate::space::{Destination, Marks};

impl Model {
    /// Moves closures of these sizes to the space, as one thread of a marking does.
    pub(super) fn promote(&mut self, sizes: &[Words]) {
        let (heap, starts, marks) = (&mut self.heap, &mut self.starts, &mut self.marks);
        let words = sizes.iter().copied().sum();
        self.space
            .prepare(heap, starts, marks, words, &|_| Words(512))
            .expect("room");
        let known = self.space.known_closures(starts, marks);
        let promotion = self.space.promotion(&known);
        let (mut free, mut limit) = (Addr::NULL, Addr::NULL);
        for &words in sizes {
            if limit - free < words.to_bytes() {
                let room = promotion.room(words).expect("what was prepared");
                leave(&promotion, free, limit);
                (free, limit) = room;
            }
            // SAFETY: words of the room, in which nothing lies.
            unsafe { write_room(free, words) };
            assert!(known.mark::<false>(free, words), "{free} has a closure");
            assert!(self.closures.insert(free, (words, true)).is_none(), "{free} is in use");
            self.kept.insert(free);
            free = free + words;
        }
        leave(&promotion, free, limit);
    }

    /// A promotion looks into all closures but those that the sweep is about to free.
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

fn leave(promotion: &Promotion<'_, Plain>, free: Addr, limit: Addr) {
    if free < limit {
        // SAFETY: the end of a room, which the caller has no more use of.
        unsafe { promotion.leave(free, limit) };
    }
}

/// The blocks of the list, with their words.
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
fn spare_chunks_suffice_for_closures_of_any_size() {
    let mut model = Model::new();
    let (heap, starts, marks) = (&mut model.heap, &mut model.starts, &mut model.marks);
    let words = Words(5000);
    model
        .space
        .prepare(heap, starts, marks, words, &|_| Words(1024))
        .expect("room");
    let runs = model.space.spare.len();
    assert_eq!(model.space.memory().held(), Words(0));
    // Prepared once, it needs no more.
    model
        .space
        .prepare(heap, starts, marks, words, &|_| Words(1024))
        .expect("room");
    assert_eq!(model.space.spare.len(), runs);
    // Half as much needs less, and gives memory back.
    let half = Words(words.0 / 2);
    model
        .space
        .prepare(heap, starts, marks, half, &|_| Words(1024))
        .expect("room");
    assert!(model.space.spare.len() < runs);
    model
        .space
        .prepare(heap, starts, marks, words, &|_| Words(1024))
        .expect("room");
    let known = model.space.known_closures(starts, marks);
    let promotion = model.space.promotion(&known);
    let (size, mut taken) = (LARGE_OBJECT - Words(1), Words(0));
    while taken + LARGE_OBJECT <= words {
        let room = promotion.room(size);
        let (at, end) = room.unwrap_or_else(|| panic!("no room after {taken:?}"));
        leave(&promotion, at + size, end);
        taken += size;
    }
}
