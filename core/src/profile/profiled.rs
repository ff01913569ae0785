//! A collector whose mutators write side words.

use crate::block::Region;
use crate::collector::{Capabilities, Capability, Collector, Description, Outcome, Pause, Refill};
use crate::config::Config;
use crate::heap::{Heap, OutOfMemory};
use crate::words::{Addr, Words};

/// `C` as it is, for a profile that asks where closures come from or when they are used: its mutators write [`super::SideWords`].
#[derive(Debug)]
pub struct Profiled<C>(C);

// SAFETY: everything is the collector's own.
unsafe impl<C: Collector> Collector for Profiled<C> {
    const DESCRIPTION: Description = C::DESCRIPTION;
    const PROFILED: bool = true;
    type Alloc = C::Alloc;
    type Barrier = C::Barrier;

    fn new(heap: &mut Heap, config: &Config) -> Result<Self, OutOfMemory> {
        C::new(heap, config).map(Profiled)
    }

    fn refill(
        &mut self,
        heap: &mut Heap,
        capability: &Capability<Self::Alloc>,
        words: Words,
    ) -> Result<Refill, OutOfMemory> {
        self.0.refill(heap, capability, words)
    }

    fn allocate_large(&mut self, heap: &mut Heap, words: Words) -> Result<Option<Addr>, OutOfMemory> {
        self.0.allocate_large(heap, words)
    }

    fn collect(&mut self, pause: &mut Pause<'_, Self::Alloc>) -> (Outcome, Result<(), OutOfMemory>) {
        self.0.collect(pause)
    }

    fn for_each_region(&self, capabilities: Capabilities<'_, Self::Alloc>, visit: &mut dyn FnMut(Region)) {
        self.0.for_each_region(capabilities, visit);
    }
}
