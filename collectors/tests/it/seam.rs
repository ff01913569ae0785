//! The interface between a collector and its mutators, from outside core: a barrier that knows its
//! allocator, the collector's word, block states, remembered slots and weak handles.

use crate::basics::config;
use gclab_core::block::{BLOCK, BlockState, FIRST_OLD_STEP, OutOfMemory, Region, Shortage};
use gclab_core::closure::{Closure, ClosureRef, Mut, Slot};
use gclab_core::collector::{
    Alloc, Barrier, Bump, Capabilities, Capability, Cause, Collect, Collector, Description, KindOf, NotBegun, Outcome,
    Pause, Refill,
};
use gclab_core::config::{Config, Parameter};
use gclab_core::heap::{Heap, LargeRequest};
use gclab_core::mutator::{MutVar, Mutator, MutatorKind, Request};
use gclab_core::space::{Nursery, Steps};
use gclab_core::trace::{self, Evacuator};
use gclab_core::words::{Addr, Bytes, Words};
use gclab_core::world::World;
use gclab_heap_traverse::Checker;
use std::cell::{Cell, RefCell};

/// A bump allocator with data for its barrier.
#[derive(Debug, Default)]
struct Logging {
    bump: Bump,
    stores: RefCell<Vec<Store>>,
    opened: Cell<usize>,
    /// Loads of closures, and those of null.
    loads: Cell<[usize; 2]>,
}

/// What the barrier saw of a store.
#[derive(Debug, Clone, Copy)]
struct Store {
    object: BlockState,
    new: BlockState,
    word: u64,
}

impl AsRef<Bump> for Logging {
    fn as_ref(&self) -> &Bump {
        &self.bump
    }
}

// SAFETY: `Bump` does everything.
unsafe impl Alloc for Logging {
    fn reserve(&self, words: Words) -> Option<Addr> {
        self.bump.reserve(words)
    }
    fn commit(&self, at: Addr, words: Words) {
        self.bump.commit(at, words);
    }
    fn restrict(&self, words: Option<Words>) {
        self.bump.restrict(words);
    }
    fn interrupt(&self) {
        self.bump.interrupt();
    }
    fn allocated(&self) -> Bytes {
        self.bump.allocated()
    }
    fn take_allocated(&self) -> Bytes {
        self.bump.take_allocated()
    }
}

/// Remembers stores into old closures, and logs every store, load and weak handle.
#[derive(Debug)]
struct Log;

impl Barrier<Logging> for Log {
    fn write(
        capability: Capability<'_, Logging>,
        object: ClosureRef,
        slot: Slot,
        _: impl FnOnce() -> u64,
        new: ClosureRef,
    ) {
        let store = Store {
            object: capability.state_of(object.addr()),
            new: capability.state_of(new.addr()),
            word: capability.barrier_word().get(),
        };
        capability.alloc().stores.borrow_mut().push(store);
        if store.object.age_of_holder() >= FIRST_OLD_STEP && store.new.step() < store.object.age_of_holder() {
            capability.remember(slot);
        }
    }

    fn read(capability: Capability<'_, Logging>, _: Slot, closure: ClosureRef) -> ClosureRef {
        let mut loads = capability.alloc().loads.get();
        loads[usize::from(capability.state_of(closure.addr()).is_outside())] += 1;
        capability.alloc().loads.set(loads);
        closure
    }

    fn open_weak(capability: Capability<'_, Logging>, closure: ClosureRef) {
        assert!(!capability.state_of(closure.addr()).is_outside());
        capability.alloc().opened.set(capability.alloc().opened.get() + 1);
    }
}

/// Two generations. A collection takes the remembered slots and remembers them again, and panics if
/// the barrier has not seen what it should. If `CRAMPED`, it never has the memory for a minor
/// collection.
struct Generations<const CRAMPED: bool> {
    nursery: Nursery,
    steps: Steps,
    collections: u64,
}

// SAFETY: made of core's spaces and evacuator; `collect` traces the remembered set, the roots and
// the weak handles.
unsafe impl<const CRAMPED: bool> Collector for Generations<CRAMPED> {
    const DESCRIPTION: Description = Description {
        name: "seam",
        summary: "two generations, with an allocator and a barrier of its own",
        moves: true,
        parallel: false,
        honours: &[&[Parameter::AllocationArea]],
        generations: (2, 2),
    };
    type Barrier = Log;

    fn new(heap: &mut Heap, config: &Config) -> Result<Self, OutOfMemory> {
        Ok(Generations {
            nursery: Nursery::new(heap, config.allocation_area, config)?,
            steps: Steps::new(2),
            collections: 0,
        })
    }
}

impl<const CRAMPED: bool> Collect for Generations<CRAMPED> {
    type Alloc = Logging;

    fn refill(
        &mut self,
        heap: &mut Heap,
        capability: Capability<'_, Logging>,
        _: Words,
    ) -> Result<Refill, OutOfMemory> {
        Ok(self.nursery.refill(heap, capability))
    }

    fn allocate_large(&mut self, heap: &mut Heap, request: LargeRequest) -> Result<Option<Addr>, OutOfMemory> {
        self.nursery.allocate_large(heap, request)
    }

