//! Free lists that hand out memory for several small closures at a time, as promotion does, against
//! a plain map of free blocks.

use super::policies::{Lowest, OnFrom, Rule, Smallest};
use super::probe::with_heap;
use gclab_collectors::ocaml::{BestFit, FirstFit, NextFit};
use gclab_core::block::BlockState;
use gclab_core::heap::Heap;
use gclab_core::space::{FreeList, FreeMemory};
use gclab_core::words::{Addr, Words};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// The size of the largest closures that share a block.
const SMALL: Words = Words(17);

/// A step of a random program, for a closure of this many words.
#[derive(Clone, Copy, Debug)]
enum Op {
    Take(usize),
    /// Takes memory for several closures, puts this many into it, and returns the rest.
    TakeSeveral(usize, usize),
}

fn op() -> impl Strategy<Value = Op> {
    let words = || prop_oneof![6 => 1..20_usize, 1 => 20..150_usize];
    prop_oneof![
        1 => words().prop_map(Op::Take),
        3 => (words(), 1..10_usize).prop_map(|(words, count)| Op::TakeSeveral(words, count)),
    ]
}

/// A free list, and the blocks that it must hold.
struct Model<L> {
    memory: FreeMemory,
    list: L,
    free: BTreeMap<Addr, Words>,
}

impl<L: FreeList> Model<L> {
    /// Free blocks of these sizes, separated by one word in use.
    fn new(heap: &mut Heap, mut list: L, sizes: &[usize]) -> Self {
        let blocks = sizes.iter().map(|words| words + 1).sum::<usize>().div_ceil(512) as u32;
        let run = heap.allocate(blocks, blocks, BlockState::of_step(2)).expect("room");
        let mut memory = FreeMemory::default();
        let all = memory.add(run);
        let (mut at, _) = memory.take_all(all);
        let mut free = BTreeMap::new();
        for &words in sizes {
            let block = memory.put(at, Words(words)).expect("two words or more");
            list.add(&mut memory, block);
            free.insert(at, Words(words));
            at = at + Words(words + 1);
        }
        Model { memory, list, free }
    }

    fn run(&mut self, rule: &mut impl Rule, shares: bool, op: Op) {
        let before: Vec<(Addr, Words)> = self.free.iter().map(|(&at, &words)| (at, words)).collect();
        let (words, taken) = match op {
            Op::Take(words) => {
                let at = self.list.take(&mut self.memory, Words(words));
                (Words(words), at.map(|at| (at, Words(words))))
            }
            Op::TakeSeveral(words, _) => (Words(words), self.list.take_several(&mut self.memory, Words(words))),
        };
        let Some((at, taken)) = taken else {
            assert!(
                before.iter().all(|block| block.1 < words),
                "{words:?} fit in {before:?}"
            );
            return;
        };
        let chosen = before
            .iter()
            .rfind(|&&(start, _)| start <= at)
            .expect("one of the blocks");
        let end = chosen.0 + chosen.1;
        assert_eq!(at + taken, end, "the end of {chosen:?}");
        assert!(
            rule.allows(&before, words, *chosen),
            "{chosen:?} of {before:?} for {words:?}"
        );
        self.free.remove(&chosen.0);
        match op {
            Op::TakeSeveral(_, count) if shares && words <= SMALL => {
                assert_eq!(at, chosen.0, "a whole block");
                self.put_back(at + Words(words.0 * count).min(Words(taken.0 / words.0 * words.0)), end);
                rule.changed();
            }
            _ => {
                assert_eq!(taken, words);
                let left = (at - chosen.0).to_words_up();
                self.free.extend((left > Words(1)).then_some((chosen.0, left)));
            }
        }
        self.check();
    }

    /// Gives back what the closures do not fill.
    fn put_back(&mut self, from: Addr, to: Addr) {
        if from < to {
            let words = (to - from).to_words_up();
            let block = self.memory.put(from, words);
            assert_eq!(block.map(|block| block.at()), (words > Words(1)).then_some(from));
            if let Some(block) = block {
                self.list.add(&mut self.memory, block);
                self.free.insert(from, words);
            }
        }
    }

    fn check(&self) {
        assert_eq!(self.free.values().copied().sum::<Words>(), self.memory.free());
    }

    /// Takes one block after another from the list, which must have each exactly once.
    fn drain(mut self) {
        while let Some(&largest) = self.free.values().max() {
            let at = self.list.take(&mut self.memory, largest).expect("the largest block");
            assert_eq!(self.free.remove(&at), Some(largest), "{at} of the list");
        }
        assert_eq!(self.list.take(&mut self.memory, Words(1)), None, "no other block");
    }
}

/// Runs random programs on lists in one heap. `shares`: whether small closures share a block.
fn hands_out<L: FreeList, R: Rule + 'static>(new: fn() -> L, rule: fn() -> R, shares: bool) {
    let words = prop_oneof![4 => 2..25_usize, 1 => 25..300_usize];
    let programs = (
        proptest::collection::vec(words, 1..60),
        proptest::collection::vec(op(), 1..120),
    );
    with_heap(move |heap| {
        let heap = RefCell::new(heap);
        let program = |(sizes, ops): (Vec<usize>, Vec<Op>)| {
            let mut heap = heap.borrow_mut();
            let (mut model, mut rule) = (Model::new(&mut heap, new(), &sizes), rule());
            for &op in &ops {
                model.run(&mut rule, shares, op);
            }
            let run = model.memory.chunks()[0];
            model.drain();
            heap.free(run);
            Ok(())
        };
        TestRunner::default()
            .run(&programs, program)
            .unwrap_or_else(|error| panic!("{error}"));
    });
}

#[test]
fn best_fit_hands_a_smallest_block_out_as_a_whole_for_small_closures() {
    hands_out(BestFit::default, || Smallest, true);
}

#[test]
fn other_policies_hand_out_the_words_of_one_closure() {
    hands_out(FirstFit::default, || Lowest, false);
    hands_out(NextFit::default, OnFrom::default, false);
}
