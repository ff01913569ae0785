//! Which references of a JVM keep their targets alive.
//!
//! **References.** The referent of a weak or phantom reference is on a `weak` edge. If something
//! stronger keeps the referent of a soft reference, or of one for finalisation, its edge becomes
//! `weak`, too, since the object would not be freed without it. Otherwise the object takes memory
//! because of the reference, so the edge stays.
//!
//! **Pairs of a WeakHashMap.** A map keeps a value as long as the pair's key lives. So the value
//! belongs to the key: the edge from the pair becomes `weak`, and the key gets one. The exception
//! is a key that lives only because of values in such maps, for example because its value refers to
//! it: then the pair keeps both.
//!
//! **How.** One search from the root, over strong edges and edges from keys whose pair is reached.
//! When it ends, the pairs still waiting for their keys keep their values, and it goes on. Then
//! soft references are followed, then those for finalisation.
//!
//! **Cost**: linear time, a byte a node and 24 a pair.

use hashbrown::HashMap;

use crate::error::Problem;
use crate::hprof::kinds::{CLASS, FIELD, FINAL, INTERNAL, MOST_EDGES, OBJECT, SOFT, WEAK};
use crate::memory::{TOGETHER, insert, push, reserve, touch};
use crate::snapshot::Snapshot;

/// The class of a WeakHashMap's pairs.
const PAIR: &str = "java.util.WeakHashMap$Entry";
/// The name of the edge from a key to its value.
const OF_KEY: &str = "<value in WeakHashMap>";
/// The type of the edge from a pair to its value until it is known what keeps the value.
const OPEN: u8 = u8::MAX;

/// Flag in a node's rank: it is the key of a pair, or a pair.
const PAIRED: u8 = 0x80;

/// A pair whose key and value are in the dump.
struct Pair {
    entry: u32,
    key: u32,
    value: u32,
    /// The edge from the pair to the value.
    place: u32,
}

/// How many targets of a node are fetched. More would evict each other before they are used.
const SIBLINGS: usize = 16;

struct Search<'s> {
    snapshot: &'s mut Snapshot,
    /// By node: 0, or the rank of the weakest edge on the strongest path to it: 1 for strong, 2 for
    /// soft, 3 for final. Also [`PAIRED`].
    ranks: Vec<u8>,
    open: Vec<u32>,
    pairs: Vec<Pair>,
    /// By node: its pairs.
    paired: HashMap<u32, Vec<u32>>,
    /// Pairs that were reached before their keys.
    waiting: Vec<u32>,
}

/// Decides what each reference and each pair keeps alive.
pub(super) fn settle(snapshot: &mut Snapshot) -> Result<(), Problem> {
    let mut references: [Vec<(u32, u32)>; 2] = Default::default();
    for node in snapshot.nodes() {
        for place in node.edge_range() {
            match snapshot.edge_types[place as usize] {
                SOFT => push(&mut references[0], (node.ordinal(), place))?,
                FINAL => push(&mut references[1], (node.ordinal(), place))?,
                _ => {}
            }
        }
    }
    let mut ranks = Vec::new();
    reserve(&mut ranks, snapshot.node_types.len())?;
    ranks.resize(snapshot.node_types.len(), 0);
    let mut search = Search {
        pairs: pairs(snapshot)?,
        snapshot,
        ranks,
        open: Vec::new(),
        paired: HashMap::new(),
        waiting: Vec::new(),
    };
    for at in 0..search.pairs.len() {
        let Pair { entry, key, place, .. } = search.pairs[at];
        search.snapshot.edge_types[place as usize] = OPEN;
        for node in [entry, key] {
            search.ranks[node as usize] = PAIRED;
            let mut all = search.paired.remove(&node).unwrap_or_default();
            push(&mut all, at as u32)?;
            insert(&mut search.paired, node, all)?;
        }
    }
    search.reach(0, 1)?;
    search.run(1)?;
    for (rank, references) in (2..).zip(&references) {
        for &(source, place) in references {
            if search.ranks[source as usize] & !PAIRED > 0 {
                search.reach(search.snapshot.targets[place as usize], rank)?;
            }
        }
        search.run(rank)?;
        for &(_, place) in references {
            let target = search.snapshot.targets[place as usize];
            if (1..rank).contains(&(search.ranks[target as usize] & !PAIRED)) {
                search.snapshot.edge_types[place as usize] = WEAK;
            }
        }
    }
    let Search {
        snapshot, mut pairs, ..
    } = search;
    for pair in &pairs {
        // An unreachable pair keeps its value.
        let kind = &mut snapshot.edge_types[pair.place as usize];
        *kind = if *kind == OPEN { FIELD } else { *kind };
    }
    pairs.retain(|pair| snapshot.edge_types[pair.place as usize] == WEAK);
    of_keys(snapshot, pairs)
}

