//! The division of a heap into regions, by two traversals, and the set of each region.

use super::super::sets::{EMPTY, Label, Set, Sets};
use super::flow::Region;
use super::spread::Flows;
use crate::addr_set::AddrSet;
use crate::closure_map::ClosureMap;
use crate::traverse::{Client, Order, Traversal, Visit};
use gclab_core::words::Addr;
use gclab_core::world::ClosureView;
use std::collections::HashMap;

/// Memory kept between profiles, and the result of the last one.
#[derive(Debug)]
pub(in crate::profile) struct Reach {
    shared: AddrSet,
    heads: ClosureMap<Region>,
    /// By region: the source of the last flow into it.
    last: Vec<Region>,
    flows: Vec<(Region, Region)>,
    /// By label: the region of closures that sources pass it to.
    sources: Vec<Region>,
    /// The sets that roots and sources bring to regions.
    brought: Vec<(Region, Set)>,
    graph: Flows,
    /// The closures that a hub reaches.
    pub(super) common: Option<AddrSet>,
    pub(super) base: Addr,
    /// The number of visits to closures, by all traversals.
    pub visits: u64,
    /// The number of closures that were reached.
    pub closures: u64,
}

/// Tells which closures are sources.
pub(in crate::profile) trait Sources {
    /// The label that a source passes on. None if the closure is not a source: it passes on its own
    /// set.
    fn label(&mut self, closure: ClosureView<'_>) -> Option<Label>;
}

/// No closure is a source.
pub(super) struct NoSources;

impl Sources for NoSources {
    #[inline(always)]
    fn label(&mut self, _: ClosureView<'_>) -> Option<Label> {
        None
    }
}

/// A part of the heap that is left out because its sets are known.
pub(super) type LeftOut<'r> = Option<&'r AddrSet>;

/// The client of the first traversal.
struct FindShared<'r> {
    shared: &'r mut AddrSet,
    left_out: LeftOut<'r>,
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
            if self.left_out.is_none_or(|left_out| !left_out.contains(closure.addr())) {
                self.shared.insert(closure.addr());
            }
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

/// The client of the second traversal.
struct FindRegions<'a, 'r, S, F> {
    reach: &'r mut Reach,
    sources: &'r mut S,
    left_out: LeftOut<'r>,
    /// Flows into the part that is left out: the region, and the closure there.
    entries: Vec<(Region, ClosureView<'a>)>,
    count: F,
}

impl<'a, S: Sources, F: FnMut(ClosureView<'a>, Region)> Client<'a> for FindRegions<'a, '_, S, F> {
    const ORDER: Order = Order::Any;
    const AGAIN: bool = true;
    type Parent = ();
    type Data = Region;
    type Sum = ();

