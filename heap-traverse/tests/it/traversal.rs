//! The traversal visits each reachable closure once, in order, without recursion.

use super::{Node, NodeFields, config};
use gclab_collectors::Copying;
use gclab_core::collector::KindOf;
use gclab_core::words::Words;
use gclab_core::world::{ClosureView, World};
use gclab_heap_traverse::{Client, Order, Traversal, Visit};

/// Counts visits, in one order or the other. `visit` gets a closure's words and whether it is a
/// root.
struct Count<F, const DEPTH_FIRST: bool> {
    count: usize,
    visit: F,
}

impl<'a, F: FnMut(Words, bool) -> Visit<()>, const DEPTH_FIRST: bool> Client<'a> for Count<F, DEPTH_FIRST> {
    const ORDER: Order = if DEPTH_FIRST { Order::DepthFirst } else { Order::Any };
    type Parent = Option<ClosureView<'a>>;
    type Data = ();
    type Sum = ();
    fn visit(&mut self, closure: ClosureView<'a>, parent: Self::Parent, (): (), first: bool) -> Visit<()> {
        assert!(first);
        self.count += 1;
        (self.visit)(closure.words(), parent.is_none())
    }
}

/// Visits everything in a world, twice in each order. Returns the number of closures.
fn visited(world: &World<KindOf<Copying>>, mut visit: impl FnMut(Words, bool) -> Visit<()>) -> usize {
    let mut counts = Vec::new();
    world
        .inspect(|stopped| {
            let mut traversal = Traversal::new(stopped);
            let roots = || stopped.root_closures().into_iter().map(|root| (root, ()));
            for _again in 0..2 {
                let mut any = Count::<_, false> {
                    count: 0,
                    visit: &mut visit,
                };
                traversal.run(roots(), &mut any);
                counts.push(any.count);
                let mut depth_first = Count::<_, true> {
                    count: 0,
                    visit: &mut visit,
                };
                traversal.run(roots(), &mut depth_first);
                counts.push(depth_first.count);
            }
        })
        .expect("no thread is inside");
    assert!(counts.iter().all(|count| *count == counts[0]), "{counts:?}");
    counts[0]
}

#[test]
fn a_list_of_a_million_needs_no_stack() {
    let world = World::new::<Copying>(&config(2)).expect("a small heap");
    let list = world
        .enter(|m| {
            m.frame(|m, [list]| {
                let list = list.put(m.alloc(|_| Node::new(0, None, None)));
                for i in 1..1_000_000 {
                    // Alternately through the first and the last pointer.
                    let (m, node) = m.alloc_with(|m| match i % 2 {
                        0 => Node::new(i, Some(list.get(m)), None),
                        _ => Node::new(i, None, Some(list.get(m))),
                    });
                    list.set(m, node);
                }
                let list = list.get(m);
                m.handle(list)
            })
        })
        .expect("room enough");
    assert_eq!(visited(&world, |_, _| Visit::Descend(())), 1_000_000);
    drop(list);
    assert_eq!(visited(&world, |_, _| Visit::Descend(())), 0);
}

#[test]
fn shared_and_cyclic_closures_are_visited_once_and_skipped_ones_end_it() {
    let world = World::new::<Copying>(&config(2)).expect("a small heap");
    let _top = world
        .enter(|m| {
            m.frame(|m, [shared, left]| {
                let shared = shared.put(m.alloc(|_| Node::new(3, None, None)));
                let left = left.put(m.alloc(|m| Node::new(1, Some(shared.get(m)), None)));
                let (m, top) = m.alloc_with(|m| Node::new(0, Some(left.get(m)), Some(shared.get(m))));
                shared.get(m).set_right(m, Some(top));
                assert_eq!((top.value(m), left.get(m).value(m), shared.get(m).value(m)), (0, 1, 3));
                assert!(top.left(m) == Some(left.get(m)) && top.right(m) == left.get(m).left(m));
                (m.handle(top), m.handle(top))
            })
        })
        .expect("room enough");
    let mut roots = 0;
    let count = visited(&world, |words, is_root| {
        assert_eq!(words, Words(4));
        roots += usize::from(is_root);
        Visit::Descend(())
    });
    assert_eq!(
        (count, roots),
        (3, 4),
        "four runs, one closure without a parent in each"
    );
    assert_eq!(visited(&world, |_, _| Visit::Skip), 1);
}
