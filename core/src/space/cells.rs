//! A space whose closures stay where they are: cells of one size class in each segment, swept
//! lazily.
//!
//! * *cell*: room for one closure of a size class ([`SizeClass`]).
//! * *segment*: a run of blocks with cells of one class (GHC's word, from its nonmoving collector).
//!   The first segments of a class are as small as eight cells allow, later ones up to 32 KiB: one
//!   segment for each class must not use up a small heap.
//! * *hole*: neighbouring free cells. Mutators allocate from hole to hole ([`Cells`]).
//!
//! A cell is free if its mark bit is clear. A collection clears the bits (*condemn*), a marker sets
//! the bits of the closures it reaches, and *sweeping* returns segments without marks to the block
//! allocator. Holes in the other segments are found during allocation, which reads the bits, not
//! the cells: dead closures are never read.
//!
//! Costs: to condemn and to sweep, a cache line of bits for each block; a refill, the bits up to
//! the end of the next hole. Memory: that of the mark bits, and 16 bytes a segment.

use super::MarkBits;
use crate::alloc::{Cells, SizeClass};
use crate::block::{BlockRun, BlockState, OutOfMemory, Region, poison};
use crate::capability::{Capabilities, Capability};
use crate::heap::Heap;
use crate::words::{Addr, Bytes, Words};

/// Blocks of the largest segments: 32 KiB, as GHC's.
const MOST_BLOCKS: usize = 8;

/// Cells of all size classes.
#[derive(Debug)]
pub struct CellSpace {
    classes: Vec<Class>,
    step: u8,
    /// Bytes of all segments.
    held: usize,
    /// Bytes of holes handed out since the last collection.
    taken: usize,
}

/// The segments of one class.
#[derive(Debug, Default)]
struct Class {
    segments: Vec<BlockRun>,
    /// The segment in which holes are looked for.
    next: usize,
    /// The position in that segment; null: its start.
    at: Addr,
}

impl CellSpace {
    /// An empty space. All of it belongs to `step` ([`crate::space`] explains steps).
    pub fn new(step: u8) -> Self {
        CellSpace {
            classes: SizeClass::all().map(|_| Class::default()).collect(),
            step,
            held: 0,
            taken: 0,
        }
    }

    /// Gives the mutator another hole for closures of `words` words, in a new segment if there is
    /// none.
    ///
    /// # Errors
    /// If the heap has no memory for a segment.
    pub fn refill(
        &mut self,
        heap: &mut Heap,
        marks: &mut MarkBits,
        capability: Capability<'_, Cells>,
        words: Words,
    ) -> Result<(), OutOfMemory> {
        let class = SizeClass::of(words);
        let cells = &mut self.classes[class.index()];
        let (start, end) = match cells.next_hole(marks, class) {
            Some(hole) => hole,
            None => {
                let most = cells.segments.len().clamp(class.least_blocks() as usize, MOST_BLOCKS);
                let run = heap.allocate(class.least_blocks(), most as u32, BlockState::of_step(self.step))?;
                self.held += run.bytes().0;
                cells.segments.push(run);
                cells.next_hole(marks, class).expect("a new segment is one hole")
            }
        };
        self.taken += end.0 - start.0;
        if !mutant!("cells/hole-not-marked") {
            marks.set_every(start, end, class.cell());
        }
        capability.alloc().set_hole(class, start, end);
        Ok(())
    }

    /// Prepares for marking: takes the mutators' holes back, and clears the marks.
    pub fn condemn(&mut self, marks: &mut MarkBits, capabilities: Capabilities<'_, Cells>) {
        for (class, cells) in SizeClass::all().zip(&self.classes) {
            for capability in capabilities.iter().filter(|_| !mutant!("cells/hole-kept")) {
                capability.alloc().leave_hole(class);
            }
            for run in &cells.segments {
                if !mutant!("cells/marks-not-cleared") {
                    marks.clear(run.start(), run.end());
                }
            }
        }
    }

    /// Sweeps after marking: frees the segments without marks. In the other segments, unmarked
    /// cells are free from now on.
    pub fn sweep(&mut self, heap: &mut Heap, marks: &MarkBits) {
        for (class, cells) in SizeClass::all().zip(&mut self.classes) {
            cells.segments.retain(|run| {
                let lives = marks.next_set(run.start(), run.end()).is_some();
                if !lives {
                    self.held -= run.bytes().0;
                    if !mutant!("cells/segment-kept") {
                        heap.free(*run);
                    }
                }
                lives
            });
            cells.rewind();
            if cfg!(debug_assertions) {
                cells.retire_holes(marks, class);
            }
        }
        self.taken = 0;
    }

    /// Bytes handed out to mutators since the last collection.
    pub fn taken(&self) -> Bytes {
        Bytes(self.taken)
    }

    /// Bytes of all segments.
    pub fn held(&self) -> Bytes {
        Bytes(self.held)
    }

    /// Visits the regions that hold closures: stretches of cells that are filled to the last word.
    pub fn for_each_region(
        &self,
        marks: &MarkBits,
        capabilities: Capabilities<'_, Cells>,
        visit: &mut dyn FnMut(Region),
    ) {
        for (class, cells) in SizeClass::all().zip(&self.classes) {
            let free: Vec<_> = capabilities
                .iter()
                .map(|capability| capability.alloc().free(class))
                .collect();
            for run in &cells.segments {
                marks.for_each_region(*run, &free, self.step, visit);
            }
        }
    }
}

impl Class {
    /// The next free cells, none of which has been handed out since the last collection.
    fn next_hole(&mut self, marks: &MarkBits, class: SizeClass) -> Option<(Addr, Addr)> {
        let cell = class.cell().to_bytes().0;
        while let Some(run) = self.segments.get(self.next) {
            let end = cells_end(*run, class);
            let mut from = if self.at.is_null() { run.start() } else { self.at };
            while from < end {
                let live = marks.next_set(from, end).unwrap_or(end);
                if live > from {
                    self.at = live;
                    let behind = mutant!("cells/hole-too-long", live => Addr((live.0 + cell).min(end.0)));
                    return Some((from, behind));
                }
                from.0 += cell;
            }
            self.next += 1;
            self.at = Addr::NULL;
        }
        None
    }

    /// Starts the search for holes again, at the first segment.
    fn rewind(&mut self) {
        if !mutant!("cells/never-reused") {
            (self.next, self.at) = (0, Addr::NULL);
        }
    }

    /// Poisons all holes after a sweep, so that a use of free memory is found.
    fn retire_holes(&mut self, marks: &MarkBits, class: SizeClass) {
        while let Some((start, end)) = self.next_hole(marks, class) {
            // SAFETY: the hole lies in a segment, between live closures.
            unsafe { poison::retire(start, end - start) };
        }
        self.rewind();
    }
}

/// The end of the last cell of a segment.
fn cells_end(run: BlockRun, class: SizeClass) -> Addr {
    let cell = class.cell().to_bytes().0;
    Addr(run.start().0 + run.bytes().0 / cell * cell)
}

const _: () = assert!(SizeClass::nth(SizeClass::COUNT - 1).least_blocks() as usize <= MOST_BLOCKS);
