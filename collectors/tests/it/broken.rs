//! What a search for random programs says of a broken collector: the fault, its place, the seed, and
//! a program as short as can be; whether the fault is a difference, a panic or a signal.

use crate::basics::config;
use crate::mutants::{Fault, Mutant, SkipsFirst};
use gclab_core::closure::Closure;
use gclab_core::collector::GenerationalBarrier;
use gclab_core::cost_centre;
use gclab_core::heap::Heap;
use gclab_core::mutator::Request;
use gclab_core::words::Addr;
use gclab_core::world::World;
use gclab_heap_traverse::Checker;

/// Panics in the second collection.
struct Panics;

impl Fault for Panics {
    type Barrier = GenerationalBarrier;

    fn in_collection(collection: u32, _: &Heap) {
        assert!(collection < 2, "the second collection");
    }
}

/// Follows a wild pointer in the second collection.
struct Crashes;

impl Fault for Crashes {
    type Barrier = GenerationalBarrier;

    fn in_collection(collection: u32, heap: &Heap) {
        if collection == 2 {
            let wild: Addr = heap.blocks().base() + heap.blocks().accounting().reserved;
            // SAFETY: none: the last word of the reservation has no access.
            unsafe { wild.as_mut_ptr::<u64>().sub(1).read_volatile() };
        }
    }
}

/// Checks that the search names `parts`, and prints a test with `most` operations at most.
fn is_reported<S: Fault>(parts: &[&str], most: usize) {
    let told = gclab_proof::search_for::<Mutant<S>>(1, 100, true).expect_err("the fault is found");
    for part in ["seed 1: ", "gclab_proof::replay::<Mutant<"].iter().chain(parts) {
        assert!(told.contains(part), "{part}: {told}");
    }
    let (_, ops) = told.split_once("let ops = vec![\n").expect("a test is printed");
    let count = ops.lines().take_while(|line| line.trim() != "];").count();
    assert!(count <= most, "{count} operations: {told}");
}

#[test]
fn a_panic_in_a_collection_is_reported_and_its_program_shrunk() {
    let parts = [
        "broken.rs:",
        "the second collection",
        "the mutant collector panicked in the middle of a collection",
        "SIGABRT",
    ];
    is_reported::<Panics>(&parts, 2);
}

#[test]
#[should_panic(expected = "the second collection")]
fn a_panic_in_a_collection_ends_one_test() {
    gclab_proof::every_request_refused::<Mutant<Panics>>(&gclab_proof::small_heap::<Mutant<Panics>>());
}

#[test]
fn a_panic_under_programs_of_several_threads_is_reported() {
    let told = gclab_proof::hunt_in_threads::<Mutant<Panics>>(None).expect_err("the fault is found");
    for part in ["mutant: seed 1: ", "the second collection", "thread 1:", "SIGABRT"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    // Each operation has a line that is indented.
    let count = told.lines().filter(|line| line.starts_with("  ")).count();
    assert!(count <= 2, "{count} operations: {told}");
}

#[test]
fn a_crash_in_a_collection_is_reported_and_its_program_shrunk() {
    let parts = [
        "gclab: segmentation fault at 0x",
        ", during a collection, in the heap of the mutant collector: the block at 0x",
        "was never in use",
        "-DS",
        "SIGSEGV",
    ];
    is_reported::<Crashes>(&parts, 2);
}

#[test]
fn a_root_that_is_dropped_is_reported_and_its_program_shrunk() {
    is_reported::<SkipsFirst>(&["the check of roots failed: "], 2);
}

/// Is exhausted at once where there is a limit.
struct GivesUp;

impl Fault for GivesUp {
    type Barrier = GenerationalBarrier;
    const GIVES_UP: bool = true;
}

/// The bytes of a size like `12 KiB`.
fn bytes(size: &str) -> Option<usize> {
    let (number, unit) = size.split_once(' ')?;
    let shift = ["bytes", "KiB", "MiB"].iter().position(|name| *name == unit)? * 10;
    Some(number.parse::<usize>().ok()? << shift)
}

#[test]
fn the_message_of_the_memory_rule_adds_up() {
    let told = gclab_proof::search_for::<Mutant<GivesUp>>(1, 100, false).expect_err("the fault is found");
    let (_, parts) = told.split_once("\nof ").expect("the parts of the limit");
    let part = |name: &str| {
        let (_, after) = parts.split_once(name)?;
        bytes(after.split([',', ';', ':', '\n']).next()?)
    };
    let names = [
        "blocks in use ",
        "free blocks ",
        "side tables ",
        "other charges ",
        "not taken ",
    ];
    let limit = parts.split_once(':').and_then(|(limit, _)| bytes(limit));
    let sum: Option<usize> = names.into_iter().map(part).sum();
    assert!(limit.is_some() && sum == limit, "{told}");
    assert!(
        told.contains("live and requested bytes must come to 1/10 of what the collector can use"),
        "{told}"
    );
}

/// Does not trace the third root.
struct SkipsThird;

impl Fault for SkipsThird {
    type Barrier = GenerationalBarrier;

    fn traces_root(index: usize) -> bool {
        index != 2
    }
}

#[derive(Closure)]
#[allow(dead_code)]
struct Number {
    value: u64,
}

#[test]
#[should_panic(
    expected = "the check of roots failed: slot 1 of frame 1 (the innermost is 0) of the thread on capability 0, in cost \
                centre inner (collectors/tests/it/broken.rs:"
)]
fn a_wrong_root_is_named_with_its_frame_and_cost_centre() {
    let mut world =
        World::observed::<Mutant<SkipsThird>>(&config::<Mutant<SkipsThird>>(64 << 10)).expect("a small heap");
    Checker::install(&mut world);
    let session = world.enter(|m| {
        m.frame(|m, [first, second]| {
            let _first = first.put(m.alloc(|_| Number::new(1)));
            let _second = second.put(m.alloc(|_| Number::new(2)));
            m.cost_centre(cost_centre!("inner"), |m| {
                m.frame(|m, [third]| {
                    let _third = third.put(m.alloc(|_| Number::new(3)));
                    m.collect(Request::Full);
                });
            });
        });
    });
    session.expect("enough memory");
}
