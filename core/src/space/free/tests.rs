//! Random programs on a free space, against a plain map of its closures.

mod promotion;
mod sweep;

use super::*;
use crate::block::LARGE_OBJECT;
use crate::config::Config;
use crate::space::MarkBits;
use crate::words::Bytes;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Sizes of closures, in words.
const SIZES: [usize; 8] = [1, 2, 3, 5, 9, 22, 71, 201];

/// First fit over free blocks in address order. The flag: whether a sweep continues to the end of
/// the free memory that it has found.
#[derive(Debug, Default)]
struct Plain(BTreeSet<FreeBlock>, bool);

impl FreeList for Plain {
    fn take(&mut self, memory: &mut FreeMemory, words: Words) -> Option<Addr> {
        let block = *self.0.iter().find(|&&block| memory.words(block) >= words)?;
        let (at, rest) = memory.take(block, words);
        if rest != Rest::Block {
            self.0.remove(&block);
        }
        Some(at)
    }

    /// Takes the whole first block that fits.
    fn take_several(&mut self, memory: &mut FreeMemory, words: Words) -> Option<(Addr, Words)> {
        let block = *self.0.iter().find(|&&block| memory.words(block) >= words)?;
        self.0.remove(&block);
        Some(memory.take_all(block))
    }

    fn add(&mut self, _: &mut FreeMemory, block: FreeBlock) {
        assert!(self.0.insert(block), "{block:?} is in the list");
    }

    fn sweeps_to_the_end(&self) -> bool {
        self.1
    }

    fn begin_sweep(&mut self) {}

    fn absorbed(&mut self, _: &mut FreeMemory, block: FreeBlock) {
        assert!(self.0.remove(&block), "{block:?} is not in the list");
    }

    fn swept(&mut self, memory: &mut FreeMemory, block: FreeBlock) {
        self.add(memory, block);
    }
}

/// A step of a random program. Numbers choose among what exists.
#[derive(Clone, Copy, Debug)]
enum Op {
    Allocate(usize),
    /// Moves this many closures to the space, with sizes from this one on.
    Promote(usize, usize),
    Drop(usize),
    BeginMarking,
    BeginSweep,
    Sweep(usize),
    /// Returns free chunks, and keeps this many free words.
    Shrink(usize),
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        8 => (0..SIZES.len()).prop_map(Op::Allocate),
        2 => (0..20_usize, 0..SIZES.len()).prop_map(|(count, size)| Op::Promote(count, size)),
        6 => (0..1000_usize).prop_map(Op::Drop),
        1 => Just(Op::BeginMarking),
        1 => Just(Op::BeginSweep),
        3 => (1..700_usize).prop_map(Op::Sweep),
        1 => (0..700_usize).prop_map(Op::Shrink),
    ]
}

/// A space with its tables, and the closures that it must hold.
struct Model {
    heap: Heap,
    space: FreeSpace<Plain>,
    starts: MarkBits,
    marks: MarkBits,
    /// By address: each closure's words, and whether the program still reaches it.
    closures: BTreeMap<Addr, (Words, bool)>,
    /// The closures that the current sweep must leave.
    kept: BTreeSet<Addr>,
    is_marking: bool,
}

impl Model {
    fn new() -> Self {
        Model::of(Plain::default())
    }

    fn of(list: Plain) -> Self {
        Model::with_limit(list, None)
    }

    fn with_limit(list: Plain, limit: Option<Bytes>) -> Self {
        let config = Config {
            reserve: Bytes::mib(16),
            max_heap: limit,
            old_min: Bytes::ZERO,
            ..Config::default()
        };
        let heap = Heap::new(&config).expect("a small heap");
        Model {
            space: FreeSpace::new(list, 2),
            starts: MarkBits::new(&heap).expect("a small table"),
            marks: MarkBits::beside_another(&heap).expect("a small table"),
            closures: BTreeMap::new(),
            kept: BTreeSet::new(),
            is_marking: false,
            heap,
        }
    }

