//! `hash_churn B K U`: a hash table whose chains are mutated at random.
//!
//! U times: key = draw mod K (seed 3), bucket = mix(key) mod B. If the bucket's chain holds the
//! key, its entry is unlinked, by a store into the entry before it or into the bucket. Otherwise an
//! entry {key, bytes, next} is put in front, with an array of 16 + (key mod 48) bytes, all key mod
//! 256. The checksum is the sum over the remaining entries of key + length of bytes + first byte.
//! An entry has 32 bytes, its array 16 and its bytes rounded up to words.
//!
//! The table fills up to nearly K / 2 entries: after u updates it holds K/2 (1 - e^(-2u/K)) on
//! average. The first 2 K updates, at most half of all, are set-up; the sum is exit.

use gclab_core::closure::{Closure, Mut, Ptr};
use gclab_core::mutator::{ByteArray, Gc, MutArray, Mutator, MutatorKind, NoGc, Root};
use gclab_core::world::World;

use crate::{ArgSpec, Args, RunError, SplitMix64, StressSize, TestSize, Workload, WorkloadDescription, mix};

/// Seed of the generator of keys.
const SEED: u64 = 3;

/// Updates per key after which the table holds 98 % of its final average.
const FILL: u64 = 2;

/// Least length of an entry's array.
const SHORTEST: u64 = 16;

/// Number of different lengths.
const LENGTHS: u64 = 48;

#[derive(Closure)]
#[allow(dead_code, reason = "it never exists as a Rust value")]
struct Entry {
    key: u64,
    bytes: Ptr<ByteArray>,
    next: Mut<Entry>,
}

/// A hash table with mutable chains.
#[derive(Debug, Default)]
pub struct HashChurn;

impl Workload for HashChurn {
    const DESCRIPTION: WorkloadDescription = WorkloadDescription {
        name: "hash_churn",
        summary: "a hash table whose chains are mutated at random places",
        args: &[
            ArgSpec::number("B", "buckets", 262_144, 1..=1 << 36),
            ArgSpec::number("K", "different keys", 1_048_576, 1..=1 << 40),
            ArgSpec::number("U", "insertions and deletions", 10_000_000, 0..=1 << 40),
        ],
        checksum: Some(274_757_359_389),
        test: TestSize {
            args: &["1024", "4096", "50000"],
            checksum: Some(4_607_432),
        },
        bench: &["8192", "32768", "200000"],
        stress: StressSize {
            args: &["16", "64", "1000"],
            every: 1,
            parallel: &["64", "500", "3000"],
        },
    };

    fn run<M: MutatorKind>(&self, world: &World<M>, args: &Args) -> Result<u64, RunError> {
        let (buckets, keys, updates) = (args.number("B"), args.number("K"), args.number("U"));
        Ok(world.enter(|m| run(m, buckets, keys, updates))?)
    }
}

#[inline]
fn run<'h, M: MutatorKind>(m: &mut Mutator<'h, M>, buckets: u64, keys: u64, updates: u64) -> u64 {
    m.frame(|m, [table]| {
        let table = table.put(m.alloc_array::<Entry>(buckets as usize, |_| None));
        let (rng, table) = (SplitMix64::new(SEED), &table);
        let fill = FILL.saturating_mul(keys).min(updates / 2);
        let rng = update(m, table, rng, (buckets, keys), fill);
        m.measure(move |m| update(m, table, rng, (buckets, keys), updates - fill));
        sum(m, table.get(m))
    })
}

/// Updates the table `times` times. Takes values, since what a closure captures by reference is
/// read from memory each time. Returns the generator's final state.
fn update<'h, M: MutatorKind>(
    m: &mut Mutator<'h, M>,
    table: &Root<'_, 'h, MutArray<Entry>>,
    mut rng: SplitMix64,
    (buckets, keys): (u64, u64),
    times: u64,
) -> SplitMix64 {
    for _ in 0..times {
        let key = rng.below(keys);
        let bucket = (mix(key) % buckets) as usize;
        if !unlink(m, table.get(m), bucket, key) {
            prepend(m, table, bucket, key);
        }
    }
    rng
}

/// Takes the entry of `key` out of its chain. Returns false if there is none.
#[inline]
fn unlink<'h, M: MutatorKind>(m: &NoGc<'h, M>, table: Gc<'_, 'h, MutArray<Entry>>, bucket: usize, key: u64) -> bool {
    let (mut before, mut at) = (None::<Gc<'_, 'h, Entry>>, table.get(m, bucket));
    while let Some(entry) = at {
        if entry.key(m) == key {
            match before {
                Some(before) => before.set_next(m, entry.next(m)),
                None => table.set(m, bucket, entry.next(m)),
            }
            return true;
        }
        before = at;
        at = entry.next(m);
    }
    false
}

#[inline]
fn prepend<'h, M: MutatorKind>(m: &mut Mutator<'h, M>, table: &Root<'_, 'h, MutArray<Entry>>, bucket: usize, key: u64) {
    m.frame(|m, [bytes]| {
        let bytes = bytes.put(m.alloc_bytes_filled((SHORTEST + key % LENGTHS) as usize, key as u8));
        let (m, entry) = m.alloc_with(|m| Entry::new(key, bytes.get(m), table.get(m).get(m, bucket)));
        table.get(m).set(m, bucket, Some(entry));
    });
}

#[inline]
fn sum<'h, M: MutatorKind>(m: &NoGc<'h, M>, table: Gc<'_, 'h, MutArray<Entry>>) -> u64 {
    let mut total = 0_u64;
    for bucket in 0..table.len() {
        let mut at = table.get(m, bucket);
        while let Some(entry) = at {
            let bytes = entry.bytes(m).as_slice();
            total = total.wrapping_add(entry.key(m) + bytes.len() as u64 + u64::from(bytes[0]));
            at = entry.next(m);
        }
    }
    total
}
