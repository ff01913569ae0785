//! `par_shared T B K U`: threads that update one hash table, so old objects come to point to other
//! threads' young ones.
//!
//! The table is an array of B chains of immutable entries {key, bytes, next}. An update makes a new
//! chain, sharing what it can, and replaces the old one by compare-and-swap. If another thread has
//! changed the chain meanwhile, the update starts again from the changed one. U times: key = draw
//! mod K (seed 5); bucket = mix(key) mod B. If the chain holds the key, its entry is left out, and
//! those before it are copied. Otherwise an entry is put in front, with an array of
//! 16 + (key mod 48) bytes, all key mod 256.
//!
//! Thread t does updates t, t + T, t + 2 T and so on, and draws numbers only for these. The
//! checksum is the sum over the remaining entries of key + length of bytes + first byte. A key is
//! present in the end if it was drawn an odd number of times, so the checksum depends neither on T
//! nor on the order of the threads: it is that of `hash_churn` with another seed. An entry has 32
//! bytes, its array 16 and its bytes rounded up to words. Live data is as in `hash_churn`. Entries
//! replaced by copies become garbage at some age, and so do copies that lost a race. Set-up makes
//! the empty table; the sum is exit.

use gclab_core::closure::{Closure, Ptr};
use gclab_core::mutator::{ByteArray, Gc, MutArray, Mutator, MutatorKind, NoGc, OptionRoot, Root};
use gclab_core::world::World;

use crate::{ArgSpec, Args, RunError, SplitMix64, StressSize, TestSize, Workload, WorkloadDescription, mix, threads};

/// Seed of the generator of keys.
const SEED: u64 = 5;

/// Least length of an entry's array.
const SHORTEST: u64 = 16;

/// Number of different lengths.
const LENGTHS: u64 = 48;

/// An entry of a chain.
#[derive(Closure)]
#[allow(dead_code, reason = "it never exists as a Rust value")]
struct Entry {
    key: u64,
    bytes: Ptr<ByteArray>,
    next: Option<Ptr<Entry>>,
}

/// A hash table that threads share.
#[derive(Debug, Default)]
pub struct ParShared;

impl Workload for ParShared {
    const DESCRIPTION: WorkloadDescription = WorkloadDescription {
        name: "par_shared",
        summary: "threads that update one hash table by compare-and-swap",
        args: &[
            ArgSpec::number("T", "threads", 4, 1..=threads::MOST),
            ArgSpec::number("B", "buckets", 65_536, 1..=1 << 36),
            ArgSpec::number("K", "different keys", 262_144, 1..=1 << 40),
            ArgSpec::number("U", "insertions and deletions", 5_000_000, 0..=1 << 40),
        ],
        checksum: Some(17_222_704_993),
        test: TestSize {
            args: &["4", "256", "1024", "20000"],
            checksum: Some(339_828),
        },
        bench: &["4", "8192", "32768", "100000"],
        stress: StressSize {
            args: &["3", "16", "64", "1000"],
            every: 1,
            parallel: &["4", "64", "500", "2000"],
        },
    };

    fn run<M: MutatorKind>(&self, world: &World<M>, args: &Args) -> Result<u64, RunError> {
        let (threads, keys, updates) = (args.number("T"), args.number("K"), args.number("U"));
        let buckets = args.number("B");
        let table = world.enter(|m| {
            let (m, table) = m.with_view(|m| m.alloc_array::<Entry>(buckets as usize, |_| None));
            m.handle(table)
        })?;
        let work = |m: &mut Mutator<'_, M>, thread: u64| {
            m.frame(|m, [slot]| {
                let table = slot.put(table.open(m));
                let rng = SplitMix64::new(SEED);
                for number in (thread..updates).step_by(threads as usize) {
                    let key = rng.nth(number) % keys;
                    update(m, &table, (mix(key) % buckets) as usize, key);
                }
            });
        };
        world.measure(|| threads::enter_each(world, threads, work))??;
        Ok(world.enter(|m| sum(m, table.open(m)))?)
    }
}

