//! The allocation policies against a naive heap: random programs allocate, drop closures, and sweep
//! part by part.

use super::probe::with_heap;
use gclab_collectors::ocaml::{BestFit, FirstFit, NextFit, Policy};
use gclab_core::heap::Heap;
use gclab_core::space::{FreeBlock, FreeList, FreeMemory, FreeSpace, Link, MarkBits, Piece};
use gclab_core::words::{Addr, Words};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::collections::BTreeMap;

/// A step of a random program. Numbers choose among what exists.
#[derive(Clone, Copy, Debug)]
enum Op {
    Allocate(usize),
    Drop(usize),
    /// Finds the live closures, and starts to free the others.
    BeginSweep,
    Sweep(usize),
}

fn op() -> impl Strategy<Value = Op> {
    let words = prop_oneof![5 => 1..20_usize, 2 => 1..60_usize, 1 => 60..500_usize];
    prop_oneof![
        8 => words.prop_map(Op::Allocate),
        7 => (0..1000_usize).prop_map(Op::Drop),
        1 => Just(Op::BeginSweep),
        2 => (1..900_usize).prop_map(Op::Sweep),
    ]
}

/// A policy's rule: in which free block a closure of `words` words may go. `free` is in order of
/// address.
pub(super) trait Rule {
    fn allows(&mut self, free: &[(Addr, Words)], words: Words, chosen: (Addr, Words)) -> bool;
    /// The blocks have changed, through a sweep or a new chunk.
    fn changed(&mut self) {}
}

/// Next-fit: the first that fits, from where the last search ended.
#[derive(Default)]
pub(super) struct OnFrom(Option<Addr>);

impl Rule for OnFrom {
    fn allows(&mut self, free: &[(Addr, Words)], words: Words, chosen: (Addr, Words)) -> bool {
        let from = self.0.map(|before| free.partition_point(|&(at, _)| at <= before));
        let mut fitting = from.map(|from| {
            free[from..]
                .iter()
                .chain(&free[..from])
                .filter(|block| block.1 >= words)
        });
        let place = free.partition_point(|&(at, _)| at < chosen.0);
        self.0 = Some(place.checked_sub(1).map_or(Addr::NULL, |place| free[place].0));
        fitting.as_mut().is_none_or(|fitting| fitting.next() == Some(&chosen))
    }

    fn changed(&mut self) {
        self.0 = None;
    }
}

/// First-fit: the lowest that fits.
pub(super) struct Lowest;

impl Rule for Lowest {
    fn allows(&mut self, free: &[(Addr, Words)], words: Words, chosen: (Addr, Words)) -> bool {
        free.iter().find(|block| block.1 >= words) == Some(&chosen)
    }
}

/// Best-fit: the smallest that fits.
pub(super) struct Smallest;

impl Rule for Smallest {
    fn allows(&mut self, free: &[(Addr, Words)], words: Words, chosen: (Addr, Words)) -> bool {
        free.iter().all(|block| block.1 < words || block.1 >= chosen.1)
    }
}

/// A space with a free list, and the closures that it must hold.
struct Model<L> {
    space: FreeSpace<L>,
    starts: MarkBits,
    marks: MarkBits,
    /// By address: each closure's words, and whether the program still reaches it.
    closures: BTreeMap<Addr, (Words, bool)>,
}

impl<L: FreeList> Model<L> {
    fn new(heap: &Heap, list: L) -> Self {
        Model {
            space: FreeSpace::new(list, 2),
            starts: MarkBits::new(heap).expect("a small table"),
            marks: MarkBits::new(heap).expect("a small table"),
            closures: BTreeMap::new(),
        }
    }

