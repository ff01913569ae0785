//! A collector that panics ends the process, so the test runs itself in a child process.

use std::process::Command;

use gclab_core::block::{OutOfMemory, Region};
use gclab_core::collector::{
    Capabilities, Capability, Cells, Collect, Collector, Description, NoBarrier, NotBegun, Outcome, Pause, Refill,
};
use gclab_core::config::Config;
use gclab_core::heap::Heap;
use gclab_core::words::{Addr, Words};

use crate::mark_sweep::MarkSweep;

/// [`MarkSweep`], except that it panics in its second collection.
struct Panics {
    sound: MarkSweep,
    collections: u32,
}

// SAFETY: sound until it panics, which ends the process.
unsafe impl Collector for Panics {
    const DESCRIPTION: Description = Description {
        name: "panics",
        ..MarkSweep::DESCRIPTION
    };
    type Barrier = NoBarrier;

    fn new(heap: &mut Heap, config: &Config) -> Result<Self, OutOfMemory> {
        let sound = MarkSweep::new(heap, config)?;
        Ok(Panics { sound, collections: 0 })
    }
}

impl Collect for Panics {
    type Alloc = Cells;

    fn refill(
        &mut self,
        heap: &mut Heap,
        capability: Capability<'_, Cells>,
        words: Words,
    ) -> Result<Refill, OutOfMemory> {
        self.sound.refill(heap, capability, words)
    }

    fn allocate_large(&mut self, heap: &mut Heap, words: Words) -> Result<Option<Addr>, OutOfMemory> {
        self.sound.allocate_large(heap, words)
    }

    fn collect(&mut self, pause: &mut Pause<'_, Cells>) -> Result<Outcome, NotBegun> {
        self.collections += 1;
        assert!(self.collections < 2, "the second collection");
        self.sound.collect(pause)
    }

    fn for_each_region(&self, capabilities: Capabilities<'_, Cells>, visit: &mut dyn FnMut(Region)) {
        self.sound.for_each_region(capabilities, visit);
    }
}

#[test]
#[ignore = "ends the process: another test runs it"]
fn programs_of_a_collector_that_panics() {
    gclab_proof::random_programs::<Panics>();
}

/// Message, line and program are reported, although the test harness captures output.
#[test]
fn a_panic_in_a_collection_is_reported_with_its_program() {
    let own = std::env::current_exe().unwrap();
    let ended = Command::new(own)
        .args(["--ignored", "--exact", "panics::programs_of_a_collector_that_panics"])
        .output()
        .unwrap();
    let told = String::from_utf8(ended.stderr).unwrap();
    assert!(!ended.status.success());
    for words in [
        "panics.rs:",
        "the second collection",
        "gclab_proof::replay::<",
        "the panics collector panicked in the middle of a collection",
    ] {
        assert!(told.contains(words), "{words}: {told}");
    }
}