/// The pairs of all maps.
fn pairs(snapshot: &Snapshot) -> Result<Vec<Pair>, Problem> {
    let mut pairs = Vec::new();
    let mut classes = snapshot.nodes().filter(|node| node.type_index() == CLASS);
    let Some(name) = classes
        .find(|node| node.name() == PAIR)
        .and_then(|class| class.name_index())
    else {
        return Ok(pairs);
    };
    let is_pair = |node: &crate::Node<'_>| node.type_index() == OBJECT && node.name_index() == Some(name);
    for node in snapshot.nodes().filter(is_pair) {
        let is_key = |edge: &crate::Edge<'_>| edge.type_index() == WEAK && edge.name_text() != "discovered";
        let key = node.edges().find(is_key);
        let value = node.edges().find(|edge| edge.name_text() == "value");
        if let (Some(key), Some(value)) = (key, value) {
            let pair = Pair {
                entry: node.ordinal(),
                key: key.target().ordinal(),
                value: value.target().ordinal(),
                place: value.place(),
            };
            push(&mut pairs, pair)?;
        }
    }
    // Each may need another edge.
    pairs.truncate(MOST_EDGES.saturating_sub(snapshot.targets.len()));
    Ok(pairs)
}

impl Search<'_> {
    fn reach(&mut self, node: u32, rank: u8) -> Result<(), Problem> {
        let own = &mut self.ranks[node as usize];
        if *own & !PAIRED == 0 {
            *own |= rank;
            push(&mut self.open, node)?;
        }
        Ok(())
    }

    /// Reaches everything that the open nodes keep over edges of ranks up to `rank`.
    fn run(&mut self, rank: u8) -> Result<(), Problem> {
        loop {
            while !self.open.is_empty() {
                // The newest ones, so that few are open.
                let some = self.open.split_off(self.open.len().saturating_sub(TOGETHER));
                self.expect(&some);
                for node in some {
                    self.pass_on(node, rank)?;
                }
            }
            let waiting = std::mem::take(&mut self.waiting);
            for &at in &waiting {
                let Pair { place, value, .. } = self.pairs[at as usize];
                if self.snapshot.edge_types[place as usize] == OPEN {
                    self.snapshot.edge_types[place as usize] = FIELD;
                    self.reach(value, rank)?;
                }
            }
            if self.open.is_empty() {
                return Ok(());
            }
        }
    }

    /// Reaches what a node keeps over edges of ranks up to `rank`.
    fn pass_on(&mut self, node: u32, rank: u8) -> Result<(), Problem> {
        for place in self.snapshot.node(node).edge_range() {
            match self.snapshot.edge_types[place as usize] {
                WEAK | OPEN => {}
                SOFT if rank < 2 => {}
                FINAL if rank < 3 => {}
                _ => self.reach(self.snapshot.targets[place as usize], rank)?,
            }
        }
        if self.ranks[node as usize] & PAIRED != 0 {
            self.pairs_of(node, rank)?;
        }
        Ok(())
    }

    /// Brings what passing on from some nodes needs into the cache.
    fn expect(&self, some: &[u32]) {
        let snapshot = &*self.snapshot;
        touch(&snapshot.first_edge, some.iter().copied());
        let starts = || some.iter().map(|&node| snapshot.first_edge[node as usize]);
        touch(&snapshot.edge_types, starts());
        touch(&snapshot.targets, starts());
        let edges = some
            .iter()
            .flat_map(|&node| snapshot.node(node).edge_range().take(SIBLINGS));
        touch(&self.ranks, edges.map(|edge| snapshot.targets[edge as usize]));
    }

    /// Gives the values to the keys for those pairs of a node that are wholly reached.
    fn pairs_of(&mut self, node: u32, rank: u8) -> Result<(), Problem> {
        let pairs = self.paired.remove(&node).unwrap_or_default();
        for at in pairs {
            let Pair {
                entry,
                key,
                value,
                place,
            } = self.pairs[at as usize];
            let [entry, key] = [entry, key].map(|node| self.ranks[node as usize] & !PAIRED > 0);
            match self.snapshot.edge_types[place as usize] {
                OPEN if entry && key => {
                    self.snapshot.edge_types[place as usize] = WEAK;
                    self.reach(value, rank)?;
                }
                OPEN if entry => push(&mut self.waiting, at)?,
                _ => {}
            }
        }
        Ok(())
    }
}

