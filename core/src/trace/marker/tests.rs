//! Marking graphs that are written into a heap by hand: random ones, checked against a naive
//! marking, and shapes that would break a recursion or an unbounded stack. With one thread and with
//! several; stacks are small, as in all builds with debug assertions.

mod moving;
mod sliced;

use super::grey::{HEAP_PER_BYTE, LEAST_STACK};
use super::*;
use crate::alloc::Bump;
use crate::block::BlockState;
use crate::capability::CapabilityData;
use crate::closure::{ClosureRef, Header, Kind, Slot, TypeInfo};
use crate::config::Config;
use crate::heap::MARK_STACK;
use crate::remembered::RememberedSet;
use crate::space::MarkBits;
use crate::words::Addr;
use crate::workers::GcThreads;
use proptest::prelude::*;
use std::time::{Duration, Instant};

static LEAF: TypeInfo = TypeInfo::fixed(Kind::Constr, "Leaf", "test", 0, 1);
static CELL: TypeInfo = TypeInfo::fixed(Kind::Constr, "Cell", "test", 1, 1);
static PAIR: TypeInfo = TypeInfo::fixed(Kind::Constr, "Pair", "test", 2, 2);
static WIDE: TypeInfo = TypeInfo::fixed(Kind::Constr, "Wide", "test", 3, 90);
static ARRAY: TypeInfo = TypeInfo::variable(Kind::MutArrPtrs, "Array");

/// A heap with closures.
struct Graph {
    heap: Heap,
    marks: MarkBits,
    free: Addr,
    end: Addr,
    /// Closures are allocated in runs of at least this many blocks.
    run: u32,
    /// All closures, in order of creation.
    all: Vec<Addr>,
    words: Vec<usize>,
}

impl Graph {
    fn new() -> Self {
        let heap = Heap::new(&Config {
            // Miri has to fill the whole reservation with zeros.
            reserve: if cfg!(miri) { Bytes::mib(4) } else { Bytes::gib(2) },
            ..Config::default()
        })
        .expect("a heap");
        let marks = MarkBits::new(&heap).expect("a table");
        Graph {
            heap,
            marks,
            free: Addr::NULL,
            end: Addr::NULL,
            run: 256,
            all: Vec::new(),
            words: Vec::new(),
        }
    }

    /// Makes a closure with `slots` slots, all null. Its number distinguishes it from others.
    fn make(&mut self, info: &'static TypeInfo, slots: usize) -> usize {
        let is_array = info.kind == Kind::MutArrPtrs;
        let words = if is_array { 2 + slots } else { 1 + info.words as usize };
        if self.end - self.free < Words(words).to_bytes() {
            let blocks = (words * 8).div_ceil(4096).max(self.run as usize) as u32;
            let run = self
                .heap
                .allocate(blocks, blocks, BlockState::of_step(1))
                .expect("room");
            (self.free, self.end) = (run.start(), run.end());
        }
        let at = self.free;
        self.free = at + Words(words);
        let memory = at.as_mut_ptr::<u64>();
        // SAFETY: the words are in a run of this heap, and belong to no other closure.
        unsafe {
            memory.write(Header::new(info).0);
            memory.add(1).write_bytes(0, words - 1);
            if is_array {
                memory.add(1).write(slots as u64);
            }
        }
        self.all.push(at);
        self.words.push(words);
        self.all.len() - 1
    }

    fn slot(&self, closure: usize, slot: usize) -> Slot {
        // SAFETY: a closure that was made.
        let extent = unsafe { ClosureRef(self.all[closure].as_mut_ptr()).extent() };
        assert!(slot < extent.slots);
        Slot(extent.first.wrapping_add(slot))
    }

    fn point(&self, from: usize, slot: usize, to: usize) {
        // SAFETY: a slot of a closure that was made, to one that was made.
        unsafe { self.slot(from, slot).store(ClosureRef(self.all[to].as_mut_ptr())) };
    }

