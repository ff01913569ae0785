//! Random heaps: closures of every kind, linked at random, cyclic and shared, with collections in
//! between, under any collector.

use super::config;
use gclab_core::closure::{Closure, Mut, Ptr, RecordShape};
use gclab_core::collector::{Collector, CollectorList, CollectorVisitor};
use gclab_core::events::{Event, EventKind, Listener};
use gclab_core::mutator::{Any, Gc, Handle, MutArray, MutVar, Mutator, MutatorKind, NoGc, Record, Request, Root};
use gclab_core::world::{Stopped, World};
use proptest::prelude::*;

/// Data that is never overwritten.
#[derive(Closure)]
#[allow(dead_code)]
pub(crate) struct Cons {
    head: Option<Ptr<Any>>,
    tail: Option<Ptr<Any>>,
    value: u64,
}

/// The same with another name.
#[derive(Closure)]
#[closure(name = "Other")]
#[allow(dead_code)]
pub(crate) struct Twin {
    only: Option<Ptr<Any>>,
}

/// Data that is overwritten.
#[derive(Closure)]
#[allow(dead_code)]
pub(crate) struct Cell {
    here: Mut<Any>,
    there: Mut<Any>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Shape {
    Cons,
    Twin,
    Cell,
    Var,
    Array(usize),
    Record(usize),
    Bytes(usize),
}

/// A closure, and the targets of its slots: earlier closures, by number modulo their count.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    shape: Shape,
    to: [Option<usize>; 4],
    /// Collect afterwards: a major collection if true, otherwise whichever is due.
    collect: Option<bool>,
}

/// The parts of a heap.
#[derive(Debug, Clone)]
pub(crate) struct Graph {
    pub nodes: Vec<Node>,
    /// Stores after all allocations: the closure, the target, and the mutable slot (modulo the
    /// number of slots).
    pub stores: Vec<(usize, usize, usize)>,
    /// The closures kept in frames and in handles.
    pub frames: Vec<usize>,
    pub handles: Vec<usize>,
    /// The named roots, and whether they are weak. Names may repeat.
    pub named: Vec<(usize, bool)>,
}

fn shape() -> impl Strategy<Value = Shape> {
    prop_oneof![
        4 => Just(Shape::Cons),
        2 => Just(Shape::Twin),
        2 => Just(Shape::Cell),
        1 => Just(Shape::Var),
        1 => (0..9_usize).prop_map(Shape::Array),
        1 => (0..4_usize).prop_map(Shape::Record),
        1 => (0..40_usize).prop_map(Shape::Bytes),
    ]
}

fn node() -> impl Strategy<Value = Node> {
    let to = || prop::option::weighted(0.7, 0..1000_usize);
    let collect = prop_oneof![30 => Just(None), 1 => Just(Some(false)), 1 => Just(Some(true))];
    (shape(), [to(), to(), to(), to()], collect).prop_map(|(shape, to, collect)| Node { shape, to, collect })
}

prop_compose! {
    pub fn graph()(
        nodes in prop::collection::vec(node(), 1..120),
        stores in prop::collection::vec((0..1000_usize, 0..1000_usize, 0..8_usize), 0..30),
        frames in prop::collection::vec(0..1000_usize, 0..3),
        handles in prop::collection::vec(0..1000_usize, 0..3),
        named in prop::collection::vec((0..1000_usize, any::<bool>()), 0..12),
    ) -> Graph {
        Graph { nodes, stores, frames, handles, named }
    }
}

/// The array of all closures, while they are being made.
type All = MutArray<Any>;

fn at<'m, 'h, M: MutatorKind>(
    m: &NoGc<'h, M>,
    all: Gc<'m, 'h, All>,
    made: usize,
    number: Option<usize>,
) -> Option<Gc<'m, 'h, Any>> {
    all.get(m, number?.checked_rem(made)?)
}

/// Allocates node number `made`, with the targets of its immutable slots.
fn alloc<'m, 'h, M: MutatorKind>(
    m: &'m mut Mutator<'h, M>,
    all: &Root<'_, 'h, All>,
    made: usize,
    node: &Node,
) -> Gc<'m, 'h, Any> {
    let [first, second, ..] = node.to;
    match node.shape {
        Shape::Cons => m
            .alloc(|m| Cons::new(at(m, all.get(m), made, first), at(m, all.get(m), made, second), 7))
            .erase(),
        Shape::Twin => m.alloc(|m| Twin::new(at(m, all.get(m), made, first))).erase(),
        Shape::Cell => m.alloc(|_| Cell::new(None, None)).erase(),
        Shape::Var => m.alloc(|_| MutVar::<Any>::new(None)).erase(),
        Shape::Array(len) => m.alloc_array::<Any>(len, |_| None).erase(),
        Shape::Record(pointers) => {
            let shape = RecordShape {
                pointers: pointers as u32,
                bytes: 5,
            };
            m.alloc_record(shape).erase()
        }
        Shape::Bytes(len) => m.alloc_bytes_filled(len, 1).erase(),
    }
}

