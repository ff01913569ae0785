//! A heap for testing a space. Only a collector gets to see one.

use gclab_core::block::{OutOfMemory, Region};
use gclab_core::collector::{
    Bump, Capabilities, Capability, Collect, Collector, Description, NoBarrier, NotBegun, Outcome, Pause, Refill,
};
use gclab_core::config::Config;
use gclab_core::heap::{Heap, LargeRequest};
use gclab_core::words::{Addr, Bytes, Words};
use gclab_core::world::World;
use std::cell::RefCell;

type Test = Box<dyn FnOnce(&mut Heap)>;

thread_local! {
    static TEST: RefCell<Option<Test>> = RefCell::default();
}

/// Runs `test` with a small heap that has no mutators.
pub(super) fn with_heap(test: impl FnOnce(&mut Heap) + 'static) {
    TEST.set(Some(Box::new(test)));
    let config = Config {
        reserve: Bytes::mib(64),
        ..Config::default()
    };
    World::new::<Probe>(&config).expect("a small heap");
}

/// Runs the test when it is created.
struct Probe;

// SAFETY: no mutator enters its world.
unsafe impl Collector for Probe {
    const DESCRIPTION: Description = Description {
        name: "probe",
        summary: "shows its heap to a test",
        moves: false,
        parallel: false,
        generations: (1, 1),
        honours: &[],
    };
    type Barrier = NoBarrier;

    fn new(heap: &mut Heap, _: &Config) -> Result<Self, OutOfMemory> {
        TEST.take().expect("a test")(heap);
        Ok(Probe)
    }
}

impl Collect for Probe {
    type Alloc = Bump;

    fn refill(&mut self, _: &mut Heap, _: Capability<'_, Bump>, _: Words) -> Result<Refill, OutOfMemory> {
        unreachable!("it has no mutators")
    }

    fn allocate_large(&mut self, _: &mut Heap, _: LargeRequest) -> Result<Option<Addr>, OutOfMemory> {
        unreachable!("it has no mutators")
    }

    fn collect(&mut self, _: &mut Pause<'_, Bump>) -> Result<Outcome, NotBegun> {
        unreachable!("it has no mutators")
    }

    fn for_each_region(&self, _: Capabilities<'_, Bump>, _: &mut dyn FnMut(Region)) {}
}
