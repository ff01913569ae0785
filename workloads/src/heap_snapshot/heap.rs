//! The graph as records in a heap: builds it, renews subgraphs, and compares it with the snapshot.

use std::sync::atomic::Ordering;

use gclab_core::closure::RecordShape;
use gclab_core::mutator::{Gc, MutArray, Mutator, MutatorKind, NoGc, Record, Request, Root};

use super::graph::{Graph, ROOT};
use super::subgraph::{LARGEST, Subgraph};
use crate::{RunError, SplitMix64, mix};

/// Seed of the generator that chooses the subgraphs.
const SEED: u64 = 4;

/// Each round rebuilds one node in `SHARE`.
const SHARE: u64 = 16;

/// Bytes of a record before its pointers: the header, and the word with its counts.
const FIXED: u64 = 16;

/// Bytes of a word.
const WORD: u64 = 8;

/// The shape of a node's record: its pointers, and the rest of the self size as bytes.
#[inline]
fn shape(graph: &Graph, ordinal: u32) -> RecordShape {
    let pointers = graph.pointers(ordinal).len() as u32;
    let bytes = graph
        .self_size(ordinal)
        .saturating_sub(FIXED + WORD * u64::from(pointers));
    RecordShape {
        pointers,
        bytes: u32::try_from(bytes).expect("`Graph::new` refuses larger nodes"),
    }
}

/// The content of a record's last plain word, unless a weak edge takes that word.
#[inline]
fn stamp(ordinal: u32, round: u64) -> u64 {
    round << 32 | u64::from(ordinal)
}

/// Writes the plain words of a new record.
#[inline]
fn fill(record: Gc<'_, '_, Record>, graph: &Graph, ordinal: u32, round: u64) {
    let (words, weak) = (record.data(), graph.weak(ordinal));
    for (word, &target) in words.iter().zip(weak) {
        word.store(u64::from(target), Ordering::Relaxed);
    }
    if let Some(last) = words.get(weak.len()..).and_then(<[_]>::last) {
        last.store(stamp(ordinal, round), Ordering::Relaxed);
    }
}

/// Follows pointer `slot`, which leads to a record.
#[inline]
fn follow<'m, 'h, M: MutatorKind>(m: &NoGc<'h, M>, record: Gc<'m, 'h, Record>, slot: u32) -> Gc<'m, 'h, Record> {
    let target = record.get(m, slot as usize).and_then(Gc::downcast);
    target.expect("all pointers of a record are set, to records")
}

/// The records of a subgraph, by place.
type Records = MutArray<Record>;

/// Entry `place` of `records`, which must be set.
#[inline]
fn at<'m, 'h, M: MutatorKind>(m: &NoGc<'h, M>, records: Gc<'m, 'h, Records>, place: usize) -> Gc<'m, 'h, Record> {
    records.get(m, place).expect("entries are set before they are used")
}

/// Builds the graph, renews parts of it `rounds` times, and returns the checksum.
pub(super) fn run<M: MutatorKind>(m: &mut Mutator<'_, M>, graph: &Graph, rounds: u64) -> Result<u64, RunError> {
    m.frame(|m, [root, records, fresh]| {
        let root = root.put(build(m, graph));
        let digest = m.measure(|m| {
            if rounds == 0 {
                return 0;
            }
            let records = records.put(m.alloc_array(LARGEST, |_| None));
            let fresh = fresh.put(root.get(m));
            let mut renewal = Renewal {
                graph,
                subgraph: Subgraph::new(graph),
                path: Vec::new(),
                root: &root,
                records,
                fresh,
            };
            let mut rng = SplitMix64::new(SEED);
            (1..=rounds).fold(0_u64, |digest, round| {
                digest.wrapping_add(renewal.round(m, &mut rng, round))
            })
        });
        m.collect(Request::Full);
        Ok(count(m, graph, root.get(m))?.wrapping_add(digest))
    })
}

/// Makes a record of every node. Returns the root's record.
fn build<'m, 'h, M: MutatorKind>(m: &'m mut Mutator<'h, M>, graph: &Graph) -> Gc<'m, 'h, Record> {
    m.frame(|m, [all]| {
        let all: Root<'_, '_, Records> = all.put(m.alloc_array(graph.node_count() as usize, |_| None));
        for ordinal in 0..graph.node_count() {
            let (m, made) = m.with_view(|m| m.alloc_record(shape(graph, ordinal)));
            fill(made, graph, ordinal, 0);
            all.get(m).set(m, ordinal as usize, Some(made));
        }
        let records = all.get(m);
        for ordinal in 0..graph.node_count() {
            let record = at(m, records, ordinal as usize);
            for (slot, &target) in graph.pointers(ordinal).iter().enumerate() {
                record.set(m, slot, Some(at(m, records, target as usize).erase()));
            }
        }
        at(m, all.get(m), ROOT as usize)
    })
}

/// The state of renewal from round to round.
struct Renewal<'g, 'f, 'h> {
    graph: &'g Graph,
    subgraph: Subgraph,
    path: Vec<u32>,
    root: &'g Root<'f, 'h, Record>,
    /// The records of the subgraph, by their place in it.
    records: Root<'f, 'h, Records>,
    /// The record made last.
    fresh: Root<'f, 'h, Record>,
}

