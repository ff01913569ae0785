//! Biographies and cost centres against their definitions: random programs that record where each
//! closure came from and when it was used, under every collector.

use super::{Node, NodeFields, config};
use gclab_core::collector::{Collector, CollectorList, CollectorVisitor};
use gclab_core::config::Config;
use gclab_core::cost_centre;
use gclab_core::mutator::{Gc, MutArray, Mutator, MutatorKind, NoGc, Request, Root};
use gclab_core::profile::CostCentre;
use gclab_core::world::World;
use gclab_flags::Flags;
use gclab_heap_traverse::Checker;
use gclab_heap_traverse::profile::HeapProfiler;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Slots of the array that is the only root.
const ROOTS: usize = 5;

/// The size of a node, and of that array.
const NODE: u64 = 4 * 8;
const ARRAY: u64 = (2 + ROOTS as u64) * 8;

const SITES: [CostCentre; 3] = [cost_centre!("one"), cost_centre!("two"), cost_centre!("three")];

#[derive(Debug, Clone)]
enum Op {
    /// Allocates a node that points to two roots, in cost centre number `site`, nested in the one
    /// with number `outer` (3: none).
    Alloc {
        into: usize,
        site: usize,
        outer: usize,
        left: usize,
        right: usize,
    },
    /// Makes a pointer of one root point to another root.
    Link {
        from: usize,
        to: usize,
        left: bool,
    },
    Drop {
        root: usize,
    },
    /// Reads a path down from a root, to the left where a bit is set.
    Read {
        root: usize,
        steps: u32,
        way: u8,
    },
    Collect {
        major: bool,
    },
    Census,
}

fn op() -> impl Strategy<Value = Op> {
    let root = 0..ROOTS;
    prop_oneof![
        6 => (root.clone(), 0..3usize, 0..4usize, root.clone(), root.clone())
            .prop_map(|(into, site, outer, left, right)| Op::Alloc { into, site, outer, left, right }),
        2 => (root.clone(), root.clone(), any::<bool>()).prop_map(|(from, to, left)| Op::Link { from, to, left }),
        2 => root.clone().prop_map(|root| Op::Drop { root }),
        3 => (root, 0..5u32, any::<u8>()).prop_map(|(root, steps, way)| Op::Read { root, steps, way }),
        1 => any::<bool>().prop_map(|major| Op::Collect { major }),
        3 => Just(Op::Census),
    ]
}

/// What the program knows about a node.
#[derive(Debug, Clone)]
struct Known {
    site: &'static str,
    outer: Option<&'static str>,
    pointers: [Option<usize>; 2],
    /// The eras in which it was used.
    used: BTreeSet<usize>,
}

/// The heap as it should be. Nodes are identified by number.
#[derive(Debug, Default)]
struct Model {
    nodes: Vec<Known>,
    roots: [Option<usize>; ROOTS],
    /// The nodes that each census should have seen.
    seen: Vec<BTreeSet<usize>>,
}

impl Model {
    fn era(&self) -> usize {
        self.seen.len() + 1
    }

    fn uses(&mut self, node: usize) {
        let era = self.era();
        self.nodes[node].used.insert(era);
    }

    fn census(&mut self) {
        let mut seen = BTreeSet::new();
        let mut pending: Vec<usize> = self.roots.iter().flatten().copied().collect();
        while let Some(node) = pending.pop() {
            if seen.insert(node) {
                pending.extend(self.nodes[node].pointers.iter().flatten());
            }
        }
        self.seen.push(seen);
    }

    /// The state by GHC's definition, given the whole past and future.
    fn state(&self, node: usize, era: usize) -> &'static str {
        let used = &self.nodes[node].used;
        let later = used.range(era + 1..).next().is_some();
        match (used.range(..=era).next_back(), later) {
            (None, false) => "VOID",
            (None, true) => "LAG",
            (Some(last), _) if *last == era => "USE",
            (Some(_), true) => "USE",
            (Some(_), false) => "DRAG",
        }
    }

    /// The bytes of nodes at each census, by the names that `name` returns.
    fn bands<'n>(&'n self, name: impl Fn(usize, usize) -> Option<&'n str>) -> Vec<BTreeMap<&'n str, u64>> {
        let of_census = |(before, seen): (usize, &BTreeSet<usize>)| {
            let mut bands = BTreeMap::new();
            for name in seen.iter().filter_map(|node| name(*node, before + 1)) {
                *bands.entry(name).or_default() += NODE;
            }
            bands
        };
        self.seen.iter().enumerate().map(of_census).collect()
    }
}

