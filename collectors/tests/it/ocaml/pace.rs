//! The pace of slices, with values worked out by hand from the formulas of OCaml 4.14's runtime.

use gclab_collectors::ocaml::{
    Compaction, CustomRatios, Increment, LEAST_CHUNK, Owed, Slice, Window, chunk_words, overhead_of_factor, share_of,
    slice_is_due, words_to_mark, words_to_sweep,
};
use gclab_core::words::{Bytes, Words};

const HEAP: Words = Words(1_000_000);

fn allocated(words: usize) -> Owed {
    Owed {
        allocated: Words(words),
        extra_resources: 0.0,
    }
}

fn near(value: f64, expected: f64) {
    assert!((value - expected).abs() < 1e-9, "{value}, not {expected}");
}

#[test]
fn a_tenth_of_the_heap_is_a_slice_of_0_275_at_the_default_overhead() {
    let share = allocated(100_000).share(HEAP, 120);
    near(share, 0.275);
    assert_eq!(words_to_mark(share, HEAP, 120), Words(312_500));
    assert_eq!(words_to_sweep(share, HEAP), Words(458_333));
}

#[test]
fn a_slice_does_0_3_and_the_rest_is_backlog() {
    let share = allocated(200_000).share(HEAP, 120);
    near(share, 0.55);
    let mut window = Window::new(1);
    near(window.begin(share, Slice::Automatic, HEAP, 120), 0.3);
    near(window.backlog(), 0.25);
    // The backlog is worked off first, and is not owed twice.
    near(window.begin(0.02, Slice::Automatic, HEAP, 120), 0.27);
    near(window.backlog(), 0.0);
}

#[test]
fn the_greater_of_two_demands_counts() {
    let owed = |extra_resources| Owed {
        extra_resources,
        ..allocated(100_000)
    };
    near(owed(0.1).share(HEAP, 120), 0.275);
    near(owed(0.9).share(HEAP, 120), 0.9);
}

#[test]
fn a_window_spreads_work_over_minor_collections() {
    let mut window = Window::new(4);
    near(window.begin(0.2, Slice::Automatic, HEAP, 120), 0.05);
    // The same bucket until a whole minor heap has been allocated.
    near(window.begin(0.0, Slice::Automatic, HEAP, 120), 0.0);
    window.tick(0.5);
    near(window.begin(0.0, Slice::Automatic, HEAP, 120), 0.0);
    window.tick(0.5);
    near(window.begin(0.0, Slice::Automatic, HEAP, 120), 0.05);
    assert_eq!([0, 1, 2, 3, 4].map(|n| window.bucket(n)), [0, 50_000, 50_000, 0, 0]);
    window.tick(1.25);
    near(window.begin(0.04, Slice::Automatic, HEAP, 120), 0.06);
    window.resize(2);
    // 0.01 + 0.06 + 0.01 are left.
    assert_eq!([0, 1, 2].map(|n| window.bucket(n)), [40_000, 40_000, 0]);
    for (size, last) in [(0, 0), (99, 49)] {
        let mut window = Window::new(size);
        window.begin(0.1, Slice::Next, HEAP, 120);
        assert_eq!((window.bucket(last) > 0, window.bucket(last + 1)), (true, 0));
    }
}

#[test]
fn work_that_a_program_asks_for_is_credit() {
    let mut window = Window::new(1);
    near(window.begin(0.0, Slice::Words(Words(80_000)), HEAP, 120), 0.22);
    assert_eq!(window.credit(), 220_000);
    near(window.begin(0.1, Slice::Automatic, HEAP, 120), 0.0);
    assert_eq!(window.credit(), 120_000);
    near(window.begin(0.2, Slice::Automatic, HEAP, 120), 0.08);
    assert_eq!(window.credit(), 0);
    // At most a whole cycle in advance.
    window.begin(0.0, Slice::Words(Words(800_000)), HEAP, 120);
    assert_eq!(window.credit(), 1_000_000);
}

#[test]
fn a_slice_of_no_words_does_what_the_next_bucket_holds() {
    let mut window = Window::new(2);
    near(window.begin(0.2, Slice::Next, HEAP, 120), 0.1);
    assert_eq!(
        (window.bucket(0), window.bucket(1), window.credit()),
        (100_000, 100_000, 100_000)
    );
}

#[test]
fn work_that_was_not_done_is_taken_from_the_credit_and_then_owed_again() {
    let mut window = Window::new(2);
    near(window.begin(0.25, Slice::Next, HEAP, 120), 0.125);
    window.not_done(0.0625);
    assert_eq!(
        (window.credit(), window.bucket(0), window.bucket(1)),
        (62_500, 125_000, 125_000)
    );
    window.not_done(0.3125);
    assert_eq!(
        (window.credit(), window.bucket(0), window.bucket(1)),
        (0, 250_000, 250_000)
    );
}

