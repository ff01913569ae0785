//! A mark-region collector (Immix without evacuation) made of core's public parts, with its own
//! space. Its only `unsafe` is the promise of the `Collector` trait. It shows that core's interface
//! is general enough for another collector.

use gclab_core::block::OutOfMemory;
use gclab_core::block::Region;
use gclab_core::block::{BlockRun, BlockState};
use gclab_core::collector::{
    Bump, Capabilities, Capability, Collect, Collector, Description, NoBarrier, NotBegun, Outcome, Pause, Refill,
};
use gclab_core::config::{Config, Parameter, SIZING};
use gclab_core::heap::{Heap, LargeRequest};
use gclab_core::sizing::{MajorStrategy, Sizing};
use gclab_core::space::{LargeObjects, MarkBits};
use gclab_core::trace::{self, Marker};
use gclab_core::words::{Addr, Bytes, Words};
use gclab_core::workers::ParallelPolicy;

const STEP: u8 = 1;

pub(crate) struct MarkRegion {
    runs: Vec<BlockRun>,
    /// Free ranges between live closures, or in a new run.
    holes: Vec<Region>,
    /// Holes handed to mutators since the last collection, with the closures in them.
    filled: Vec<Region>,
    /// By capability, the hole that it allocates in.
    held: Vec<Option<usize>>,
    taken: Bytes,
    large: LargeObjects,
    marks: MarkBits,
    sizing: Sizing,
    area: Bytes,
    parallel: ParallelPolicy,
}

impl MarkRegion {
    fn is_due(&self) -> bool {
        self.taken + self.large.taken() >= self.area
    }

    fn leave(&mut self, capability: Capability<'_, Bump>) {
        let end = capability.alloc().leave_region();
        if let Some(held) = self.held[capability.number()].take() {
            self.filled[held].end = end;
        }
    }

    /// Frees runs without marks, and finds the holes in the others.
    fn sweep(&mut self, heap: &mut Heap) {
        let (marks, holes) = (&self.marks, &mut self.holes);
        holes.clear();
        self.filled.clear();
        self.runs.retain(|run| {
            if marks.next_set(run.start(), run.end()).is_none() {
                heap.free(*run);
                return false;
            }
            let mut hole = Region {
                run: *run,
                start: run.start(),
                end: run.start(),
                step: STEP,
                large: false,
            };
            marks.for_each_region(*run, &[], STEP, &mut |region| {
                holes.push(Region {
                    end: region.start,
                    ..hole
                });
                hole.start = region.end;
            });
            holes.push(Region { end: run.end(), ..hole });
            true
        });
        self.taken = Bytes::ZERO;
    }

    fn held(&self) -> Bytes {
        self.runs.iter().map(|run| run.bytes()).sum::<Bytes>() + self.large.held()
    }
}

// SAFETY: all closures reachable from roots are marked, and only memory between marked closures is
// handed out or freed.
unsafe impl Collector for MarkRegion {
    const DESCRIPTION: Description = Description {
        name: "mark-region",
        summary: "marks, and allocates between what is marked",
        moves: false,
        parallel: true,
        generations: (1, 1),
        honours: &[&[Parameter::AllocationArea], SIZING],
    };
    type Barrier = NoBarrier;

    fn new(heap: &mut Heap, config: &Config) -> Result<Self, OutOfMemory> {
        let sizing = Sizing::new(config, heap, MajorStrategy::InPlace);
        Ok(MarkRegion {
            runs: Vec::new(),
            holes: Vec::new(),
            filled: Vec::new(),
            held: vec![None; config.capabilities as usize],
            taken: Bytes::ZERO,
            large: LargeObjects::new(STEP),
            marks: MarkBits::new(heap)?,
            area: sizing.first_area()?,
            sizing,
            parallel: ParallelPolicy::new(config),
        })
    }
}

impl Collect for MarkRegion {
    type Alloc = Bump;

    fn refill(
        &mut self,
        heap: &mut Heap,
        capability: Capability<'_, Bump>,
        words: Words,
    ) -> Result<Refill, OutOfMemory> {
        if self.is_due() {
            return Ok(Refill::Collect);
        }
        self.leave(capability);
        let hole = loop {
            match self.holes.pop() {
                Some(hole) if hole.end - hole.start >= words.to_bytes() => break hole,
                Some(_) => {}
                None => {
                    let run = heap.allocate(1, 8, BlockState::of_step(STEP))?;
                    self.runs.push(run);
                    self.holes.push(Region {
                        run,
                        start: run.start(),
                        end: run.end(),
                        step: STEP,
                        large: false,
                    });
                }
            }
        };
        self.taken += hole.end - hole.start;
        capability.alloc().set_region(hole.start, hole.end);
        self.held[capability.number()] = Some(self.filled.len());
        self.filled.push(hole);
        Ok(Refill::Ready)
    }

    fn allocate_large(&mut self, heap: &mut Heap, request: LargeRequest) -> Result<Option<Addr>, OutOfMemory> {
        if self.is_due() {
            return Ok(None);
        }
        self.large.allocate(heap, request).map(Some)
    }

    fn collect(&mut self, pause: &mut Pause<'_, Bump>) -> Result<Outcome, NotBegun> {
        pause.capabilities.iter().for_each(|one| self.leave(one));
        for run in &self.runs {
            self.marks.clear(run.start(), run.end());
        }
        self.large.condemn(&mut self.marks);
        let mut marker = Marker::new(pause.heap, &self.marks);
        let owners = pause.capabilities.owners();
        marker.share_with(self.parallel.workers(pause.gc_threads, 0, owners, Bytes::ZERO));
        trace::live(&mut marker, pause.roots, |_| ());
        let marked = marker.finish();
        self.sweep(pause.heap);
        self.large.sweep(pause.heap, &self.marks);
        let mut outcome = marked.outcome(self.held());
        if let Some(area) = self.sizing.after_in_place(pause, &mut outcome) {
            self.area = area;
        }
        Ok(outcome)
    }

    fn for_each_region(&self, capabilities: Capabilities<'_, Bump>, visit: &mut dyn FnMut(Region)) {
        let mut filled = self.filled.clone();
        for capability in capabilities.iter() {
            if let Some(held) = self.held[capability.number()] {
                filled[held].end = capability.alloc().cursor();
            }
        }
        filled.retain(|region| region.start < region.end);
        for run in &self.runs {
            self.marks.for_each_region(*run, &[], STEP, &mut |region| {
                // An empty region stands for a run with no other region.
                if region.start < region.end || filled.iter().all(|filled| filled.run != *run) {
                    visit(region);
                }
            });
        }
        filled.into_iter().for_each(&mut *visit);
        self.large.for_each_region(visit);
    }
}