    fn run(&mut self, heap: &mut Heap, rule: &mut impl Rule, op: Op) {
        match op {
            Op::Allocate(words) => self.allocate(heap, rule, Words(words)),
            Op::Drop(number) => {
                let closures = self.closures.len();
                let nth = self.closures.values_mut().nth(number % closures.max(1));
                nth.into_iter().for_each(|(_, lives)| *lives = false);
            }
            Op::BeginSweep if !self.space.is_sweeping() => {
                let live = self.closures.iter().filter(|(_, (_, lives))| *lives);
                live.for_each(|(&at, _)| _ = self.marks.set(at));
                self.space.begin_sweep();
            }
            Op::Sweep(budget) if self.space.is_sweeping() => {
                self.space.sweep(&mut self.starts, &mut self.marks, Words(budget));
                rule.changed();
                let starts = &self.starts;
                self.closures.retain(|&at, &mut (_, lives)| {
                    assert!(starts.get(at) || !lives, "the closure at {at} is gone");
                    starts.get(at)
                });
            }
            _ => {}
        }
    }

    fn allocate(&mut self, heap: &mut Heap, rule: &mut impl Rule, words: Words) {
        let free = self.check();
        let (starts, marks) = (&mut self.starts, &mut self.marks);
        let Some(at) = self.space.allocate(starts, marks, words) else {
            assert!(free.iter().all(|block| block.1 < words), "{words:?} fit in {free:?}");
            self.space.grow(heap, Words(1024)).expect("room");
            rule.changed();
            return;
        };
        let chosen = free.iter().find(|&&(start, size)| at + words == start + size);
        let chosen = *chosen.unwrap_or_else(|| panic!("{at} are not the last {words:?} of one of {free:?}"));
        assert!(
            rule.allows(&free, words, chosen),
            "{chosen:?} of {free:?} for {words:?}"
        );
        self.closures.insert(at, (words, true));
    }

    /// Checks that each word of the heap is a closure's or free. Returns the free blocks.
    fn check(&self) -> Vec<(Addr, Words)> {
        let (mut closures, mut free, mut fragments) = (Vec::new(), Vec::new(), 0);
        self.space.for_each_piece(|piece| match piece {
            Piece::Taken(at, words) => closures.push((at, words)),
            Piece::Free(block, words) => free.push((block.at(), words)),
            Piece::Fragment(_) => fragments += 1,
        });
        assert!(
            closures
                .into_iter()
                .eq(self.closures.iter().map(|(&at, &(words, _))| (at, words)))
        );
        let memory = self.space.memory();
        let live: usize = self.closures.values().map(|(words, _)| words.0).sum();
        assert_eq!((live, fragments), (memory.in_use().0, memory.fragments().0));
        assert_eq!(memory.in_use() + memory.free() + memory.fragments(), memory.held());
        free
    }
}

