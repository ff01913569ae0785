//! Who reaches what: for each closure the set of labels that reach it, however many labels there are, in two visits of each.
//!
//! A root brings a label; a closure passes its set on to what it points to, or, if it is a *source*, one label in the place of that. The
//! set of a closure is the union of what roots and other closures pass to it: the least solution of these equations. Retainers are sources that pass
//! on themselves; named roots bring their names, and there are no sources. GHC's retainer profiler walks below a closure again for each retainer that
//! is added to it, its proposed root profiler for each root; here
//!
//! 1. the first traversal finds which closures are *shared*, reached more than once;
//! 2. the second divides the heap into *regions*. A shared closure begins one, and so do all that is passed one label by sources. A closure that is
//!    reached once belongs to the region of what reaches it, since it has that one's set. Pointers between regions are noted as *flows*, those that
//!    follow each other between the same two as one;
//! 3. regions that flow into each other in a circle have one set. Tarjan's algorithm finds these components and their order, and sets are passed on
//!    along it, once for each flow. Sets are kept once each (`sets.rs`), so that most unions are a look into a table.
//!
//! So each closure is visited twice and each pointer followed twice, whatever the number of labels: [`Reach::visits`] counts it, and a test holds
//! it against 2. Memory: 2/64 of the heap for bits, 4 bytes for each shared closure's word, and 12 bytes for each region, 16 for each flow. Sets that occur are few; if every closure
//! had another one, they would be as large as the answer.

use super::sets::{EMPTY, Label, Set, Sets};
use crate::{AddrSet, Client, ClosureMap, Order, Traversal, Visit};
use gclab_core::words::Addr;
use gclab_core::world::ClosureView;

/// A part of the heap whose closures have one set; number 0 is none.
pub(super) type Region = u32;

/// What is kept between profiles, and the outcome of the last.
#[derive(Debug)]
pub(super) struct Reach {
    shared: AddrSet,
    heads: ClosureMap<Region>,
    /// From where a region was flowed into last.
    last: Vec<Region>,
    flows: Vec<(Region, Region)>,
    /// The region of what each label is passed to.
    sources: Vec<Region>,
    /// Calls that looked into a closure, of both traversals.
    pub visits: u64,
    /// Closures that were reached.
    pub closures: u64,
}

/// Says which label a closure passes on, if it is a source.
pub(super) trait Sources {
    /// The label, or none: it passes on its own set.
    fn label(&mut self, closure: ClosureView<'_>) -> Option<Label>;
}

/// Nothing is a source.
pub(super) struct NoSources;

impl Sources for NoSources {
    #[inline(always)]
    fn label(&mut self, _: ClosureView<'_>) -> Option<Label> {
        None
    }
}

/// The first traversal.
struct FindShared<'r> {
    shared: &'r mut AddrSet,
    visits: u64,
}

impl<'a> Client<'a> for FindShared<'_> {
    const ORDER: Order = Order::Any;
    const AGAIN: bool = true;
    type Parent = ();
    type Data = ();
    type Sum = ();

    #[inline(always)]
    fn visit(&mut self, closure: ClosureView<'a>, _: (), _: (), first: bool) -> Visit<()> {
        if !first {
            self.shared.insert(closure.addr());
            return Visit::Skip;
        }
        self.visits += 1;
        Visit::Descend(())
    }

    #[inline(always)]
    fn found(&self, closure: ClosureView<'a>) {
        self.shared.prefetch(closure.addr());
    }
}

/// The second traversal.
struct FindRegions<'r, S, F> {
    reach: &'r mut Reach,
    sources: &'r mut S,
    count: F,
}

impl<'a, S: Sources, F: FnMut(ClosureView<'a>, Region)> Client<'a> for FindRegions<'_, S, F> {
    const ORDER: Order = Order::Any;
    const AGAIN: bool = true;
    type Parent = ();
    type Data = Region;
    type Sum = ();

