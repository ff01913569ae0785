//! Marking in slices, between which a mutator overwrites pointers.

use super::*;
use crate::trace::Progress;

/// How far a slice can exceed its budget: by the ring, and by a piece of a span for each look, all
/// with closures of at most 91 words.
const BEYOND: usize = (32 + 64) * 91 + 400;

/// Marks a graph in slices while a mutator runs.
struct Sliced<'g> {
    graph: &'g mut Graph,
    mutator: CapabilityData<Bump>,
    grey: Option<Grey>,
    marked: Marked,
    slices: usize,
}

impl<'g> Sliced<'g> {
    fn begin(graph: &'g mut Graph, most: Bytes, root: usize) -> Self {
        let set = RememberedSet::of_heap(graph.heap.blocks().base(), graph.heap.charges());
        let mutator = CapabilityData::new(0, Bump::default(), graph.heap.states(), set, Arc::default(), 0);
        let mut marker = Marker::resume(Grey::within(most, &graph.heap), &graph.marks);
        let mut root = graph.all[root].0 as u64;
        // SAFETY: a slot of this function with a closure of this heap.
        unsafe { marker.first.found::<false>(Slot(&raw mut root)) };
        let (marked, grey) = marker.interrupt();
        Sliced {
            graph,
            mutator,
            grey: Some(grey),
            marked,
            slices: 0,
        }
    }

    /// Stores through a snapshot barrier.
    fn store(&self, from: usize, slot: usize, to: usize) {
        // SAFETY: a slot of a closure that was made.
        let old = unsafe { self.graph.slot(from, slot).load() };
        if !old.is_null() {
            self.mutator.view().overwritten().push(old);
        }
        self.graph.point(from, slot, to);
    }

    /// A slice in a pause; or as the background thread does it, with notes that the mutator hands
    /// over.
    fn slice(&mut self, budget: usize, is_concurrent: bool) -> Progress {
        let grey = self.grey.take().expect("the marking is under way");
        let mut marker = Marker::resume(grey, &self.graph.marks);
        marker.set_budget(Words(budget));
        let overwritten = self.mutator.view().overwritten();
        if is_concurrent {
            overwritten.queue().set_open(true);
            overwritten.flush();
            marker.flushed(overwritten.queue());
            overwritten.queue().set_open(false);
        } else {
            marker.overwritten(Capabilities::new(&[self.mutator.view()]));
        }
        let progress = marker.trace_some();
        let (marked, grey) = marker.interrupt();
        assert!(
            marked.work.0 <= budget.saturating_add(BEYOND),
            "{:?} of {budget}",
            marked.work
        );
        assert!(progress == Progress::More || grey.is_empty());
        self.marked.closures += marked.closures;
        self.marked.words += marked.words;
        self.marked.counted += marked.counted;
        self.slices += 1;
        self.grey = Some(grey);
        progress
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 400 }))]
    #[test]
    fn whatever_a_mutator_overwrites_its_snapshot_is_marked(
        shapes in proptest::collection::vec((0..5usize, 0..200usize), 1..SHAPES),
        edges in proptest::collection::vec((0..300usize, 0..200usize, 0..300usize), 0..5 * SHAPES),
        stores in proptest::collection::vec((0..300usize, 0..200usize, 0..300usize), 0..5 * SHAPES),
        budget in 1..400usize,
        concurrent in proptest::bits::u64::ANY,
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
        let snapshot = reachable(&model, root);
        let most = graph.bound();
        let mut sliced = Sliced::begin(&mut graph, most, root);
        let mut stores = stores.into_iter();
        let is_concurrent = |slices: usize| concurrent >> (slices % 64) & 1 == 1;
        while sliced.slice(budget, is_concurrent(sliced.slices)) == Progress::More
            || !sliced.mutator.view().overwritten().is_empty()
        {
            for (from, slot, to) in stores.by_ref().take(3) {
                let (from, to) = (from % shapes.len(), to % shapes.len());
                // A mutator can reach what the snapshot's roots lead to.
                if slots[from] > 0 && snapshot[from] && snapshot[to] {
                    sliced.store(from, slot % slots[from], to);
                }
            }
        }
        let marked = sliced.marked.closures;
        for (i, &at) in graph.all.iter().enumerate() {
            prop_assert_eq!(graph.marks.get(at), snapshot[i], "closure {}", i);
        }
        prop_assert_eq!(marked, snapshot.iter().filter(|&&is| is).count() as u64);
    }
}

/// Slots of a large array count when they are scanned, not when the array is found.
#[test]
fn a_large_array_takes_many_slices() {
    let mut graph = Graph::new();
    let length = if cfg!(miri) { 1_000 } else { 100_000 };
    let array = graph.make(&ARRAY, length);
    let leaf = graph.make(&LEAF, 0);
    graph.point(array, length - 1, leaf);
    let most = graph.bound();
    let mut sliced = Sliced::begin(&mut graph, most, array);
    while sliced.slice(500, false) == Progress::More {}
    let (slices, closures) = (sliced.slices, sliced.marked.closures);
    assert_eq!(closures, 2);
    assert!((length / 700..=length / 400 + 2).contains(&slices), "{slices} slices");
}

/// A stack without room drops closures, which are then scanned in slices, too.
#[test]
fn what_was_dropped_is_scanned_again_in_slices() {
    const ARRAYS: usize = if cfg!(miri) { 30 } else { 300 };
    let mut graph = Graph::new();
    let array = graph.make(&ARRAY, ARRAYS);
    for i in 0..ARRAYS {
        let (inner, leaf) = (graph.make(&ARRAY, 100), graph.make(&CELL, 1));
        graph.point(array, i, inner);
        (0..100).for_each(|slot| graph.point(inner, slot, leaf));
        graph.point(leaf, 0, array);
    }
    let all = graph.all.len() as u64;
    let mut sliced = Sliced::begin(&mut graph, LEAST_STACK, array);
    while sliced.slice(10, false) == Progress::More {}
    assert!(sliced.marked.counted.mark_passes > 1, "nothing was dropped");
    assert_eq!(sliced.marked.closures, all);
    assert!(sliced.slices > ARRAYS, "{} slices", sliced.slices);
    drop(sliced);
    assert_eq!(graph.heap.charges().other(), MARK_STACK);
}