    /// The bound for this heap's mark stacks.
    fn bound(&self) -> Bytes {
        Bytes(self.heap.blocks().accounting().committed().0 / HEAP_PER_BYTE).max(LEAST_STACK)
    }

    /// Clears the marks, then marks from `root` with `threads` threads and at most `most` memory.
    fn mark(&mut self, helpers: &mut GcThreads, threads: usize, most: Bytes, root: usize) -> Marked {
        let (first, last) = (self.all.iter().min(), self.all.iter().max());
        if let (Some(&first), Some(&last)) = (first, last) {
            self.marks.clear(first, last + Words(1));
        }
        let mut marker = Marker::within(most, &self.heap, &self.marks, &InPlace);
        if threads > 1 {
            marker.share_with(Workers::balanced(helpers, threads));
        }
        let mut root = self.all[root].0 as u64;
        // SAFETY: a slot of this function with a closure of this heap.
        unsafe { marker.first.found::<false>(Slot(&raw mut root)) };
        marker.trace();
        let marked = marker.finish();
        assert_eq!(
            self.heap.charges().other(),
            MARK_STACK,
            "what was charged is given back"
        );
        assert!(marked.stack <= most, "{:?} of mark stacks", marked.stack);
        marked
    }

    /// Clears the marks, then marks from `root` with `threads` threads, which are interrupted again and
    /// again. Returns the number of closures.
    fn mark_with_interruptions(&mut self, helpers: &mut GcThreads, threads: usize, root: usize) -> u64 {
        let (first, last) = (self.all.iter().min(), self.all.iter().max());
        self.marks
            .clear(*first.expect("a closure"), *last.expect("a closure") + Words(1));
        let mut grey = Grey::within(self.bound(), &self.heap);
        let mut root = self.all[root].0 as u64;
        let mut closures = 0;
        for number in 0.. {
            let stop = Stop::after(2 + number % 5);
            let mut marker = Marker::resume(grey, &self.marks);
            marker.share_until(Some(Workers::balanced(helpers, threads)), &stop);
            if number == 0 {
                // SAFETY: a slot of this function with a closure of this heap.
                unsafe { marker.first.found::<false>(Slot(&raw mut root)) };
            }
            while !stop.is_asked() {
                marker.extend_budget(Words(64));
                marker.trace_some();
            }
            let (marked, left) = marker.interrupt();
            closures += marked.closures;
            grey = left;
            if grey.is_empty() {
                break;
            }
        }
        closures
    }

    /// Everything is marked, whatever the number of threads.
    fn all_is_marked(mut self, root: usize) {
        let mut helpers = GcThreads::default();
        for threads in [1, 2, 4] {
            let marked = self.mark(&mut helpers, threads, self.bound(), root);
            assert_eq!(marked.closures, self.all.len() as u64, "{threads} threads");
            assert_eq!(marked.words.0, self.words.iter().sum::<usize>());
            assert!(self.all.iter().all(|&at| self.marks.get(at)));
            let shared: u64 = marked.shared.threads.iter().map(|thread| thread.copied).sum();
            if !marked.shared.threads.is_empty() {
                assert_eq!(shared, marked.words.to_bytes().0 as u64);
            }
        }
        assert_eq!(
            self.mark_with_interruptions(&mut helpers, 3, root),
            self.all.len() as u64
        );
        assert!(self.all.iter().all(|&at| self.marks.get(at)));
    }
}

/// The reachable closures, found the naive way.
fn reachable(edges: &[Vec<usize>], root: usize) -> Vec<bool> {
    let mut reached = vec![false; edges.len()];
    let mut left = vec![root];
    while let Some(one) = left.pop() {
        if !std::mem::replace(&mut reached[one], true) {
            left.extend(&edges[one]);
        }
    }
    reached
}

