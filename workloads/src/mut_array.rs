//! `mut_array N U`: random stores into one large array of pointers, the hardest case for a
//! remembered set.
//!
//! Slot k of an array of N first points to a fresh box {value = k}. Then U times a random slot is
//! set to a fresh box with a random value (seed 2; first the slot is drawn, then the value). The
//! checksum is the sum of the values of all N boxes. Boxes have 16 bytes; live: 24 N bytes.
//!
//! Set-up makes the first boxes; the sum is exit.

use gclab_core::closure::Closure;
use gclab_core::mutator::{MutArray, Mutator, MutatorKind, Root};
use gclab_core::world::World;

use crate::{ArgSpec, Args, RunError, SplitMix64, StressSize, TestSize, Workload, WorkloadDescription};

/// Seed of the generator of slots and values.
const SEED: u64 = 2;

#[derive(Closure)]
#[closure(name = "Box")]
#[allow(dead_code, reason = "it never exists as a Rust value")]
struct Boxed {
    value: u64,
}

/// Random stores into one large array.
#[derive(Debug, Default)]
pub struct MutArrayUpdates;

impl Workload for MutArrayUpdates {
    const DESCRIPTION: WorkloadDescription = WorkloadDescription {
        name: "mut_array",
        summary: "random stores into one large array of pointers",
        args: &[
            ArgSpec::number("N", "slots of the array", 1_000_000, 1..=1 << 36),
            ArgSpec::number("U", "stores", 20_000_000, 0..=1 << 40),
        ],
        checksum: Some(3_789_214_647_665_240_810),
        test: TestSize {
            args: &["5000", "100000"],
            checksum: Some(10_073_571_938_625_227_491),
        },
        bench: &["30000", "300000"],
        stress: StressSize {
            args: &["50", "1000"],
            every: 1,
            parallel: &["2000", "5000"],
        },
    };

    fn run<M: MutatorKind>(&self, world: &World<M>, args: &Args) -> Result<u64, RunError> {
        let (slots, stores) = (args.number("N"), args.number("U"));
        Ok(world.enter(|m| run(m, slots, stores))?)
    }
}

fn run<M: MutatorKind>(m: &mut Mutator<'_, M>, slots: u64, stores: u64) -> u64 {
    m.frame(|m, [array]| {
        let array = array.put(m.alloc_array::<Boxed>(slots as usize, |_| None));
        for k in 0..slots {
            let (m, boxed) = m.alloc_with(|_| Boxed::new(k));
            array.get(m).set(m, k as usize, Some(boxed));
        }
        m.measure(|m| update(m, &array, slots, stores));
        let array = array.get(m);
        (0..array.len()).fold(0_u64, |sum, slot| {
            sum.wrapping_add(array.get(m, slot).map_or(0, |boxed| boxed.value(m)))
        })
    })
}

/// Stores into random slots. Not inlined, because the caller's variables would take registers from
/// the loop.
#[inline(never)]
fn update<'h, M: MutatorKind>(m: &mut Mutator<'h, M>, array: &Root<'_, 'h, MutArray<Boxed>>, slots: u64, stores: u64) {
    let mut rng = SplitMix64::new(SEED);
    for _ in 0..stores {
        let slot = rng.below(slots) as usize;
        let value = rng.draw();
        let (m, boxed) = m.alloc_with(|_| Boxed::new(value));
        array.get(m).set(m, slot, Some(boxed));
    }
}
