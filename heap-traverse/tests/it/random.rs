//! Traversals and profiles against their definitions, on random heaps, after each collection of
//! every collector.

use super::graphs::{Graph, everywhere, graph};
use gclab_core::closure::TypeInfo;
use gclab_core::world::{ClosureView, Stopped};
use gclab_flags::Flags;
use gclab_heap_traverse::profile::{self, Counter};
use gclab_heap_traverse::{Client, Order, Traversal, Visit};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// A recursive depth-first search: the closures in the order in which they are met, and the number
/// of arrivals.
fn search<'a>(closure: ClosureView<'a>, met: &mut Vec<ClosureView<'a>>, seen: &mut HashSet<ClosureView<'a>>) -> usize {
    if !seen.insert(closure) {
        return 1;
    }
    met.push(closure);
    1 + closure.children().map(|child| search(child, met, seen)).sum::<usize>()
}

/// A client that records everything that a traversal reports.
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

/// The number of closures below each, including itself, from the order in which they were first
/// met: the sizes in the tree of first arrivals.
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
fn traversals_visit_the_closures_of_a_search_in_its_order() {
    cases(64, |graph| everywhere(graph, &traversals));
}

/// All closures reachable from a closure without going past those that `stop` accepts (except the
/// first).
fn beyond<'a>(from: ClosureView<'a>, stop: impl Fn(ClosureView<'a>) -> bool) -> HashSet<ClosureView<'a>> {
    let mut seen = HashSet::new();
    let mut open: Vec<_> = from.children().collect();
    while let Some(closure) = open.pop() {
        if seen.insert(closure) && !stop(closure) {
            open.extend(closure.children());
        }
    }
    seen
}

fn reachable<'a>(stopped: &Stopped<'a>) -> HashSet<ClosureView<'a>> {
    let (mut met, mut seen) = (Vec::new(), HashSet::new());
    stopped.root_closures().into_iter().for_each(|root| {
        search(root, &mut met, &mut seen);
    });
    seen
}

/// Bytes of counted closures, by name.
type Bytes<N> = BTreeMap<N, u64>;

fn add_up<'a, N: Ord>(closures: impl IntoIterator<Item = (N, ClosureView<'a>)>) -> Bytes<N> {
    let mut bytes = Bytes::new();
    for (name, closure) in closures {
        *bytes.entry(name).or_default() += closure.words().to_bytes().0 as u64;
    }
    bytes
}

/// A census with these flags.
fn counted(stopped: &Stopped<'_>, flags: &str) -> Bytes<String> {
    let words: Vec<_> = flags.split_whitespace().collect();
    let flags = Flags::parse_words(&words).expect("legal flags");
    let mut counter = Counter::new(&flags.config.profile).expect("a breakdown");
    counter.census(stopped, 0.0, None);
    // The second census shows that the first left nothing behind.
    let census = counter.census(stopped, 0.0, None);
    assert!(census.bands.is_sorted_by(|a, b| a.1 >= b.1) && census.bands.iter().all(|band| band.1 > 0));
    let bands: Bytes<String> = census.bands.iter().cloned().collect();
    assert_eq!(bands.len(), census.bands.len(), "each name once");
    bands
}

fn censuses(stopped: &Stopped<'_>) {
    let all = reachable(stopped);
    let count = |name: fn(&TypeInfo) -> String| add_up(all.iter().map(|closure| (name(closure.info()), *closure)));
    assert_eq!(counted(stopped, "-hT"), count(profile::closure_type));
    assert_eq!(counted(stopped, "-hd"), count(profile::description));
    assert_eq!(counted(stopped, "-hy"), count(profile::type_name));
    assert_eq!(counted(stopped, "-hm"), count(|info| info.module.to_owned()));
    let mut descriptions = count(profile::description);
    descriptions.retain(|name, _| name == "Cons" || name == "MUT_VAR");
    assert_eq!(counted(stopped, "-hdCons,MUT_VAR"), descriptions);
    let twins = all.iter().filter(|closure| closure.info().type_name() == "Twin");
    assert_eq!(
        counted(stopped, "-hT -hyTwin,Cons -hdOther"),
        add_up(twins.map(|closure| ("it:graphs.Other".to_owned(), *closure)))
    );
}