/// Random graphs have fewer closures than this.
const SHAPES: usize = if cfg!(miri) { 60 } else { 300 };

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 400 }))]
    #[test]
    fn random_graphs_are_marked_as_by_a_naive_marker(
        shapes in proptest::collection::vec((0..5usize, 0..200usize), 1..SHAPES),
        edges in proptest::collection::vec((0..300usize, 0..200usize, 0..300usize), 0..5 * SHAPES),
        root in 0..300usize,
    ) {
        let mut graph = Graph::new();
        let slots: Vec<usize> = shapes
            .iter()
            .map(|&(shape, len)| {
                let (info, slots) = [(&LEAF, 0), (&CELL, 1), (&PAIR, 2), (&WIDE, 3), (&ARRAY, len)][shape];
                graph.make(info, slots);
                slots
            })
            .collect();
        let mut model: Vec<Vec<usize>> = slots.iter().map(|&slots| vec![usize::MAX; slots]).collect();
        for (from, slot, to) in edges {
            let (from, to) = (from % shapes.len(), to % shapes.len());
            if slots[from] > 0 {
                graph.point(from, slot % slots[from], to);
                model[from][slot % slots[from]] = to;
            }
        }
        model.iter_mut().for_each(|edges| edges.retain(|&to| to != usize::MAX));
        let root = root % shapes.len();
        let expected = reachable(&model, root);
        let live = |weigh: &dyn Fn(usize) -> usize| -> usize {
            (0..shapes.len()).filter(|&i| expected[i]).map(weigh).sum()
        };
        let mut helpers = GcThreads::default();
        for threads in [1, 2, 3] {
            let marked = graph.mark(&mut helpers, threads, graph.bound(), root);
            for (i, &at) in graph.all.iter().enumerate() {
                prop_assert_eq!(graph.marks.get(at), expected[i], "closure {} with {} threads", i, threads);
            }
            prop_assert_eq!(marked.closures, live(&|_| 1) as u64);
            prop_assert_eq!(marked.words.0, live(&|i| graph.words[i]));
        }
    }
}

/// The number of closures for which the bounds are promised.
const MANY: usize = if cfg!(miri) { 100 } else { 10_000_000 };

#[test]
fn a_long_list() {
    let mut graph = Graph::new();
    (0..MANY).for_each(|_| _ = graph.make(&CELL, 1));
    (1..MANY).for_each(|i| graph.point(i - 1, 0, i));
    graph.all_is_marked(0);
}

#[test]
fn a_long_list_laid_out_backwards() {
    let mut graph = Graph::new();
    (0..MANY).for_each(|_| _ = graph.make(&CELL, 1));
    (1..MANY).for_each(|i| graph.point(i, 0, i - 1));
    graph.all_is_marked(MANY - 1);
}

#[test]
fn a_large_array() {
    let mut graph = Graph::new();
    let array = graph.make(&ARRAY, MANY);
    for i in 0..MANY {
        let leaf = graph.make(&LEAF, 0);
        graph.point(array, i, leaf);
    }
    graph.all_is_marked(array);
}

/// A tree as deep as it has teeth. If the spine is followed first, every tooth waits.
fn comb(spine: usize, tooth: usize, backwards: bool) {
    let mut graph = Graph::new();
    let end = graph.make(&LEAF, 0);
    let mut before = end;
    for i in 0..MANY {
        let node = graph.make(&PAIR, 2);
        let cell = graph.make(&CELL, 1);
        graph.point(node, tooth, cell);
        graph.point(cell, 0, end);
        if backwards {
            graph.point(node, spine, before);
        } else if i > 0 {
            graph.point(before, spine, node);
        }
        before = node;
    }
    let root = if backwards { before } else { end + 1 };
    graph.all_is_marked(root);
}

#[test]
fn a_deep_comb_spine_first() {
    comb(0, 1, false);
}

#[test]
fn a_deep_comb_teeth_first() {
    comb(1, 0, false);
}

#[test]
fn a_deep_comb_laid_out_backwards() {
    comb(0, 1, true);
    comb(1, 0, true);
}

