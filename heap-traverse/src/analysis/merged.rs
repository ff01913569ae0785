//! The dominator tree with equal branches merged, to answer what holds the memory.
//!
//! **Terms.** A *place* stands for all objects of one class held in the same way by the objects of
//! another place: 900 listeners in an array are one place. Its *way* is the name of the reference,
//! or `[*]` if names would say nothing: for elements, internal references and references to many
//! objects of one class. A chain of one class, such as a list, is one place. An object with most of
//! the weight of such a place gets its own. Nodes that are not objects are left out, and so are
//! places without weight.
//!
//! **Holders.** Place 0 is the root. Going down from it, the holder of much memory is the last
//! place of one object before there are many: the array of listeners, rather than the heap or a
//! listener.
//!
//! A tree keeps its texts, so trees of two files can be compared.

use super::names::{is_container, is_entry, text};
use super::{Analysis, Names, Rank};
use crate::fetch::fetch;
use crate::graph::{NONE, ROOT};
use crate::memory::{OutOfMemory, filled, push};
use crate::rows::Rows;
use gclab_snapshot::EdgeName;
use hashbrown::{HashMap, HashSet};
use std::borrow::Cow;
use std::cmp::Reverse;

/// Up to this many references to objects of one class keep their names.
const NAMED: u32 = 8;
/// How many open nodes ahead memory is fetched.
const AHEAD: usize = 4;
/// Limit on the classes that alternate in a list.
const PERIOD: usize = 4;
/// How many objects of one class of a library, such as plain objects, or single objects of any class,
/// each inside the one before, make a list.
const LIST: u32 = 32;
/// The field with a JVM's thread's variables.
const THREAD_LOCALS: &str = "threadLocals";
/// The way of a reference whose name says nothing.
const ANY: &str = "[*]";

/// A place of a merged tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The place above; the root's is the root.
    pub above: u32,
    way: u32,
    class: u32,
    /// The number of objects. In a tree of growth: how many more there are, or all if no more.
    pub count: u64,
    /// In a tree of growth: whether there are more. True in others.
    pub is_new: bool,
    /// Whether it has one object.
    pub is_one: bool,
    /// Whether some of its objects hold others of them, as in a list.
    pub is_list: bool,
    /// Whether its object has its own place next to others, because it has most of their weight.
    is_apart: bool,
    /// Whether its objects are threads with variables, of which no one is told: their work moves.
    is_pool: bool,
    /// The weight of its objects and of all below.
    pub bytes: u64,
    /// The object with the most weight, and its weight. In a tree of growth: that of the later file,
    /// and of its weight the part by which the place grew.
    pub largest: u32,
    heaviest: u64,
}

impl Place {
    /// Whether it has one object, or one of them has most of the weight and is not the first of a list.
    pub fn is_mostly_one(&self) -> bool {
        self.is_one || !self.is_list && !self.is_pool && self.heaviest > self.bytes / 2
    }
}

/// A dominator tree with equal branches merged.
#[derive(Debug)]
pub struct Merged {
    places: Vec<Place>,
    below: Rows,
    texts: Vec<String>,
    /// By text, of those that are names of classes.
    ranks: Vec<Rank>,
}

/// A place that holds much, or many places of one kind without a common holder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// The places from the top to the holder.
    pub path: Vec<u32>,
    /// The weight that it holds.
    pub bytes: u64,
    /// The places below it, most weight first.
    pub parts: Vec<u32>,
}

/// The objects of one class that one object holds.
#[derive(Clone, Copy)]
struct Siblings {
    above: u32,
    count: u32,
    weight: u64,
    /// The largest weight, and its node.
    largest: (u64, u32),
}

impl Siblings {
    const NONE: Self = Siblings {
        above: NONE,
        count: 0,
        weight: 0,
        largest: (0, 0),
    };

    /// Adds a node below `above`. Those below another node are forgotten.
    fn add(&mut self, above: u32, node: u32, weight: u64) {
        if self.above != above {
            *self = Siblings { above, ..Self::NONE };
        }
        self.count += 1;
        self.weight += weight;
        self.largest = self.largest.max((weight, node));
    }

