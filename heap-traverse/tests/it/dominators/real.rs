//! A real heap, with dominators that other programs computed: all of them, by checksum.

use super::{check, fnv};
use gclab_heap_traverse::graph::Graph;
use gclab_snapshot::{Options, Snapshot};
use std::path::Path;

#[test]
fn postcss_has_the_dominators_and_retained_sizes_that_others_found() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../workloads/fixtures/postcss.heapsnapshot.gz");
    let snapshot = Snapshot::open(&path, Options::shape()).unwrap();
    let graph = Graph::of_snapshot(&snapshot).unwrap();
    assert_eq!((graph.node_count(), graph.edge_count()), (76_142, 314_221));
    let dominators = check(&graph);
    let retained = dominators.retained(|node| snapshot.node(node).self_size());
    assert_eq!(dominators.reached().len(), 76_142);
    assert_eq!(retained.iter().sum::<u64>(), 46_892_557);
    assert_eq!(
        fnv(dominators.idoms().iter().flat_map(|idom| idom.to_le_bytes())),
        0x4068_06e1_1245_58e4
    );
    assert_eq!(
        fnv(retained.iter().flat_map(|size| size.to_le_bytes())),
        0x6d5b_3943_fb48_d784
    );
}
