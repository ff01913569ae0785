//! Shapes whose dominators are obvious, and rows that are not graphs.

use super::{check, graph};
use gclab_heap_traverse::graph::{Graph, GraphError};

#[test]
fn a_root_alone() {
    let dominators = check(&graph(&[&[0]]));
    assert_eq!(
        (dominators.idom(0), dominators.retained(|_| 5).unwrap()),
        (Some(0), vec![5])
    );
}

#[test]
fn a_node_on_two_paths_belongs_to_the_node_where_they_part() {
    // 0 -> 1 -> {2, 3} -> 4 -> 5; 6 is unreachable, though it points to 5.
    let dominators = check(&graph(&[&[1], &[2, 3], &[4], &[4, 4], &[5, 1], &[5], &[5, 6]]));
    let idoms: Vec<_> = (0..7).map(|node| dominators.idom(node)).collect();
    assert_eq!(idoms, [Some(0), Some(0), Some(1), Some(1), Some(1), Some(4), None]);
    assert_eq!(
        dominators.retained(|node| 10_u64.pow(node)).unwrap(),
        [111_111, 111_110, 100, 1000, 110_000, 100_000, 0]
    );
}

#[test]
fn many_roots() {
    // Root i holds i and i + 1, so everything but the first is shared.
    let count = 1000;
    let mut rows = vec![(1..count).collect::<Vec<u32>>()];
    rows.extend((1..count).map(|node| vec![node + count, (node + 1) % count + count]));
    rows.extend((0..count).map(|_| vec![]));
    let dominators = check(&Graph::from_rows(rows).unwrap());
    assert!((1..2 * count).all(|node| match dominators.idom(node) {
        Some(0) => true,
        // Held by one root only.
        Some(holder) => holder + count == node || holder == count - 1,
        None => false,
    }));
}

#[test]
fn rows_that_are_not_a_graph_are_refused() {
    assert_eq!(Graph::from_rows::<Vec<u32>>([]), Err(GraphError::Empty));
    let error = Graph::from_rows([vec![1, 2], vec![]]).unwrap_err();
    assert_eq!(error.to_string(), "an edge leads to node 2 of 2");
}
