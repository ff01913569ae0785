//! Collectors with one fault each. The checker and the random programs must catch every one, and
//! each test names the check that does.
//!
//! All are the same small generational collector, correct except for its [`Fault`]. If a mutant
//! survives, a test is missing.

use crate::basics::config;
use gclab_core::block::{OutOfMemory, Region, Shortage};
use gclab_core::closure::{Closure, ClosureRef, Ptr, Slot};
use gclab_core::collector::{
    Barrier, Bump, Capabilities, Capability, Collect, Collector, Cycle, Description, GenerationalBarrier, NoBarrier,
    NotBegun, Outcome, Pause, Refill, RootSlot, Roots, Work,
};
use gclab_core::config::{Config, Parameter};
use gclab_core::heap::{Heap, LargeRequest};
use gclab_core::mutator::Request;
use gclab_core::space::{Nursery, Steps};
use gclab_core::trace::{self, AwaitedKeys, Evacuator, RememberedTracing, Tracing};
use gclab_core::words::{Addr, Bytes, Words};
use gclab_core::world::World;
use gclab_heap_traverse::Checker;
use gclab_proof::search_for;
use std::marker::PhantomData;

/// A mutant's fault.
pub(crate) trait Fault: Send + 'static {
    type Barrier: Barrier<Bump>;
    /// Whether root number `index` is traced.
    fn traces_root(_index: usize) -> bool {
        true
    }
    const TRACES_REMEMBERED: bool = true;
    const SCAVENGES: bool = true;
    const CLEARS_WEAK: bool = true;
    const TRACES_WEAK: bool = false;
    /// Whether the referents of weak handles are kept, without what they lead to.
    const KEEPS_WEAK: bool = false;
    /// Whether a collection of generation `g` condemns generation `g` itself.
    const CONDEMNS_ALL: bool = true;
    const SHOWS_LARGE: bool = true;
    const COUNTS_LARGE: bool = true;
    /// Whether a heap with a limit is exhausted at once.
    const GIVES_UP: bool = false;
    /// Is called in each collection; counts them from 1.
    fn in_collection(_collection: u32, _heap: &Heap) {}
}

/// No fault: this collector must pass where the mutants fail.
struct Sound;
impl Fault for Sound {
    type Barrier = GenerationalBarrier;
}

pub(crate) struct Mutant<S> {
    nursery: Nursery,
    steps: Steps,
    generations: u32,
    collections: u32,
    _fault: PhantomData<S>,
}

// SAFETY: deliberately unsound. The checker stops the program before it reads damaged closures.
unsafe impl<S: Fault> Collector for Mutant<S> {
    const DESCRIPTION: Description = Description {
        name: "mutant",
        summary: "generational copying with one fault",
        moves: true,
        parallel: false,
        honours: &[&[Parameter::AllocationArea, Parameter::Generations]],
        generations: (2, 4),
    };
    type Barrier = S::Barrier;

    fn new(heap: &mut Heap, config: &Config) -> Result<Self, OutOfMemory> {
        Ok(Mutant {
            nursery: Nursery::new(heap, config.allocation_area, config)?,
            steps: Steps::new(config.generations),
            generations: config.generations,
            collections: 0,
            _fault: PhantomData,
        })
    }
}

impl<S: Fault> Collect for Mutant<S> {
    type Alloc = Bump;

    fn refill(
        &mut self,
        heap: &mut Heap,
        capability: Capability<'_, Bump>,
        words: Words,
    ) -> Result<Refill, OutOfMemory> {
        if S::GIVES_UP && heap.limit() < Bytes::mib(16) {
            return Err(OutOfMemory {
                requested: words.to_bytes(),
                in_use: Bytes(0),
                limit: Some(heap.limit()),
                cause: Shortage::Limit,
            });
        }
        Ok(self.nursery.refill(heap, capability))
    }

    fn allocate_large(&mut self, heap: &mut Heap, request: LargeRequest) -> Result<Option<Addr>, OutOfMemory> {
        self.nursery.allocate_large(heap, request)
    }

