//! The graph of a live heap matches the heap, under every collector and with collections in
//! between. Once written, it reads back the same.

use super::graphs::{everywhere, graph};
use gclab_core::words::Addr;
use gclab_core::world::{ClosureView, RootOrigin, Stopped};
use gclab_heap_traverse::Dominators;
use gclab_heap_traverse::graph::{HeapGraph, HeapNode, ShortestPaths, WEAK_HANDLES, class, write_snapshot};
use gclab_snapshot::{Options, Snapshot};
use proptest::prelude::*;
use std::collections::{BTreeSet, HashMap, HashSet};

/// The closures that roots reach without passing `without`, by the simplest search.
fn reached<'a>(stopped: &Stopped<'a>, without: Option<ClosureView<'a>>) -> HashSet<ClosureView<'a>> {
    let (mut seen, mut open) = (HashSet::new(), stopped.root_closures());
    while let Some(closure) = open.pop() {
        if Some(closure) != without && seen.insert(closure) {
            open.extend(closure.children());
        }
    }
    seen
}

fn bytes(closure: ClosureView<'_>) -> u64 {
    closure.words().to_bytes().0 as u64
}

/// The ordinals that closures must have: after the other nodes, by address.
fn ordinals<'a>(stopped: &Stopped<'a>, heap: &HeapGraph) -> HashMap<Addr, (u32, ClosureView<'a>)> {
    let all = reached(stopped, None);
    let start = heap.graph().node_count() - all.len() as u32;
    let mut sorted: Vec<_> = all.into_iter().collect();
    sorted.sort_unstable_by_key(|closure| closure.addr());
    (start..)
        .zip(sorted)
        .map(|(ordinal, closure)| (closure.addr(), (ordinal, closure)))
        .collect()
}

/// Checks that nodes, edges, slots and sizes match the heap.
fn is_the_heap(stopped: &Stopped<'_>, heap: &HeapGraph) {
    let ordinals = ordinals(stopped, heap);
    let start = heap.graph().node_count() - ordinals.len() as u32;
    assert!((0..start).all(|node| matches!(heap.node(node), HeapNode::Synthetic(_))));
    for &(ordinal, closure) in ordinals.values() {
        let HeapNode::Closure(info, size) = heap.node(ordinal) else {
            panic!("node {ordinal} is not a closure")
        };
        assert_eq!(
            (info.name, info.kind, size),
            (closure.info().name, closure.kind(), closure.words().to_bytes())
        );
        let slots = (0_u32..).zip(closure.slots()).filter(|(_, (_, to))| to.0 != 0);
        let expected: Vec<_> = slots.map(|(slot, (_, to))| (slot, ordinals[&to].0)).collect();
        let found: Vec<_> = heap
            .slots(ordinal)
            .iter()
            .copied()
            .zip(heap.graph().row(ordinal).iter().copied())
            .collect();
        assert_eq!(found, expected);
    }
    // The roots are below `(GC roots)`, each in one place.
    let mut held: Vec<u32> = heap
        .graph()
        .row(1)
        .iter()
        .flat_map(|&node| heap.graph().row(node))
        .copied()
        .collect();
    let mut expected: Vec<u32> = stopped
        .root_closures()
        .iter()
        .map(|root| ordinals[&root.addr()].0)
        .collect();
    held.sort_unstable();
    expected.sort_unstable();
    assert_eq!(held, expected);
    let mut weak = Vec::new();
    stopped.for_each_root(|origin, addr| {
        weak.extend(
            (origin == RootOrigin::Weak)
                .then(|| ordinals.get(&addr))
                .flatten()
                .map(|found| found.0),
        )
    });
    assert_eq!(heap.weak(), weak);
    for root in stopped.named_roots().iter().filter(|root| !root.weak) {
        let name = format!("(heap root {})", root.name);
        let node = (0..start)
            .find(|&node| matches!(heap.node(node), HeapNode::Synthetic(found) if found == name))
            .expect("it is there");
        let expected: Vec<u32> = root.closure.iter().map(|closure| ordinals[&closure.addr()].0).collect();
        assert_eq!(heap.graph().row(node), expected);
    }
}

/// Checks that a closure retains the closures that are unreachable without it.
fn retains_the_lost_closures(stopped: &Stopped<'_>, heap: &HeapGraph) {
    let retained = Dominators::of(heap.graph())
        .and_then(|dominators| dominators.retained(|node| heap.size(node)))
        .unwrap();
    let all: u64 = reached(stopped, None).into_iter().map(bytes).sum();
    assert_eq!(retained[0], all);
    for &(ordinal, closure) in ordinals(stopped, heap).values() {
        let left: u64 = reached(stopped, Some(closure)).into_iter().map(bytes).sum();
        assert_eq!(retained[ordinal as usize], all - left);
    }
}

/// Checks that our own reader finds the contents of the heap in the file.
fn reads_back(heap: &HeapGraph) {
    let file = write_snapshot(heap, Vec::new()).expect("memory takes it");
    let snapshot = Snapshot::read(&file[..], "written", Options::all()).expect("a snapshot");
    assert_eq!(snapshot.node_count(), heap.graph().node_count());
    assert_eq!(
        gclab_heap_traverse::graph::Graph::of_snapshot(&snapshot).as_ref(),
        Ok(heap.graph())
    );
    let mut ids = BTreeSet::new();
    for node in snapshot.nodes() {
        let (kind, name) = match heap.node(node.ordinal()) {
            HeapNode::Synthetic(name) => ("synthetic", name.to_owned()),
            HeapNode::Closure(info, _) => ("object", class(info)),
        };
        assert_eq!(
            (node.type_name(), node.name().as_ref(), node.self_size()),
            (kind, name.as_str(), heap.size(node.ordinal()))
        );
        let slots = node
            .edges()
            .filter(|edge| edge.is_strong())
            .map(|edge| edge.name_text().into_owned());
        assert!(slots.eq(heap.slots(node.ordinal()).iter().map(u32::to_string)));
        assert!(ids.insert(node.id()));
    }
    let weak = snapshot
        .nodes()
        .flat_map(|node| node.edges().map(move |edge| (node, edge)))
        .filter(|(_, edge)| !edge.is_strong());
    let weak: Vec<_> = weak
        .map(|(node, edge)| (node.ordinal(), edge.target().ordinal()))
        .collect();
    assert!(weak.iter().all(|(from, _)| *from == WEAK_HANDLES));
    assert!(weak.iter().map(|(_, to)| to).eq(heap.weak()));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(60) })]

    #[test]
    fn the_graph_of_a_heap_is_the_heap(graph in graph()) {
        everywhere(&graph, &|stopped: &Stopped<'_>| {
            let heap = HeapGraph::of(stopped).expect("a small heap");
            is_the_heap(stopped, &heap);
            retains_the_lost_closures(stopped, &heap);
            reads_back(&heap);
            let paths = ShortestPaths::of(heap.graph()).unwrap();
            assert!((0..heap.graph().node_count()).all(|node| paths.to(node).is_some()));
        });
    }
}
