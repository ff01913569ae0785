//! Dominators: against the definition, another algorithm, other programs' results, and at sizes
//! that would reveal quadratic time.

mod classes;
mod ephemerons;
mod naive;
mod real;
mod scale;
mod shapes;

use gclab_heap_traverse::Dominators;
use gclab_heap_traverse::graph::{Graph, NONE};

/// Makes a graph with these rows.
pub(crate) fn graph(rows: &[&[u32]]) -> Graph {
    Graph::from_rows(rows.iter().map(|row| row.iter().copied())).expect("a graph")
}

/// 64-bit FNV-1a. It starts from the value used by the program that made the checksums of real
/// heaps: the usual value with its last decimal digit missing.
pub(crate) fn fnv(bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes.into_iter().fold(1_469_598_103_934_665_603_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}

/// Immediate dominators by the algorithm of Cooper, Harvey and Kennedy (A Simple, Fast Dominance
/// Algorithm, 2001), repeated until nothing changes. It shares only the graph with the tested one.
pub(crate) fn by_sweeps(graph: &Graph) -> Vec<u32> {
    let order = reverse_postorder(graph);
    let mut place = vec![NONE; graph.node_count() as usize];
    (0..).zip(&order).for_each(|(at, &node)| place[node as usize] = at);
    let mut sources: Vec<Vec<u32>> = vec![Vec::new(); order.len()];
    for (at, &node) in (0..).zip(&order) {
        graph
            .row(node)
            .iter()
            .for_each(|&target| sources[place[target as usize] as usize].push(at));
    }
    let mut idom = vec![NONE; order.len()];
    idom[0] = 0;
    let common = |idom: &[u32], mut one: u32, mut other: u32| {
        while one != other {
            while one > other {
                one = idom[one as usize];
            }
            while other > one {
                other = idom[other as usize];
            }
        }
        one
    };
    loop {
        let mut changed = false;
        for at in 1..order.len() {
            let known = sources[at]
                .iter()
                .copied()
                .filter(|&source| idom[source as usize] != NONE);
            let new = known
                .reduce(|one, other| common(&idom, one, other))
                .expect("a source before it in the order");
            changed |= std::mem::replace(&mut idom[at], new) != new;
        }
        if !changed {
            break;
        }
    }
    let mut by_node = vec![NONE; place.len()];
    for (at, &node) in order.iter().enumerate() {
        by_node[node as usize] = order[idom[at] as usize];
    }
    by_node
}

fn reverse_postorder(graph: &Graph) -> Vec<u32> {
    let mut seen = vec![false; graph.node_count() as usize];
    let (mut open, mut order) = (vec![(0_u32, 0_usize)], Vec::new());
    seen[0] = true;
    while let Some((node, next)) = open.last_mut() {
        if let Some(&target) = graph.row(*node).get(*next) {
            *next += 1;
            if !std::mem::replace(&mut seen[target as usize], true) {
                open.push((target, 0));
            }
        } else {
            order.push(*node);
            open.pop();
        }
    }
    order.reverse();
    order
}

/// Checks that the two algorithms agree on every node, and that each node comes after its
/// dominator.
#[track_caller]
pub(crate) fn check(graph: &Graph) -> Dominators {
    let dominators = Dominators::of(graph).unwrap();
    assert_eq!(dominators.idoms(), by_sweeps(graph));
    let mut placed = vec![false; graph.node_count() as usize];
    for &node in dominators.reached() {
        assert!(node == 0 || placed[dominators.idoms()[node as usize] as usize]);
        assert!(!std::mem::replace(&mut placed[node as usize], true));
    }
    dominators
}