    #[inline(always)]
    fn visit(&mut self, closure: ClosureView<'a>, _: (), from: Region, first: bool) -> Visit<Region> {
        let at = closure.addr();
        if !first && self.left_out.is_some_and(|left_out| left_out.contains(at)) {
            self.entries.push((from, closure));
            return Visit::Skip;
        }
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
    pub(crate) fn new(base: Addr) -> Self {
        Reach {
            shared: AddrSet::new(base),
            heads: ClosureMap::new(base),
            last: Vec::new(),
            flows: Vec::new(),
            sources: Vec::new(),
            brought: Vec::new(),
            graph: Flows::default(),
            common: None,
            base,
            visits: 0,
            closures: 0,
        }
    }

    /// Finds the set of every region. `count` gets each reached closure and its region. Each root
    /// comes with the label that it brings. Intermediate sets are not added to `sets`.
    pub(crate) fn sets<'a>(
        &mut self,
        traversal: &mut Traversal,
        roots: &[(ClosureView<'a>, Label)],
        sources: &mut impl Sources,
        sets: &mut Sets,
        count: impl FnMut(ClosureView<'a>, Region),
    ) -> Vec<Set> {
        (self.visits, self.closures) = (0, 0);
        let mut met = Sets::new(sets.limit());
        let roots: Vec<_> = roots.iter().map(|(root, label)| (*root, met.single(*label))).collect();
        let Regions { sets: found, .. } = self.regions(traversal, None, &roots, sources, &mut met, count);
        // The numbers in `sets` of the sets that regions have.
        let mut known = vec![EMPTY; met.len()];
        let mut same = |set: Set| {
            let known = &mut known[set as usize];
            if *known == EMPTY {
                *known = sets.same(set, &met);
            }
            *known
        };
        found.into_iter().map(&mut same).collect()
    }

    /// The same with sets instead of labels. Adds to `visits` and `closures`. Closures in
    /// `left_out` have been visited, and are not visited again.
    pub(super) fn regions<'a>(
        &mut self,
        traversal: &mut Traversal,
        left_out: LeftOut<'_>,
        roots: &[(ClosureView<'a>, Set)],
        sources: &mut impl Sources,
        sets: &mut Sets,
        count: impl FnMut(ClosureView<'a>, Region),
    ) -> Regions<'a> {
        self.shared.clear();
        self.heads.clear();
        self.flows.clear();
        self.sources.clear();
        self.brought.clear();
        self.last.clear();
        self.last.push(0);
        let begin = |traversal: &mut Traversal| match left_out {
            Some(left_out) => traversal.begin_with(left_out),
            None => traversal.begin(),
        };
        let mut first = FindShared {
            shared: &mut self.shared,
            left_out,
            visits: 0,
        };
        begin(traversal);
        traversal.go_on(roots.iter().map(|(root, _)| (*root, ())), &mut first);
        self.closures += first.visits;
        self.visits += first.visits;
        let mut regions: HashMap<Set, Region> = HashMap::new();
        let mut root = |&(root, set): &(ClosureView<'a>, Set)| {
            let region = *regions.entry(set).or_insert_with(|| {
                let region = self.another();
                self.brought.push((region, set));
                region
            });
            (root, region)
        };
        let roots: Vec<_> = roots.iter().map(&mut root).collect();
        let mut second = FindRegions {
            reach: self,
            sources,
            left_out,
            entries: Vec::new(),
            count,
        };
        begin(traversal);
        traversal.go_on(roots, &mut second);
        let entries = second.entries;
        for (label, region) in (0..).zip(&self.sources).filter(|(_, region)| **region != 0) {
            self.brought.push((*region, sets.single(label)));
        }
        self.graph.renew(self.last.len(), &self.flows);
        self.graph.pass_on(&self.brought, sets);
        let sets = self.graph.sets().collect();
        Regions { sets, entries }
    }

    /// The region of closures that sources pass `label` to.
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

    /// Notes that a region reaches the shared closure at `at`. Returns the closure's own region.
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
}

/// The result of a division into regions.
pub(super) struct Regions<'a> {
    /// By region: its set.
    pub(super) sets: Vec<Set>,
    /// Flows into the part that was left out: the region, and the closure there.
    pub(super) entries: Vec<(Region, ClosureView<'a>)>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use gclab_collectors::Copying;
    use gclab_core::closure::{Closure, Ptr};
    use gclab_core::config::Config;
    use gclab_core::mutator::Handle;
    use gclab_core::words::Bytes;
    use gclab_core::world::World;

    #[derive(Closure)]
    #[allow(dead_code)]
    struct Link {
        to: Option<Ptr<Link>>,
    }

    /// Sets of closures are kept from one census to the next. Intermediate sets are not, whatever
    /// the order of the roots.
    #[test]
    fn ten_thousand_censuses_keep_the_sets_that_occurred() {
        let flags = Config {
            allocation_area: Bytes::kib(64),
            reserve: Bytes::gib(4),
            ..Config::default()
        };
        let world = World::new::<Copying>(&flags).expect("a small heap");
        let _roots: Vec<Handle<Link>> = world
            .enter(|m| {
                m.frame(|m, [last]| {
                    let last = last.put(m.alloc(|_| Link::new(None)));
                    let mut root = || {
                        let (m, link) = m.alloc_with(|m| Link::new(Some(last.get(m))));
                        m.handle(link)
                    };
                    (0..8).map(|_| root()).collect()
                })
            })
            .expect("room enough");
        let kept = world.inspect(|stopped| {
            let mut traversal = Traversal::new(stopped);
            let mut reach = Reach::new(stopped.blocks().base());
            let mut sets = Sets::new(usize::MAX);
            for round in 0..10_000 {
                // Another root has the first label each time.
                let mut closures = stopped.root_closures();
                closures.rotate_left(round % 8);
                closures[..4].rotate_left(round / 8 % 4);
                let roots: Vec<_> = closures.into_iter().zip(0..).collect();
                reach.sets(&mut traversal, &roots, &mut NoSources, &mut sets, |_, _| {});
            }
            sets.len()
        });
        // The empty set, `MANY`, one of each root, and that of the closure that they share.
        assert_eq!(kept.expect("no thread is inside"), 2 + 8 + 1);
    }
}