    #[inline(always)]
    fn visit(&mut self, closure: ClosureView<'a>, _: (), from: Region, first: bool) -> Visit<Region> {
        let at = closure.addr();
        let region = if !first || self.reach.shared.contains(at) {
            self.reach.flow_into(from, at)
        } else {
            from
        };
        if !first {
            return Visit::Skip;
        }
        self.reach.visits += 1;
        (self.count)(closure, region);
        match self.sources.label(closure) {
            Some(label) => Visit::Descend(self.reach.source(label)),
            None => Visit::Descend(region),
        }
    }

    #[inline(always)]
    fn found(&self, closure: ClosureView<'a>) {
        let at = closure.addr();
        self.reach.shared.prefetch(at);
        self.reach.heads.prefetch(at);
    }
}

impl Reach {
    pub fn new(base: Addr) -> Self {
        Reach {
            shared: AddrSet::new(base),
            heads: ClosureMap::new(base),
            last: Vec::new(),
            flows: Vec::new(),
            sources: Vec::new(),
            visits: 0,
            closures: 0,
        }
    }

    /// Finds the set of every region; `count` gets each closure that is reached, and its region. Roots come with the label that they bring.
    pub fn sets<'a>(
        &mut self,
        traversal: &mut Traversal,
        roots: &[(ClosureView<'a>, Label)],
        sources: &mut impl Sources,
        sets: &mut Sets,
        count: impl FnMut(ClosureView<'a>, Region),
    ) -> Vec<Set> {
        self.shared.clear();
        self.heads.clear();
        self.flows.clear();
        self.sources.clear();
        self.last.clear();
        self.last.push(0);
        let mut first = FindShared {
            shared: &mut self.shared,
            visits: 0,
        };
        traversal.run(roots.iter().map(|(root, _)| (*root, ())), &mut first);
        self.closures = first.visits;
        self.visits = first.visits;
        let roots: Vec<_> = roots.iter().map(|(root, label)| (*root, self.source(*label))).collect();
        let mut second = FindRegions {
            reach: self,
            sources,
            count,
        };
        traversal.run(roots, &mut second);
        self.pass_on(sets)
    }

    /// The region of what `label` is passed to.
    #[inline]
    fn source(&mut self, label: Label) -> Region {
        let label = label as usize;
        if label >= self.sources.len() {
            self.sources.resize(label + 1, 0);
        }
        if self.sources[label] == 0 {
            self.sources[label] = self.another();
        }
        self.sources[label]
    }

    fn another(&mut self) -> Region {
        let number = Region::try_from(self.last.len()).expect("fewer than 2^32 regions");
        self.last.push(0);
        number
    }

    /// The shared closure at `at` is reached from a region: its own.
    #[inline]
    fn flow_into(&mut self, from: Region, at: Addr) -> Region {
        let mut head = *self.heads.entry(at);
        if head == 0 {
            head = self.another();
            *self.heads.entry(at) = head;
        }
        let last = &mut self.last[head as usize];
        if *last != from && head != from {
            *last = from;
            self.flows.push((from, head));
        }
        head
    }

    /// The sets of all regions, from what sources pass on.
    fn pass_on(&self, sets: &mut Sets) -> Vec<Set> {
        let mut graph = Graph::new(self.last.len(), &self.flows);
        let Components {
            of: components,
            count,
            order,
        } = graph.components();
        let mut own = vec![EMPTY; count];
        for (label, region) in self.sources.iter().enumerate().filter(|(_, region)| **region != 0) {
            let component = components[*region as usize] as usize;
            let label = sets.single(label as Label);
            own[component] = sets.union(own[component], label);
        }
        for &region in order.iter().rev() {
            let from = components[region as usize] as usize;
            for &to in graph.out(region) {
                let to = components[to as usize] as usize;
                if to != from {
                    own[to] = sets.union(own[to], own[from]);
                }
            }
        }
        components.iter().map(|component| own[*component as usize]).collect()
    }
}

/// Regions and flows, by where flows begin.
struct Graph {
    /// One more at the end.
    regions: Vec<Vertex>,
    to: Vec<Region>,
}

/// What the algorithm knows of a region, beside each other: where one region flows to is anywhere.
#[derive(Debug, Clone, Copy)]
struct Vertex {
    /// Where its flows begin.
    start: usize,
    /// The number of the earliest region that is known to be of its component; `NEW` as long as it has not been met.
    low: u32,
    /// Its component; `NEW` as long as it has none.
    component: u32,
}

/// See [`Vertex`].
const NEW: u32 = u32::MAX;

impl Graph {
    fn new(regions: usize, flows: &[(Region, Region)]) -> Self {
        let new = Vertex {
            start: 0,
            low: NEW,
            component: NEW,
        };
        let mut all = vec![new; regions + 1];
        flows.iter().for_each(|(from, _)| all[*from as usize].start += 1);
        let mut start = 0;
        for region in &mut all {
            // The end of its flows, from which they are put before each other.
            start += region.start;
            region.start = start;
        }
        let mut to = vec![0; flows.len()];
        for &(from, into) in flows {
            let start = &mut all[from as usize].start;
            *start -= 1;
            to[*start] = into;
        }
        Graph { regions: all, to }
    }

    fn out(&self, region: Region) -> &[Region] {
        &self.to[self.regions[region as usize].start..self.regions[region as usize + 1].start]
    }

    /// The components: Tarjan's algorithm, with a stack of its own.
    fn components(&mut self) -> Components {
        let count = self.regions.len() - 1;
        let (regions, flows) = (&mut self.regions, &self.to);
        // On the path: a region, its flows that have not been looked at, and its number.
        let mut open: Vec<Region> = Vec::new();
        let mut path: Vec<(Region, usize, usize, u32)> = Vec::new();
        let (mut met, mut components, mut order) = (0, 0, Vec::with_capacity(count));
        for start in 0..count as Region {
            if regions[start as usize].low == NEW {
                enter(regions, start, &mut met, &mut open, &mut path);
            }
            while let Some((region, next, end, number)) = path.last_mut() {
                if next < end {
                    let to = flows[*next];
                    *next += 1;
                    let vertex = regions[to as usize];
                    if vertex.low == NEW {
                        enter(regions, to, &mut met, &mut open, &mut path);
                    } else if vertex.component == NEW {
                        let low = &mut regions[*region as usize].low;
                        *low = vertex.low.min(*low);
                    }
                    continue;
                }
                let (region, number) = (*region, *number);
                path.pop();
                let low = regions[region as usize].low;
                if low == number {
                    while let Some(member) = open.pop() {
                        regions[member as usize].component = components;
                        order.push(member);
                        if member == region {
                            break;
                        }
                    }
                    components += 1;
                }
                if let Some((above, ..)) = path.last() {
                    let above = &mut regions[*above as usize].low;
                    *above = low.min(*above);
                }
            }
        }
        Components {
            of: regions[..count].iter().map(|region| region.component).collect(),
            count: components as usize,
            order,
        }
    }
}

/// A region is met.
#[inline]
fn enter(
    regions: &mut [Vertex],
    region: Region,
    met: &mut u32,
    open: &mut Vec<Region>,
    path: &mut Vec<(Region, usize, usize, u32)>,
) {
    let end = regions[region as usize + 1].start;
    let vertex = &mut regions[region as usize];
    vertex.low = *met;
    path.push((region, vertex.start, end, *met));
    open.push(region);
    *met += 1;
}

/// Regions that flow into each other in circles, put together.
struct Components {
    /// The component of each region.
    of: Vec<u32>,
    count: usize,
    /// All regions, those of a component beside each other; flows between components go against this order.
    order: Vec<Region>,
}
