//! Heaps to collect, by shape: the pointers between objects, and the order of objects in memory.

use crate::machine::{random, shuffled};
use gclab_core::closure::{Closure, Mut, Ptr, RecordShape};
use gclab_core::mutator::{Any, ByteArray, Gc, MutArray, Mutator, MutatorKind, Record, Root};
use gclab_snapshot::{Options, Snapshot};

#[derive(Closure)]
#[allow(dead_code, reason = "it never exists as a Rust value")]
struct Tree {
    left: Option<Ptr<Tree>>,
    right: Option<Ptr<Tree>>,
}

/// A node of the shuffled tree.
#[derive(Closure)]
#[allow(dead_code, reason = "it never exists as a Rust value")]
struct Pair {
    left: Mut<Pair>,
    right: Mut<Pair>,
}

/// A node of the random graph.
#[derive(Closure)]
#[allow(dead_code, reason = "it never exists as a Rust value")]
struct Triple {
    first: Mut<Triple>,
    second: Mut<Triple>,
    third: Mut<Triple>,
}

#[derive(Closure)]
#[allow(dead_code, reason = "it never exists as a Rust value")]
struct Cell {
    next: Mut<Cell>,
    value: u64,
}

/// Bytes of an array among the byte arrays, without header and length: 80 with them.
const BYTES: usize = 64;

/// The shape of a heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A complete binary tree of nodes of 24 bytes, in the order of a depth-first walk that visits
    /// children first.
    Tree,
    /// The same tree in random order.
    ShuffledTree,
    /// Nodes of 32 bytes with three pointers to random ones.
    Graph,
    /// A list of cells of 24 bytes, in order.
    List,
    /// The same list in random order.
    ShuffledList,
    /// An array of pointers to byte arrays of 80 bytes, in random order.
    ShuffledBytes,
    /// The heap of a real program, in enough copies to exceed the caches.
    Snapshot,
}

impl Shape {
    /// All shapes, in the order of the table.
    pub(crate) const ALL: [Shape; 7] = [
        Shape::Tree,
        Shape::ShuffledTree,
        Shape::Graph,
        Shape::List,
        Shape::ShuffledList,
        Shape::ShuffledBytes,
        Shape::Snapshot,
    ];

    /// The shape's name in the table.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Shape::Tree => "tree, depth first",
            Shape::ShuffledTree => "tree, shuffled",
            Shape::Graph => "random graph",
            Shape::List => "list, in order",
            Shape::ShuffledList => "list, shuffled",
            Shape::ShuffledBytes => "byte arrays, shuffled",
            Shape::Snapshot => "heap snapshot",
        }
    }

    /// Builds a heap of this shape with about `scale` objects, without a collection if the
    /// allocation area has room.
    pub(crate) fn build<'m, 'h, M: MutatorKind>(self, m: &'m mut Mutator<'h, M>, scale: usize) -> Gc<'m, 'h, Any> {
        match self {
            Shape::Tree => tree(m, scale.ilog2() - 1).erase(),
            Shape::ShuffledTree => shuffled_tree(m, scale - 1).erase(),
            Shape::Graph => graph(m, scale).erase(),
            Shape::List => list(m, scale).erase(),
            Shape::ShuffledList => shuffled_list(m, scale).erase(),
            Shape::ShuffledBytes => bytes(m, scale / 4).erase(),
            Shape::Snapshot => snapshot(m, scale).erase(),
        }
    }
}

fn tree<'m, 'h, M: MutatorKind>(m: &'m mut Mutator<'h, M>, depth: u32) -> Gc<'m, 'h, Tree> {
    if depth == 0 {
        return m.alloc(|_| Tree::new(None, None));
    }
    m.frame(|m, [left, right]| {
        let left = left.put(tree(m, depth - 1));
        let right = right.put(tree(m, depth - 1));
        m.alloc(|m| Tree::new(Some(left.get(m)), Some(right.get(m))))
    })
}

/// Makes an array of `n` new objects, in the order of their addresses.
macro_rules! all {
    ($m:ident, $slot:ident, $n:expr, $type:ty, $make:expr) => {{
        let all: Root<'_, '_, MutArray<$type>> = $slot.put($m.alloc_array($n, |_| None));
        for i in 0..$n {
            let (m, object) = $m.alloc_with($make(i));
            all.get(m).set(m, i, Some(object));
        }
        all
    }};
}

