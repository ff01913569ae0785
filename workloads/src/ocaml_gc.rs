//! `ocaml_gc N U`: chains of payloads of many sizes in mutable arrays, and requests to the
//! collector as an OCaml program makes them through its module `Gc`.
//!
//! N slots, in arrays of 128, each with a chain of items {payload, next}. A payload has 1 to 16
//! words of 8 bytes; one in 16 has 1 to 192. First each slot gets an item. Then, for each of eight
//! requests, U updates are done before the request is made. An update draws a slot and then a
//! payload (seed 6), which is put in front of the slot's chain, or replaces the chain if that has
//! three items already. All bytes of the k-th payload are k mod 256. The checksum is the sum over
//! all items of the length of the payload + its first byte.
//!
//! All closures have the same size in OCaml: an item 3 words, a payload 2 words and its bytes, an
//! array 2 words and its slots. None is a large object.
//!
//! A workload does not know its collector, so it makes the same requests as the functions of the
//! module `Gc` make under the collector `ocaml`: `minor`, `major_slice 0`, `major`, `major_slice
//! 10000`, `full_major`, `minor`, `compact` and `major`.
//!
//! The first items are set-up; the sum is exit.

use gclab_core::closure::{Closure, Ptr};
use gclab_core::mutator::{ByteArray, Gc, MutArray, Mutator, MutatorKind, NoGc, Request, Root};
use gclab_core::words::Words;
use gclab_core::world::World;

use crate::{ArgSpec, Args, RunError, SplitMix64, StressSize, TestSize, Workload, WorkloadDescription};

/// Seed of the generator of slots and payloads.
const SEED: u64 = 6;

/// Slots of an array.
const LEAF: u64 = 128;

/// The most items in a chain.
const LONGEST: usize = 3;

/// The requests to the collector, each after as many updates.
const REQUESTS: [Request; 8] = [
    Request::Minor,
    Request::Slice(Words(0)),
    Request::Cycle,
    Request::Slice(Words(10_000)),
    Request::Full,
    Request::Minor,
    Request::Compact,
    Request::Cycle,
];

#[derive(Closure)]
#[allow(dead_code, reason = "it never exists as a Rust value")]
struct Item {
    payload: Ptr<ByteArray>,
    next: Option<Ptr<Item>>,
}

/// The arrays of slots.
type Table = MutArray<MutArray<Item>>;

/// Chains in mutable arrays, and requests to the collector.
#[derive(Debug, Default)]
pub struct OcamlGc;

impl Workload for OcamlGc {
    const DESCRIPTION: WorkloadDescription = WorkloadDescription {
        name: "ocaml_gc",
        summary: "chains of payloads of many sizes, and requests to the collector",
        args: &[
            ArgSpec::number("N", "slots with a chain each", 16_384, 1..=1 << 30),
            ArgSpec::number("U", "updates before each of the eight requests", 250_000, 0..=1 << 36),
        ],
        checksum: Some(7_850_582),
        test: TestSize {
            args: &["1000", "2500"],
            checksum: Some(465_743),
        },
        bench: &["2048", "8000"],
        stress: StressSize {
            args: &["64", "60"],
            every: 1,
            parallel: &["500", "400"],
        },
    };

    fn run<M: MutatorKind>(&self, world: &World<M>, args: &Args) -> Result<u64, RunError> {
        let (slots, updates) = (args.number("N"), args.number("U"));
        Ok(world.enter(|m| run(m, slots, updates))?)
    }
}

#[inline]
fn run<'h, M: MutatorKind>(m: &mut Mutator<'h, M>, slots: u64, updates: u64) -> u64 {
    m.frame(|m, [table]| {
        let table = table.put(m.alloc_array(slots.div_ceil(LEAF) as usize, |_| None));
        for leaf in 0..table.get(m).len() {
            let (m, slots) = m.with_view(|m| m.alloc_array::<Item>(LEAF as usize, |_| None));
            table.get(m).set(m, leaf, Some(slots));
        }
        let mut payloads = Payloads::new();
        for slot in 0..slots {
            payloads.put(m, &table, slot);
        }
        m.measure(|m| {
            for request in REQUESTS {
                for _ in 0..updates {
                    let slot = payloads.rng.below(slots);
                    payloads.put(m, &table, slot);
                }
                m.collect(request);
            }
        });
        sum(m, table.get(m), slots)
    })
}

/// The payloads of a run, one after another.
struct Payloads {
    rng: SplitMix64,
    /// The number of payloads so far.
    made: u64,
}

impl Payloads {
    fn new() -> Self {
        let rng = SplitMix64::new(SEED);
        Payloads { rng, made: 0 }
    }

    /// Puts the next payload into the chain of a slot.
    #[inline]
    fn put<'h, M: MutatorKind>(&mut self, m: &mut Mutator<'h, M>, table: &Root<'_, 'h, Table>, slot: u64) {
        let draw = self.rng.draw();
        let words = 1 + (draw >> 4) % if draw.is_multiple_of(16) { 192 } else { 16 };
        let byte = self.made as u8;
        self.made += 1;
        m.frame(|m, [payload]| {
            let payload = payload.put(m.alloc_bytes_filled(8 * words as usize, byte));
            let (m, item) = m.alloc_with(|m| {
                let chain = chain(m, table.get(m), slot).filter(|chain| length(m, *chain) < LONGEST);
                Item::new(payload.get(m), chain)
            });
            leaf(m, table.get(m), slot).set(m, (slot % LEAF) as usize, Some(item));
        });
    }
}

/// The array of a slot.
#[inline]
fn leaf<'m, 'h, M: MutatorKind>(m: &'m NoGc<'h, M>, table: Gc<'m, 'h, Table>, slot: u64) -> Gc<'m, 'h, MutArray<Item>> {
    table.get(m, (slot / LEAF) as usize).expect("all arrays are there")
}

/// The chain of a slot.
#[inline]
fn chain<'m, 'h, M: MutatorKind>(m: &'m NoGc<'h, M>, table: Gc<'m, 'h, Table>, slot: u64) -> Option<Gc<'m, 'h, Item>> {
    leaf(m, table, slot).get(m, (slot % LEAF) as usize)
}

/// The number of items of a chain.
#[inline]
fn length<'h, M: MutatorKind>(m: &NoGc<'h, M>, chain: Gc<'_, 'h, Item>) -> usize {
    std::iter::successors(Some(chain), |item| item.next(m)).count()
}

#[inline]
fn sum<'h, M: MutatorKind>(m: &NoGc<'h, M>, table: Gc<'_, 'h, Table>, slots: u64) -> u64 {
    let chains = (0..slots).filter_map(|slot| chain(m, table, slot));
    let items = chains.flat_map(|chain| std::iter::successors(Some(chain), |item| item.next(m)));
    let values = items.map(|item| {
        let bytes = item.payload(m).as_slice();
        bytes.len() as u64 + u64::from(bytes[0])
    });
    values.sum()
}
