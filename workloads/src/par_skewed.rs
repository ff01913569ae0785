//! `par_skewed T R L`: threads that constantly allocate at rates 1:2:4:8, the case for allocation
//! areas in chunks (`-n`).
//!
//! Thread i does R rounds. In each it makes a list of 4·2^i cells {next, value = draw} and draws
//! another 4·(2^(T-1) - 2^i) numbers. A cell costs about as much as a draw, so a round takes all
//! threads about the same time, and the last allocates 2^(T-1) times as much as the first. Every
//! 16th list is kept, in slot (round / 16) mod L of the thread's own array; the others are dropped.
//! Thread i draws from seed 4 + i.
//!
//! The checksum is the sum of all other numbers drawn and of the values in the lists kept at the
//! end. Cells have 24 bytes. Live, for each thread inside the world: L lists and an array of L
//! slots, from round 16 L on.

use gclab_core::closure::{Closure, Ptr};
use gclab_core::mutator::{Gc, MutArray, Mutator, MutatorKind, NoGc, OptionRoot};
use gclab_core::world::World;

use crate::{ArgSpec, Args, RunError, SplitMix64, StressSize, TestSize, Workload, WorkloadDescription, threads};

/// Seed of the first thread's generator; each later thread's is one more.
const SEED: u64 = 4;

/// Cells in a list of the first thread.
const CELLS: u64 = 4;

/// Every `KEPT`-th list is kept.
const KEPT: u64 = 16;

/// A cell of a list.
#[derive(Closure)]
#[allow(dead_code, reason = "it never exists as a Rust value")]
struct Cell {
    next: Option<Ptr<Cell>>,
    value: u64,
}

/// Threads that allocate at unequal rates.
#[derive(Debug, Default)]
pub struct ParSkewed;

impl Workload for ParSkewed {
    const DESCRIPTION: WorkloadDescription = WorkloadDescription {
        name: "par_skewed",
        summary: "threads that allocate at rates 1:2:4:8 and keep lists",
        args: &[
            // Rates double from thread to thread: with more threads the last one's would be out of
            // proportion.
            ArgSpec::number("T", "threads", 4, 1..=16),
            ArgSpec::number("R", "rounds of each", 3_000_000, 0..=1 << 40),
            ArgSpec::number("L", "lists that each keeps", 5000, 1..=1 << 36),
        ],
        checksum: Some(13_380_744_039_710_230_824),
        test: TestSize {
            args: &["4", "2000", "50"],
            checksum: Some(9_172_552_968_667_063_736),
        },
        bench: &["4", "10000", "500"],
        stress: StressSize {
            args: &["3", "64", "2"],
            every: 1,
            parallel: &["4", "300", "50"],
        },
    };

    fn run<M: MutatorKind>(&self, world: &World<M>, args: &Args) -> Result<u64, RunError> {
        let (threads, rounds, kept) = (args.number("T"), args.number("R"), args.number("L"));
        let sums = threads::enter_each(world, threads, |m, thread| {
            let cells = CELLS << thread;
            let others = (CELLS << (threads - 1)) - cells;
            run(m, SplitMix64::new(SEED + thread), rounds, kept, [cells, others])
        })?;
        Ok(sums.into_iter().fold(0, u64::wrapping_add))
    }
}

/// Runs one thread: `rounds`, in each of which it makes `cells` cells and draws `others` other
/// numbers.
fn run<M: MutatorKind>(
    m: &mut Mutator<'_, M>,
    mut rng: SplitMix64,
    rounds: u64,
    kept: u64,
    [cells, others]: [u64; 2],
) -> u64 {
    m.frame(|m, [array, list]| {
        let array = array.put(m.alloc_array::<Cell>(kept as usize, |_| None));
        let list = list.put_option(m, None);
        let mut sum = 0_u64;
        for round in 0..rounds {
            make(m, &list, &mut rng, cells);
            sum = (0..others).fold(sum, |sum, _| sum.wrapping_add(rng.draw()));
            if round % KEPT == 0 {
                let slot = (round / KEPT % kept) as usize;
                array.get(m).set(m, slot, list.get(m));
            }
        }
        sum.wrapping_add(values(m, array.get(m)))
    })
}

/// Replaces `list` by a new list of `cells` cells.
#[inline]
fn make<'h, M: MutatorKind>(m: &mut Mutator<'h, M>, list: &OptionRoot<'_, 'h, Cell>, rng: &mut SplitMix64, cells: u64) {
    list.set(m, None);
    for _ in 0..cells {
        let value = rng.draw();
        let (m, cell) = m.alloc_with(|m| Cell::new(list.get(m), value));
        list.set(m, Some(cell));
    }
}

/// The sum of the values in all lists.
fn values<'h, M: MutatorKind>(m: &NoGc<'h, M>, lists: Gc<'_, 'h, MutArray<Cell>>) -> u64 {
    let mut sum = 0_u64;
    for slot in 0..lists.len() {
        let mut at = lists.get(m, slot);
        while let Some(cell) = at {
            sum = sum.wrapping_add(cell.value(m));
            at = cell.next(m);
        }
    }
    sum
}