    fn collect(&mut self, pause: &mut Pause<'_, Bump>) -> Result<Outcome, NotBegun> {
        self.nursery.leave(pause.capabilities);
        self.collections += 1;
        S::in_collection(self.collections, pause.heap);
        // Collects generation 0 each time, generation 1 every third time, and generation 2 every
        // ninth time.
        let turn = (1..self.generations)
            .rev()
            .find(|&g| self.collections.is_multiple_of(3u32.pow(g)));
        let generation = match turn {
            _ if pause.cause.forces_major() => self.generations - 1,
            turn => turn.unwrap_or(0),
        };
        let last = self.steps.last_of(generation) - u8::from(!S::CONDEMNS_ALL);
        let mut evacuator = Evacuator::condemn(pause.heap, &mut self.nursery, &mut self.steps, last)?;
        if S::TRACES_REMEMBERED {
            evacuator.remembered(pause.capabilities);
        }
        let mut faulty = Faulty::<S> {
            evacuator: &mut evacuator,
            index: 0,
            _fault: PhantomData,
        };
        trace::live(&mut faulty, pause.roots, |_| ());
        let work = evacuator.finish(&mut self.steps, pause.capabilities);
        let work = Work {
            generation,
            cycle: Cycle::whole_if(generation + 1 == self.generations),
            large: if S::COUNTS_LARGE { work.large } else { Bytes(0) },
            ..work
        };
        Ok(work.into())
    }

    fn for_each_region(&self, capabilities: Capabilities<'_, Bump>, visit: &mut dyn FnMut(Region)) {
        let mut visit = |region: Region| {
            if S::SHOWS_LARGE || !region.large {
                visit(region);
            }
        };
        self.nursery.for_each_region(capabilities, &mut visit);
        self.steps.for_each_region(&mut visit);
    }
}

/// A mutant's tracer.
struct Faulty<'e, 'h, S> {
    evacuator: &'e mut Evacuator<'h>,
    /// The number of roots so far.
    index: usize,
    _fault: PhantomData<S>,
}

impl<S: Fault> Tracing for Faulty<'_, '_, S> {
    fn root(&mut self, slot: RootSlot<'_>) {
        if S::traces_root(self.index) {
            self.evacuator.root(slot);
        }
        self.index += 1;
    }

    fn roots(&mut self, roots: Roots<'_>) {
        roots.for_each(|slot| self.root(slot));
        if S::TRACES_WEAK {
            roots.for_each_weak(|slot| self.evacuator.root(slot));
        }
    }

    fn trace(&mut self) {
        if S::SCAVENGES {
            self.evacuator.trace();
        }
    }

    fn trace_from(&mut self, keys: &AwaitedKeys<RootSlot<'_>>) {
        self.evacuator.trace_from(keys);
    }

    fn lives(&mut self, slot: RootSlot<'_>) -> bool {
        self.evacuator.lives(slot)
    }

    fn weak_handles(&mut self, roots: Roots<'_>) {
        if S::KEEPS_WEAK {
            roots.for_each_weak(|slot| self.evacuator.root(slot));
        }
        if S::CLEARS_WEAK {
            self.evacuator.weak_handles(roots);
        }
    }
}

/// Checks that random programs find the fault of `S`, always by one of the named checks.
fn is_caught<S: Fault>(by: &[&str]) {
    for seed in 1..=3 {
        match search_for::<Mutant<S>>(seed, 200, false) {
            Ok(ops) => panic!("a mutant survived {ops} operations"),
            Err(why) => assert!(
                by.iter()
                    .any(|check| why.contains(&format!("the check of {check} failed"))),
                "caught, but not by the check of {by:?}: {why}"
            ),
        }
    }
}

#[test]
fn without_a_fault_nothing_is_caught() {
    if let Err(why) = search_for::<Mutant<Sound>>(1, 100, true) {
        panic!("{why}");
    }
}

