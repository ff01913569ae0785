//! Everything that goes through a heap against its definition, on random heaps, after each collection of every collector.

use super::graphs::{Graph, everywhere, graph};
use gclab_core::world::{ClosureView, Stopped};
use gclab_heap_traverse::{Client, Order, Traversal, Visit};
use proptest::prelude::*;
use std::collections::{HashMap, HashSet};

/// Depth first by recursion: closures in the order they are met, and how many arrivals there are.
fn search<'a>(closure: ClosureView<'a>, met: &mut Vec<ClosureView<'a>>, seen: &mut HashSet<ClosureView<'a>>) -> usize {
    if !seen.insert(closure) {
        return 1;
    }
    met.push(closure);
    1 + closure.children().map(|child| search(child, met, seen)).sum::<usize>()
}

/// Notes all that a traversal says.
#[derive(Default)]
struct Note<'a, const DEPTH_FIRST: bool> {
    met: Vec<ClosureView<'a>>,
    left: Vec<(ClosureView<'a>, u32)>,
    arrivals: usize,
    depth: HashMap<ClosureView<'a>, u32>,
}

impl<'a, const DEPTH_FIRST: bool> Client<'a> for Note<'a, DEPTH_FIRST> {
    const ORDER: Order = if DEPTH_FIRST { Order::DepthFirst } else { Order::Any };
    const AGAIN: bool = true;
    const LEAVE: bool = DEPTH_FIRST;
    type Parent = Option<ClosureView<'a>>;
    type Data = u32;
    type Sum = u32;

    fn visit(&mut self, closure: ClosureView<'a>, parent: Self::Parent, depth: u32, first: bool) -> Visit<u32> {
        self.arrivals += 1;
        match parent {
            Some(parent) => {
                assert!(parent.children().any(|child| child == closure));
                assert_eq!(depth, self.depth[&parent] + 1);
            }
            None => assert_eq!(depth, 0),
        }
        assert_eq!(first, !self.depth.contains_key(&closure));
        if !first {
            return Visit::Skip;
        }
        self.depth.insert(closure, depth);
        self.met.push(closure);
        Visit::Descend(depth + 1)
    }

    fn leave(&mut self, closure: ClosureView<'a>, sum: u32, parent: Option<(ClosureView<'a>, &mut u32)>) {
        self.left.push((closure, sum + 1));
        assert_eq!(parent.is_none(), self.depth[&closure] == 0);
        if let Some((parent, above)) = parent {
            assert!(parent.children().any(|child| child == closure));
            *above += sum + 1;
        }
    }
}

/// Closures below each, itself included, in the order in which they were first met: what the tree of first arrivals says.
fn below<'a>(met: &[ClosureView<'a>], depth: &HashMap<ClosureView<'a>, u32>) -> HashMap<ClosureView<'a>, u32> {
    let size = |i: usize| {
        met[i + 1..]
            .iter()
            .take_while(|other| depth[*other] > depth[&met[i]])
            .count() as u32
            + 1
    };
    (0..met.len()).map(|i| (met[i], size(i))).collect()
}

fn traversals(stopped: &Stopped<'_>) {
    let roots = stopped.root_closures();
    let (mut met, mut seen) = (Vec::new(), HashSet::new());
    let arrivals: usize = roots.iter().map(|root| search(*root, &mut met, &mut seen)).sum();
    let mut traversal = Traversal::new(stopped);
    for _again in 0..2 {
        let mut deep = Note::<true>::default();
        traversal.run(roots.iter().map(|root| (*root, 0)), &mut deep);
        assert_eq!((&deep.met, deep.arrivals), (&met, arrivals));
        assert_eq!(deep.left.len(), met.len());
        assert_eq!(
            deep.left.into_iter().collect::<HashMap<_, _>>(),
            below(&met, &deep.depth)
        );
        let mut any = Note::<false>::default();
        traversal.run(roots.iter().map(|root| (*root, 0)), &mut any);
        assert_eq!(
            (any.met.iter().copied().collect::<HashSet<_>>(), any.arrivals),
            (seen.clone(), arrivals)
        );
        let mut once = Vec::new();
        traversal.each(roots.iter().copied(), |closure| {
            once.push(closure);
            Visit::Descend(())
        });
        assert_eq!(once, any.met);
        assert!(seen.iter().all(|closure| traversal.visited(*closure)));
    }
}

fn cases(count: u32, run: impl Fn(&Graph)) {
    let config = ProptestConfig {
        cases: count,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let mut runner = proptest::test_runner::TestRunner::new_with_rng(
        config,
        proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
    );
    runner
        .run(&graph(), |graph| {
            run(&graph);
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn traversals_visit_what_a_search_finds_in_its_order() {
    cases(64, |graph| everywhere(graph, &traversals));
}
