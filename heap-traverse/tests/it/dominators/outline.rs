//! Outlines: chains, and that no object is lost or shown twice.

use super::naive::rows;
use gclab_heap_traverse::analysis::Outline;
use gclab_heap_traverse::graph::Graph;
use gclab_heap_traverse::{Dominators, Rows};
use proptest::prelude::*;

/// A dominator tree downwards, with the retained sizes of its nodes.
fn tree(graph: &Graph, size: impl Fn(u32) -> u64) -> (Rows, Vec<u64>) {
    let dominators = Dominators::of(graph).unwrap();
    (dominators.children().unwrap(), dominators.retained(size).unwrap())
}

/// The chains of all nodes from node 1 down.
fn chain(graph: &Graph, class: &[u32], size: impl Fn(u32) -> u64) -> Vec<u32> {
    let (children, retained) = tree(graph, size);
    Outline::new(&children, &retained, class, &|_| false).chain(1).unwrap()
}

#[test]
fn a_list_with_values_is_one_chain_to_its_end() {
    // The root, then 1000 cells, each with a value of its own.
    let rows = (0..2001_u32).map(|node| match node {
        0 => vec![1],
        cell if cell % 2 == 1 && cell < 1999 => vec![cell + 1, cell + 2],
        1999 => vec![2000],
        _ => vec![],
    });
    let graph = Graph::from_rows(rows).unwrap();
    let class: Vec<u32> = (0..2001).map(|node| if node == 0 { 2 } else { node % 2 }).collect();
    let cells: Vec<u32> = (0..1000).map(|cell| 2 * cell + 1).collect();
    assert_eq!(chain(&graph, &class, |_| 16), cells);
    // A value of a tenth and more of the list ends the chain.
    let size = |node| if node == 1000 { 10_000 } else { 16 };
    assert_eq!(chain(&graph, &class, size).last(), Some(&999));
}

#[test]
fn an_object_and_its_only_large_part_are_a_chain_but_a_tree_is_not() {
    let graph = Graph::from_rows([vec![1], vec![2, 3], vec![4], vec![], vec![]]).unwrap();
    // Node 2 holds 110 of the 121 bytes of node 1, and node 4 holds 100 of these.
    let sizes = [0, 1, 10, 10, 100];
    assert_eq!(chain(&graph, &[0, 1, 2, 3, 4], |node| sizes[node as usize]), [1, 2, 4]);
    let sizes = [0, 1, 10, 13, 100];
    assert_eq!(chain(&graph, &[0, 1, 2, 3, 4], |node| sizes[node as usize]), [1]);
    let tree =
        Graph::from_rows((0..63_u32).map(|node| (2 * node + 1..=2 * node + 2).filter(|&child| child < 63))).unwrap();
    assert_eq!(chain(&tree, &[0; 63], |_| 16), [1]);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

    #[test]
    fn every_object_is_on_one_chain_or_in_one_rest(
        rows in rows(),
        class in prop::collection::vec(0_u32..4, 40),
        hidden in prop::collection::vec(any::<bool>(), 40),
        least in 1_u64..300,
    ) {
        let graph = Graph::from_rows(rows).unwrap();
        let (children, retained) = tree(&graph, |node| u64::from(node % 7));
        let is_hidden = |node: u32| hidden[node as usize];
        let outline = Outline::new(&children, &retained, &class, &is_hidden);
        let mut seen = vec![0; graph.node_count() as usize];
        let top = outline.top(least).unwrap();
        let (mut open, mut rest) = (top.large, top.rest);
        while let Some(head) = open.pop() {
            prop_assert!(retained[head as usize] >= least);
            let chain = outline.chain(head).unwrap();
            chain.iter().for_each(|&node| seen[node as usize] += 1);
            let below = outline.below(&chain, least).unwrap();
            open.extend(below.large);
            rest.extend(below.rest);
        }
        while let Some(node) = rest.pop() {
            seen[node as usize] += usize::from(!is_hidden(node));
            rest.extend(children.row(node));
        }
        let reached = Dominators::of(&graph).unwrap();
        for node in 0..graph.node_count() {
            let expected = usize::from(reached.idom(node).is_some() && !is_hidden(node));
            prop_assert_eq!(seen[node as usize], expected, "node {}", node);
        }
    }
}