type Roots = MutArray<Node>;

/// Reads all fields of a node, and checks that it is the expected node.
fn read<'m, 'h, M: MutatorKind>(
    m: &NoGc<'h, M>,
    model: &mut Model,
    node: Gc<'m, 'h, Node>,
    number: usize,
) -> [Option<Gc<'m, 'h, Node>>; 2] {
    assert_eq!(node.value(m), number as u64);
    model.uses(number);
    [node.left(m), node.right(m)]
}

fn step<'h, M: MutatorKind>(m: &mut Mutator<'h, M>, roots: &Root<'_, 'h, Roots>, model: &mut Model, op: &Op) {
    match *op {
        Op::Alloc {
            into,
            site,
            outer,
            left,
            right,
        } => {
            let number = model.nodes.len();
            let pointers = [model.roots[left], model.roots[right]];
            let make = |m: &mut Mutator<'h, M>| {
                m.cost_centre(SITES[site], |m| {
                    let (m, node) = m.alloc_with(|m| {
                        let all = roots.get(m);
                        Node::new(number as u64, all.get(m, left), all.get(m, right))
                    });
                    roots.get(m).set(m, into, Some(node));
                });
            };
            match SITES.get(outer) {
                Some(outer) => m.cost_centre(*outer, make),
                None => make(m),
            }
            model.nodes.push(Known {
                site: SITES[site].label,
                outer: SITES.get(outer).map(|outer| outer.label),
                pointers,
                used: BTreeSet::new(),
            });
            model.roots[into] = Some(number);
        }
        Op::Link { from, to, left } => {
            let Some(number) = model.roots[from] else { return };
            let all = roots.get(m);
            let (node, target) = (all.get(m, from).expect("it is set"), all.get(m, to));
            if left {
                node.set_left(m, target);
            } else {
                node.set_right(m, target);
            }
            model.nodes[number].pointers[usize::from(!left)] = model.roots[to];
            model.uses(number);
        }
        Op::Drop { root } => {
            roots.get(m).set(m, root, None);
            model.roots[root] = None;
        }
        Op::Read { root, steps, way } => {
            let mut at = roots.get(m).get(m, root).zip(model.roots[root]);
            for step in 0..steps {
                let Some((node, number)) = at else { return };
                let side = usize::from(way >> step & 1 == 1);
                at = read(m, model, node, number)[side].zip(model.nodes[number].pointers[side]);
            }
        }
        Op::Collect { major } => m.collect(if major { Request::Full } else { Request::Minor }),
        Op::Census => {
            m.phase_marker("census");
            model.census();
        }
    }
}

/// Runs the program under `C`, profiled with the flags in `words`. Returns the model, and the bands
/// of each census without the numbers before their names.
fn run<C: Collector>(ops: &[Op], words: &[&str], stress: u64) -> (Model, Vec<BTreeMap<String, u64>>) {
    let least = C::DESCRIPTION.generations.0;
    let config = Config {
        profile: Flags::parse_words(words).expect("legal flags").config.profile,
        stress: Some(stress),
        ..config(least.max(2).min(C::DESCRIPTION.generations.1))
    };
    let mut world = World::observed::<C>(&config).expect("a small heap");
    Checker::install(&mut world);
    let profiler = HeapProfiler::new(&config.profile, None).expect("a profile");
    world.listen(Box::new(profiler.clone()));
    let mut model = Model::default();
    let session = world.enter(|m| {
        m.frame(|m, [roots]| {
            let roots = roots.put(m.alloc_array::<Node>(ROOTS, |_| None));
            ops.iter().for_each(|op| step(m, &roots, &mut model, op));
        });
    });
    session.expect("room enough");
    let (profile, written) = profiler.finish(0.0);
    written.expect("nothing is written");
    let name = |name: &str| name.split_once(')').map_or(name, |(_, name)| name).to_owned();
    let mut all = Vec::new();
    for census in profile.censuses {
        let mut bands = BTreeMap::new();
        for (band, bytes) in census.bands.iter().filter(|(_, bytes)| *bytes > 0) {
            *bands.entry(name(band)).or_default() += bytes;
        }
        all.push(bands);
    }
    (model, all)
}