    fn is_few(&self, above: u32) -> bool {
        self.above == above && self.count <= NAMED
    }
}

/// The place of a chain that continues with an object below `above`: that place if of its class, or
/// one up to `period` steps up of its class and way, since lists may alternate between classes. A
/// container is always the same way from the one before.
fn chain(places: &[Place], above: u32, way: u32, class: u32, is_container: bool, period: usize) -> Option<u32> {
    let up = std::iter::successors(Some(above), |&at| Some(places[at as usize].above)).take(period);
    let mut up = up.take_while(|&at| at != 0);
    up.find(|&at| {
        let own = &places[at as usize];
        own.class == class && (own.way == way || at == above && !is_container)
    })
}

/// By node: the number of objects of one name in the longest chain through it. 0 for the program's own.
fn chains(analysis: &Analysis<'_>, is_own: &[bool], name_of: impl Fn(u32) -> u32) -> Result<Vec<u32>, OutOfMemory> {
    let mut longest = filled(0, analysis.snapshot().node_count() as usize)?;
    let before = |node: u32| {
        let name = name_of(node);
        let mut up = std::iter::successors(analysis.holder(node), |&at| analysis.holder(at)).take(PERIOD);
        up.find(|&at| name_of(at) == name)
    };
    let reached = analysis.dominators.reached();
    let others = || reached.iter().copied().filter(|&node| !is_own[name_of(node) as usize]);
    for node in others() {
        longest[node as usize] = before(node).map_or(0, |before| longest[before as usize]) + 1;
    }
    for node in others().rev() {
        if let Some(before) = before(node) {
            longest[before as usize] = longest[before as usize].max(longest[node as usize]);
        }
    }
    Ok(longest)
}

/// Texts by number, each once.
#[derive(Default)]
struct Texts {
    all: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl Texts {
    fn number(&mut self, text: &str) -> Result<u32, OutOfMemory> {
        if let Some(&number) = self.numbers.get(text) {
            return Ok(number);
        }
        let number = self.all.len() as u32;
        self.numbers.try_reserve(1).map_err(|_| OutOfMemory)?;
        self.numbers.insert(text.to_owned(), number);
        push(&mut self.all, text.to_owned())?;
        Ok(number)
    }
}

impl Merged {
    /// Merges the dominator tree of a snapshot, in which each node weighs its bytes. `names` has the
    /// names of its classes.
    ///
    /// # Errors
    /// If there is not enough memory for the places.
    pub fn of(analysis: &Analysis<'_>, names: &Names) -> Result<Self, OutOfMemory> {
        let bytes = match analysis.has_moved {
            true => Cow::Owned(analysis.retained_of(|node| analysis.snapshot.node(node).self_size())?),
            false => Cow::Borrowed(&analysis.retained),
        };
        Merged::weighed(analysis, names, &bytes, |_, _| {})
    }