/// Stores `value` in mutable slot `slot`, modulo the number of slots.
fn store<'h, M: MutatorKind>(
    m: &NoGc<'h, M>,
    closure: Gc<'_, 'h, Any>,
    shape: Shape,
    slot: usize,
    value: Option<Gc<'_, 'h, Any>>,
) {
    let same = "the type it was allocated with";
    match shape {
        Shape::Cell if slot.is_multiple_of(2) => closure.downcast::<Cell>().expect(same).set_here(m, value),
        Shape::Cell => closure.downcast::<Cell>().expect(same).set_there(m, value),
        Shape::Var => closure.downcast::<MutVar<Any>>().expect(same).write(m, value),
        Shape::Array(len) if len > 0 => closure.downcast::<All>().expect(same).set(m, slot % len, value),
        Shape::Record(len) if len > 0 => closure.downcast::<Record>().expect(same).set(m, slot % len, value),
        _ => {}
    }
}

/// Builds `graph` in `world`. Collects in between, and once more when only the roots are left.
fn build<M: MutatorKind>(world: &World<M>, graph: &Graph) {
    let count = graph.nodes.len();
    let session = world.enter(|m| {
        m.frame(|m, [f, g, h]| {
            let frames = [f, g, h].map(|slot| slot.put_option::<Any>(m, None));
            let _handles: Vec<Handle<Any>> = m.frame(|m, [all]| {
                let all = all.put(m.alloc_array::<Any>(count, |_| None));
                for (made, node) in graph.nodes.iter().enumerate() {
                    let (m2, new) = m.with_view(|m| alloc(m, &all, made, node));
                    all.get(m2).set(m2, made, Some(new));
                    for (slot, to) in node.to.iter().enumerate() {
                        store(m2, new, node.shape, slot, at(m2, all.get(m2), made, *to));
                    }
                    if let Some(major) = node.collect {
                        m.collect(if major { Request::Full } else { Request::Minor });
                    }
                }
                for &(into, value, slot) in &graph.stores {
                    let into = into % count;
                    let closure = all.get(m).get(m, into).expect("all are there");
                    store(
                        m,
                        closure,
                        graph.nodes[into].shape,
                        slot,
                        at(m, all.get(m), count, Some(value)),
                    );
                }
                let of = |number: usize| at(m, all.get(m), count, Some(number));
                graph
                    .frames
                    .iter()
                    .zip(&frames)
                    .for_each(|(number, slot)| slot.set(m, of(*number)));
                let names: Vec<_> = (0..graph.named.len()).map(|i| format!("root{i}")).collect();
                let named = |weak: bool| {
                    let all = graph.named.iter().zip(&names).filter(move |((_, is), _)| *is == weak);
                    all.map(|((number, _), name)| (name.as_str(), of(*number).expect("all are there")))
                };
                m.set_heap_roots(named(false));
                m.set_weak_heap_roots(named(true));
                let handle = |number: &usize| m.handle(of(*number).expect("all are there"));
                graph.handles.iter().map(handle).collect()
            });
            m.collect(Request::Minor);
            m.collect(Request::Full);
        });
    });
    session.expect("room enough");
}

/// Passes the heap to a function after each collection.
pub(crate) struct Look<F>(pub F);

impl<F: FnMut(&Stopped<'_>) + Send> Listener for Look<F> {
    fn event(&mut self, event: &Event<'_>) {
        if let EventKind::End { stopped, .. } = event.kind {
            self.0(stopped);
        }
    }
}

struct Everywhere<'g, L> {
    graph: &'g Graph,
    look: &'g L,
}

impl<L: Fn(&Stopped<'_>) + Clone + Send + 'static> CollectorVisitor for Everywhere<'_, L> {
    type Output = ();
    fn visit<C: Collector>(self) {
        let least = C::DESCRIPTION.generations.0;
        let mut config = config(least.max(2).min(C::DESCRIPTION.generations.1));
        config.capabilities = 1;
        let mut world = World::new::<C>(&config).expect("a small heap");
        world.listen(Box::new(Look(self.look.clone())));
        build(&world, self.graph);
        world.finish();
    }
}

/// Builds `graph` under every collector in the list, and calls `look` after each collection.
pub(crate) fn everywhere<L: Fn(&Stopped<'_>) + Clone + Send + 'static>(graph: &Graph, look: &L) {
    for description in gclab_collectors::All::descriptions() {
        gclab_collectors::All::with(description.name, Everywhere { graph, look }).expect("it is in the list");
    }
}
