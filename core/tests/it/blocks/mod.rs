//! Blocks: named cases. [`random`] has random programs.

mod random;

use gclab_core::block::{
    Accounting, BLOCK, BLOCKS_PER_MEGABLOCK, BlockAllocator, BlockRun, BlockState, MEGABLOCK, Shortage, blocks_for,
    megablocks_for,
};
use gclab_core::memory::MemoryConfig;
use gclab_core::words::Bytes;

const SPACE: Bytes = Bytes::mib(64);
const MEGABLOCKS: u32 = 64;

fn allocator(limit: Option<Bytes>) -> BlockAllocator {
    BlockAllocator::new(&MemoryConfig {
        reserve: SPACE,
        huge_pages: true,
        limit,
        ..MemoryConfig::default()
    })
    .unwrap()
}

/// GHC's own numbers, adapted: its first megablock has 252 usable blocks, ours 256. So 252, 508 and
/// 764 become 256, 512 and 768.
#[test]
fn groups_of_whole_megablocks_have_these_sizes() {
    let vectors = [
        (1, 1),
        (252, 1),
        (256, 1),
        (257, 2),
        (508, 2),
        (512, 2),
        (513, 3),
        (764, 3),
        (768, 3),
        (769, 4),
    ];
    for (blocks, megablocks) in vectors {
        assert_eq!(megablocks_for(blocks), megablocks, "{blocks} blocks");
        let mut allocator = allocator(None);
        allocator.allocate(blocks).unwrap();
        assert_eq!(allocator.accounting().megablocks_in_use, megablocks, "{blocks} blocks");
    }
    // A byte array of 1 MiB with a two-word header: GHC takes two megablocks and counts 504 blocks.
    // We count the array's 257 blocks, and 255 stay free.
    let (mut allocator, array) = (allocator(None), blocks_for(MEGABLOCK + Bytes(16)));
    assert_eq!(array, 257);
    allocator.allocate(array).unwrap();
    allocator.allocate(255).unwrap();
    let counts = allocator.accounting();
    assert_eq!(
        (counts.megablocks_in_use, counts.blocks_in_use, counts.fragmentation()),
        (2, 512, Bytes::ZERO)
    );
    assert_eq!(blocks_for(Bytes(usize::MAX)), u32::MAX);
}

#[test]
fn the_tail_of_a_run_of_300_is_usable_by_others() {
    let mut allocator = allocator(None);
    let run = allocator.allocate(300).unwrap();
    let tail = allocator.allocate(212).unwrap();
    assert_eq!(tail.start(), run.end());
    assert_eq!(allocator.accounting().megablocks_in_use, 2);
    allocator.check().unwrap();
}

/// They used to take two megablocks each.
#[test]
fn objects_of_a_megablock_and_a_word_lie_back_to_back() {
    let mut allocator = allocator(None);
    let mut runs: Vec<BlockRun> = (0..40).map(|_| allocator.allocate(257).unwrap()).collect();
    assert_eq!(allocator.accounting().megablocks_in_use, 41);
    allocator.check().unwrap();
    // Free memory is used again, in whatever order it was freed.
    for n in 0..400 {
        let freed = runs.swap_remove(n * 7 % runs.len());
        allocator.free(freed);
        runs.push(allocator.allocate(257).unwrap());
    }
    allocator.check().unwrap();
    let megablocks = allocator.accounting().megablocks_in_use;
    assert!(megablocks <= 42, "{megablocks} for 40");
    runs.drain(..).for_each(|run| allocator.free(run));
    assert_eq!(
        allocator.return_free_megablocks(Bytes::ZERO),
        Bytes::mib(megablocks as usize)
    );
    allocator.allocate(257).unwrap();
    allocator.check().unwrap();
}

