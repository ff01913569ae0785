//! Random programs against a naive allocator, which knows only which blocks are in use.

use std::collections::BTreeMap;

use gclab_core::block::{BLOCK, BLOCKS_PER_MEGABLOCK, BlockAllocator, BlockRun, BlockState, megablocks_for};
use gclab_core::words::{Addr, Bytes};
use proptest::prelude::*;

use super::{MEGABLOCKS, SPACE, allocator};

/// One step of a random program.
#[derive(Clone, Debug)]
enum Step {
    Allocate(u32),
    AllocateUpTo(u32, u32),
    /// Frees the n-th run in use, modulo their number.
    Free(usize),
    /// Splits the n-th run in use at this fraction (of 256) of its length.
    Split(usize, u32),
    Return(usize),
    Limit(Option<usize>),
}

fn sizes() -> impl Strategy<Value = u32> {
    prop_oneof![
        6 => 1..=16u32,
        4 => 1..=255u32,
        2 => prop::sample::select(vec![252, 253, 255, 256, 257, 300, 508, 509, 512, 513, 764, 765]),
        1 => 256..=2600u32,
    ]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        10 => sizes().prop_map(Step::Allocate),
        3 => (sizes(), sizes()).prop_map(|(a, b)| Step::AllocateUpTo(a.min(b), a.max(b))),
        10 => any::<usize>().prop_map(Step::Free),
        2 => (any::<usize>(), 1..256u32).prop_map(|(n, at)| Step::Split(n, at)),
        1 => (0..70usize).prop_map(Step::Return),
        1 => prop::option::of(0..70usize).prop_map(Step::Limit),
    ];
    prop::collection::vec(step, 1..120)
}

/// The naive allocator: the runs in use, by address. It derives everything else block by block.
#[derive(Default)]
struct Naive {
    runs: BTreeMap<Addr, BlockRun>,
    limit: Option<u32>,
    peak_blocks: u32,
    returned: Bytes,
}

impl Naive {
    fn used(&self) -> Vec<bool> {
        let mut used = vec![false; (MEGABLOCKS * BLOCKS_PER_MEGABLOCK) as usize];
        for run in self.runs.values() {
            for block in run.first().0..run.first().0 + run.blocks() {
                assert!(
                    !std::mem::replace(&mut used[block as usize], true),
                    "{run:?} overlaps another run"
                );
            }
        }
        used
    }

    fn blocks(&self) -> u32 {
        self.runs.values().map(|run| run.blocks()).sum()
    }

    /// The megablocks that have a block in use.
    fn megablocks(&self) -> Vec<bool> {
        self.used()
            .chunks(BLOCKS_PER_MEGABLOCK as usize)
            .map(|blocks| blocks.contains(&true))
            .collect()
    }

    /// Whether an allocation of `blocks` must succeed: it fits into a megablock in use, or into
    /// contiguous unused megablocks within the limit.
    fn has_room(&self, blocks: u32) -> bool {
        let megablocks = self.megablocks();
        let fits = |free: &[bool], n: u32| free.split(|&used| used).any(|gap| gap.len() >= n as usize);
        let in_use = megablocks.iter().filter(|&&used| used).count() as u32;
        let mut in_some = self
            .used()
            .chunks(256)
            .zip(&megablocks)
            .any(|(part, &in_use)| in_use && fits(part, blocks));
        in_some &= blocks < BLOCKS_PER_MEGABLOCK;
        let wanted = megablocks_for(blocks);
        in_some || (self.limit.is_none_or(|limit| in_use + wanted <= limit) && fits(&megablocks, wanted))
    }

    fn add(&mut self, run: BlockRun, allocator: &mut BlockAllocator) {
        assert!(run.start().is_aligned(BLOCK) && run.start() >= allocator.base());
        assert!(run.end() <= allocator.base() + SPACE);
        // Memory can be written at both ends; the checker and the walk do not read it.
        // SAFETY: the run was just allocated, and this test alone holds it.
        unsafe {
            run.start().as_mut_ptr::<u64>().write(1);
            (run.end() - Bytes(8)).as_mut_ptr::<u64>().write(2);
        }
        allocator.set_state(run, BlockState::of_generation(1));
        self.runs.insert(run.start(), run);
        self.peak_blocks = self.peak_blocks.max(self.blocks());
    }

    fn nth(&self, n: usize) -> Option<BlockRun> {
        (!self.runs.is_empty()).then(|| *self.runs.values().nth(n % self.runs.len()).unwrap())
    }