    /// As [`Merged::of`] with other weights: by node, the weight of all that it dominates. Calls
    /// `visit` with each node that has any, and its place.
    ///
    /// # Errors
    /// As [`Merged::of`].
    pub fn weighed(
        analysis: &Analysis<'_>,
        names: &Names,
        weights: &[u64],
        mut visit: impl FnMut(u32, u32),
    ) -> Result<Self, OutOfMemory> {
        let mut texts = Texts::default();
        // Names come first, so they keep their numbers.
        for name in names.all() {
            texts.number(name)?;
        }
        let of_node = analysis.classes().of_nodes();
        let name_of = |node: u32| names.number(of_node[node as usize]);
        let (any, none) = (texts.number(ANY)?, texts.number("")?);
        let is_container: Vec<bool> = names.all().iter().map(|name| is_container(name)).collect();
        let is_own: Vec<bool> = names.ranks().iter().map(|&rank| rank == Rank::Own).collect();
        let is_entry: Vec<bool> = names.all().iter().map(|name| is_entry(name)).collect();
        let chains = chains(analysis, &is_own, name_of)?;
        let mut places = vec![Place {
            above: 0,
            way: none,
            class: none,
            count: 1,
            is_new: true,
            is_one: true,
            is_list: false,
            is_apart: false,
            is_pool: false,
            bytes: 0,
            largest: ROOT,
            heaviest: 0,
        }];
        let mut known: HashMap<(u32, u32, u32, bool), u32> = HashMap::new();
        let children = analysis.dominators.children()?;
        let nodes = analysis.snapshot().node_count() as usize;
        let mut way_of_string = filled(NONE, analysis.snapshot().strings().len())?;
        // By name: the objects below the current node, and those at the top, below several nodes
        // that are not objects.
        let mut counts = filled(Siblings::NONE, names.all().len())?;
        let mut top = counts.clone();
        // By object below the current node: the way to it, if it has a name.
        let mut ways: HashMap<u32, u32> = HashMap::new();
        for node in (0..nodes as u32).filter(|&node| weights[node as usize] > 0) {
            let is_below = analysis
                .holder(node)
                .is_some_and(|above| analysis.is_synthetic(above) || above == ROOT);
            if is_below {
                top[name_of(node) as usize].add(ROOT, node, weights[node as usize]);
            }
        }
        let mut open = vec![(ROOT, 0)];
        while let Some((node, above)) = open.pop() {
            if let Some(&(soon, _)) = open.len().checked_sub(AHEAD).and_then(|at| open.get(at)) {
                children.fetch_start(soon);
                fetch(weights, soon);
            }
            let kept = children
                .row(node)
                .iter()
                .copied()
                .filter(|&child| weights[child as usize] > 0);
            let below: u64 = kept.clone().map(|child| weights[child as usize]).sum();
            if node != ROOT {
                places[above as usize].bytes += weights[node as usize] - below;
                visit(node, above);
            }
            if below == 0 {
                continue;
            }
            kept.clone()
                .for_each(|child| counts[name_of(child) as usize].add(node, child, weights[child as usize]));
            let mut few = kept.clone().map(|child| counts[name_of(child) as usize].is_few(node));
            if !analysis.is_synthetic(node) && few.any(|few| few) {
                let edges = analysis.snapshot.node(node).edges().filter(|edge| edge.is_strong());
                for edge in edges {
                    let target = edge.target().ordinal();
                    let is_named = analysis.holder(target) == Some(node)
                        && weights[target as usize] > 0
                        && counts[name_of(target) as usize].is_few(node);
                    // Of two references, the first with a name wins.
                    let is_known = || ways.get(&target).is_some_and(|&way| way != any);
                    let (true, Some(EdgeName::String(string))) = (is_named && !is_known(), edge.name()) else {
                        continue;
                    };
                    let way = match way_of_string[string as usize] {
                        NONE => {
                            let text = text(analysis.snapshot(), Some(string));
                            let way = if text.bytes().all(|byte| byte.is_ascii_digit()) {
                                any
                            } else if text.starts_with('<') {
                                texts.number(&text)?
                            } else if text.contains(" / part of key (") {
                                texts.number("[WeakMap]")?
                            } else {
                                texts.number(&format!(".{text}"))?
                            };
                            way_of_string[string as usize] = way;
                            way
                        }
                        way => way,
                    };
                    ways.try_reserve(1).map_err(|_| OutOfMemory)?;
                    ways.insert(target, way);
                }
            }
            for child in kept {
                let named = ways.remove(&child);
                if analysis.is_synthetic(child) {
                    push(&mut open, (child, above))?;
                    continue;
                }
                let class = name_of(child);
                let unnamed = if analysis.is_synthetic(node) { none } else { any };
                // A list's first entry is like the others.
                let way = named.filter(|_| !is_entry[class as usize]).unwrap_or(unnamed);
                let siblings = if above == 0 { &top } else { &counts }[class as usize];
                let has_most =
                    siblings.count > 1 && siblings.largest.1 == child && siblings.largest.0 > siblings.weight / 2;
                let is_pool = has_most && {
                    let mut edges = analysis.snapshot.node(child).edges();
                    let variables = edges.find(|edge| edge.name_text() == THREAD_LOCALS);
                    variables.is_some_and(|own| weights[own.target().ordinal() as usize] > siblings.largest.0 / 2)
                };
                let is_apart = has_most && !is_pool;
                let is_container = is_container[class as usize];
                // A map inside a map is not a list, but a map's entry directly inside another is.
                let period = match is_own[class as usize] || chains[child as usize] >= LIST {
                    true => PERIOD,
                    false => usize::from(!is_container),
                };
                let chain = chain(&places, above, way, class, is_container, period);
                let place = if let Some(place) = chain {
                    places[place as usize].is_list = true;
                    place
                } else {
                    match known.get(&(above, way, class, is_apart)) {
                        Some(&place) => place,
                        None => {
                            known.try_reserve(1).map_err(|_| OutOfMemory)?;
                            let place = places.len() as u32;
                            known.insert((above, way, class, is_apart), place);
                            push(
                                &mut places,
                                Place {
                                    above,
                                    way,
                                    class,
                                    count: 0,
                                    is_new: true,
                                    is_one: true,
                                    is_list: false,
                                    is_apart,
                                    is_pool: false,
                                    bytes: 0,
                                    largest: child,
                                    heaviest: 0,
                                },
                            )?;
                            place
                        }
                    }
                };
                let own = &mut places[place as usize];
                own.count += 1;
                own.is_one = own.count == 1;
                own.is_pool |= is_pool;
                if weights[child as usize] > own.heaviest {
                    (own.largest, own.heaviest) = (child, weights[child as usize]);
                }
                push(&mut open, (child, place))?;
            }
        }
        // A place comes after the one above it.
        for at in (1..places.len()).rev() {
            let Place { above, bytes, .. } = places[at];
            places[above as usize].bytes += bytes;
        }
        Merged {
            places,
            below: Rows::default(),
            texts: texts.all,
            ranks: names.ranks().to_vec(),
        }
        .linked()
    }

