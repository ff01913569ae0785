//! Regions that flow into each other in cycles share one set. They are joined into components, and
//! then sets are passed on.
//!
//! In disordered heaps most regions are in *one* such component. It is searched for first, forwards
//! and then backwards from a region with many flows in and out. The regions met both times are its
//! component (Fleischer, Hendrickson, Pınar: On Identifying Strongly Connected Components in
//! Parallel, 2000). Both searches may go in any order, so their queue shows which memory to fetch
//! ahead. The other components are found by Tarjan's algorithm, which must go depth first, and
//! waits for memory at each step.
//!
//! Time: proportional to the regions and flows that are left.

use super::super::sets::Sets;
use super::flow::{AHEAD, Node, REGIONS_AHEAD, SIBLINGS, expect};
use crate::fetch::fetch;
use crate::rows::Rows;

/// The component of a region that is in none.
const NONE: u32 = u32::MAX;

/// Memory kept between profiles.
#[derive(Debug, Default)]
pub(super) struct Cycles {
    /// At first: the place where the row of each region in `sources` begins, and one more at the
    /// end. Then, by region: the region that represents its component.
    starts: Vec<u32>,
    /// The sources of flows, by the region that they flow into.
    sources: Vec<u32>,
}

/// A set of regions, as bits.
struct Members(Vec<u64>);

impl Members {
    fn new(regions: usize) -> Self {
        Members(vec![0; regions.div_ceil(64)])
    }

    #[inline(always)]
    fn contains(&self, number: u32) -> bool {
        self.0[number as usize / 64] >> (number % 64) & 1 == 1
    }

    /// Adds a region. Returns whether it is new.
    #[inline(always)]
    fn insert(&mut self, number: u32) -> bool {
        let (word, bit) = (&mut self.0[number as usize / 64], 1 << (number % 64));
        let old = *word;
        *word |= bit;
        old & bit == 0
    }
}

impl Cycles {
    /// Completes the sets of all `nodes` that wait. `queue` has the others, and room for all.
    pub(super) fn complete(&mut self, rows: &Rows, nodes: &mut [Node], queue: &mut Vec<u32>, sets: &mut Sets) {
        let product = |(number, node): (u32, &Node)| (u64::from(node.waiting) * rows.row(number).len() as u64, number);
        let products = (0..).zip(&*nodes).filter(|(_, node)| node.waiting > 0).map(product);
        let (_, pivot) = products.max().expect("some are left");
        let complete = queue.len();
        let reached = self.forwards(rows, pivot, queue, nodes.len());
        self.turn_round(rows, &reached);
        queue.truncate(complete);
        let giant = self.backwards(pivot, queue, nodes.len());
        let members = queue.len() - complete;
        queue.truncate(complete);

        // From here on `starts` has components.
        let components = &mut self.starts;
        components.clear();
        components.extend((0..nodes.len() as u32).map(|number| if giant.contains(number) { pivot } else { NONE }));
        if complete + members < nodes.len() {
            tarjan(rows, nodes, components, queue);
        }
        let others = &queue[complete..];
        for number in (0..nodes.len() as u32).filter(|number| giant.contains(*number)) {
            join(nodes, pivot, number, sets);
        }
        others
            .iter()
            .for_each(|&number| join(nodes, components[number as usize], number, sets));
        // Regions outside the pivot's component that the pivot does not reach come first, then that
        // component, then the regions that it reaches: each in the order of their flows.
        let mut pass_on = |number: u32| pass_on(rows, nodes, components, number, sets);
        others
            .iter()
            .rev()
            .filter(|number| !reached.contains(**number))
            .for_each(|&number| pass_on(number));
        (0..components.len() as u32)
            .filter(|number| giant.contains(*number))
            .for_each(&mut pass_on);
        others
            .iter()
            .rev()
            .filter(|number| reached.contains(**number))
            .for_each(|&number| pass_on(number));
        for number in 0..nodes.len() {
            if components[number] != NONE {
                nodes[number].set = nodes[components[number] as usize].set;
            }
        }
    }

    /// The regions that the pivot reaches, itself included. Leaves in `starts`, for each region,
    /// how many flows come from these.
    fn forwards(&mut self, rows: &Rows, pivot: u32, queue: &mut Vec<u32>, regions: usize) -> Members {
        let mut reached = Members::new(regions);
        let counts = &mut self.starts;
        counts.clear();
        counts.resize(regions + 1, 0);
        let mut at = queue.len();
        reached.insert(pivot);
        queue.push(pivot);
        while let Some(&number) = queue.get(at) {
            expect(rows, queue, at, counts);
            at += 1;
            for &target in rows.row(number) {
                counts[target as usize] += 1;
                if reached.insert(target) {
                    queue.push(target);
                }
            }
        }
        reached
    }