/// Makes a mutant, and a test that catches it.
macro_rules! mutant {
    ($test:ident, $name:ident, $barrier:ty, { $($fault:tt)* }, $($by:literal)|+) => {
        pub(crate) struct $name;
        impl Fault for $name {
            type Barrier = $barrier;
            $($fault)*
        }
        #[test]
        fn $test() {
            is_caught::<$name>(&[$($by),+]);
        }
    };
}

/// Remembers stores into the aging step, but not those into old generations.
pub(crate) struct BackwardBarrier;
impl<A> Barrier<A> for BackwardBarrier {
    fn write(
        capability: Capability<'_, A>,
        object: ClosureRef,
        slot: Slot,
        old: impl FnOnce() -> u64,
        new: ClosureRef,
    ) {
        // Swaps the stored closure and the one stored into.
        GenerationalBarrier::write(capability, new, slot, old, object);
    }
}

mutant!(
    no_write_barrier,
    Forgetful,
    NoBarrier,
    {},
    "pointers" | "remembered set"
);
mutant!(
    a_write_barrier_changed_over,
    Backward,
    BackwardBarrier,
    {},
    "pointers" | "remembered set"
);
mutant!(
    remembered_slots_are_not_traced,
    Careless,
    GenerationalBarrier,
    {
        const TRACES_REMEMBERED: bool = false;
    },
    "pointers" | "remembered set"
);
mutant!(
    the_first_root_is_skipped,
    SkipsFirst,
    GenerationalBarrier,
    {
        fn traces_root(index: usize) -> bool {
            index != 0
        }
    },
    "roots"
);
mutant!(
    handles_are_skipped,
    SkipsLast,
    GenerationalBarrier,
    // Roots of frames come first, then those of handles.
    {
        fn traces_root(index: usize) -> bool {
            index < 5
        }
    },
    "roots"
);
mutant!(
    survivors_are_not_scavenged,
    Shallow,
    GenerationalBarrier,
    {
        const SCAVENGES: bool = false;
    },
    "pointers" | "remembered set"
);
mutant!(
    weak_handles_are_forgotten,
    Dangling,
    GenerationalBarrier,
    {
        const CLEARS_WEAK: bool = false;
    },
    "weak handles"
);
/// No check of reachable closures sees unreachable ones.
#[test]
#[should_panic(expected = "the check of kept closures failed: slot 0")]
fn closures_are_kept_without_their_referents() {
    struct Shallow;
    impl Fault for Shallow {
        type Barrier = GenerationalBarrier;
        const KEEPS_WEAK: bool = true;
    }
    #[derive(Closure)]
    #[allow(dead_code)]
    struct Link {
        next: Option<Ptr<Link>>,
    }
    let mut world = World::new::<Mutant<Shallow>>(&config::<Mutant<Shallow>>(64 << 10)).expect("a small heap");
    Checker::install(&mut world);
    let session = world.enter(|m| {
        let handle = m.frame(|m, [first]| {
            let first = first.put(m.alloc(|_| Link::new(None)));
            let (m, second) = m.alloc_with(|m| Link::new(Some(first.get(m))));
            m.weak_handle(second)
        });
        m.collect(Request::Full);
        drop(handle);
    });
    session.expect("enough memory");
}

mutant!(
    weak_handles_keep_alive,
    Clinging,
    GenerationalBarrier,
    {
        const TRACES_WEAK: bool = true;
    },
    "floating garbage"
);
mutant!(
    the_oldest_condemned_step_is_left_out,
    Timid,
    GenerationalBarrier,
    {
        const CONDEMNS_ALL: bool = false;
    },
    "floating garbage" | "remembered set" | "pointers"
);
mutant!(
    large_objects_are_not_shown,
    Secretive,
    GenerationalBarrier,
    {
        const SHOWS_LARGE: bool = false;
    },
    "blocks"
);
mutant!(
    large_objects_are_not_counted,
    Miscounting,
    GenerationalBarrier,
    {
        const COUNTS_LARGE: bool = false;
    },
    "statistics"
);