    fn run(&mut self, op: Op) {
        match op {
            Op::Allocate(number) => self.allocate(Words(SIZES[number])),
            Op::Promote(count, from) => {
                let sizes = (from..from + count).map(|number| SIZES[number * 3 % SIZES.len()]);
                self.promote(&sizes.map(Words).collect::<Vec<_>>());
            }
            Op::Drop(number) => {
                let closures = self.closures.len();
                let nth = self.closures.values_mut().nth(number % closures.max(1));
                nth.into_iter().for_each(|(_, lives)| *lives = false);
            }
            Op::BeginMarking if !self.space.is_sweeping() => {
                self.is_marking = true;
                self.space.begin_marking();
            }
            Op::BeginSweep if self.is_marking => self.begin_sweep(),
            Op::Sweep(budget) if self.space.is_sweeping() => self.sweep(Words(budget)),
            Op::Shrink(keep) if !self.space.is_sweeping() => self.shrink(Words(keep)),
            _ => {}
        }
    }

    fn allocate(&mut self, words: Words) {
        let (starts, marks) = (&mut self.starts, &mut self.marks);
        let at = self.space.allocate(starts, marks, words).unwrap_or_else(|| {
            self.space.grow(&mut self.heap, Words(512)).expect("room");
            self.space.allocate(starts, marks, words).expect("a new chunk")
        });
        assert!(self.closures.insert(at, (words, true)).is_none(), "{at} is in use");
        self.kept.insert(at);
    }

    fn begin_sweep(&mut self) {
        self.is_marking = false;
        self.kept.clear();
        for (&at, &(_, lives)) in &self.closures {
            if lives {
                self.marks.set(at);
            }
            if self.marks.get(at) {
                self.kept.insert(at);
            }
        }
        self.space.begin_sweep();
    }

    /// Like [`Model::begin_sweep`], after a marking in which all closures but `dead` were marked.
    fn condemn(&mut self, dead: &[Addr]) {
        dead.iter()
            .for_each(|at| self.closures.get_mut(at).expect("a closure").1 = false);
        self.begin_sweep();
    }

    /// Sweeps. Returns how many words it passed and whether it is over.
    fn swept(&mut self, budget: usize) -> (usize, bool) {
        let swept = self.space.sweep(&mut self.starts, &mut self.marks, Words(budget));
        (swept.passed.0, swept.is_over)
    }

    /// Nine-word closures in a chunk of 512 words, each below the one before.
    fn nines<const N: usize>(&mut self) -> [Addr; N] {
        [(); N].map(|()| {
            let before: BTreeSet<Addr> = self.closures.keys().copied().collect();
            self.allocate(Words(9));
            *self
                .closures
                .keys()
                .find(|at| !before.contains(at))
                .expect("a closure more")
        })
    }

    fn sweep(&mut self, budget: Words) {
        let swept = self.space.sweep(&mut self.starts, &mut self.marks, budget);
        assert!(swept.passed >= budget || swept.is_over);
        assert_ne!(swept.is_over, self.space.is_sweeping());
        self.closures.retain(|&at, _| self.starts.get(at));
        assert!(
            self.kept.iter().all(|at| self.closures.contains_key(at)),
            "a live closure is gone"
        );
        if swept.is_over {
            let left: BTreeSet<Addr> = self.closures.keys().copied().collect();
            assert_eq!(left, self.kept, "the closures that a sweep leaves");
            for &at in &left {
                assert!(!self.marks.get(at), "{at} is black after the sweep");
            }
        }
    }

    fn shrink(&mut self, keep: Words) {
        let had = self.space.memory().free();
        let chunks = self.space.memory().chunks();
        let first = chunks.last().filter(|_| keep.0 % 2 == 1).copied();
        self.space.shrink(&mut self.heap, keep, first);
        let memory = self.space.memory();
        assert!(memory.free() >= keep.min(had), "{had:?}, and now {:?}", memory.free());
        let whole = |chunk: &BlockRun| !self.closures.keys().any(|&at| chunk.contains(at));
        let least = memory
            .chunks()
            .iter()
            .filter(|chunk| whole(chunk))
            .map(|chunk| chunk.bytes())
            .min();
        assert!(least.is_none_or(|least| memory.free() < keep + least.to_words_up()));
    }

