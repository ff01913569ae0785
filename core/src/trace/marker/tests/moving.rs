//! Marking that moves closures: random graphs keep their shape, however much room there is, and
//! unused room is returned.

use super::*;
use crate::block::{BLOCK, BlockRun};
use crate::space::BumpRoom;
use crate::sync::{AtomicUsize, Mutex, Ordering::Relaxed};
use std::collections::{HashMap, HashSet};

/// Blocks for copies.
#[derive(Default)]
struct Blocks {
    runs: Vec<BlockRun>,
    taken: AtomicUsize,
    /// What threads did not use.
    left: Mutex<Vec<(Addr, Addr)>>,
}

// SAFETY: each block is returned once. `Moving::new` takes them from the heap, after its closures.
unsafe impl Destination for Blocks {
    type Room = BumpRoom;

    fn refill(&self, room: &mut BumpRoom, _: Words) -> bool {
        let Some(run) = self.runs.get(self.taken.fetch_add(1, Relaxed)) else {
            return false;
        };
        let free = run.start();
        self.leave(std::mem::replace(room, BumpRoom { free, limit: run.end() }));
        true
    }

    fn leave(&self, room: BumpRoom) {
        if room.free < room.limit {
            self.left.lock().push((room.free, room.limit));
        }
    }
}

/// A random graph, some of whose blocks are condemned.
struct Moving {
    graph: Graph,
    room: Blocks,
    /// For each closure, the referents of its slots.
    edges: Vec<Vec<Option<usize>>>,
}

#[derive(Clone, Debug)]
struct Plan {
    /// Kinds and lengths of closures.
    shapes: Vec<(usize, usize)>,
    /// (from, slot, to)
    edges: Vec<(usize, usize, usize)>,
    /// Which blocks are condemned.
    condemned: u64,
    /// Blocks for copies.
    room: usize,
}

fn plans() -> impl Strategy<Value = Plan> {
    (
        proptest::collection::vec((0..5usize, 0..200usize), 1..SHAPES),
        proptest::collection::vec((0..300usize, 0..200usize, 0..300usize), 0..5 * SHAPES),
        any::<u64>(),
        prop_oneof![0..4usize, Just(64)],
    )
        .prop_map(|(shapes, edges, condemned, room)| Plan {
            shapes,
            edges,
            condemned,
            room,
        })
}

impl Moving {
    fn new(plan: &Plan) -> Self {
        let mut graph = Graph::new();
        graph.run = 1;
        let mut edges: Vec<Vec<Option<usize>>> = Vec::new();
        for &(shape, len) in &plan.shapes {
            let (info, slots) = [(&LEAF, 0), (&CELL, 1), (&PAIR, 2), (&WIDE, 3), (&ARRAY, len)][shape];
            let number = graph.make(info, slots);
            edges.push(vec![None; slots]);
            if shape == 0 {
                // SAFETY: the one word of a leaf's payload.
                unsafe { graph.all[number].as_mut_ptr::<u64>().add(1).write(number as u64) };
            }
        }
        for &(from, slot, to) in &plan.edges {
            let (from, to) = (from % edges.len(), to % edges.len());
            let slots = edges[from].len();
            if slots > 0 {
                graph.point(from, slot % slots, to);
                edges[from][slot % slots] = Some(to);
            }
        }
        let runs: HashSet<BlockRun> = graph
            .all
            .iter()
            .filter_map(|&at| graph.heap.blocks().run_of(at))
            .collect();
        for run in runs {
            if plan.condemned >> (run.start().0 / BLOCK.0 % 64) & 1 == 1 {
                graph.heap.set_state(run, BlockState::of_step(1).condemned(true));
            }
        }
        let heap = &mut graph.heap;
        let taken = (0..plan.room).map(|_| heap.allocate(1, 1, BlockState::of_step(1)).expect("room"));
        let room = Blocks {
            runs: taken.collect(),
            ..Blocks::default()
        };
        Moving { graph, room, edges }
    }

    /// Marks and moves from closure number `root`, which `slot` holds afterwards.
    fn mark(&mut self, helpers: &mut GcThreads, threads: usize, root: usize) -> (Marked, Addr) {
        let graph = &mut self.graph;
        let mut marker = Marker::within(graph.bound(), &graph.heap, &graph.marks, &self.room);
        if threads > 1 {
            marker.share_with(Workers::balanced(helpers, threads));
        }
        let mut root = graph.all[root].0 as u64;
        // SAFETY: a slot of this function with a closure of this heap.
        unsafe { marker.first.found::<false>(Slot(&raw mut root)) };
        marker.trace();
        (marker.finish(), Addr(root as usize))
    }

