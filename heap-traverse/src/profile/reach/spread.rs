//! Sets passed on along flows.
//!
//! A region whose set is complete passes it on. A set is complete when all regions that flow into
//! this one have passed on theirs, so regions without inflow come first. A queue tells which region
//! is next, and so which memory to fetch ahead. Regions that wait for each other, directly or not,
//! are left when the queue is empty (`cycles.rs`). Time: proportional to regions and flows.

use super::super::sets::{Set, Sets};
use super::cycles::Cycles;
use super::flow::{AHEAD, Node, Region, expect};
use crate::fetch::fetch;
use crate::rows::Rows;

/// Regions and the flows between them.
#[derive(Debug, Default)]
pub(super) struct Flows {
    pub nodes: Vec<Node>,
    pub rows: Rows,
    /// Regions that are complete, in this order.
    queue: Vec<u32>,
    cycles: Cycles,
}

impl Flows {
    /// Replaces everything by these flows between `regions` regions.
    pub(super) fn renew(&mut self, regions: usize, flows: &[(Region, Region)]) {
        u32::try_from(flows.len()).expect("fewer than 2^32 flows");
        self.rows.fill(regions, flows.len(), |at| Some(flows[at]));
        self.nodes.clear();
        self.nodes.resize(regions, Node::default());
        for (at, (_, into)) in flows.iter().enumerate() {
            if let Some((_, into)) = flows.get(at + AHEAD) {
                fetch(&self.nodes, *into);
            }
            self.nodes[*into as usize].waiting += 1;
        }
    }

    /// The sets of all regions.
    pub(super) fn sets(&self) -> impl Iterator<Item = Set> {
        self.nodes.iter().map(|node| node.set)
    }

    /// Completes all sets, from the sets that are brought to some regions.
    pub(super) fn pass_on(&mut self, brought: &[(Region, Set)], sets: &mut Sets) {
        for &(region, set) in brought {
            let node = &mut self.nodes[region as usize];
            node.set = sets.union(node.set, set);
        }
        let Flows { nodes, rows, queue, .. } = self;
        queue.clear();
        queue.reserve_exact(nodes.len());
        let free = (0..).zip(&*nodes).filter(|(_, node)| node.waiting == 0);
        queue.extend(free.map(|(number, _): (u32, _)| number));
        let mut at = 0;
        while let Some(&number) = queue.get(at) {
            expect(rows, queue, at, nodes);
            at += 1;
            let set = nodes[number as usize].set;
            for &target in rows.row(number) {
                let node = &mut nodes[target as usize];
                node.set = sets.union(node.set, set);
                node.waiting -= 1;
                if node.waiting == 0 {
                    queue.push(target);
                }
            }
        }
        if queue.len() < nodes.len() {
            self.cycles.complete(rows, nodes, queue, sets);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A random graph, with a label for some of its regions.
    fn compare(seed: u64, regions: u32, flows: usize) {
        let mut state = seed;
        let mut draw = |below: u32| {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 33) as u32 % below
        };
        let flows: Vec<(Region, Region)> = (0..flows).map(|_| (draw(regions), draw(regions))).collect();
        let labels: Vec<(Region, u32)> = (0..5).map(|label| (draw(regions), label)).collect();
        let mut sets = Sets::new(usize::MAX);
        let brought: Vec<_> = labels
            .iter()
            .map(|(region, label)| (*region, sets.single(*label)))
            .collect();
        let mut graph = Flows::default();
        // The second round shows that nothing is left of the first.
        for _again in 0..2 {
            graph.renew(regions as usize, &flows);
            graph.pass_on(&brought, &mut sets);
        }
        let mut expected = vec![Vec::new(); regions as usize];
        for &(from, label) in &labels {
            let mut open = vec![from];
            while let Some(region) = open.pop() {
                if expected[region as usize].last() != Some(&label) {
                    expected[region as usize].push(label);
                    open.extend(flows.iter().filter(|(from, _)| *from == region).map(|(_, into)| *into));
                }
            }
        }
        let found: Vec<_> = graph.sets().map(|set| sets.labels(set).to_vec()).collect();
        assert_eq!(found, expected, "{flows:?} {labels:?}");
    }

    #[test]
    fn sets_are_those_of_a_search_from_each_label() {
        for seed in 0..2000 {
            let regions = 1 + seed as u32 % 40;
            compare(seed, regions, (seed / 40) as usize * regions as usize / 12);
        }
    }
}
