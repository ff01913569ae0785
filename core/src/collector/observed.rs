//! One kind of mutators that serves every collector, for profiles.
//!
//! Programs are compiled once for it. Each capability calls the chosen collector's allocator and
//! barrier through pointers; the collector itself sees its own types ([`Observing`]). So an
//! observed run lays out and collects the heap exactly as a plain one does, at the cost of an
//! indirect call per allocation and store.

use super::{Collect, Collector};
use crate::alloc::{Alloc, Sampling};
use crate::barrier::Barrier;
use crate::block::{OutOfMemory, Region, Units};
use crate::capability::{Capabilities, Capability};
use crate::cause::{Cause, Due, NotBegun, Outcome, Refill};
use crate::closure::{ClosureRef, Slot};
use crate::collector::Pause;
use crate::heap::{Heap, LargeRequest};
use crate::kind::MutatorKind;
use crate::space::Ledger;
use crate::words::{Addr, Bytes, Words};
use std::any::Any;

/// The kind of mutators that note where closures are allocated and when they are used
/// ([`crate::profile::SideWords`]), under any collector.
#[derive(Debug)]
pub struct Observed(());

impl MutatorKind for Observed {
    type Alloc = ObservedAlloc;
    type Barrier = ObservedBarrier;
    const OBSERVED: bool = true;
}

