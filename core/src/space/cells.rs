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
//! the cells: dead closures are never read. A mutator gets all holes of a segment at a time, and
//! moves from one to the next by itself.
//!
//! Costs: to condemn and to sweep, a cache line of bits for each block; a refill, the bits of a
//! segment, and a store to each hole. Memory: the mark bits, plus 16 bytes per segment.
//!
//! Closures of a nursery may move into the cells as well ([`CellPromotion`]). Cells in use have marks
//! then, and there is no mutator's hole.

mod promotion;

pub use promotion::{CellPromotion, CellRoom};

use super::MarkBits;
use crate::alloc::{Cells, SizeClass};
use crate::block::{BlockRun, BlockState, CELLS, OutOfMemory, Region, Units, poison};
use crate::capability::{Capabilities, Capability};
use crate::heap::Heap;
use crate::words::{Addr, Bytes, Words};

/// Blocks of the largest segments: 32 KiB, as in GHC.
const MOST_BLOCKS: usize = 8;

/// Cells of all size classes.
#[derive(Debug)]
pub struct CellSpace {
    classes: Vec<Class>,
    /// The state of the segments.
    state: BlockState,
    /// Bytes of all segments.
    held: usize,
    /// Bytes of holes handed out since the last collection.
    taken: usize,
    /// The holes of the segment that was searched last.
    holes: Vec<(Addr, Addr)>,
}

/// The segments of one class.
#[derive(Debug, Default)]
struct Class {
    segments: Vec<BlockRun>,
    /// Segments that have not been swept since the last marking.
    unswept: Vec<BlockRun>,
    /// Holes that a promotion has left.
    spare: Vec<(Addr, Addr)>,
    /// The next segment in which holes are looked for.
    next: usize,
}

impl CellSpace {
    /// An empty space. All of it belongs to `step` ([`crate::space`] explains steps).
    pub fn new(step: u8) -> Self {
        CellSpace {
            classes: SizeClass::all().map(|_| Class::default()).collect(),
            state: BlockState::of_step(step),
            held: 0,
            taken: 0,
            holes: Vec::new(),
        }
    }

    /// Gives the mutator the holes of another segment for closures of `words` words, which is a new
    /// one if no other has any.
    ///
    /// # Errors
    /// If the heap has no memory for a segment.
    pub fn refill<A: AsRef<Cells>>(
        &mut self,
        heap: &mut Heap,
        marks: &mut MarkBits,
        capability: Capability<'_, A>,
        words: Words,
    ) -> Result<(), OutOfMemory> {
        let class = SizeClass::of(words);
        let cells = &mut self.classes[class.index()];
        while !cells.next_holes(marks, class, &mut self.holes) {
            let most = cells.segments.len().clamp(class.least_blocks() as usize, MOST_BLOCKS);
            let run = heap.allocate(class.least_blocks(), most as u32, self.state)?;
            self.held += run.bytes().0;
            cells.segments.push(run);
        }
        self.taken += self.holes.iter().map(|(start, end)| end.0 - start.0).sum::<usize>();
        if !mutant!("cells/hole-not-marked") {
            marks.set_every(&self.holes, class.cell());
        }
        capability
            .alloc()
            .as_ref()
            .set_holes(class, self.holes[0], &self.holes[1..]);
        Ok(())
    }

    /// Prepares for marking: takes the mutators' holes back, and clears the marks.
    pub fn condemn<A: AsRef<Cells>>(&mut self, marks: &mut MarkBits, capabilities: Capabilities<'_, A>) {
        for class in SizeClass::all() {
            for capability in capabilities.iter().filter(|_| !mutant!("cells/hole-kept")) {
                capability.alloc().as_ref().leave_holes(class);
            }
        }
        self.clear_marks(marks);
    }

    /// Prepares for marking where no mutator has a hole: clears the marks.
    pub fn clear_marks(&self, marks: &mut MarkBits) {
        let runs = self.runs().filter(|_| !mutant!("cells/marks-not-cleared"));
        runs.for_each(|(_, run)| marks.clear(run.start(), run.end()));
    }

    /// Sweeps after marking: frees the segments without marks. In the other segments, unmarked
    /// cells are free from now on.
    pub fn sweep(&mut self, heap: &mut Heap, marks: &MarkBits) {
        self.begin_sweep();
        self.sweep_some(heap, marks, usize::MAX);
    }

    /// From now on, unmarked cells are free. Segments without marks are freed when they are swept.
    pub fn begin_sweep(&mut self) {
        for cells in &mut self.classes {
            cells.unswept.extend(cells.segments.drain(..).rev());
            if !mutant!("cells/spare-kept") {
                cells.spare.clear();
            }
            if !mutant!("cells/never-reused") {
                cells.next = 0;
            }
        }
        self.taken = 0;
    }