/// The names of every reachable closure's retainers, by definition: those from which it is
/// reachable without passing another retainer.
fn retainers<'a>(stopped: &Stopped<'a>) -> HashMap<ClosureView<'a>, BTreeSet<String>> {
    let retains = |closure: ClosureView<'_>| profile::is_retainer(closure.kind());
    let own = |closure: ClosureView<'_>| profile::description(closure.info());
    let mut sets: HashMap<_, BTreeSet<_>> = HashMap::new();
    let mut add = |closure, name: &str| sets.entry(closure).or_default().insert(name.to_owned());
    for root in stopped.root_closures() {
        if retains(root) {
            add(root, &own(root));
            continue;
        }
        add(root, "SYSTEM");
        beyond(root, retains).into_iter().for_each(|closure| {
            add(closure, "SYSTEM");
        });
    }
    for retainer in reachable(stopped).into_iter().filter(|closure| retains(*closure)) {
        beyond(retainer, retains).into_iter().for_each(|closure| {
            add(closure, &own(retainer));
        });
    }
    sets
}

fn retainer_profiles(stopped: &Stopped<'_>) {
    let sets = retainers(stopped);
    for limit in [0, 1, 2, 8] {
        let name = |set: &BTreeSet<String>| match limit {
            1.. if set.len() > limit => BTreeSet::from(["MANY".to_owned()]),
            _ => set.clone(),
        };
        let expected = add_up(sets.iter().map(|(closure, set)| (name(set), *closure)));
        let found = counted(stopped, &format!("-hr -L4000 -R{limit}")).into_iter();
        let found: Bytes<_> = found.map(|(name, bytes)| (set_of(&name), bytes)).collect();
        assert_eq!(found, expected, "-R{limit}");
    }
    let by_cell = sets.iter().filter(|(_, set)| set.contains("Cell"));
    let expected = add_up(
        by_cell
            .clone()
            .map(|(closure, _)| (profile::type_name(closure.info()), *closure)),
    );
    assert_eq!(counted(stopped, "-hy -hrCell -R0"), expected);
    let expected = add_up(by_cell.map(|(closure, set)| (set.clone(), *closure)));
    let found = counted(stopped, "-hrCell -L4000 -R0").into_iter();
    assert_eq!(
        found.map(|(name, bytes)| (set_of(&name), bytes)).collect::<Bytes<_>>(),
        expected
    );
}

/// The retainers in the name of a band, without its number.
fn set_of(name: &str) -> BTreeSet<String> {
    let names = name.split_once(')').map_or(name, |(_, names)| names);
    names.split(',').map(str::to_owned).collect()
}

fn root_profiles(stopped: &Stopped<'_>) {
    let roots = stopped.named_roots();
    let mut combinations: HashMap<ClosureView<'_>, Vec<String>> = HashMap::new();
    for root in &roots {
        let Some(closure) = root.closure else {
            assert!(root.weak, "strong roots keep what they name");
            continue;
        };
        let mut all = beyond(closure, |_| false);
        all.insert(closure);
        all.into_iter()
            .for_each(|closure| combinations.entry(closure).or_default().push(root.name.clone()));
    }
    let expected = add_up(combinations.iter().map(|(closure, names)| (names.join("-"), *closure)));
    assert_eq!(counted(stopped, "-ho"), expected);
    let cells = combinations.iter().filter(|(closure, _)| closure.info().name == "Cell");
    let expected = add_up(cells.map(|(closure, names)| (names.join("-"), *closure)));
    assert_eq!(counted(stopped, "-ho -hdCell"), expected);
}

#[test]
fn censuses_count_the_reachable_closures() {
    cases(64, |graph| everywhere(graph, &censuses));
}

#[test]
fn retainers_are_those_of_the_definition() {
    cases(96, |graph| everywhere(graph, &retainer_profiles));
}

#[test]
fn combinations_of_roots_are_those_of_the_definition() {
    cases(96, |graph| everywhere(graph, &root_profiles));
}