    fn collect(&mut self, pause: &mut Pause<'_, Logging>) -> Result<Outcome, NotBegun> {
        if CRAMPED && !pause.cause.forces_major() {
            return Err(NotBegun(OutOfMemory {
                requested: BLOCK,
                in_use: Bytes::ZERO,
                limit: None,
                cause: Shortage::Limit,
            }));
        }
        self.collections += 1;
        self.nursery.leave(pause.capabilities);
        for capability in pause.capabilities.iter() {
            let alloc = capability.alloc();
            let (stores, opened, loads) = (alloc.stores.take(), alloc.opened.take(), alloc.loads.take());
            if !CRAMPED {
                expect(self.collections, &stores, opened);
                // Of the variable, of a field, and of what exchanges found; words that are not
                // pointers do not count.
                assert_eq!(loads, if self.collections == 1 { [4, 1] } else { [0, 0] });
            }
            capability.barrier_word().set(self.collections);
            let mut slots = Vec::new();
            capability.remembered().take(|slot| slots.push(slot));
            assert!(capability.remembered().is_empty());
            if !CRAMPED && self.collections <= 3 {
                // The old variable's slot, which leads to a new number.
                assert_eq!(slots.len(), usize::from(self.collections == 3));
            }
            slots.into_iter().for_each(|slot| capability.remember(slot));
        }
        let generation = u32::from(pause.cause.forces_major());
        let last = self.steps.last_of(generation);
        let mut evacuator = Evacuator::condemn(pause.heap, &mut self.nursery, &mut self.steps, last)?;
        trace::live_and_remembered(&mut evacuator, pause.capabilities, pause.roots, |_| ());
        let work = evacuator.finish(&mut self.steps, pause.capabilities);
        Ok(work.into())
    }

    fn for_each_region(&self, capabilities: Capabilities<'_, Logging>, visit: &mut dyn FnMut(Region)) {
        self.nursery.for_each_region(capabilities, visit);
        self.steps.for_each_region(visit);
    }
}

/// What the barrier must have seen before the collection with this number: see [`stores`].
fn expect(collection: u64, stores: &[Store], opened: usize) {
    let seen: Vec<_> = stores
        .iter()
        .map(|store| (store.object.step(), store.new.step(), store.word))
        .collect();
    let outside = BlockState::OUTSIDE.step();
    match collection {
        // The second one is an exchange that fails.
        1 => assert_eq!(
            (&*seen, opened),
            (&[(0, 0, 0), (0, outside, 0), (0, 0, 0), (0, 0, 0)][..], 1)
        ),
        2 => assert_eq!((&*seen, opened), (&[][..], 0)),
        // The variable is old by now. The collector's word is the number of the last collection.
        3 => assert_eq!((&*seen, opened), (&[(2, outside, 2), (2, 0, 2)][..], 2)),
        4 => assert_eq!((&*seen, opened), (&[][..], 0)),
        _ => assert_eq!((&*seen, opened), (&[][..], 1)),
    }
}

#[derive(Closure)]
#[allow(dead_code)]
struct Number {
    value: u64,
    next: Mut<Number>,
}

fn stores<M: MutatorKind>(m: &mut Mutator<'_, M>) {
    m.frame(|m, [var]| {
        let var = var.put(m.alloc(|_| MutVar::<Number>::new(None)));
        let (view, number) = m.alloc_with(|_| Number::new(1, None));
        var.get(view).write(view, Some(number));
        let weak = view.weak_handle(number);
        assert!(weak.open(view) == Some(number));
        assert!(var.get(view).read(view) == Some(number) && number.next(view).is_none());
        assert!(var.get(view).compare_exchange(view, None, None) == Err(Some(number)));
        assert!(var.get(view).swap(view, Some(number)) == Some(number));
        assert!(var.get(view).compare_exchange(view, Some(number), Some(number)).is_ok());
        assert_eq!(var.get(view).read(view).map(|number| number.value(view)), Some(1));
        m.collect(Request::Minor);
        m.collect(Request::Minor);
        var.get(m).write(m, None);
        let (view, number) = m.alloc_with(|_| Number::new(2, None));
        var.get(view).write(view, Some(number));
        let other = view.weak_handle(number);
        // The first number is unreachable, but stays until a collection finds it dead.
        assert!(weak.open(view).is_some_and(|number| number.value(view) == 1));
        assert!(other.open(view) == Some(number));
        m.collect(Request::Full);
        // The barrier does not see empty handles.
        assert!(weak.open(m).is_none());
        m.collect(Request::Full);
        assert_eq!(other.open(m).map(|number| number.value(m)), Some(2));
    });
}

/// A heap under `C`, with a checker.
fn world<C: Collector>() -> World<KindOf<C>> {
    let mut world = World::new::<C>(&config::<C>(64 << 10)).expect("a small heap");
    world.listen(Box::new(Checker::new(&C::DESCRIPTION).exact()));
    world
}

/// Like an allocation that fails, a collection that cannot start triggers a full one.
#[test]
fn if_a_minor_collection_cannot_start_everything_is_collected() {
    let world = world::<Generations<true>>();
    let fill = |m: &mut Mutator<'_, _>| (0..10_000).for_each(|value| _ = m.alloc(|_| Number::new(value, None)));
    world.enter(fill).expect("enough memory");
    let statistics = world.finish();
    let causes: Vec<_> = statistics
        .collections
        .iter()
        .map(|collection| collection.before.cause)
        .collect();
    let (last, others) = causes.split_last().expect("a last collection");
    assert_eq!(*last, Cause::Final);
    assert!(
        others.len() > 1 && others.iter().all(|cause| *cause == Cause::Shortage),
        "{causes:?}"
    );
}

#[test]
fn a_barrier_knows_its_allocator_and_the_states_of_blocks() {
    let world = world::<Generations<false>>();
    world.enter(stores).expect("enough memory");
    world.finish();
}

#[test]
fn so_does_the_barrier_of_an_observed_run() {
    type C = Generations<false>;
    let mut world = World::observed::<C>(&config::<C>(64 << 10)).expect("a small heap");
    world.listen(Box::new(Checker::new(&C::DESCRIPTION).exact()));
    world.enter(stores).expect("enough memory");
    world.finish();
}
