//! A chosen collector, as a value.

use super::observed::{self, Observed, Observing};
use super::{Collect, Collector, Description};
use crate::alloc::Alloc;
use crate::barrier::Barrier;
use crate::block::OutOfMemory;
use crate::config::Config;
use crate::events::RunInfo;
use crate::heap::Heap;
use crate::kind::{Direct, MutatorKind};
use crate::words::Bytes;
use std::fmt;

/// How a collector is made.
type Make<A> = fn(&mut Heap, &Config) -> Result<Box<dyn Collect<Alloc = A>>, OutOfMemory>;

/// A chosen collector for worlds of kind `M`: all that a world needs to know about it. Code that
/// takes this value is compiled once per kind, not once per collector.
pub struct Chosen<M: MutatorKind> {
    pub(crate) description: &'static Description,
    pub(crate) make: Make<M::Alloc>,
    /// Makes an allocator without room.
    pub(crate) allocator: fn() -> M::Alloc,
}

impl<M: MutatorKind> fmt::Debug for Chosen<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Chosen({})", self.description.name)
    }
}

impl<M: MutatorKind> Chosen<M> {
    /// The facts about a run under this collector with `config`, before its heap exists.
    pub fn run_info(&self, config: &Config) -> RunInfo {
        RunInfo {
            collector: self.description.name,
            parallel: self.description.parallel && config.gc_thread_count() > 1,
            capabilities: config.capabilities,
            generations: self.description.fitting_generations(config.generations),
            max_heap: config.max_heap,
            allocation_area: Bytes::ZERO,
        }
    }
}

impl<A: Alloc + Default, B: Barrier<A>> Chosen<Direct<A, B>> {
    /// Collector `C`, with its own allocator and barrier inlined into programs.
    pub fn plain<C: Collector<Alloc = A, Barrier = B>>() -> Self {
        Chosen {
            description: &C::DESCRIPTION,
            make: |heap, config| Ok(Box::new(C::new(heap, config)?)),
            allocator: A::default,
        }
    }
}

impl Chosen<Observed> {
    /// Collector `C`, with mutators that note where closures are allocated and when they are used:
    /// for profiles.
    pub fn observed<C: Collector>() -> Self {
        Chosen {
            description: &C::DESCRIPTION,
            make: |heap, config| Ok(Box::new(Observing(C::new(heap, config)?))),
            allocator: observed::allocator::<C>,
        }
    }
}
