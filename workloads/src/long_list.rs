//! `long_list N M B`: a long-lived list of N cells and M short-lived ones; the deepest structure
//! possible.
//!
//! Cells {next, value} of 24 bytes. The kept list's values are the upper B bits of draws of a
//! generator with seed 1, the last drawn in front. Then M times a list of 10 cells with the values
//! 0 to 9 is built, summed and dropped. At the end the kept list is summed, too. The checksum is
//! the sum of all these sums. Live: 24 N bytes.
//!
//! Set-up builds the kept list; its sum is exit.

use gclab_core::closure::{Closure, Ptr};
use gclab_core::mutator::{Gc, Mutator, MutatorKind, NoGc};
use gclab_core::world::World;

use crate::{ArgSpec, Args, RunError, SplitMix64, StressSize, TestSize, Workload, WorkloadDescription};

/// Seed of the generator of the kept values.
const SEED: u64 = 1;

/// Cells of a short list.
const SHORT: u64 = 10;

#[derive(Closure)]
#[allow(dead_code, reason = "it never exists as a Rust value")]
struct Cell {
    next: Option<Ptr<Cell>>,
    value: u64,
}

/// A very long list and many short ones.
#[derive(Debug, Default)]
pub struct LongList;

impl Workload for LongList {
    const DESCRIPTION: WorkloadDescription = WorkloadDescription {
        name: "long_list",
        summary: "a very long, long-lived list and many short ones",
        args: &[
            ArgSpec::number("N", "cells of the long-lived list", 4_000_000, 0..=1 << 36),
            ArgSpec::number("M", "short lists, of ten cells each", 6_000_000, 0..=1 << 40),
            ArgSpec::number("B", "bits of a value of the long-lived list", 64, 1..=64),
        ],
        checksum: Some(6_856_289_592_543_779_735),
        test: TestSize {
            args: &["20000", "30000"],
            checksum: Some(9_484_503_266_807_111_472),
        },
        bench: &["60000", "60000"],
        stress: StressSize {
            args: &["200", "100"],
            every: 1,
            parallel: &["2000", "500"],
        },
    };

    fn run<M: MutatorKind>(&self, world: &World<M>, args: &Args) -> Result<u64, RunError> {
        let (cells, lists, bits) = (args.number("N"), args.number("M"), args.number("B"));
        Ok(world.enter(|m| run(m, cells, lists, bits))?)
    }
}

fn run<M: MutatorKind>(m: &mut Mutator<'_, M>, cells: u64, lists: u64, bits: u64) -> u64 {
    m.frame(|m, [kept, short]| {
        let (kept, short) = (kept.put_option(m, None), short.put_option(m, None));
        let mut rng = SplitMix64::new(SEED);
        for _ in 0..cells {
            let value = rng.draw() >> (64 - bits);
            let (m, cell) = m.alloc_with(|m| Cell::new(kept.get(m), value));
            kept.set(m, Some(cell));
        }
        let total = m.measure(|m| {
            let mut total = 0_u64;
            for _ in 0..lists {
                short.set(m, None);
                for value in 0..SHORT {
                    let (m, cell) = m.alloc_with(|m| Cell::new(short.get(m), value));
                    short.set(m, Some(cell));
                }
                total = total.wrapping_add(sum(m, short.get(m)));
            }
            total
        });
        total.wrapping_add(sum(m, kept.get(m)))
    })
}

#[inline]
fn sum<'h, M: MutatorKind>(m: &NoGc<'h, M>, mut list: Option<Gc<'_, 'h, Cell>>) -> u64 {
    let mut total = 0_u64;
    while let Some(cell) = list {
        total = total.wrapping_add(cell.value(m));
        list = cell.next(m);
    }
    total
}