impl<'h> Renewal<'_, '_, 'h> {
    /// Renews subgraphs until there are enough new records, or the walks have covered a quarter of
    /// the graph. Returns a digest of the replaced records.
    fn round<M: MutatorKind>(&mut self, m: &mut Mutator<'h, M>, rng: &mut SplitMix64, round: u64) -> u64 {
        let size = u64::from(self.graph.node_count()) + self.graph.pointer_count();
        let enough = u64::from(self.graph.node_count()).div_ceil(SHARE);
        let (mut renewed, mut walked, mut digest) = (0, 0, 0_u64);
        while renewed < enough && walked < size.div_ceil(4) {
            let reached = self.graph.reached();
            let start = reached[rng.below(reached.len() as u64) as usize];
            walked += self.subgraph.grow(self.graph, start) + self.subgraph.steps().len() as u64;
            self.fetch(m, start);
            let (count, part) = self.replace(m, round);
            self.link(m);
            renewed += count;
            digest = digest.wrapping_add(part);
        }
        digest
    }

    /// Looks up the records of the subgraph.
    fn fetch<M: MutatorKind>(&mut self, m: &Mutator<'h, M>, start: u32) {
        let records = self.records.get(m);
        self.graph.path(start, &mut self.path);
        let first = self
            .path
            .iter()
            .fold(self.root.get(m), |record, &slot| follow(m, record, slot));
        records.set(m, 0, Some(first));
        for (place, step) in self.subgraph.steps().iter().enumerate().skip(1) {
            records.set(m, place, Some(follow(m, at(m, records, step.from as usize), step.slot)));
        }
    }

    /// Replaces those records that can be by new ones with the same pointers. Returns their number,
    /// and a digest of the last words of the old ones.
    fn replace<M: MutatorKind>(&self, m: &mut Mutator<'h, M>, round: u64) -> (u64, u64) {
        let (mut count, mut digest) = (0, 0_u64);
        for (place, step) in self.subgraph.steps().iter().enumerate() {
            if self.subgraph.rebuilt(step.ordinal).is_none() {
                continue;
            }
            let (view, fresh) = m.with_view(|m| m.alloc_record(shape(self.graph, step.ordinal)));
            self.fresh.set(view, fresh);
            let (records, fresh) = (self.records.get(m), self.fresh.get(m));
            let old = at(m, records, place);
            for slot in 0..old.shape().pointers as usize {
                fresh.set(m, slot, old.get(m, slot));
            }
            fill(fresh, self.graph, step.ordinal, round);
            records.set(m, place, Some(fresh));
            let last = old
                .data()
                .last()
                .map_or(u64::from(step.ordinal), |word| word.load(Ordering::Relaxed));
            digest = digest.wrapping_add(mix(last));
            count += 1;
        }
        (count, digest)
    }

    /// Redirects all pointers in the subgraph from old records to new ones, and drops the subgraph.
    fn link<M: MutatorKind>(&self, m: &Mutator<'h, M>) {
        let records = self.records.get(m);
        for (place, step) in self.subgraph.steps().iter().enumerate() {
            for (slot, &target) in self.graph.pointers(step.ordinal).iter().enumerate() {
                if let Some(new) = self.subgraph.rebuilt(target) {
                    at(m, records, place).set(m, slot, Some(at(m, records, new).erase()));
                }
            }
        }
        for place in 0..self.subgraph.steps().len() {
            records.set(m, place, None);
        }
    }
}

/// Walks the heap from `root` and compares each record with its node. Returns records reached +
/// pointers walked + self sizes.
fn count<'h, M: MutatorKind>(m: &NoGc<'h, M>, graph: &Graph, root: Gc<'_, 'h, Record>) -> Result<u64, RunError> {
    let mut found = vec![None; graph.node_count() as usize];
    let (mut pending, mut total) = (vec![ROOT], 1_u64);
    found[ROOT as usize] = Some(root);
    while let Some(ordinal) = pending.pop() {
        let record = found[ordinal as usize].expect("found before it is pending");
        check(record, graph, ordinal)?;
        total += graph.self_size(ordinal);
        for (slot, &target) in graph.pointers(ordinal).iter().enumerate() {
            let pointer = record.get(m, slot).and_then(Gc::downcast::<Record>);
            let pointer =
                pointer.ok_or_else(|| damaged(ordinal, format!("pointer {slot} does not lead to a record")))?;
            total += 1;
            match &mut found[target as usize] {
                Some(known) if *known == pointer => {}
                Some(_) => {
                    return Err(damaged(
                        target,
                        format!("it exists twice, one copy reached from node {ordinal}"),
                    ));
                }
                unknown => {
                    *unknown = Some(pointer);
                    pending.push(target);
                    total += 1;
                }
            }
        }
    }
    Ok(total)
}

/// Checks that a record has its node's shape, and that its plain words are as written.
fn check(record: Gc<'_, '_, Record>, graph: &Graph, ordinal: u32) -> Result<(), RunError> {
    let (found, expected) = (record.shape(), shape(graph, ordinal));
    if found != expected {
        return Err(damaged(ordinal, format!("it has {found:?} instead of {expected:?}")));
    }
    let (words, weak) = (record.data(), graph.weak(ordinal));
    let weak_kept = words
        .iter()
        .zip(weak)
        .all(|(word, &target)| word.load(Ordering::Relaxed) == u64::from(target));
    let last = words.get(weak.len()..).and_then(<[_]>::last);
    let stamp_kept = last.is_none_or(|word| word.load(Ordering::Relaxed) as u32 == ordinal);
    if weak_kept && stamp_kept {
        Ok(())
    } else {
        Err(damaged(ordinal, "its plain words have changed".to_owned()))
    }
}

fn damaged(ordinal: u32, how: String) -> RunError {
    RunError::Damaged(format!("node {ordinal}: {how}"))
}