#[test]
fn the_run_freed_last_is_handed_out_first() {
    let mut allocator = allocator(None);
    let runs: Vec<BlockRun> = (0..64).map(|_| allocator.allocate(8).unwrap()).collect();
    for n in [10, 30, 20] {
        allocator.free(runs[n]);
    }
    let again = [(); 3].map(|()| allocator.allocate(8).unwrap());
    assert_eq!(again, [runs[20], runs[30], runs[10]]);
}

#[test]
fn freed_memory_stays_committed_until_it_is_returned() {
    let mut allocator = allocator(None);
    let runs: Vec<BlockRun> = (0..10).map(|_| allocator.allocate(256).unwrap()).collect();
    runs.iter().for_each(|&run| allocator.free(run));
    assert_eq!(allocator.accounting().megablocks_in_use, 10);
    assert_eq!(allocator.return_free_megablocks(Bytes::mib(3)), Bytes::mib(7));
    assert_eq!(allocator.return_free_megablocks(Bytes::mib(3)), Bytes::ZERO);
    // The low megablocks were kept, and are used before the returned ones.
    assert_eq!(allocator.allocate(256).unwrap(), runs[0]);
    let counts = allocator.accounting();
    assert_eq!(
        (counts.megablocks_in_use, counts.peak_megablocks, counts.returned_bytes),
        (3, 10, Bytes::mib(7))
    );
}

#[test]
fn the_limit_is_a_clean_error_and_can_be_lifted() {
    let mut allocator = allocator(Some(Bytes::mib(4) + Bytes(5)));
    let run = allocator.allocate(1000).unwrap();
    let error = allocator.allocate(256).unwrap_err();
    assert_eq!(
        (error.limit, error.cause.clone()),
        (Some(Bytes::mib(4)), Shortage::Limit)
    );
    assert_eq!(
        error.to_string(),
        "no memory for 1 MiB: 4000 KiB in use, limit 4 MiB; the limit is reached"
    );
    assert_eq!(allocator.allocate_up_to(1, 256).unwrap().blocks(), 24);
    allocator.set_limit(None);
    allocator.allocate(256).unwrap();
    allocator.free(run);
    allocator.check().unwrap();
}

#[test]
fn scattered_free_megablocks_do_not_count_against_the_limit() {
    let mut allocator = allocator(Some(Bytes::mib(8)));
    let runs: Vec<BlockRun> = (0..8).map(|_| allocator.allocate(256).unwrap()).collect();
    runs.iter().step_by(2).for_each(|&run| allocator.free(run));
    let long = allocator.allocate(4 * 256).unwrap();
    assert_eq!(long.start(), runs[7].end());
    assert_eq!(allocator.accounting().megablocks_in_use, 8);
    allocator.check().unwrap();
}

/// Found by random programs: megablocks that became free beyond a lowered limit were handed out
/// again.
#[test]
fn a_limit_below_the_memory_in_use_holds_when_memory_becomes_free() {
    let mut allocator = allocator(None);
    let runs = [(); 3].map(|()| allocator.allocate(256).unwrap());
    allocator.set_limit(Some(Bytes::mib(2)));
    allocator.free(runs[2]);
    assert_eq!(allocator.allocate(1).unwrap_err().cause, Shortage::Limit);
    allocator.free(runs[0]);
    allocator.allocate(1).unwrap();
    // A limit below the free memory returns that memory at once.
    allocator.free(runs[1]);
    allocator.set_limit(Some(Bytes::mib(1)));
    assert_eq!(allocator.accounting().megablocks_in_use, 1);
    allocator.check().unwrap();
}

#[test]
fn a_full_reservation_is_a_clean_error() {
    let mut allocator = allocator(None);
    let error = allocator.allocate(u32::MAX).unwrap_err();
    assert_eq!(error.cause, Shortage::Reservation);
    let all = allocator.allocate(MEGABLOCKS * BLOCKS_PER_MEGABLOCK).unwrap();
    assert_eq!(allocator.allocate(1).unwrap_err().cause, Shortage::Reservation);
    allocator.free(all);
    allocator.allocate(1).unwrap();
}

