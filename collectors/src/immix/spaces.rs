//! The spaces of both collectors: lines, large objects, and the marks of both.

use gclab_core::block::{OutOfMemory, Region, Units};
use gclab_core::collector::{Bump, Capabilities, Capability, Pause, Refill};
use gclab_core::config::Config;
use gclab_core::events::Phase;
use gclab_core::heap::Heap;
use gclab_core::space::{LargeObjects, LineSpace, MarkBits};
use gclab_core::trace::{self, Marked, Marker};
use gclab_core::words::{Addr, Bytes, Words};
use gclab_core::workers::ParallelPolicy;

/// The closures that a collection marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Marking {
    /// Those without marks.
    Young,
    /// All.
    Everything,
}

/// Spaces whose closures stay where they are.
#[derive(Debug)]
pub(super) struct Spaces {
    lines: LineSpace,
    large: LargeObjects,
    marks: MarkBits,
    parallel: ParallelPolicy,
    /// Bytes that mutators may take before the next collection.
    area: Bytes,
}

impl Spaces {
    /// Empty spaces of which mutators may take `area`. Marked closures belong to `step`.
    pub(super) fn new(heap: &mut Heap, config: &Config, step: u8, area: Bytes) -> Result<Self, OutOfMemory> {
        Ok(Spaces {
            lines: LineSpace::new(step, config.capabilities as usize),
            large: LargeObjects::new(step),
            marks: MarkBits::new(heap)?,
            parallel: ParallelPolicy::new(config),
            area,
        })
    }

    /// Sets the bytes that mutators may take before the next collection.
    pub(super) fn set_area(&mut self, area: Bytes) {
        self.area = area;
    }

    /// Bytes of all blocks.
    pub(super) fn held(&self) -> Bytes {
        self.lines.held() + self.large.held()
    }

    fn is_due(&self) -> bool {
        self.lines.taken() + self.large.taken() >= self.area
    }

    /// As [`gclab_core::collector::Collect::refill`].
    pub(super) fn refill(
        &mut self,
        heap: &mut Heap,
        capability: Capability<'_, Bump>,
        words: Words,
    ) -> Result<Refill, OutOfMemory> {
        if self.is_due() {
            return Ok(Refill::Collect);
        }
        self.lines.refill(heap, &self.marks, capability, words)?;
        Ok(Refill::Ready)
    }

    /// As [`gclab_core::collector::Collect::allocate_large`].
    pub(super) fn allocate_large(&mut self, heap: &mut Heap, words: Words) -> Result<Option<Addr>, OutOfMemory> {
        if self.is_due() {
            return Ok(None);
        }
        self.large.allocate(heap, words).map(Some)
    }

    /// Marks closures that live, and frees the rest of those that `marking` is for.
    pub(super) fn mark(&mut self, pause: &mut Pause<'_, Bump>, marking: Marking) -> Marked {
        match marking {
            Marking::Young => self.lines.leave(&mut self.marks, pause.capabilities),
            Marking::Everything => {
                self.lines.condemn(&mut self.marks, pause.capabilities);
                self.large.condemn(&mut self.marks);
                // Whatever these slots lead to is found from the roots, if they live.
                let sets = pause.capabilities.iter().map(Capability::remembered);
                sets.for_each(|set| set.take(|_| ()));
            }
        }
        pause.events.phase(Phase::Condemned);

        let mut marker = Marker::new(pause.heap, &self.marks);
        let generation = u32::from(pause.due.is_some_and(|due| due.generation > 0));
        let owners = pause.capabilities.owners();
        marker.share_with(self.parallel.workers(pause.gc_threads, generation, owners, Bytes::ZERO));
        let phase = |phase| pause.events.phase(phase);
        match marking {
            Marking::Young => trace::live_and_remembered(&mut marker, pause.capabilities, pause.roots, phase),
            Marking::Everything => trace::live(&mut marker, pause.roots, phase),
        }
        let marked = marker.finish();

        match marking {
            Marking::Young => {
                self.lines.sweep_young(pause.heap, &self.marks);
                self.large.sweep_young(pause.heap, &self.marks);
            }
            Marking::Everything => {
                self.lines.sweep(pause.heap, &self.marks);
                self.large.sweep(pause.heap, &self.marks);
            }
        }
        pause.events.phase(Phase::Released);
        marked
    }

    /// As [`gclab_core::collector::Collect::for_each_units`].
    pub(super) fn for_each_units(&self, visit: &mut dyn FnMut(Units)) {
        self.lines.for_each_units(visit);
    }

    /// As [`gclab_core::collector::Collect::for_each_region`].
    pub(super) fn for_each_region(&self, capabilities: Capabilities<'_, Bump>, visit: &mut dyn FnMut(Region)) {
        self.lines.for_each_region(&self.marks, capabilities, visit);
        self.large.for_each_region(visit);
    }
}