    /// The growth from `before` to this tree: of each place what it holds itself, less what the same
    /// place held, if that is more than nothing. So what another place lost is not taken off.
    ///
    /// # Errors
    /// If there is not enough memory for the places.
    pub fn since(&self, before: &Merged) -> Result<Self, OutOfMemory> {
        let own = |tree: &Merged, place: u32| {
            let below = tree.below.row(place).iter();
            tree.place(place).bytes - below.map(|&below| tree.place(below).bytes).sum::<u64>()
        };
        let mut grown = Merged {
            places: vec![self.places[0]],
            below: Rows::default(),
            texts: self.texts.clone(),
            ranks: self.ranks.clone(),
        };
        let mut all = Vec::new();
        let mut open = vec![(0, vec![(0, 1.0)], 0)];
        // Each place after the one above it, which is known by its place in the list.
        while let Some((place, same, above)) = open.pop() {
            let sum = |figure: &dyn Fn(u32) -> u64| {
                let parts = same.iter().map(|&(old, share)| figure(old) as f64 * share);
                parts.sum::<f64>().round() as u64
            };
            let bytes = own(self, place).saturating_sub(sum(&|old| own(before, old)));
            let more = self
                .place(place)
                .count
                .saturating_sub(sum(&|old| before.place(old).count));
            let next = all.len();
            push(&mut all, (place, above, bytes, more))?;
            let matches = self.matches(before, place, &same);
            for (&child, same) in self.below.row(place).iter().zip(matches) {
                push(&mut open, (child, same, next))?;
            }
        }
        for at in (1..all.len()).rev() {
            let (_, above, bytes, _) = all[at];
            all[above].2 += bytes;
        }
        grown.places[0].bytes = all[0].2;
        let mut number = filled(0, all.len())?;
        for (at, &(place, above, bytes, more)) in all.iter().enumerate().skip(1).filter(|(_, own)| own.2 > 0) {
            number[at] = grown.places.len() as u32;
            let own = self.place(place);
            let count = if more > 0 { more } else { own.count };
            let above = number[above];
            let part = bytes as f64 / own.bytes.max(1) as f64;
            push(
                &mut grown.places,
                Place {
                    above,
                    bytes,
                    count,
                    is_new: more > 0,
                    heaviest: (own.heaviest as f64 * part) as u64,
                    ..own
                },
            )?;
        }
        grown.linked()
    }

