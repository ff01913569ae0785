//! A heap is exhausted only when everything was collected: a minor collection may leave garbage of
//! the oldest generation, and holes in which the next closure has no room.

use crate::basics::config;
use gclab_collectors::All;
use gclab_core::collector::{Collector, CollectorList, CollectorVisitor};
use gclab_core::config::Config;
use gclab_core::mutator::{ByteArray, Mutator, MutatorKind};
use gclab_core::words::Bytes;
use gclab_core::world::{EnterError, World};

/// Replaces byte arrays of a table, of small and medium sizes, in an order without pattern.
fn replace<M: MutatorKind>(m: &mut Mutator<'_, M>, slots: usize, times: usize) {
    m.frame(|m, [table]| {
        let table = table.put(m.alloc_array::<ByteArray>(slots, |_| None));
        let mut random: u64 = 1;
        for _ in 0..times {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let (slot, len) = ((random >> 33) as usize % slots, 16 + (random >> 21) as usize % 400);
            let (view, bytes) = m.with_view(|m| m.alloc_bytes_filled(len, 1));
            table.get(view).set(view, slot, Some(bytes));
        }
    });
}

#[derive(Clone, Copy)]
struct Replaced;
impl CollectorVisitor for Replaced {
    type Output = ();
    fn visit<C: Collector>(self) {
        if C::DESCRIPTION.generations.1 < 2 || C::DESCRIPTION.moves {
            return;
        }
        let mut enough = None;
        for kib in (2048..4096).step_by(32) {
            let limited = Config {
                max_heap: Some(Bytes::kib(kib)),
                ..config::<C>(256 << 10)
            };
            let world = World::new::<C>(&limited).expect("a small heap");
            match (world.enter(|m| replace(m, 6000, 40_000)), enough) {
                (Ok(()), None) => enough = Some(kib),
                (Ok(()), _) | (Err(EnterError::Exhausted(_)), None) => {}
                (Err(error), _) => panic!("{}: {kib} KiB after {enough:?}: {error}", C::DESCRIPTION.name),
            }
        }
        assert!(enough.is_some(), "{}", C::DESCRIPTION.name);
    }
}

/// A minor collection may leave garbage, and holes in which the next closure has no room.
#[test]
fn a_heap_is_exhausted_only_after_a_major_collection() {
    for description in All::descriptions() {
        All::with(description.name, Replaced).expect("listed");
    }
}