/// Removes the entry of `key`, or adds one.
#[inline]
fn update<'h, M: MutatorKind>(m: &mut Mutator<'h, M>, table: &Root<'_, 'h, MutArray<Entry>>, bucket: usize, key: u64) {
    m.frame(|m, [seen]| {
        let seen = seen.put_option(m, table.get(m).get(m, bucket));
        // After a lost race another thread may have removed the key, or added it.
        while !match position(m, seen.get(m), key) {
            Some(before) => remove(m, table, bucket, &seen, before),
            None => prepend(m, table, bucket, &seen, key),
        } {}
    });
}

/// The number of entries before `key`'s; `None` if the chain does not hold it.
#[inline]
fn position<'h, M: MutatorKind>(m: &NoGc<'h, M>, mut at: Option<Gc<'_, 'h, Entry>>, key: u64) -> Option<usize> {
    let mut before = 0;
    while let Some(entry) = at {
        if entry.key(m) == key {
            return Some(before);
        }
        (before, at) = (before + 1, entry.next(m));
    }
    None
}

/// Puts an entry in front of the chain `seen`. If the bucket holds another chain by now, leaves
/// that in `seen` and returns false.
#[inline]
fn prepend<'h, M: MutatorKind>(
    m: &mut Mutator<'h, M>,
    table: &Root<'_, 'h, MutArray<Entry>>,
    bucket: usize,
    seen: &OptionRoot<'_, 'h, Entry>,
    key: u64,
) -> bool {
    m.frame(|m, [bytes]| {
        let bytes = bytes.put(m.alloc_bytes_filled((SHORTEST + key % LENGTHS) as usize, key as u8));
        let (m, entry) = m.alloc_with(|m| Entry::new(key, bytes.get(m), seen.get(m)));
        replace(m, table, bucket, seen, Some(entry))
    })
}

/// As [`prepend`], but replaces the chain `seen` by one without entry `before`, counted from 0.
#[inline]
fn remove<'h, M: MutatorKind>(
    m: &mut Mutator<'h, M>,
    table: &Root<'_, 'h, MutArray<Entry>>,
    bucket: usize,
    seen: &OptionRoot<'_, 'h, Entry>,
    before: usize,
) -> bool {
    m.frame(|m, [rest]| {
        let rest = rest.put_option(m, nth(m, seen.get(m), before).next(m));
        for place in (0..before).rev() {
            let (m, entry) = m.alloc_with(|m| {
                let entry = nth(m, seen.get(m), place);
                Entry::new(entry.key(m), entry.bytes(m), rest.get(m))
            });
            rest.set(m, Some(entry));
        }
        replace(m, table, bucket, seen, rest.get(m))
    })
}

/// Entry `place` of a chain, which must be longer than that.
#[inline]
fn nth<'m, 'h, M: MutatorKind>(m: &NoGc<'h, M>, chain: Option<Gc<'m, 'h, Entry>>, place: usize) -> Gc<'m, 'h, Entry> {
    let mut entry = chain.expect("an entry was found in it");
    for _ in 0..place {
        entry = entry.next(m).expect("an entry was found behind it");
    }
    entry
}

/// Replaces the chain `seen` by `chain`. If the bucket holds another chain by now, leaves that in
/// `seen` and returns false.
#[inline]
fn replace<'h, M: MutatorKind>(
    m: &NoGc<'h, M>,
    table: &Root<'_, 'h, MutArray<Entry>>,
    bucket: usize,
    seen: &OptionRoot<'_, 'h, Entry>,
    chain: Option<Gc<'_, 'h, Entry>>,
) -> bool {
    let exchanged = table.get(m).compare_exchange(m, bucket, seen.get(m), chain);
    exchanged.map_err(|found| seen.set(m, found)).is_ok()
}

/// The checksum of the table's entries.
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