    /// For each place below `place`, the places of `before` that it was, of those below `same`, and
    /// which share of their objects. Of equals, one that is apart now was one of the others.
    fn matches(&self, before: &Merged, place: u32, same: &[(u32, f64)]) -> Vec<Vec<(u32, f64)>> {
        let old: Vec<(u32, f64)> = same
            .iter()
            .flat_map(|&(old, share)| before.below.row(old).iter().map(move |&old| (old, share)))
            .collect();
        let mut by_class: HashMap<&str, Vec<(u32, f64)>> = HashMap::new();
        old.iter()
            .for_each(|&(old, share)| by_class.entry(before.class(old)).or_default().push((old, share)));
        let row = self.below.row(place);
        let now: HashSet<(&str, &str, bool)> = row.iter().map(|&child| self.key(child)).collect();
        let is_gone = |old: u32| {
            let (way, class, _) = before.key(old);
            ![false, true].iter().any(|&apart| now.contains(&(way, class, apart)))
        };
        let of = |&child: &u32| {
            let (way, class, is_apart) = self.key(child);
            let of_class = by_class.get(class).map_or(&[][..], Vec::as_slice);
            let of_way = of_class.iter().copied().filter(|&(old, _)| before.way(old) == way);
            let (own, other): (Vec<_>, Vec<_>) = of_way.partition(|&(old, _)| before.place(old).is_apart == is_apart);
            let is_split = now.contains(&(way, class, !is_apart));
            match (own.is_empty(), other.is_empty()) {
                // Names of references are only kept of few.
                (true, true) if way == ANY => of_class.iter().copied().filter(|&(old, _)| is_gone(old)).collect(),
                // A field may refer to an object of another class now.
                (true, true) if !way.is_empty() => {
                    let of_way = old.iter().copied().filter(|&(old, _)| before.way(old) == way);
                    of_way.filter(|&(old, _)| is_gone(old)).collect()
                }
                (false, true) | (true, false) if is_split => {
                    let part = |(old, share): (u32, f64)| {
                        let one = 1.0 / before.place(old).count.max(1) as f64;
                        (old, share * if is_apart { one } else { 1.0 - one })
                    };
                    own.into_iter().chain(other).map(part).collect()
                }
                _ if is_split => own,
                _ => own.into_iter().chain(other).collect(),
            }
        };
        row.iter().map(of).collect()
    }

    /// Counts objects anew: each of `places` is the place of one object. Other places keep their
    /// numbers.
    pub fn recount(&mut self, places: impl IntoIterator<Item = u32>) {
        let mut counts = vec![0; self.places.len()];
        places.into_iter().for_each(|place| counts[place as usize] += 1);
        for (own, count) in self.places.iter_mut().zip(counts) {
            own.is_new = count > 0;
            own.count = if own.is_new { count } else { own.count };
        }
    }

    /// Sets the places below each.
    fn linked(mut self) -> Result<Self, OutOfMemory> {
        let places = self.places.len();
        let mut below = Rows::with_capacity(places as u32, places as u32)?;
        below.fill(places, places, |place| {
            (place > 0).then(|| (self.places[place].above, place as u32))
        });
        self.below = below;
        Ok(self)
    }

    fn key(&self, place: u32) -> (&str, &str, bool) {
        (self.way(place), self.class(place), self.place(place).is_apart)
    }

    /// The number of places, the root included.
    #[expect(clippy::len_without_is_empty, reason = "the root is always there")]
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// A place.
    ///
    /// # Panics
    /// If there is no such place, as in all that follow.
    pub fn place(&self, place: u32) -> Place {
        self.places[place as usize]
    }

    /// The name of the class of a place.
    pub fn class(&self, place: u32) -> &str {
        &self.texts[self.places[place as usize].class as usize]
    }

    /// What the class of a place tells a reader. The root tells nothing.
    pub fn rank(&self, place: u32) -> Rank {
        let class = self.places[place as usize].class as usize;
        self.ranks.get(class).copied().unwrap_or(Rank::Library)
    }