/// Runs random programs on a list made by `new`.
fn obeys<L: FreeList, R: Rule>(new: impl Fn() -> L + Copy + 'static, rule: impl Fn() -> R + Copy + 'static) {
    let programs = proptest::collection::vec(op(), 1..600);
    let program = move |ops: Vec<Op>| {
        with_heap(move |heap| {
            let (mut model, mut rule) = (Model::new(heap, new()), rule());
            for &op in &ops {
                model.run(heap, &mut rule, op);
            }
            model.check();
        });
        Ok(())
    };
    TestRunner::default()
        .run(&programs, program)
        .unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn next_fit_continues_where_it_stopped() {
    obeys(NextFit::default, OnFrom::default);
}

#[test]
fn first_fit_takes_the_lowest_block_that_fits() {
    obeys(FirstFit::default, || Lowest);
}

#[test]
fn best_fit_takes_a_smallest_block_that_fits() {
    obeys(BestFit::default, || Smallest);
}

#[test]
fn the_policies_have_the_numbers_of_the_letter_a() {
    obeys(|| Policy::of_number(0), OnFrom::default);
    obeys(|| Policy::of_number(1), || Lowest);
    obeys(|| Policy::of_number(2), || Smallest);
}

/// First-fit with more than a thousand blocks, each larger than all before it: too many for its
/// table.
#[test]
fn first_fit_finds_blocks_beyond_its_table() {
    with_heap(|heap| {
        let mut model = Model::new(heap, FirstFit::default());
        let sizes: Vec<Words> = (3..1403).map(Words).collect();
        let blocks = free_blocks(heap, &mut model, &sizes);
        let mut rule = Lowest;
        for words in [1500, 1402, 1100, 3, 4, 1003, 1390, 3, 1005, 900, 1200, 2].map(Words) {
            let before = model.check();
            let at = model.space.allocate(&mut model.starts, &mut model.marks, words);
            match at {
                Some(at) => {
                    let chosen = before.iter().find(|&&(start, size)| at + words == start + size);
                    assert!(rule.allows(&before, words, *chosen.expect("a block")), "{words:?}");
                    model.closures.insert(at, (words, true));
                }
                None => assert!(before.iter().all(|block| block.1 < words), "{words:?}"),
            }
        }
        assert_eq!(blocks.len(), sizes.len());
    });
}

/// Makes free blocks of these sizes, in order of address, each followed by a closure.
fn free_blocks<L: FreeList>(heap: &mut Heap, model: &mut Model<L>, sizes: &[Words]) -> Vec<FreeBlock> {
    let total: usize = sizes.iter().map(|words| words.0 + 1).sum();
    let (starts, marks) = (&mut model.starts, &mut model.marks);
    model.space.grow(heap, Words(total)).expect("room");
    let mut gaps = Vec::new();
    // From the end of the chunk to its start.
    for &words in sizes.iter().rev() {
        let mark = model.space.allocate(starts, marks, Words(1)).expect("room");
        let gap = model.space.allocate(starts, marks, words).expect("room");
        model.closures.insert(mark, (Words(1), true));
        model.closures.insert(gap, (words, false));
        gaps.push(gap);
    }
    // The remainder in front of them is not one of the test's free blocks.
    while let Some(&(_, words)) = model.check().first() {
        let rest = model
            .space
            .allocate(&mut model.starts, &mut model.marks, words)
            .expect("room");
        model.closures.insert(rest, (words, true));
    }
    let budget = model.space.memory().held();
    model.run(heap, &mut Lowest, Op::BeginSweep);
    model.run(heap, &mut Lowest, Op::Sweep(budget.0 + 1));
    let mut blocks = Vec::new();
    model.space.for_each_piece(|piece| {
        if let Piece::Free(block, _) = piece {
            blocks.push(block);
        }
    });
    blocks
}

/// The number of nodes from the root of the tree to the node of `words` words.
fn depth(memory: &FreeMemory, list: &BestFit, words: Words) -> usize {
    let mut next = list.root();
    let mut depth = 0;
    while let Some(node) = next.filter(|&node| memory.words(node) != words) {
        let link = if words < memory.words(node) {
            Link::Left
        } else {
            Link::Right
        };
        next = memory.link(node, link);
        depth += 1;
    }
    depth
}

/// Blocks arrive in order of size, which makes the tree a list. Accesses must flatten it.
#[test]
fn the_tree_of_best_fit_stays_flat_on_average() {
    with_heap(|heap| {
        let mut model = Model::new(heap, BestFit::default());
        let count = 512;
        let sizes: Vec<Words> = (0..count).map(|number| Words(30 + 3 * number)).collect();
        free_blocks(heap, &mut model, &sizes);
        let (mut steps, mut accesses) = (0, 0);
        for round in 0..4 {
            // From small to large, with a different quarter of the sizes in each round. Each block
            // that is taken is replaced by one of another size.
            for number in (round..count).step_by(4) {
                let words = sizes[number];
                steps += depth(model.space.memory(), model.space.list(), words);
                accesses += 1;
                let at = model.space.allocate(&mut model.starts, &mut model.marks, words);
                model.closures.insert(at.expect("a block of this size"), (words, true));
            }
        }
        // 2 log2(512) is 18; in a tree that stays a list the average would be above 60.
        assert!(steps < 18 * accesses, "{steps} steps in {accesses} accesses");
    });
}