    /// Turns counts into rows of sources.
    fn turn_round(&mut self, rows: &Rows, reached: &Members) {
        let mut sum = 0;
        for start in &mut self.starts {
            // The end of the row at first. Each source moves it one place towards the start.
            sum += *start;
            *start = sum;
        }
        let starts = &mut self.starts;
        self.sources.clear();
        self.sources.resize(sum as usize, 0);
        let ahead = |edge: usize| rows.targets().get(edge).copied();
        for number in (0..starts.len() as u32 - 1).filter(|number| reached.contains(*number)) {
            for (edge, &target) in (rows.start(number) as usize..).zip(rows.row(number)) {
                if let Some(target) = ahead(edge + 2 * AHEAD) {
                    fetch(starts, target);
                }
                if let Some(target) = ahead(edge + AHEAD) {
                    fetch(&self.sources, starts[target as usize].wrapping_sub(1));
                }
                let start = &mut starts[target as usize];
                *start -= 1;
                self.sources[*start as usize] = number;
            }
        }
    }

    /// The regions that reach the pivot, itself included, among those it reaches: its component.
    fn backwards(&self, pivot: u32, queue: &mut Vec<u32>, regions: usize) -> Members {
        let mut members = Members::new(regions);
        let mut at = queue.len();
        members.insert(pivot);
        queue.push(pivot);
        while let Some(&number) = queue.get(at) {
            let ahead = |regions: usize| queue.get(at + regions * REGIONS_AHEAD).copied();
            if let Some(number) = ahead(2) {
                fetch(&self.starts, number);
            }
            if let Some(number) = ahead(1) {
                fetch(&self.sources, self.starts[number as usize]);
            }
            at += 1;
            let row = self.starts[number as usize] as usize..self.starts[number as usize + 1] as usize;
            for &source in &self.sources[row] {
                if members.insert(source) {
                    queue.push(source);
                }
            }
        }
        members
    }
}

/// Adds the set of `number` to the set of the region that represents its component.
#[inline(always)]
fn join(nodes: &mut [Node], component: u32, number: u32, sets: &mut Sets) {
    let set = nodes[number as usize].set;
    let all = &mut nodes[component as usize].set;
    *all = sets.union(*all, set);
}

/// Passes the set of a region's component on to other components.
#[inline(always)]
fn pass_on(rows: &Rows, nodes: &mut [Node], components: &[u32], number: u32, sets: &mut Sets) {
    let from = components[number as usize];
    for &target in rows.row(number) {
        let to = components[target as usize];
        if to != from {
            let set = nodes[from as usize].set;
            let node = &mut nodes[to as usize];
            node.set = sets.union(node.set, set);
        }
    }
}

/// Tarjan's algorithm, with an explicit stack, for the waiting regions without a component. Appends
/// the members of each component to `order`, next to each other. Flows between components go
/// against this order.
fn tarjan(rows: &Rows, nodes: &[Node], components: &mut [u32], order: &mut Vec<u32>) {
    // The number of the earliest region, in the order of the search, that is known to be in the
    // region's component. 0 if the region has not been met.
    let mut low = vec![0_u32; nodes.len()];
    // The path: a region, the number of its flows that have been looked at, and its number in that
    // order.
    let mut path: Vec<(u32, u32, u32)> = Vec::new();
    let mut open: Vec<u32> = Vec::new();
    let mut met = 0;
    for start in 0..nodes.len() as u32 {
        if nodes[start as usize].waiting == 0 || components[start as usize] != NONE || low[start as usize] != 0 {
            continue;
        }
        let mut next = Some(start);
        loop {
            if let Some(number) = next.take() {
                met += 1;
                low[number as usize] = met;
                path.push((number, 0, met));
                open.push(number);
                for &target in rows.row(number).iter().take(SIBLINGS) {
                    fetch(&low, target);
                    fetch(components, target);
                }
            }
            let Some((number, looked_at, own)) = path.last_mut() else {
                break;
            };
            if let Some(&target) = rows.row(*number).get(*looked_at as usize) {
                *looked_at += 1;
                if components[target as usize] != NONE {
                    continue;
                }
                let other = low[target as usize];
                if other == 0 {
                    next = Some(target);
                } else {
                    let low = &mut low[*number as usize];
                    *low = other.min(*low);
                }
                continue;
            }
            let (number, own) = (*number, *own);
            path.pop();
            let lowest = low[number as usize];
            if lowest == own {
                while let Some(member) = open.pop() {
                    components[member as usize] = number;
                    order.push(member);
                    if member == number {
                        break;
                    }
                }
            }
            if let Some((above, ..)) = path.last() {
                let above = &mut low[*above as usize];
                *above = lowest.min(*above);
            }
        }
    }
}