    /// Each block that a thread took holds copies, back to back, and perhaps a rest, which it
    /// returned.
    fn check_room(&self, places: &HashMap<usize, Addr>) {
        let left = self.room.left.lock();
        let rests = left.iter().map(|&(from, to)| (from, (to - from).to_words_up()));
        let copies = places
            .iter()
            .map(|(&number, &at)| (at, Words(self.graph.words[number])));
        let parts: HashMap<Addr, Words> = rests.chain(copies).collect();
        let taken = self.room.taken.load(Relaxed).min(self.room.runs.len());
        for run in &self.room.runs[..taken] {
            let mut at = run.start();
            while at < run.end() {
                let words = parts.get(&at);
                at = at + *words.unwrap_or_else(|| panic!("{at} of {run:?} is lost"));
            }
            assert_eq!(at, run.end(), "the last part of {run:?}");
        }
        let ends_in_run = |to: Addr| self.room.runs[..taken].iter().any(|run| run.end() == to);
        assert!(left.iter().all(|&(from, to)| from < to && ends_in_run(to)), "{left:?}");
        assert!(left.len() <= taken, "{left:?} of {taken} blocks");
    }

    /// The addresses of all closures reachable from `root`, which is at `at`.
    fn places(&self, root: usize, at: Addr) -> HashMap<usize, Addr> {
        let (mut places, mut left) = (HashMap::new(), vec![(root, at)]);
        while let Some((number, at)) = left.pop() {
            if let Some(&before) = places.get(&number) {
                assert_eq!(before, at, "closure {number} has two places");
                continue;
            }
            places.insert(number, at);
            // SAFETY: a closure, if marking works.
            let (header, extent) = unsafe {
                (
                    ClosureRef(at.as_mut_ptr()).header(),
                    ClosureRef(at.as_mut_ptr()).extent(),
                )
            };
            assert!(header.settled().is_sane(), "closure {number} at {at}");
            assert_eq!(
                (extent.words.0, extent.slots),
                (self.graph.words[number], self.edges[number].len())
            );
            let state = self.graph.heap.blocks().state_of(at);
            assert_eq!(header.stays(), state.is_condemned(), "closure {number} at {at}");
            if std::ptr::eq(header.info_ptr(), &LEAF) {
                // SAFETY: the one word of a leaf's payload.
                assert_eq!(unsafe { at.as_mut_ptr::<u64>().add(1).read() }, number as u64);
            }
            for (slot, &to) in extent.slots().zip(&self.edges[number]) {
                // SAFETY: a slot of a closure.
                let closure = unsafe { slot.load() };
                assert_eq!(closure.is_null(), to.is_none(), "a slot of closure {number}");
                left.extend(to.map(|to| (to, closure.addr())));
            }
        }
        places
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 3 } else { 300 }))]
    #[test]
    fn random_graphs_keep_their_shape(plan in plans(), root in 0..300usize) {
        let root = root % plan.shapes.len();
        let mut helpers = GcThreads::default();
        for threads in [1, 2, 3] {
            let mut moving = Moving::new(&plan);
            let (marked, at) = moving.mark(&mut helpers, threads, root);
            let places = moving.places(root, at);
            moving.check_room(&places);
            let graph = &moving.graph;
            let words = |number: &usize| graph.words[*number];
            prop_assert_eq!(places.values().collect::<HashSet<_>>().len(), places.len());
            prop_assert_eq!((marked.closures, marked.words.0), (places.len() as u64, places.keys().map(words).sum()));
            let moved = places.iter().filter(|&(&number, &at)| at != graph.all[number]);
            prop_assert_eq!(marked.moved.0, moved.map(|(number, _)| words(number)).sum::<usize>());
            let (mut from, end) = (graph.heap.blocks().base(), graph.heap.blocks().base() + Bytes::mib(2));
            let mut marks = HashSet::new();
            while let Some(at) = graph.marks.next_set(from, end) {
                marks.insert(at);
                from = at + Words(1);
            }
            prop_assert_eq!(marks, places.values().copied().collect::<HashSet<_>>());
            if plan.room == 64 {
                let stays = |&at: &Addr| graph.heap.blocks().state_of(at).is_condemned();
                prop_assert!(!places.values().any(stays), "there was room for all");
            }
        }
    }
}
