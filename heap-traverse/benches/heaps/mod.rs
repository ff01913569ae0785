//! The heaps that traversals and profiles are measured on.

use gclab_collectors::TwoSpace;
use gclab_core::closure::{Closure, Mut};
use gclab_core::collector::KindOf;
use gclab_core::config::Config;
use gclab_core::mutator::{Handle, MutArray};
use gclab_core::words::Bytes;
use gclab_core::world::{ClosureView, World};
use gclab_flags::Flags;
use gclab_heap_traverse::profile::Counter;
use gclab_heap_traverse::{Client, Order, Visit};

#[derive(Closure)]
#[allow(dead_code)]
pub(crate) struct Node {
    first: Mut<Node>,
    second: Mut<Node>,
    third: Mut<Node>,
    value: u64,
}

/// The shape of a heap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A binary tree that lies in breadth-first order.
    Tree,
    /// Lists of about 100,000 nodes, which lie in order.
    Lists,
    /// A binary tree whose nodes lie in no order. A third pointer of each node leads anywhere, so
    /// nearly all nodes reach each other.
    Graph,
    /// The same, but only every other node has a third pointer, so many nodes lead nowhere.
    LooseGraph,
}

/// A heap, and the handle that keeps it alive.
pub(crate) struct Heap {
    /// The name in the output.
    pub name: String,
    pub world: World<KindOf<TwoSpace>>,
    _roots: Handle<MutArray<Node>>,
}

/// All heaps, each with its number of named roots: 20, and for some also a thousand.
pub(crate) const HEAPS: [(Shape, usize); 6] = [
    (Shape::Tree, 20),
    (Shape::Lists, 20),
    (Shape::Graph, 20),
    (Shape::LooseGraph, 20),
    (Shape::Graph, 1000),
    (Shape::LooseGraph, 1000),
];

impl Shape {
    /// The first three pointers of node `i`.
    fn pointers(
        self,
        i: usize,
        nodes: usize,
        roots: usize,
        mut draw: impl FnMut(usize) -> usize,
    ) -> [Option<usize>; 3] {
        let there = |i: usize| (i < nodes).then_some(i);
        match self {
            // The root of each list is one of the first nodes. Lists lie one after another.
            Shape::Lists => {
                let length = nodes.div_ceil(roots.min(20));
                [there(i + 1).filter(|next| next % length != 0), None, None]
            }
            _ => {
                let third = draw(2 * nodes);
                let third = match self {
                    Shape::Graph => Some(third % nodes),
                    Shape::LooseGraph => there(third),
                    _ => None,
                };
                [there(2 * i + 1), there(2 * i + 2), third]
            }
        }
    }

    /// The node of named root `i`: the root of all, then neighbouring subtrees of one level, and
    /// then any.
    fn root(self, i: usize, nodes: usize, roots: usize, mut draw: impl FnMut(usize) -> usize) -> usize {
        match (self, i) {
            (Shape::Lists, _) => nodes.div_ceil(roots.min(20)) * (i % 20) % nodes,
            (_, 0) => 0,
            (_, 1..20) => (i + 30).min(nodes - 1),
            _ => draw(nodes),
        }
    }
}

impl Heap {
    /// Makes a heap of `nodes` nodes of this shape.
    pub(crate) fn new(shape: Shape, nodes: usize, roots: usize) -> Heap {
        let config = Config {
            allocation_area: Bytes::gib(1),
            reserve: Bytes::gib(64),
            generations: 1,
            ..Config::default()
        };
        let world = World::new::<TwoSpace>(&config).expect("a heap");
        let kept = world.enter(|m| {
            m.frame(|m, [all, kept]| {
                let all = all.put(m.alloc_array::<Node>(nodes, |_| None));
                let kept = kept.put(m.alloc_array::<Node>(roots, |_| None));
                let mut seed = 1_u64;
                let mut draw = |below: usize| {
                    seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    (seed >> 33) as usize % below
                };
                for i in 0..nodes {
                    let (m, node) = m.alloc_with(|_| Node::new(None, None, None, i as u64));
                    all.get(m).set(m, i, Some(node));
                }
                // The place of each node.
                let mut place: Vec<u32> = (0..nodes as u32).collect();
                if matches!(shape, Shape::Graph | Shape::LooseGraph) {
                    (1..nodes).for_each(|i| place.swap(i, draw(i + 1)));
                }
                let at = |m, i: usize| all.get(m).get(m, place[i] as usize);
                for i in 0..nodes {
                    let m = &**m;
                    let node = at(m, i).expect("all are there");
                    let [first, second, third] = shape.pointers(i, nodes, roots, &mut draw);
                    node.set_first(m, first.and_then(|i| at(m, i)));
                    node.set_second(m, second.and_then(|i| at(m, i)));
                    node.set_third(m, third.and_then(|i| at(m, i)));
                }
                let named: Vec<_> = (0..roots)
                    .map(|i| (format!("r{i}"), shape.root(i, nodes, roots, &mut draw)))
                    .collect();
                let root = |i: usize| at(m, i).expect("there");
                m.set_heap_roots(named.iter().map(|(name, i)| (name.as_str(), root(*i).erase())));
                (0..roots).for_each(|i| kept.get(m).set(m, i, Some(root(named[i].1))));
                m.handle(kept.get(m))
            })
        });
        Heap {
            name: format!("{shape:?}, {roots} named roots"),
            world,
            _roots: kept.expect("room enough"),
        }
    }
}

/// Makes a counter for a flag.
pub(crate) fn counter(flag: &str) -> Counter {
    Counter::new(&Flags::parse_words(&[flag]).expect("a flag").config.profile).expect("a profile")
}

/// A client that only counts closures.
pub(crate) struct Empty<const DEPTH_FIRST: bool>(pub usize);

impl<'a, const DEPTH_FIRST: bool> Client<'a> for Empty<DEPTH_FIRST> {
    const ORDER: Order = if DEPTH_FIRST { Order::DepthFirst } else { Order::Any };
    type Parent = ();
    type Data = ();
    type Sum = ();
    #[inline(always)]
    fn visit(&mut self, _: ClosureView<'a>, (): (), (): (), _: bool) -> Visit<()> {
        self.0 += 1;
        Visit::Descend(())
    }
}