fn owned(bands: Vec<BTreeMap<&str, u64>>) -> Vec<BTreeMap<String, u64>> {
    let own = |bands: BTreeMap<&str, u64>| {
        bands
            .into_iter()
            .map(|(name, bytes)| (name.to_owned(), bytes))
            .collect()
    };
    bands.into_iter().map(own).collect()
}

struct Check<'o> {
    ops: &'o [Op],
    stress: u64,
}

impl CollectorVisitor for Check<'_> {
    type Output = ();
    fn visit<C: Collector>(self) {
        let Check { ops, stress } = self;
        let (model, found) = run::<C>(ops, &["-hb"], stress);
        let mut expected = owned(model.bands(|node, era| Some(model.state(node, era))));
        for bands in &mut expected {
            bands.insert("INHERENT_USE".to_owned(), ARRAY);
        }
        assert_eq!(found, expected, "by biography, under {}", C::DESCRIPTION.name);

        let (model, found) = run::<C>(ops, &["-hbdrag,void", "-hy"], stress);
        let of_state = |node, era| ["DRAG", "VOID"].contains(&model.state(node, era)).then_some("Node");
        let expected = owned(model.bands(of_state));
        let nodes = |bands: &BTreeMap<String, u64>| bands.get("Node").copied();
        assert!(
            found.iter().map(nodes).eq(expected.iter().map(nodes)),
            "{found:?} and {expected:?}: types that drag or are void, under {}",
            C::DESCRIPTION.name
        );

        let (model, found) = run::<C>(ops, &["-hc"], stress);
        let names: Vec<String> = model
            .nodes
            .iter()
            .map(|node| match node.outer {
                Some(outer) if outer != node.site => format!("{}/{outer}", node.site),
                _ => node.site.to_owned(),
            })
            .collect();
        let mut expected = owned(model.bands(|node, _| Some(&names[node])));
        for bands in &mut expected {
            bands.insert("MAIN".to_owned(), ARRAY);
        }
        assert_eq!(found, expected, "by cost centres, under {}", C::DESCRIPTION.name);

        let (model, found) = run::<C>(ops, &["-hCtwo", "-hcone,two", "-hd"], stress);
        let taken = |node: usize| {
            let node = &model.nodes[node];
            node.site != "three" && (node.site == "two" || node.outer == Some("two"))
        };
        let expected = owned(model.bands(|node, _| taken(node).then_some("Node")));
        assert_eq!(found, expected, "of some cost centres, under {}", C::DESCRIPTION.name);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn every_closure_has_the_life_that_it_had(ops in proptest::collection::vec(op(), 1..120), stress in 1..40u64) {
        for description in gclab_collectors::All::descriptions() {
            let check = Check { ops: &ops, stress };
            gclab_collectors::All::with(description.name, check).expect("it is in the list");
        }
    }
}

/// A census ends the era shared by all biographies of a heap. A second biography used to end the
/// eras of the first, whose uses then fell between two censuses.
#[test]
fn a_heap_has_one_biography_at_a_time() {
    let config = Config {
        profile: Flags::parse_words(&["-hb"]).expect("legal flags").config.profile,
        ..config(2)
    };
    let world = World::observed::<gclab_collectors::Copying>(&config).expect("a small heap");
    let profiler = || HeapProfiler::new(&config.profile, None).expect("a profile");
    let (first, second) = (profiler(), profiler());
    for profiler in [&first, &second, &first] {
        world
            .inspect(|stopped| profiler.census(stopped))
            .expect("it is outside");
    }
    let (profile, written) = first.finish(0.0);
    assert!(written.is_ok() && profile.censuses.len() == 2);
    let (profile, written) = second.finish(0.0);
    let message = written.expect_err("the first one ends the eras").to_string();
    assert!(message.contains("another biography"), "{message}");
    assert_eq!(profile.censuses.len(), 0);

    // The right to end eras is returned with the profile.
    drop((first, second));
    let third = profiler();
    world.inspect(|stopped| third.census(stopped)).expect("it is outside");
    assert_eq!(third.finish(0.0).0.censuses.len(), 1);
}