fn shuffled_tree<'m, 'h, M: MutatorKind>(m: &'m mut Mutator<'h, M>, n: usize) -> Gc<'m, 'h, Pair> {
    let place = shuffled(n, 11);
    m.frame(|m, [all]| {
        let all = all!(m, all, n, Pair, |_| |_| Pair::new(None, None));
        let nodes = all.get(m);
        let node = |i: usize| place.get(i).and_then(|&place| nodes.get(m, place as usize));
        for i in 0..n {
            let parent = node(i).expect("it was made");
            parent.set_left(m, node(2 * i + 1));
            parent.set_right(m, node(2 * i + 2));
        }
        node(0).expect("it was made")
    })
}

fn graph<'m, 'h, M: MutatorKind>(m: &'m mut Mutator<'h, M>, n: usize) -> Gc<'m, 'h, Triple> {
    m.frame(|m, [all]| {
        let all = all!(m, all, n, Triple, |_| |_| Triple::new(None, None, None));
        let nodes = all.get(m);
        let mut state = 9;
        for i in 0..n {
            let node = nodes.get(m, i).expect("it was made");
            node.set_first(m, nodes.get(m, random(&mut state, n)));
            node.set_second(m, nodes.get(m, random(&mut state, n)));
            node.set_third(m, nodes.get(m, random(&mut state, n)));
        }
        nodes.get(m, 0).expect("it was made")
    })
}

fn list<'m, 'h, M: MutatorKind>(m: &'m mut Mutator<'h, M>, n: usize) -> Gc<'m, 'h, Cell> {
    m.frame(|m, [first, last]| {
        let first = first.put(m.alloc(|_| Cell::new(None, 0)));
        let last = last.put(first.get(m));
        for i in 1..n {
            let (view, cell) = m.alloc_with(|_| Cell::new(None, i as u64));
            last.get(view).set_next(view, Some(cell));
            last.set(view, cell);
        }
        first.get(m)
    })
}

fn shuffled_list<'m, 'h, M: MutatorKind>(m: &'m mut Mutator<'h, M>, n: usize) -> Gc<'m, 'h, Cell> {
    let place = shuffled(n, 13);
    m.frame(|m, [all]| {
        let all = all!(m, all, n, Cell, |i| move |_| Cell::new(None, i as u64));
        let cells = all.get(m);
        for pair in place.windows(2) {
            let cell = cells.get(m, pair[0] as usize).expect("it was made");
            cell.set_next(m, cells.get(m, pair[1] as usize));
        }
        cells.get(m, place[0] as usize).expect("it was made")
    })
}

fn bytes<'m, 'h, M: MutatorKind>(m: &'m mut Mutator<'h, M>, n: usize) -> Gc<'m, 'h, MutArray<ByteArray>> {
    let place = shuffled(n, 17);
    m.frame(|m, [all]| {
        let all = all.put(m.alloc_array(n, |_| None));
        for &place in &place {
            let (m, one) = m.with_view(|m| m.alloc_bytes_filled(BYTES, 1));
            all.get(m).set(m, place as usize, Some(one));
        }
        all.get(m)
    })
}

/// The built-in snapshot of the workload `heap_snapshot`; `fixtures/README.md` there describes it.
const SNAPSHOT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../workloads/fixtures/postcss.heapsnapshot.gz"
);

/// Makes copies of the snapshot, one after another, as records of the nodes' sizes. Returns an
/// array of their roots.
fn snapshot<'m, 'h, M: MutatorKind>(m: &'m mut Mutator<'h, M>, scale: usize) -> Gc<'m, 'h, MutArray<Record>> {
    let snapshot = Snapshot::open(SNAPSHOT.as_ref(), Options::shape()).expect("the fixture can be read");
    let nodes = snapshot.node_count() as usize;
    let copies = (scale / 2 / nodes).max(1);
    m.frame(|m, [roots, all]| {
        let roots = roots.put(m.alloc_array(copies, |_| None));
        let all = all.put(m.alloc_array(nodes, |_| None));
        for copy in 0..copies {
            for (ordinal, node) in snapshot.nodes().enumerate() {
                let pointers = node.edges().filter(|edge| edge.is_strong()).count() as u32;
                let bytes = node.self_size().saturating_sub(16 + 8 * u64::from(pointers)) as u32;
                let (m, one) = m.with_view(|m| m.alloc_record(RecordShape { pointers, bytes }));
                all.get(m).set(m, ordinal, Some(one));
            }
            let records = all.get(m);
            for (ordinal, node) in snapshot.nodes().enumerate() {
                let record = records.get(m, ordinal).expect("it was made");
                let strong = node.edges().filter(|edge| edge.is_strong());
                for (slot, edge) in strong.enumerate() {
                    let target = records.get(m, edge.target().ordinal() as usize);
                    record.set(m, slot, target.map(Gc::erase));
                }
            }
            roots.get(m).set(m, copy, records.get(m, 0));
        }
        roots.get(m)
    })
}
