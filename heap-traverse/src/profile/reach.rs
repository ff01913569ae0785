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
        let graph = Graph::new(self.last.len(), &self.flows);
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
    starts: Vec<usize>,
    to: Vec<Region>,
}

impl Graph {
    fn new(regions: usize, flows: &[(Region, Region)]) -> Self {
        let mut starts = vec![0; regions + 1];
        flows.iter().for_each(|(from, _)| starts[*from as usize + 1] += 1);
        (0..regions).for_each(|region| starts[region + 1] += starts[region]);
        let (mut next, mut to) = (starts.clone(), vec![0; flows.len()]);
        for &(from, into) in flows {
            to[next[from as usize]] = into;
            next[from as usize] += 1;
        }
        Graph { starts, to }
    }

    fn out(&self, region: Region) -> &[Region] {
        &self.to[self.starts[region as usize]..self.starts[region as usize + 1]]
    }

    /// The components: Tarjan's algorithm, with a stack of its own.
    fn components(&self) -> Components {
        const NEW: u32 = u32::MAX;
        let regions = self.starts.len() - 1;
        let (mut component, mut low) = (vec![NEW; regions], vec![NEW; regions]);
        let (mut open, mut path): (Vec<Region>, Vec<(Region, usize, u32)>) = (Vec::new(), Vec::new());
        let (mut met, mut count, mut order) = (0, 0, Vec::with_capacity(regions));
        for start in 0..regions as Region {
            if low[start as usize] == NEW {
                path.push((start, self.starts[start as usize], met));
                low[start as usize] = met;
                open.push(start);
                met += 1;
            }
            while let Some((region, next, number)) = path.pop() {
                let at = region as usize;
                let Some(&to) = self.to[next..self.starts[at + 1]].first() else {
                    if low[at] == number {
                        while let Some(member) = open.pop() {
                            component[member as usize] = count;
                            order.push(member);
                            if member == region {
                                break;
                            }
                        }
                        count += 1;
                    }
                    if let Some((above, ..)) = path.last() {
                        low[*above as usize] = low[*above as usize].min(low[at]);
                    }
                    continue;
                };
                path.push((region, next + 1, number));
                if low[to as usize] == NEW {
                    path.push((to, self.starts[to as usize], met));
                    low[to as usize] = met;
                    open.push(to);
                    met += 1;
                } else if component[to as usize] == NEW {
                    low[at] = low[at].min(low[to as usize]);
                }
            }
        }
        Components {
            of: component,
            count: count as usize,
            order,
        }
    }
}

/// Regions that flow into each other in circles, put together.
struct Components {
    /// The component of each region.
    of: Vec<u32>,
    count: usize,
    /// All regions, those of a component beside each other; flows between components go against this order.
    order: Vec<Region>,
}
