//! What a search for random programs says of a broken collector: the fault, its place, the seed, and
//! a program as short as can be; whether the fault is a difference, a panic or a signal.

use crate::mutants::{Fault, Mutant, SkipsFirst};
use gclab_core::collector::GenerationalBarrier;
use gclab_core::heap::Heap;
use gclab_core::words::Addr;

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