/// The barrier of a collector, for a capability whose allocator is behind a pointer.
type Write = fn(Capability<'_, ObservedAlloc>, ClosureRef, Slot, &mut dyn FnMut() -> u64, ClosureRef);

/// The hook of a barrier for loads, likewise.
type Read = fn(Capability<'_, ObservedAlloc>, Slot, ClosureRef) -> ClosureRef;

/// The hook of a barrier for weak handles, likewise.
type OpenWeak = fn(Capability<'_, ObservedAlloc>, ClosureRef);

/// The allocator and the barrier of the chosen collector.
pub struct ObservedAlloc {
    alloc: Box<dyn Alloc>,
    write: Write,
    read: Read,
    open_weak: OpenWeak,
}

impl std::fmt::Debug for ObservedAlloc {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ObservedAlloc")
    }
}

/// An allocator of collector `C`, without room.
pub(super) fn allocator<C: Collector>() -> ObservedAlloc {
    ObservedAlloc {
        alloc: Box::new(C::Alloc::default()),
        write: |capability, object, slot, old, new| {
            C::Barrier::write(own_type(capability), object, slot, old, new);
        },
        read: |capability, slot, closure| C::Barrier::read(own_type(capability), slot, closure),
        open_weak: |capability, closure| C::Barrier::open_weak(own_type(capability), closure),
    }
}

/// A capability as a collector with allocator `A` sees it.
fn own_type<A: Alloc>(capability: Capability<'_, ObservedAlloc>) -> Capability<'_, A> {
    let alloc: &dyn Any = &*capability.alloc().alloc;
    let alloc = alloc.downcast_ref();
    capability.with_alloc(alloc.expect("the world's collector made its allocators"))
}

// SAFETY: everything is left to the collector's own allocator.
unsafe impl Alloc for ObservedAlloc {
    fn reserve(&self, words: Words) -> Option<Addr> {
        self.alloc.reserve(words)
    }

    fn reserve_medium(&self, words: Words) -> Option<Addr> {
        self.alloc.reserve_medium(words)
    }

    fn reserve_elsewhere(&self, words: Words) -> Option<Addr> {
        self.alloc.reserve_elsewhere(words)
    }

    fn commit(&self, at: Addr, words: Words) {
        self.alloc.commit(at, words);
    }

    fn restrict(&self, words: Option<Words>) {
        self.alloc.restrict(words);
    }

    fn interrupt(&self) {
        self.alloc.interrupt();
    }

    fn sample(&self, sampling: Option<Sampling>) {
        self.alloc.sample(sampling);
    }

    fn take_samples(&self) -> u32 {
        self.alloc.take_samples()
    }

    fn sample_large(&self, words: Words) -> u32 {
        self.alloc.sample_large(words)
    }

    fn is_free(&self, at: Addr, words: Words) -> bool {
        self.alloc.is_free(at, words)
    }

    fn allocated(&self) -> Bytes {
        self.alloc.allocated()
    }

    fn take_allocated(&self) -> Bytes {
        self.alloc.take_allocated()
    }
}

/// Calls the barrier of the chosen collector.
#[derive(Debug)]
pub struct ObservedBarrier(());

impl Barrier<ObservedAlloc> for ObservedBarrier {
    fn write(
        capability: Capability<'_, ObservedAlloc>,
        object: ClosureRef,
        slot: Slot,
        old: impl FnOnce() -> u64,
        new: ClosureRef,
    ) {
        let mut old = Some(old);
        let mut old = || old.take().map_or(0, |old| old());
        (capability.alloc().write)(capability, object, slot, &mut old, new);
    }

    fn read(capability: Capability<'_, ObservedAlloc>, slot: Slot, closure: ClosureRef) -> ClosureRef {
        (capability.alloc().read)(capability, slot, closure)
    }

    fn open_weak(capability: Capability<'_, ObservedAlloc>, closure: ClosureRef) {
        (capability.alloc().open_weak)(capability, closure);
    }
}

/// Collector `C` in a world with observed mutators: it sees their allocators as its own type.
#[derive(Debug)]
pub(super) struct Observing<C>(pub(super) C);

impl<C: Collector> Collect for Observing<C> {
    type Alloc = ObservedAlloc;

    fn refill(
        &mut self,
        heap: &mut Heap,
        capability: Capability<'_, ObservedAlloc>,
        words: Words,
    ) -> Result<Refill, OutOfMemory> {
        self.0.refill(heap, own_type(capability), words)
    }

    fn allocate_large(&mut self, heap: &mut Heap, request: LargeRequest) -> Result<Option<Addr>, OutOfMemory> {
        self.0.allocate_large(heap, request)
    }

    fn due(&mut self, cause: Cause, capabilities: Capabilities<'_, ObservedAlloc>) -> Option<Due> {
        let all: Vec<_> = capabilities.iter().map(own_type).collect();
        self.0.due(cause, Capabilities::new(&all))
    }

    fn collect(&mut self, pause: &mut Pause<'_, ObservedAlloc>) -> Result<Outcome, NotBegun> {
        let all: Vec<_> = pause.capabilities.iter().map(own_type).collect();
        self.0.collect(&mut pause.with_capabilities(Capabilities::new(&all)))
    }

    fn for_each_region(&self, capabilities: Capabilities<'_, ObservedAlloc>, visit: &mut dyn FnMut(Region)) {
        let all: Vec<_> = capabilities.iter().map(own_type).collect();
        self.0.for_each_region(Capabilities::new(&all), visit);
    }

    fn foreign(&mut self, bytes: Bytes) -> Refill {
        self.0.foreign(bytes)
    }

    fn finalisers(&mut self, are_over: bool) {
        self.0.finalisers(are_over);
    }

    fn answer(&mut self, pause: &mut Pause<'_, ObservedAlloc>, message: &mut dyn Any) -> bool {
        let all: Vec<_> = pause.capabilities.iter().map(own_type).collect();
        self.0
            .answer(&mut pause.with_capabilities(Capabilities::new(&all)), message)
    }

    fn figures(&self, figure: &mut dyn FnMut(&'static str, u64)) {
        self.0.figures(figure);
    }

    fn for_each_units(&self, visit: &mut dyn FnMut(Units)) {
        self.0.for_each_units(visit);
    }

    fn ledger(&self) -> Option<Ledger<'_>> {
        self.0.ledger()
    }

    fn step_names(&self) -> &'static [&'static str] {
        self.0.step_names()
    }
}
