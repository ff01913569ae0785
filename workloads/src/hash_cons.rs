//! `hash_cons N U`: terms of which there are no two equal ones, by a weak set.
//!
//! A term is a leaf, or a pair of terms. A leaf of a number v has the hash mix(v) >> 4 and the depth 0. A
//! pair has the hash mix(left + 3 right) >> 4 of the hashes of its parts, where the sum is taken modulo 2^60,
//! and is one deeper than the deeper part. Before a term is made it is looked up.
//!
//! Each of N slots first holds the leaf of its number modulo 1000. Then U times three slots i, j and k
//! are drawn, and a number d (seed 7; in this order). Slot k becomes the pair of the terms in i and j if both
//! have a depth below 4, otherwise the leaf of d modulo 1000. The checksum is the sum of the hashes in all
//! slots, and of the slots whose term is what a lookup finds: N. Terms have 40 bytes.
//!
//! Set-up makes the first terms; the sum is exit.

use gclab_core::closure::{Closure, Ptr};
use gclab_core::mutator::{Gc, MutArray, Mutator, MutatorKind, NoGc, Root, WeakSet};
use gclab_core::world::World;

use crate::{ArgSpec, Args, RunError, SplitMix64, StressSize, TestSize, Workload, WorkloadDescription, mix};

/// Seed of the generator of slots and leaves.
const SEED: u64 = 7;

/// Different leaves.
const LEAVES: u64 = 1000;

/// The depth of the deepest term.
const DEEPEST: u64 = 4;

#[derive(Closure)]
#[allow(dead_code, reason = "it never exists as a Rust value")]
struct Term {
    left: Option<Ptr<Term>>,
    right: Option<Ptr<Term>>,
    hash: u64,
    depth: u64,
}

/// Terms that share all equal parts.
#[derive(Debug, Default)]
pub struct HashCons;

impl Workload for HashCons {
    const DESCRIPTION: WorkloadDescription = WorkloadDescription {
        name: "hash_cons",
        summary: "terms that share all equal parts, by a weak set",
        args: &[
            ArgSpec::number("N", "slots that hold terms", 100_000, 1..=1 << 32),
            ArgSpec::number("U", "updates", 5_000_000, 0..=1 << 40),
        ],
        checksum: Some(17_131_265_602_103_705_326),
        test: TestSize {
            args: &["500", "20000"],
            checksum: Some(2_875_810_533_633_316_005),
        },
        bench: &["5000", "50000"],
        stress: StressSize {
            args: &["20", "300"],
            every: 1,
            parallel: &["2000", "5000"],
        },
    };

    fn run<M: MutatorKind>(&self, world: &World<M>, args: &Args) -> Result<u64, RunError> {
        let (slots, updates) = (args.number("N"), args.number("U"));
        Ok(world.enter(|m| run(m, slots as usize, updates))?)
    }
}

fn run<M: MutatorKind>(m: &mut Mutator<'_, M>, slots: usize, updates: u64) -> u64 {
    m.frame(|m, [array]| {
        let array = array.put(m.alloc_array::<Term>(slots, |_| None));
        let mut terms = WeakSet::default();
        for slot in 0..slots {
            put(m, &mut terms, &array, slot, leaf(slot as u64));
        }
        m.measure(|m| {
            let mut rng = SplitMix64::new(SEED);
            for _ in 0..updates {
                let [i, j, k] = [0; 3].map(|_| rng.below(slots as u64) as usize);
                let number = rng.draw();
                let pair = pair(m, array.get(m), [i, j]);
                put(m, &mut terms, &array, k, pair.unwrap_or_else(|| leaf(number)));
            }
        });
        let array = array.get(m);
        (0..slots).fold(0_u64, |sum, slot| {
            let Some(term) = array.get(m, slot) else { return sum };
            let found = terms.find(m, term.hash(m), |other| other == term);
            sum.wrapping_add(term.hash(m) + u64::from(found.is_some()))
        })
    })
}

/// A term that is to be looked up, or made: its parts are in these slots.
struct Wanted {
    parts: Option<[usize; 2]>,
    hash: u64,
    depth: u64,
}

fn leaf(number: u64) -> Wanted {
    Wanted {
        parts: None,
        hash: mix(number % LEAVES) >> 4,
        depth: 0,
    }
}

/// The pair of the terms in these slots, unless it were too deep.
fn pair<'h, M: MutatorKind>(m: &NoGc<'h, M>, array: Gc<'_, 'h, MutArray<Term>>, slots: [usize; 2]) -> Option<Wanted> {
    let [left, right] = slots.map(|slot| array.get(m, slot));
    let (left, right) = left.zip(right)?;
    let depth = 1 + left.depth(m).max(right.depth(m));
    let sum = left.hash(m).wrapping_add(right.hash(m).wrapping_mul(3));
    (depth <= DEEPEST).then(|| Wanted {
        parts: Some(slots),
        hash: mix(sum & ((1 << 60) - 1)) >> 4,
        depth,
    })
}

/// Puts the wanted term into a slot. Makes it unless there is one.
fn put<'h, M: MutatorKind>(
    m: &mut Mutator<'h, M>,
    terms: &mut WeakSet<Term>,
    array: &Root<'_, 'h, MutArray<Term>>,
    slot: usize,
    wanted: Wanted,
) {
    let Wanted { parts, hash, depth } = wanted;
    let place = array.get(m);
    let [left, right] = parts.map_or([None; 2], |parts| parts.map(|part| place.get(m, part)));
    let found = terms.find(m, hash, |term| term.left(m) == left && term.right(m) == right);
    if let Some(found) = found {
        place.set(m, slot, Some(found));
        return;
    }
    let (m, term) = m.alloc_with(|m| {
        let place = array.get(m);
        let [left, right] = parts.map_or([None; 2], |parts| parts.map(|part| place.get(m, part)));
        Term::new(left, right, hash, depth)
    });
    terms.insert(m, hash, term);
    array.get(m).set(m, slot, Some(term));
}