    /// Sweeps up to `most` segments.
    pub fn sweep_some(&mut self, heap: &mut Heap, marks: &MarkBits, most: usize) {
        let mut left = most;
        for (class, cells) in SizeClass::all().zip(&mut self.classes) {
            while left > 0
                && let Some(run) = cells.unswept.pop()
            {
                left -= 1;
                if marks.next_set(run.start(), run.end()).is_some() {
                    if cfg!(debug_assertions) {
                        retire_holes(marks, class, run);
                    }
                    cells.segments.push(run);
                } else {
                    self.held -= run.bytes().0;
                    if !mutant!("cells/segment-kept") {
                        heap.free(run);
                    }
                }
            }
        }
    }

    /// Turns on or off the recording of values that stores to closures overwrite.
    pub fn set_in_snapshot(&mut self, heap: &mut Heap, yes: bool) {
        let state = self.state.in_snapshot(yes);
        self.runs().for_each(|(_, run)| heap.set_state(run, state));
    }

    /// All segments, with their classes.
    fn runs(&self) -> impl Iterator<Item = (SizeClass, BlockRun)> {
        SizeClass::all().zip(&self.classes).flat_map(|(class, cells)| {
            let runs = cells.segments.iter().chain(&cells.unswept);
            runs.map(move |&run| (class, run))
        })
    }

    /// The memory of all segments.
    pub fn for_each_run(&self, mut visit: impl FnMut(BlockRun)) {
        self.runs().for_each(|(_, run)| visit(run));
    }

    /// Bytes handed out to mutators since the last collection.
    pub fn taken(&self) -> Bytes {
        Bytes(self.taken)
    }

    /// Bytes of all segments.
    pub fn held(&self) -> Bytes {
        Bytes(self.held)
    }

    /// Visits the cells of all segments.
    pub fn for_each_units(&self, visit: &mut dyn FnMut(Units)) {
        self.runs().for_each(|(class, run)| {
            visit(Units {
                run,
                size: class.cell().to_bytes(),
                name: CELLS,
            });
        });
    }

    /// Visits the regions that hold closures: stretches of cells that are filled to the last word.
    pub fn for_each_region<A: AsRef<Cells>>(
        &self,
        marks: &MarkBits,
        capabilities: Capabilities<'_, A>,
        visit: &mut dyn FnMut(Region),
    ) {
        for class in SizeClass::all() {
            let mut free: Vec<_> = capabilities
                .iter()
                .flat_map(|capability| capability.alloc().as_ref().free(class))
                .collect();
            free.sort_unstable();
            self.regions_of(class, marks, &free, visit);
        }
    }

    /// As [`CellSpace::for_each_region`], where no mutator has a hole.
    pub fn for_each_marked_region(&self, marks: &MarkBits, visit: &mut dyn FnMut(Region)) {
        SizeClass::all().for_each(|class| self.regions_of(class, marks, &[], visit));
    }

    fn regions_of(&self, class: SizeClass, marks: &MarkBits, free: &[(Addr, Addr)], visit: &mut dyn FnMut(Region)) {
        let cells = &self.classes[class.index()];
        for run in cells.segments.iter().chain(&cells.unswept) {
            marks.for_each_region(*run, free, self.state.step(), visit);
        }
    }
}

impl Class {
    /// Collects the holes of the next segment that has any. None has been handed out since the last
    /// collection. Returns whether there was such a segment.
    fn next_holes(&mut self, marks: &MarkBits, class: SizeClass, holes: &mut Vec<(Addr, Addr)>) -> bool {
        holes.clear();
        while let (true, Some(run)) = (holes.is_empty(), self.segments.get(self.next)) {
            self.next += 1;
            let (start, end) = (run.start(), cells_end(*run, class));
            // In segments that have lived for long, all cells are taken.
            if Words(marks.count(start, run.end()) * class.cell().0).to_bytes() < end - start {
                marks.for_each_gap(start, end, class.cell(), |start, live| {
                    let behind = mutant!("cells/hole-too-long", live => (live + class.cell()).min(end));
                    holes.push((start, behind));
                });
            }
        }
        !holes.is_empty()
    }
}

/// Poisons the holes of a segment, so that a use of free memory is found.
fn retire_holes(marks: &MarkBits, class: SizeClass, run: BlockRun) {
    marks.for_each_gap(run.start(), cells_end(run, class), class.cell(), |start, end| {
        // SAFETY: the hole lies in a segment, between live closures.
        unsafe { poison::retire(start, end - start) };
    });
}

/// The end of the last cell of a segment.
fn cells_end(run: BlockRun, class: SizeClass) -> Addr {
    let cell = class.cell().to_bytes().0;
    Addr(run.start().0 + run.bytes().0 / cell * cell)
}

const _: () = assert!(SizeClass::nth(SizeClass::COUNT - 1).least_blocks() as usize <= MOST_BLOCKS);
