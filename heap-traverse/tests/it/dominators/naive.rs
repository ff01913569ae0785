//! Dominators and paths against the definition, on random graphs.

use gclab_heap_traverse::Dominators;
use gclab_heap_traverse::graph::{Graph, NONE, ShortestPaths};
use proptest::prelude::*;

/// The nodes reachable from the root when `without` is removed.
pub(super) fn reached(graph: &Graph, without: Option<u32>) -> Vec<bool> {
    let mut seen = vec![false; graph.node_count() as usize];
    let mut open = vec![0];
    while let Some(node) = open.pop() {
        if Some(node) != without && !std::mem::replace(&mut seen[node as usize], true) {
            open.extend(graph.row(node));
        }
    }
    seen
}

/// Rows of a graph with a few nodes and arbitrary edges, so with parallel edges, loops, and
/// unreachable nodes.
pub(super) fn rows() -> impl Strategy<Value = Vec<Vec<u32>>> {
    (1_u32..40, 0_usize..4).prop_flat_map(|(nodes, most)| {
        let row = prop::collection::vec(0..nodes, 0..=most + 1);
        prop::collection::vec(row, nodes as usize)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn a_node_dominates_the_nodes_that_are_lost_without_it(rows in rows()) {
        let graph = Graph::from_rows(rows).unwrap();
        let nodes = 0..graph.node_count();
        let all = reached(&graph, None);
        // lost[d][v]: v is reached, but not without d.
        let lost: Vec<Vec<bool>> = nodes
            .clone()
            .map(|d| std::iter::zip(&all, reached(&graph, Some(d))).map(|(&all, left)| all && !left).collect())
            .collect();
        let size = |node: u32| u64::from(node) * 7 + 1;
        let dominators = Dominators::of(&graph).unwrap();
        let retained = dominators.retained(size).unwrap();
        for v in nodes.clone() {
            let above = |d: u32| all[d as usize] && d != v && lost[d as usize][v as usize];
            // The nearest dominator is the one that all others also dominate.
            let nearest = nodes.clone().filter(|&d| above(d)).max_by_key(|&d| nodes.clone().filter(|&e| lost[e as usize][d as usize]).count());
            let expected = if !all[v as usize] { None } else { nearest.or(Some(0)) };
            prop_assert_eq!(dominators.idom(v), expected, "of {}", v);
            let weight: u64 = nodes.clone().filter(|&w| lost[v as usize][w as usize]).map(size).sum();
            prop_assert_eq!(retained[v as usize], weight, "retained by {}", v);
        }
        super::check(&graph);
    }

    #[test]
    fn paths_are_paths_and_the_shortest(rows in rows()) {
        let graph = Graph::from_rows(rows).unwrap();
        let paths = ShortestPaths::of(&graph).unwrap();
        // Distances, by relaxing every edge again and again.
        let mut distance = vec![NONE; graph.node_count() as usize];
        distance[0] = 0;
        for _ in 0..graph.node_count() {
            for node in (0..graph.node_count()).filter(|&node| distance[node as usize] != NONE).collect::<Vec<_>>() {
                for &target in graph.row(node) {
                    distance[target as usize] = distance[target as usize].min(distance[node as usize] + 1);
                }
            }
        }
        for node in 0..graph.node_count() {
            match paths.to(node) {
                None => prop_assert_eq!(distance[node as usize], NONE),
                Some(path) => {
                    prop_assert_eq!((path[0], path[path.len() - 1], path.len()), (0, node, distance[node as usize] as usize + 1));
                    prop_assert!(path.windows(2).all(|step| graph.row(step[0]).contains(&step[1])));
                }
            }
        }
    }

    #[test]
    fn the_tree_downwards_is_the_tree_upwards(rows in rows()) {
        let dominators = Dominators::of(&Graph::from_rows(rows).unwrap()).unwrap();
        let children = dominators.children().unwrap();
        for node in 0..dominators.idoms().len() as u32 {
            let expected: Vec<u32> = (1..dominators.idoms().len() as u32).filter(|&child| dominators.idom(child) == Some(node)).collect();
            prop_assert_eq!(children.row(node), expected);
        }
    }
}