/// Each growth of a stack is refused in turn, and still everything reachable is marked.
#[test]
fn stacks_that_may_not_grow() {
    const ARRAYS: usize = if cfg!(miri) { 30 } else { 300 };
    const SLOTS: usize = if cfg!(miri) { 10 } else { 100 };
    let mut graph = Graph::new();
    let array = graph.make(&ARRAY, ARRAYS);
    for i in 0..ARRAYS {
        let (inner, leaf) = (graph.make(&ARRAY, SLOTS), graph.make(&CELL, 1));
        graph.point(array, i, inner);
        (0..SLOTS).for_each(|slot| graph.point(inner, slot, leaf));
        graph.point(leaf, 0, array);
    }
    let mut helpers = GcThreads::default();
    let mut passes = 0;
    // If the system schedules it, the second thread drops closures, too, which happens in one of
    // many markings. Two threads that share well may not need larger stacks.
    for threads in std::iter::once(1).chain([2; if cfg!(miri) { 1 } else { 200 }]) {
        let charges = graph.heap.charges();
        let requests = charges.requests();
        let before = requests.made();
        graph.mark(&mut helpers, threads, Bytes::kib(64), array);
        let made = requests.made() - before;
        assert!(threads > 1 || made > 1, "no stack grew");
        for granted in 0..made {
            requests.refuse_after(granted);
            let marked = graph.mark(&mut helpers, threads, Bytes::kib(64), array);
            assert_eq!(marked.closures, graph.all.len() as u64, "{granted} granted");
            passes += marked.counted.mark_passes;
        }
    }
    assert!(passes > 0, "stacks without room dropped nothing");
}

#[test]
fn a_tree_is_shared() {
    const NODES: usize = if cfg!(miri) { 1 << 8 } else { 1 << 19 };
    let mut graph = Graph::new();
    (0..NODES).for_each(|_| _ = graph.make(&PAIR, 2));
    (1..NODES).for_each(|i| graph.point((i - 1) / 2, (i - 1) % 2, i));
    let mut helpers = GcThreads::default();
    // The second thread gets some work as soon as the system runs it while the first one marks.
    let begun = Instant::now();
    loop {
        let marked = graph.mark(&mut helpers, 2, Bytes::kib(64), 0);
        assert_eq!(
            (marked.closures, marked.shared.sharing),
            (NODES as u64, Sharing::Balanced)
        );
        if cfg!(miri) || marked.shared.threads[1].copied > 0 {
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(120), "no part in two minutes");
    }
    drop(helpers);
    graph.all_is_marked(0);
}

/// Sticky marks: a closure that is already marked is entered only through remembered slots.
#[test]
fn marked_closures_are_not_entered_and_remembered_slots_are_roots() {
    let mut graph = Graph::new();
    let [old, unseen, young, leaf, dead] = [&PAIR, &LEAF, &CELL, &LEAF, &LEAF].map(|info| graph.make(info, 0));
    graph.point(old, 0, unseen);
    graph.point(old, 1, young);
    graph.point(young, 0, leaf);
    assert!(graph.marks.set(graph.all[old]));
    let set = RememberedSet::of_heap(graph.heap.blocks().base(), graph.heap.charges());
    let data = CapabilityData::new(0, Bump::default(), graph.heap.states(), set, Arc::default(), 0);
    // Twice, as a barrier may record it.
    for _ in 0..2 {
        data.view().remember(graph.slot(old, 1));
    }
    let mut marker = Marker::new(&graph.heap, &graph.marks);
    marker.remembered(Capabilities::new(&[data.view()]));
    let mut root = graph.all[old].0 as u64;
    // SAFETY: a slot of this function with a closure of this heap.
    unsafe { marker.first.found::<false>(Slot(&raw mut root)) };
    marker.trace();
    let marked = marker.finish();
    let is_marked = [old, unseen, young, leaf, dead].map(|closure| graph.marks.get(graph.all[closure]));
    assert_eq!(is_marked, [true, false, true, true, false]);
    let words = graph.words[young] + graph.words[leaf];
    assert_eq!((marked.closures, marked.words), (2, Words(words)));
    assert!(data.view().remembered().is_empty());
}