#[test]
fn a_refusal_by_the_system_is_a_clean_error() {
    let mut allocator = allocator(None);
    allocator.refuse_request(1);
    let run = allocator.allocate(200).unwrap();
    let before: Accounting = allocator.accounting();
    let error = allocator.allocate(200).unwrap_err();
    assert!(matches!(error.cause, Shortage::System(_)), "{error}");
    assert_eq!(allocator.accounting(), before);
    allocator.check().unwrap();
    assert_eq!(allocator.allocate(56).unwrap().start(), run.end());
    allocator.allocate(200).unwrap();
}

#[test]
fn memory_filled_at_the_peak_is_not_lost_to_fragmentation() {
    let mut allocator = BlockAllocator::new(&MemoryConfig::default()).unwrap();
    let runs = [200, 200].map(|blocks| allocator.allocate(blocks).unwrap());
    let lost = Bytes(112 * BLOCK.0);
    assert_eq!(allocator.accounting().peak_fragmentation(), lost);
    runs.into_iter().for_each(|run| allocator.free(run));
    // Two megablocks are kept for the next collection; they were nearly full at the peak.
    assert_eq!(allocator.accounting().fragmentation(), Bytes::mib(2));
    assert_eq!(allocator.accounting().peak_fragmentation(), lost);
    allocator.allocate(500).unwrap();
    assert_eq!(allocator.accounting().peak_fragmentation(), Bytes(12 * BLOCK.0));
    // A new peak replaces the statistics of the old one.
    allocator.allocate(300).unwrap();
    assert_eq!(allocator.accounting().peak_fragmentation(), Bytes(224 * BLOCK.0));
}

#[test]
fn a_terabyte_is_reserved_and_costs_next_to_nothing() {
    let mut allocator = BlockAllocator::new(&MemoryConfig::default()).unwrap();
    let counts = allocator.accounting();
    assert_eq!(counts.reserved, Bytes::gib(1024));
    assert!(counts.metadata_bytes <= BLOCK);
    allocator.allocate(1).unwrap();
    assert_eq!(allocator.accounting().metadata_bytes, Bytes::kib(12));
}

/// Not a test in itself: the next test runs it in a process of its own.
#[test]
#[ignore = "run by several_heaps_fit_under_an_address_space_limit"]
fn three_heaps_and_a_thread() {
    let mut heaps = [(); 3].map(|()| BlockAllocator::new(&MemoryConfig::default()).unwrap());
    for heap in &mut heaps {
        assert!(heap.accounting().reserved < Bytes::gib(4));
        heap.allocate(1000).unwrap();
        heap.check().unwrap();
    }
    std::thread::spawn(|| vec![1u8; 1 << 20].len()).join().unwrap();
}

#[test]
fn several_heaps_fit_under_an_address_space_limit() {
    let test_binary = std::env::current_exe().unwrap();
    let output = std::process::Command::new("sh")
        .args([
            "-c",
            "ulimit -v 4194304 && exec \"$0\" --ignored --exact blocks::three_heaps_and_a_thread",
        ])
        .arg(test_binary)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
#[should_panic(expected = "is not allocated here")]
fn freeing_twice_is_refused() {
    let mut allocator = allocator(None);
    let run = allocator.allocate(3).unwrap();
    allocator.free(run);
    allocator.free(run);
}

#[test]
#[should_panic(expected = "is not allocated here")]
fn freeing_another_heaps_run_is_refused() {
    let (mut ours, mut other) = (allocator(None), allocator(None));
    ours.allocate(3).unwrap();
    let run = other.allocate(3).unwrap();
    ours.free(run);
}

#[test]
fn an_allocator_may_move_to_another_thread() {
    let mut allocator = allocator(None);
    let run = allocator.allocate(3).unwrap();
    allocator.set_state(run, BlockState::AGED);
    let freeing = std::thread::spawn(move || {
        allocator.free(run);
        allocator
    });
    assert_eq!(freeing.join().unwrap().state_of(run.start()), BlockState::OUTSIDE);
}