/// Adds the edges from keys to their values, after the other edges of each key.
fn of_keys(snapshot: &mut Snapshot, mut pairs: Vec<Pair>) -> Result<(), Problem> {
    if pairs.is_empty() {
        return Ok(());
    }
    pairs.sort_unstable_by_key(|pair| (pair.key, pair.place));
    let name = snapshot.strings.push(OF_KEY)?;
    let old = snapshot.targets.len();
    reserve(&mut snapshot.targets, pairs.len())?;
    reserve(&mut snapshot.edge_types, pairs.len())?;
    reserve(&mut snapshot.edge_names, pairs.len())?;
    snapshot.targets.resize(old + pairs.len(), 0);
    snapshot.edge_types.resize(old + pairs.len(), INTERNAL);
    snapshot.edge_names.resize(old + pairs.len(), name);
    // From the last edge down: everything before `end` is still in its old place, and moves up by
    // as many places as there are pairs left.
    let mut end = old;
    for (before, pair) in pairs.iter().enumerate().rev() {
        let start = snapshot.first_edge[pair.key as usize + 1] as usize;
        let to = start + before + 1;
        snapshot.targets.copy_within(start..end, to);
        snapshot.edge_types.copy_within(start..end, to);
        snapshot.edge_names.copy_within(start..end, to);
        snapshot.targets[to - 1] = pair.value;
        snapshot.edge_types[to - 1] = INTERNAL;
        snapshot.edge_names[to - 1] = name;
        end = start;
    }
    let mut added = 0;
    for (key, end) in (0..).zip(&mut snapshot.first_edge[1..]) {
        added += pairs[added..].iter().take_while(|pair| pair.key == key).count();
        *end += added as u32;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{FIELD, FINAL, INTERNAL, OF_KEY, PAIR, SOFT, WEAK, settle};
    use crate::hprof::kinds::{CLASS, EDGE_TYPES, NODE_TYPES, OBJECT};
    use crate::snapshot::Snapshot;
    use proptest::prelude::*;

    /// The type of an edge, and its target.
    type Link = (u8, u32);
    /// The ordinals of a pair, its key and its value.
    type Triple = (u32, u32, u32);

    /// Nodes with these edges. Those in `pairs` are pairs of a key and a value, too.
    fn snapshot(rows: &[Vec<Link>], pairs: &[Triple]) -> Snapshot {
        let mut snapshot = Snapshot {
            node_type_names: NODE_TYPES.map(str::to_owned).to_vec(),
            edge_type_names: EDGE_TYPES.map(str::to_owned).to_vec(),
            weak_type: Some(WEAK),
            indexed_types: vec![false; EDGE_TYPES.len()],
            first_edge: vec![0],
            ..Snapshot::default()
        };
        let [none, class, value] = ["", PAIR, "value"].map(|name| snapshot.strings.push(name).unwrap());
        let all = rows.iter().map(|row| (OBJECT, &row[..])).chain([(CLASS, &[][..])]);
        for (node, (kind, row)) in (0..).zip(all) {
            let pair = pairs.iter().find(|pair| pair.0 == node);
            let of_pair = pair.map_or(vec![], |pair| vec![(WEAK, pair.1, none), (FIELD, pair.2, value)]);
            for (kind, to, name) in of_pair
                .into_iter()
                .chain(row.iter().map(|&(kind, to)| (kind, to, none)))
            {
                snapshot.edge_types.push(kind);
                snapshot.targets.push(to);
                snapshot.edge_names.push(name);
            }
            let name = if kind == CLASS || pair.is_some() { class } else { none };
            snapshot.node_types.push(kind);
            snapshot.node_names.push(name);
            snapshot.self_sizes.push(1);
            snapshot.first_edge.push(snapshot.targets.len() as u32);
        }
        snapshot
    }

    /// The nodes reachable from the root over edges of these types, and from keys whose pair is
    /// reached too.
    fn reached(snapshot: &Snapshot, kinds: &[u8], pairs: &[Triple]) -> Vec<bool> {
        let mut reached = vec![false; snapshot.node_count() as usize];
        reached[0] = true;
        loop {
            let before = reached.clone();
            for node in snapshot.nodes().filter(|node| before[node.ordinal() as usize]) {
                for edge in node.edges().filter(|edge| kinds.contains(&edge.type_index())) {
                    let of_pair = edge.name_text() == "value" && !pairs.is_empty();
                    reached[edge.target().ordinal() as usize] |= !of_pair;
                }
            }
            for &(entry, key, value) in pairs {
                reached[value as usize] |= before[entry as usize] && before[key as usize];
            }
            if reached == before {
                return reached;
            }
        }
    }

    fn heaps() -> impl Strategy<Value = (Vec<Vec<Link>>, Vec<Triple>)> {
        (2_u32..16).prop_flat_map(|nodes| {
            let kind = prop::sample::select(vec![FIELD, FIELD, FIELD, WEAK, SOFT, FINAL]);
            let row = prop::collection::vec((kind, 0..nodes), 0..3);
            let pairs = prop::collection::btree_map(1..nodes, (0..nodes, 0..nodes), 0..4);
            let pairs = pairs.prop_map(|pairs| pairs.into_iter().map(|(pair, (key, value))| (pair, key, value)));
            (
                prop::collection::vec(row, nodes as usize),
                pairs.prop_map(Iterator::collect),
            )
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

        #[test]
        fn references_keep_what_nothing_stronger_keeps((rows, pairs) in heaps()) {
            let before = snapshot(&rows, &pairs);
            let mut after = snapshot(&rows, &pairs);
            settle(&mut after).unwrap();
            let strong = reached(&before, &[FIELD], &[]);
            let soft = reached(&before, &[FIELD, SOFT], &[]);
            let all = reached(&before, &[FIELD, SOFT, FINAL], &[]);
            let by_keys = reached(&before, &[FIELD], &pairs);
            // What takes memory is still reached, and nothing else.
            prop_assert_eq!(&reached(&after, &[FIELD, INTERNAL, SOFT, FINAL], &[]), &all);
            for (old, new) in before.nodes().zip(after.nodes()) {
                for (old, new) in old.edges().zip(new.edges()) {
                    let to = old.target().ordinal() as usize;
                    prop_assert_eq!(new.target().ordinal() as usize, to);
                    match old.type_index() {
                        SOFT => prop_assert_eq!(new.is_strong(), !strong[to]),
                        FINAL => prop_assert_eq!(new.is_strong(), !soft[to]),
                        _ => {}
                    }
                }
            }
            for &(entry, key, value) in &pairs {
                let own = after.node(entry).edges().nth(1).unwrap();
                let mut of_key = after.node(key).edges().filter(|edge| edge.name_text() == OF_KEY);
                let has_value = of_key.any(|edge| edge.target().ordinal() == value);
                if all[entry as usize] && by_keys[entry as usize] && by_keys[key as usize] {
                    prop_assert!(!own.is_strong() && has_value, "pair {} belongs to its key", entry);
                } else if !all[key as usize] {
                    prop_assert!(own.is_strong(), "pair {} has a key that nothing else keeps", entry);
                }
            }
        }
    }
}