    /// Compares the pieces of all chunks with the closures, the free list and the totals.
    fn check(&self) {
        let (mut closures, mut list, mut fragments) = (BTreeMap::new(), BTreeSet::new(), Words(0));
        let (mut free, mut room, mut free_end) = (Words(0), Words(0), Addr::NULL);
        let chunks = self.space.memory().chunks();
        let mut apart = |at: Addr, words| {
            let is_first = chunks.iter().any(|chunk| chunk.start() == at);
            assert!(is_first || at != free_end, "two free neighbours at {at}");
            free_end = at + words;
        };
        self.space.for_each_piece(|piece| match piece {
            Piece::Taken(at, words) => _ = closures.insert(at, words),
            Piece::Free(block, words) => {
                apart(block.at(), words);
                free += words;
                room += words.saturating_sub(LARGE_OBJECT);
                list.insert(block);
            }
            Piece::Fragment(at) => {
                apart(at, Words(1));
                fragments += Words(1);
            }
        });
        let expected: BTreeMap<_, _> = self.closures.iter().map(|(&at, &(words, _))| (at, words)).collect();
        assert_eq!(closures, expected);
        assert_eq!(list, self.space.list().0);
        let memory = self.space.memory();
        assert_eq!(
            (free, fragments, room),
            (memory.free(), memory.fragments(), memory.room())
        );
        assert_eq!(closures.into_values().sum::<Words>(), memory.in_use());
        self.check_regions();
        self.check_known();
    }

    /// Compares the regions with the closures that the sweep is not about to free.
    fn check_regions(&self) {
        let mut regions = Vec::new();
        self.space.for_each_region(&self.starts, &self.marks, &mut |region| {
            regions.push((region.start, region.end))
        });
        regions.sort_unstable();
        for (&at, &(words, _)) in &self.closures {
            let first = regions.partition_point(|&(_, end)| end <= at);
            let inside = regions
                .get(first)
                .is_some_and(|&(start, end)| start <= at && at + words <= end);
            assert_eq!(inside, !self.space.is_dead(&self.marks, at), "{at} in {regions:?}");
        }
    }
}

proptest! {
    #[test]
    fn every_word_is_a_closure_or_free_and_a_sweep_frees_what_is_white(
        ops in proptest::collection::vec(op(), 1..if cfg!(miri) { 20 } else { 400 }),
        to_the_end: bool,
    ) {
        let mut model = Model::of(Plain(BTreeSet::new(), to_the_end));
        for op in ops {
            model.run(op);
            model.check();
        }
    }
}

fn fresh_block(model: &mut Model) -> FreeBlock {
    model.space.grow(&mut model.heap, Words(512)).expect("room");
    *model.space.list().0.first().expect("the new chunk")
}

#[test]
fn a_block_of_two_words_has_two_links() {
    let mut model = Model::new();
    let block = fresh_block(&mut model);
    let memory = &mut model.space.memory;
    let (at, _) = memory.take(block, Words(9));
    let other = memory.put(at, Words(9)).expect("a block");
    memory.set_link(block, Link::Next, Some(other));
    memory.set_link(block, Link::Previous, Some(block));
    memory.set_note(block, 7);
    let left = memory.words(block) - Words(2);
    assert_eq!(memory.take(block, left), (block.at() + Words(2), Rest::Block));
    assert_eq!(memory.words(block), Words(2));
    let links = [Link::Next, Link::Previous].map(|link| memory.link(block, link));
    assert_eq!((links, memory.note(block)), ([Some(other), Some(block)], 7));
    assert_eq!(memory.take(block, Words(1)), (block.at() + Words(1), Rest::Fragment));
    assert_eq!((memory.free(), memory.fragments()), (Words(9), Words(1)));
}

#[test]
#[should_panic(expected = "is in use")]
fn a_block_that_was_taken_has_no_links() {
    let mut model = Model::new();
    let block = fresh_block(&mut model);
    let words = model.space.memory().words(block);
    assert_eq!(
        model.space.allocate(&mut model.starts, &mut model.marks, words),
        Some(block.at())
    );
    model.space.memory().link(block, Link::Next);
}

#[test]
#[should_panic(expected = "are in no chunk")]
fn words_beyond_a_chunk_are_not_freed() {
    let mut model = Model::new();
    fresh_block(&mut model);
    let end = model.space.memory.chunks()[0].end();
    model.space.memory.put(end - Words(2), Words(3));
}