    /// The name of the references to the objects of a place: `.next`, `[*]`, or empty at the top.
    pub fn way(&self, place: u32) -> &str {
        &self.texts[self.places[place as usize].way as usize]
    }

    /// The place that corresponds to `place` of `other`, if there is one.
    pub fn same(&self, other: &Merged, place: u32) -> Option<u32> {
        if place == 0 {
            return Some(0);
        }
        let above = self.same(other, other.place(place).above)?;
        let row = self.below.row(above);
        row.iter().copied().find(|&own| self.key(own) == other.key(place))
    }

    /// The places below one, most weight first.
    pub fn below(&self, place: u32) -> Vec<u32> {
        let mut below = self.below.row(place).to_vec();
        below.sort_by_key(|&place| (Reverse(self.places[place as usize].bytes), place));
        below
    }

    /// The holders of `least` bytes or more, largest first. A place of many objects at the top
    /// counts as one, too, as no single object holds them.
    pub fn holders(&self, least: u64) -> Vec<Holder> {
        let mut holders = Vec::new();
        let mut open = vec![Vec::new()];
        while let Some(mut path) = open.pop() {
            let own = path.last().copied().unwrap_or(0);
            let parts = self.below(own);
            let large = |&&part: &&u32| self.places[part as usize].bytes >= least;
            let bytes = self.places[own as usize].bytes;
            // A part without a name, such as the table of an object, belongs to what it is in.
            let is_inner = |part: u32| self.class(part).starts_with('(') && !path.is_empty();
            let ones: Vec<u32> = parts
                .iter()
                .filter(large)
                .copied()
                .filter(|&part| self.places[part as usize].is_one)
                .filter(|&part| !is_inner(part) || bytes - self.places[part as usize].bytes < least)
                .collect();
            let held: u64 = ones.iter().map(|&part| self.places[part as usize].bytes).sum();
            let further = |next: u32| path.iter().copied().chain([next]).collect::<Vec<u32>>();
            if path.is_empty() {
                for &many in parts
                    .iter()
                    .filter(large)
                    .filter(|&&part| !self.places[part as usize].is_one)
                {
                    holders.push(Holder {
                        path: further(many),
                        bytes: self.places[many as usize].bytes,
                        parts: self.below(many),
                    });
                }
            }
            if path.is_empty() || (held > bytes / 2 && !ones.is_empty()) {
                let (first, others) = ones
                    .split_first()
                    .map_or((None, &[][..]), |(first, others)| (Some(*first), others));
                open.extend(others.iter().map(|&one| further(one)));
                if let (Some(first), true) = (first, bytes - held < least || path.is_empty()) {
                    // A long path is not copied for each step.
                    let mut path = std::mem::take(&mut path);
                    path.push(first);
                    open.push(path);
                } else {
                    open.extend(first.map(further));
                }
                if !path.is_empty() && bytes - held >= least {
                    let parts = parts.into_iter().filter(|part| !ones.contains(part)).collect();
                    holders.push(Holder {
                        path,
                        bytes: bytes - held,
                        parts,
                    });
                }
            } else {
                let path = self.before_chain(path);
                if !holders.iter().any(|holder: &Holder| holder.path == path) {
                    let last = path.last().copied().unwrap_or(0);
                    holders.push(Holder {
                        bytes: self.places[last as usize].bytes,
                        parts: self.below(last),
                        path,
                    });
                }
            }
        }
        holders.sort_by_key(|holder| (Reverse(holder.bytes), holder.path.clone()));
        holders
    }

    /// A path to a holder. If it ends with a chain of many single objects, linked by references of
    /// one name, the object above them is the holder.
    fn before_chain(&self, mut path: Vec<u32>) -> Vec<u32> {
        let way = |place: u32| self.places[place as usize].way;
        let last = path.last().map(|&last| way(last));
        let chain = path.iter().rev().take_while(|&&at| Some(way(at)) == last).count();
        if chain > LIST as usize {
            path.truncate((path.len() - chain).max(1));
        }
        path
    }
}
