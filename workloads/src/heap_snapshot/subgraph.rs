//! Chooses nodes to rebuild together: a subgraph that contains every referrer of each rebuilt node.
//!
//! To replace a node is to store its replacement in every node that refers to it, and a heap has no
//! way back from a node to its referrers. So a subgraph is walked breadth first from some node, and
//! those nodes are rebuilt that only nodes of the subgraph refer to. Programs renew their data in
//! the same way: the tree is new, but refers to old classes and constants. The choice depends only
//! on ordinals, so it is the same under every collector. Its cost is proportional to the subgraph.

use super::graph::{Graph, ROOT};

/// Most nodes in a subgraph: a few thousand, so that it fits the cache and a heap has many.
pub(super) const LARGEST: usize = 4096;

/// A node with more referrers than this is shared by the whole program (a class, a constant). The
/// walk does not enter it: it could never be rebuilt, and leads everywhere.
const SHARED: u32 = 64;

const OUTSIDE: u32 = u32::MAX;

/// One step of the walk: a node, and the pointer that led to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// The node's ordinal.
    pub(super) ordinal: u32,
    /// The place in the subgraph of the node that the walk came from.
    pub(super) from: u32,
    /// The index of the pointer in that node.
    pub(super) slot: u32,
    /// The number of referrers found inside the subgraph.
    inside: u32,
}

/// A subgraph; made once and regrown many times.
#[derive(Debug)]
pub(super) struct Subgraph {
    steps: Vec<Step>,
    /// By ordinal: its place in `steps`, or `OUTSIDE`.
    places: Vec<u32>,
    in_degrees: Vec<u32>,
}

impl Subgraph {
    /// An empty subgraph, for nodes of `graph`.
    pub(super) fn new(graph: &Graph) -> Self {
        let in_degrees = (0..graph.node_count()).map(|node| graph.in_degree(node)).collect();
        Subgraph {
            steps: Vec::new(),
            places: vec![OUTSIDE; graph.node_count() as usize],
            in_degrees,
        }
    }

    /// Walks the subgraph around `start`. Returns the number of edges looked at.
    pub(super) fn grow(&mut self, graph: &Graph, start: u32) -> u64 {
        for step in self.steps.drain(..) {
            self.places[step.ordinal as usize] = OUTSIDE;
        }
        self.enter(Step {
            ordinal: start,
            from: 0,
            slot: 0,
            inside: 0,
        });
        let (mut next, mut edges) = (0, 0);
        while next < self.steps.len() {
            let pointers = graph.pointers(self.steps[next].ordinal);
            edges += pointers.len() as u64;
            for (slot, &ordinal) in pointers.iter().enumerate() {
                let place = self.places[ordinal as usize];
                if place != OUTSIDE {
                    self.steps[place as usize].inside += 1;
                } else if self.steps.len() < LARGEST && self.in_degrees[ordinal as usize] <= SHARED {
                    self.enter(Step {
                        ordinal,
                        from: next as u32,
                        slot: slot as u32,
                        inside: 1,
                    });
                }
            }
            next += 1;
        }
        edges
    }

    fn enter(&mut self, step: Step) {
        self.places[step.ordinal as usize] = self.steps.len() as u32;
        self.steps.push(step);
    }

    /// The nodes in the order of the walk: each is found from one before it, except the first.
    #[inline]
    pub(super) fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The place of a node in the subgraph, if it is to be rebuilt: all its referrers are in the
    /// subgraph.
    #[inline]
    pub(super) fn rebuilt(&self, ordinal: u32) -> Option<usize> {
        let place = self.places[ordinal as usize] as usize;
        let step = self.steps.get(place)?;
        (step.inside == self.in_degrees[ordinal as usize] && ordinal != ROOT).then_some(place)
    }
}

#[cfg(test)]
mod tests {
    use super::{Graph, Subgraph};
    use crate::heap_snapshot::postcss;

    /// Checks the workload's assumption against all edges of a real heap.
    #[test]
    fn every_referrer_of_what_is_rebuilt_is_in_the_region() {
        let graph = Graph::new(&postcss().unwrap()).unwrap();
        let mut subgraph = Subgraph::new(&graph);
        let mut rebuilt_in_all = 0;
        for start in (0..graph.node_count()).step_by(1009) {
            subgraph.grow(&graph, start);
            let steps = subgraph.steps();
            for (place, step) in steps.iter().enumerate().skip(1) {
                let from = steps[step.from as usize].ordinal;
                assert!((step.from as usize) < place);
                assert_eq!(graph.pointers(from)[step.slot as usize], step.ordinal);
            }
            let inside: std::collections::HashSet<_> = steps.iter().map(|step| step.ordinal).collect();
            assert_eq!(inside.len(), steps.len());
            for node in 0..graph.node_count() {
                if !inside.contains(&node) {
                    assert!(
                        graph
                            .pointers(node)
                            .iter()
                            .all(|&target| subgraph.rebuilt(target).is_none())
                    );
                    assert_eq!(subgraph.rebuilt(node), None);
                }
            }
            let rebuilt = steps.iter().filter(|step| subgraph.rebuilt(step.ordinal).is_some());
            rebuilt_in_all += rebuilt.count();
        }
        assert!(rebuilt_in_all > 1000, "{rebuilt_in_all}");
    }

    #[test]
    fn paths_lead_to_their_nodes() {
        let graph = Graph::new(&postcss().unwrap()).unwrap();
        assert_eq!(graph.reached().len(), graph.node_count() as usize);
        let mut path = Vec::new();
        for node in 0..graph.node_count() {
            graph.path(node, &mut path);
            assert_eq!(path.iter().fold(0, |at, &slot| graph.pointers(at)[slot as usize]), node);
        }
    }
}
