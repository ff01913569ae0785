//! The spaces of these collectors: lines, large objects, and the marks of both.

use gclab_core::block::{OutOfMemory, Region, Units};
use gclab_core::collector::{Bump, Capabilities, Capability, Cause, Pause, Refill};
use gclab_core::config::Config;
use gclab_core::events::Phase;
use gclab_core::heap::Heap;
use gclab_core::space::{Destination, InPlace, LargeObjects, LineSpace, MarkBits};
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

/// Bytes of survivors to have room for at least.
const LEAST_EXPECTED: Bytes = Bytes::kib(256);

/// Spaces whose closures stay where they are.
#[derive(Debug)]
pub(super) struct Spaces {
    lines: LineSpace,
    large: LargeObjects,
    marks: MarkBits,
    parallel: ParallelPolicy,
    /// Bytes that mutators may take before the next collection.
    area: Bytes,
    /// Bytes of marked closures in lines.
    live: Bytes,
    /// The young closures of the last collection.
    young: Young,
}

/// Young closures of a collection.
#[derive(Debug, Default)]
struct Young {
    /// Bytes of lines that mutators took.
    taken: Bytes,
    /// Of these, bytes that survived.
    survived: Bytes,
}

impl Young {
    /// The survivors of the next collection to have room for, if mutators took `taken` bytes for
    /// it. Where most closures survive, they are better left where they are.
    fn expected(&self, taken: Bytes) -> Bytes {
        if self.survived.0 * 2 > self.taken.0 {
            return Bytes::ZERO;
        }
        Bytes(self.survived.0 * 2).max(LEAST_EXPECTED).min(taken)
    }
}

impl Spaces {
    /// Empty spaces, of which mutators may take `area`.
    pub(super) fn new(heap: &mut Heap, config: &Config, lines: LineSpace, area: Bytes) -> Result<Self, OutOfMemory> {
        Ok(Spaces {
            large: LargeObjects::new(lines.step()),
            lines,
            marks: MarkBits::new(heap)?,
            parallel: ParallelPolicy::new(config),
            area,
            live: Bytes::ZERO,
            young: Young::default(),
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

    /// Marks closures that live, and frees the rest of those that `marking` is for. If that is
    /// everything, closures of fragmented blocks may move.
    pub(super) fn mark(&mut self, pause: &mut Pause<'_, Bump>, marking: Marking) -> Marked {
        let is_short = pause.cause == Cause::Shortage || pause.cause.forces_compaction();
        match marking {
            Marking::Young => {
                self.lines.leave(&mut self.marks, pause.capabilities);
                let expected = self.young.expected(self.lines.taken());
                self.lines.condemn_nursery(pause.heap, &self.marks, expected, false);
            }
            Marking::Everything => {
                // At the end of a program nothing is worth a move.
                if pause.cause != Cause::Final {
                    self.lines
                        .choose(pause.heap, &mut self.marks, pause.capabilities, self.live, is_short);
                    let expected = self.young.expected(self.lines.taken());
                    self.lines.condemn_nursery(pause.heap, &self.marks, expected, true);
                }
                self.lines.condemn(&mut self.marks, pause.capabilities);
                self.large.condemn(&mut self.marks);
                // The closures that these slots lead to are found from the roots, if they live.
                let sets = pause.capabilities.iter().map(Capability::remembered);
                sets.for_each(|set| set.take(|_| ()));
            }
        }
        pause.events.phase(Phase::Condemned);

        let marked = match self.lines.reserve() {
            Some(reserve) => self.trace(pause, marking, reserve),
            None => self.trace(pause, marking, &InPlace),
        };
        let in_lines = (marked.words - marked.large).to_bytes();
        match marking {
            Marking::Young => {
                self.young = Young {
                    taken: self.lines.taken(),
                    survived: in_lines,
                };
                self.live += in_lines;
                self.lines.sweep_young(pause.heap, &mut self.marks);
                self.large.sweep_young(pause.heap, &self.marks);
            }
            Marking::Everything => {
                self.live = in_lines;
                self.lines.sweep(pause.heap, &mut self.marks);
                self.large.sweep(pause.heap, &self.marks);
                if !is_short {
                    let held = self.held();
                    self.lines.keep_reserve(pause.heap, held, self.area.max(held));
                }
            }
        }
        pause.events.phase(Phase::Released);
        marked
    }

    /// Marks the closures that live. Those of blocks that are to be emptied go to `destination`.
    fn trace(&self, pause: &mut Pause<'_, Bump>, marking: Marking, destination: &impl Destination) -> Marked {
        let mut marker = Marker::moving(pause.heap, &self.marks, destination);
        let generation = u32::from(pause.due.is_some_and(|due| due.generation > 0));
        let owners = pause.capabilities.owners();
        marker.share_with(self.parallel.workers(pause.gc_threads, generation, owners, Bytes::ZERO));
        let phase = |phase| pause.events.phase(phase);
        match marking {
            Marking::Young => trace::live_and_remembered(&mut marker, pause.capabilities, pause.roots, phase),
            Marking::Everything => trace::live(&mut marker, pause.roots, phase),
        }
        marker.finish()
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
