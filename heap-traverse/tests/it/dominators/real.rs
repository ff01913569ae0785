//! A real heap, whose dominators other programs computed: all of them, by checksum.

use super::{check, fnv};
use gclab_heap_traverse::graph::Graph;
use gclab_snapshot::{Options, Snapshot};
use std::path::Path;

/// Another program's results for a file: nodes, strong edges, the sum of all retained sizes, and
/// checksums over all immediate dominators and all retained sizes.
struct Facts {
    nodes: u32,
    edges: u32,
    sum: u64,
    idoms: u64,
    retained: u64,
}

fn agrees(path: &Path, facts: &Facts) {
    let snapshot = Snapshot::open(path, Options::shape()).unwrap();
    let graph = Graph::of_snapshot(&snapshot).unwrap();
    assert_eq!((graph.node_count(), graph.edge_count()), (facts.nodes, facts.edges));
    let dominators = check(&graph);
    let retained = dominators.retained(|node| snapshot.node(node).self_size()).unwrap();
    assert_eq!(dominators.reached().len(), facts.nodes as usize);
    assert_eq!(retained.iter().sum::<u64>(), facts.sum);
    let idoms = dominators.idoms().iter().flat_map(|idom| idom.to_le_bytes());
    assert_eq!(fnv(idoms), facts.idoms);
    assert_eq!(fnv(retained.iter().flat_map(|size| size.to_le_bytes())), facts.retained);
}

#[test]
fn postcss_has_the_dominators_and_retained_sizes_that_others_found() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../workloads/fixtures/postcss.heapsnapshot.gz");
    let facts = Facts {
        nodes: 76_142,
        edges: 314_221,
        sum: 46_892_557,
        idoms: 0x4068_06e1_1245_58e4,
        retained: 0x6d5b_3943_fb48_d784,
    };
    agrees(&path, &facts);
}

/// A larger heap, which is too large to keep here.
#[test]
#[ignore = "needs in GCLAB_PRETTIER the file prettier.heapsnapshot.gz"]
fn prettier_has_the_dominators_and_retained_sizes_that_others_found() {
    let path = std::env::var_os("GCLAB_PRETTIER").expect("GCLAB_PRETTIER names a file");
    let facts = Facts {
        nodes: 725_800,
        edges: 3_303_873,
        sum: 290_716_804,
        idoms: 0x2b8f_a1f6_3883_e1ce,
        retained: 0x1056_314e_2eab_1fec,
    };
    agrees(Path::new(&path), &facts);
}