#[test]
fn more_than_a_minor_heap_directly_in_the_major_heap_makes_a_slice_due() {
    assert!(!slice_is_due(Words(1000), Words(1000)));
    assert!(slice_is_due(Words(1001), Words(1000)));
}

#[test]
fn ghcs_factor_is_an_overhead() {
    assert_eq!([2.0, 3.0, 1.5, 1.0].map(overhead_of_factor), [100, 200, 50, 1]);
    near(share_of(Words(100_000), HEAP, overhead_of_factor(2.2)), 0.275);
}

#[test]
fn chunks_are_the_request_with_the_overhead_or_the_increment_or_15_pages() {
    assert_eq!(LEAST_CHUNK, Words(61_440));
    let default = Increment::of_number(15);
    let chunk = |request, heap, increment| chunk_words(Words(request), Words(heap), increment, 120);
    assert_eq!(chunk(10, 100_000, default), LEAST_CHUNK);
    assert_eq!(chunk(10, 1_000_000, default), Words(150_000));
    assert_eq!(chunk(200_000, 1_000_000, default), Words(440_000));
    assert_eq!(chunk(10, 1_000_000, Increment::of_number(1000)), Words(10_000_000));
    assert_eq!(chunk(10, 1_000_000, Increment::of_number(1001)), LEAST_CHUNK);
    assert_eq!(chunk(10, 1_000_000, Increment::of_number(70_000)), Words(70_000));
}

#[test]
fn the_overhead_of_a_cycle_and_of_a_heap() {
    near(Compaction::estimated_overhead(HEAP, Words(200_000)), 400.0);
    near(Compaction::estimated_overhead(HEAP, Words(0)), 1e6);
    near(Compaction::overhead(HEAP, Words(800_000)), 400.0);
}

/// For a heap without live data it is less than the number that means "never".
#[test]
fn the_overhead_of_free_blocks_is_below_never() {
    near(Compaction::overhead(HEAP, HEAP), 999_999.0);
    near(Compaction::overhead(Words(0), Words(0)), 0.0);
}

/// As in OCaml 4.13, with little live data and the initial chunk.
#[test]
fn a_heap_that_is_twice_too_large_moves_into_one_chunk() {
    let one_chunk = |heap| Compaction::one_chunk(Words(heap), Words(3000), Words(3000), Increment::Percent(15), 120);
    assert_eq!(Compaction::free_words(Words(3000), 120), Words(3720));
    assert_eq!(one_chunk(126_976), Some(LEAST_CHUNK));
    assert_eq!(one_chunk(2 * 61_440), None);
}

#[test]
fn the_heap_is_compacted_at_the_overhead_but_not_at_first_or_when_small() {
    let default = Compaction { max_overhead: 500 };
    let increment = Increment::of_number(15);
    assert!(!default.is_due(Compaction::estimated_overhead(HEAP, Words(200_000))));
    assert!(default.is_due(500.0));
    assert!(default.is_possible(3, HEAP, increment));
    assert!(!default.is_possible(2, HEAP, increment));
    assert!(!default.is_possible(3, Words(2 * LEAST_CHUNK.0), increment));
    assert!(default.is_possible(3, Words(2 * LEAST_CHUNK.0 + 1), increment));
    let with = |max_overhead| Compaction { max_overhead };
    assert!(with(0).is_due(0.0) && with(999_999).is_possible(3, HEAP, increment));
    assert!(!with(1_000_000).is_possible(3, HEAP, increment));
}

#[test]
fn memory_outside_the_heap_is_charged_by_three_ratios() {
    let ratios = CustomRatios {
        major: 44,
        minor: 100,
        minor_max: Bytes(8192),
    };
    let minor_heap = Words(262_144);
    // 8 000 000 bytes / 150 · 44, in integers.
    assert_eq!(ratios.most_in_major(HEAP), Bytes(53_333 * 44));
    assert_eq!(ratios.most_in_minor(minor_heap), Bytes(20_971 * 100));
    let small = ratios.charge(Bytes(1000), HEAP, minor_heap);
    near(small.minor, 1000.0 / 2_097_100.0);
    near(small.major, 0.0);
    near(small.at_promotion, 1000.0 / 2_346_652.0);
    let large = ratios.charge(Bytes(108_192), HEAP, minor_heap);
    near(large.minor, 8192.0 / 2_097_100.0);
    near(large.major, 100_000.0 / 2_346_652.0);
    // Anything above the bound counts as the whole of it.
    near(ratios.charge(Bytes(1 << 40), HEAP, minor_heap).major, 1.0);
    let none = CustomRatios { major: 0, ..ratios };
    near(none.charge(Bytes(8193), HEAP, minor_heap).major, 1.0);
    near(none.charge(Bytes(0), HEAP, minor_heap).minor, 0.0);
}