    fn agrees(&self, allocator: &BlockAllocator) {
        allocator.check().unwrap();
        let mut found = Vec::new();
        allocator.for_each_allocated(|run| found.push(run));
        assert_eq!(found, self.runs.values().copied().collect::<Vec<_>>());
        let counts = allocator.accounting();
        let in_use = self.megablocks().into_iter().filter(|&used| used).count() as u32;
        assert_eq!(counts.blocks_in_use, self.blocks());
        assert_eq!(counts.peak_blocks, self.peak_blocks);
        assert!(counts.megablocks_in_use >= in_use && counts.megablocks_in_use <= MEGABLOCKS);
        assert_eq!(
            counts.fragmentation(),
            Bytes((counts.megablocks_in_use * 256 - self.blocks()) as usize * BLOCK.0)
        );
        for (block, used) in self.used().into_iter().enumerate() {
            let address = allocator.base() + Bytes(block * BLOCK.0 + 8);
            assert_eq!(allocator.run_of(address).is_some_and(|run| run.contains(address)), used);
            if used {
                assert_eq!(allocator.state_of(address), BlockState::of_generation(1));
            }
        }
    }
}

fn step(allocator: &mut BlockAllocator, naive: &mut Naive, step: Step) {
    match step {
        Step::Allocate(blocks) => match allocator.allocate(blocks) {
            Ok(run) => {
                assert_eq!(run.blocks(), blocks);
                let in_use = |naive: &Naive| naive.megablocks().into_iter().filter(|&used| used).count() as u32;
                let before = in_use(naive);
                naive.add(run, allocator);
                assert!(naive.limit.is_none_or(|limit| in_use(naive) <= limit.max(before)));
            }
            Err(error) => {
                assert!(!naive.has_room(blocks), "{blocks} blocks could be had, but {error}");
                assert_eq!(error.requested, Bytes(blocks as usize * BLOCK.0));
                assert_eq!(error.in_use, Bytes(naive.blocks() as usize * BLOCK.0));
            }
        },
        Step::AllocateUpTo(least, most) => match allocator.allocate_up_to(least, most) {
            Ok(run) => {
                assert!((least..=most).contains(&run.blocks()));
                naive.add(run, allocator);
            }
            Err(_) => assert!(!naive.has_room(least)),
        },
        Step::Free(n) => {
            if let Some(run) = naive.nth(n) {
                allocator.free(run);
                naive.runs.remove(&run.start());
            }
        }
        Step::Split(n, at) => {
            let parts = naive.nth(n).map(|run| (run, run.blocks() * at / 256));
            if let Some((run, at)) = parts.filter(|&(_, at)| at > 0) {
                let (low, high) = allocator.split(run, at);
                assert_eq!(
                    (low.start(), low.end(), high.end()),
                    (run.start(), high.start(), run.end())
                );
                naive.runs.insert(low.start(), low);
                naive.runs.insert(high.start(), high);
            }
        }
        Step::Return(keep) => {
            let before = allocator.accounting().megablocks_in_use;
            let in_use = naive.megablocks().into_iter().filter(|&used| used).count();
            let given = allocator.return_free_megablocks(Bytes::mib(keep));
            let after = allocator.accounting().megablocks_in_use;
            assert_eq!(after as usize, (before as usize).min(in_use.max(keep)));
            assert_eq!(given, Bytes::mib((before - after) as usize));
            naive.returned += given;
        }
        Step::Limit(limit) => {
            allocator.set_limit(limit.map(Bytes::mib));
            naive.limit = limit.map(|limit| limit as u32);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, max_shrink_iters: 2000, ..ProptestConfig::default() })]

    #[test]
    fn random_programs_agree_with_the_naive_allocator(program in steps()) {
        let (mut allocator, mut naive) = (allocator(None), Naive::default());
        for next in program {
            step(&mut allocator, &mut naive, next);
            naive.agrees(&allocator);
        }
        prop_assert!(allocator.accounting().returned_bytes >= naive.returned);
        // In the end everything coalesces into whole megablocks.
        for run in std::mem::take(&mut naive.runs).into_values() {
            allocator.free(run);
        }
        naive.agrees(&allocator);
        allocator.return_free_megablocks(Bytes::ZERO);
        allocator.set_limit(None);
        let all = allocator.allocate(MEGABLOCKS * BLOCKS_PER_MEGABLOCK);
        prop_assert!(all.is_ok());
    }

    #[test]
    fn two_heaps_interleaved_do_not_meet(programs in (steps(), steps())) {
        let mut heaps = [(); 2].map(|()| (allocator(Some(Bytes::mib(40))), Naive { limit: Some(40), ..Naive::default() }));
        let mut programs = [programs.0.into_iter(), programs.1.into_iter()];
        while let (Some(first), Some(second)) = (programs[0].next(), programs[1].next()) {
            for ((allocator, naive), next) in heaps.iter_mut().zip([first, second]) {
                step(allocator, naive, next);
            }
            let [(a, in_a), (b, in_b)] = &heaps;
            prop_assert!(in_a.runs.keys().all(|&at| b.run_of(at).is_none() && b.state_of(at).is_outside()));
            prop_assert!(in_b.runs.keys().all(|&at| a.run_of(at).is_none() && a.state_of(at).is_outside()));
        }
        for (allocator, naive) in &heaps {
            naive.agrees(allocator);
        }
    }
}
