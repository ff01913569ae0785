//! The old space of the collector that works in slices: promoted closures stay in place until a
//! sweep finds them unmarked.
//!
//! Promoted closures go to the holes between others, and then to new runs. Runs without marks are
//! freed.

use gclab_core::block::{BLOCK, BlockRun, BlockState, FIRST_OLD_STEP, LARGE_OBJECT, OutOfMemory, Region};
use gclab_core::heap::{Heap, LargeObject};
use gclab_core::space::{BumpRoom, Destination, MarkBits, Marks};
use gclab_core::words::{Addr, Bytes, Words};
use std::sync::Mutex;

/// The smallest hole that is used.
const LEAST_HOLE: Bytes = Bytes(64);

/// Runs with closures, and large objects.
#[derive(Debug)]
pub(crate) struct Old {
    runs: Vec<BlockRun>,
    /// After marking: runs not swept yet.
    unswept: Vec<BlockRun>,
    pub(crate) large: Vec<LargeObject>,
    /// Where closures start; in unswept runs, only the marked ones.
    starts: MarkBits,
    /// The marks of the current cycle; all clear between cycles.
    pub(crate) marks: MarkBits,
}

impl Old {
    pub(crate) fn new(heap: &Heap) -> Result<Self, OutOfMemory> {
        Ok(Old {
            runs: Vec::new(),
            unswept: Vec::new(),
            large: Vec::new(),
            starts: MarkBits::new(heap)?,
            marks: MarkBits::new(heap)?,
        })
    }

    /// Takes enough memory to copy `words` words, however they fill the runs.
    pub(crate) fn room(&self, heap: &mut Heap, words: Words) -> Result<Room, OutOfMemory> {
        let free = match take(heap, words) {
            Ok(free) => free,
            // The memory kept for copies is released by a declaration.
            Err(_) => {
                heap.prepare(words.to_bytes())?;
                take(heap, words)?
            }
        };
        Ok(Room(Mutex::new(RoomRuns {
            holes: self.holes(),
            free,
            used: Vec::new(),
        })))
    }

    /// The holes of all swept runs.
    fn holes(&self) -> Vec<(Addr, Addr)> {
        let mut holes = Vec::new();
        for run in &self.runs {
            let mut from = run.start();
            self.starts.for_each_region(*run, &[], FIRST_OLD_STEP, &mut |region| {
                holes.push((from, region.start));
                from = region.end;
            });
            holes.push((from, run.end()));
        }
        holes.retain(|(start, end)| *end - *start >= LEAST_HOLE);
        holes
    }

    /// The table for a promotion. While a snapshot is marked, promoted closures are `black`.
    pub(crate) fn promotion(&self, black: bool) -> Promotion<'_> {
        Promotion { old: self, black }
    }

    /// Keeps the runs of a promotion, and the large objects that it found live.
    pub(crate) fn promoted(&mut self, heap: &mut Heap, room: Room, young: Vec<LargeObject>) {
        let RoomRuns { free, used, .. } = room.0.into_inner().expect("no thread panicked");
        free.into_iter().for_each(|run| heap.free(run));
        self.runs.extend(used);
        for object in young {
            if self.starts.get(object.start) {
                heap.set_state(object.run, BlockState::of_step(FIRST_OLD_STEP).large());
                self.large.push(object);
            } else {
                heap.free_large(object);
            }
        }
    }

    /// Everything reachable is marked, so the rest is garbage.
    pub(crate) fn begin_sweep(&mut self, heap: &mut Heap) {
        self.unswept = std::mem::take(&mut self.runs);
        let (starts, marks) = (&mut self.starts, &mut self.marks);
        self.large.retain(|object| {
            let (start, lives) = (object.start, marks.get(object.start));
            marks.clear(start, start + Words(1));
            if !lives {
                starts.clear(start, start + Words(1));
                heap.free_large(*object);
            }
            lives
        });
    }

    /// Sweeps runs up to about `budget` words. Returns the bytes swept.
    pub(crate) fn sweep(&mut self, heap: &mut Heap, budget: Words) -> Bytes {
        let mut swept = Bytes::ZERO;
        while swept.to_words_up() < budget
            && let Some(run) = self.unswept.pop()
        {
            swept += run.bytes();
            let mut from = run.start();
            while let Some(at) = self.starts.next_set(from, run.end()) {
                from = at + Words(1);
                if !self.marks.get(at) {
                    self.starts.clear(at, from);
                }
            }
            if self.marks.next_set(run.start(), run.end()).is_some() {
                self.runs.push(run);
            } else {
                heap.free(run);
            }
            self.marks.clear(run.start(), run.end());
        }
        swept
    }

    pub(crate) fn is_swept(&self) -> bool {
        self.unswept.is_empty()
    }

    pub(crate) fn held(&self) -> Bytes {
        let runs = self.runs.iter().chain(&self.unswept);
        let large = self.large.iter().map(LargeObject::bytes);
        runs.map(|run| run.bytes()).chain(large).sum()
    }

    pub(crate) fn for_each_region(&self, visit: &mut dyn FnMut(Region)) {
        for run in &self.runs {
            self.starts.for_each_region(*run, &[], FIRST_OLD_STEP, visit);
        }
        // Garbage in them may point into freed runs.
        for run in &self.unswept {
            self.marks.for_each_region(*run, &[], FIRST_OLD_STEP, visit);
        }
        for object in &self.large {
            visit(object.region(FIRST_OLD_STEP));
        }
    }
}

/// Allocates runs for copies of `words` words, or none: long runs if there is memory, otherwise
/// short ones, fewer of which may stay empty.
fn take(heap: &mut Heap, words: Words) -> Result<Vec<BlockRun>, OutOfMemory> {
    take_runs(heap, words, 8).or_else(|_| take_runs(heap, words, 2))
}

fn take_runs(heap: &mut Heap, words: Words, blocks: u32) -> Result<Vec<BlockRun>, OutOfMemory> {
    // A run ends where a closure does not fit, which is smaller than a large object.
    let filled = blocks as usize * BLOCK.0 / 8 - LARGE_OBJECT.0;
    let mut free = Vec::new();
    for _ in 0..=words.0 / filled {
        match heap.allocate(blocks, blocks, BlockState::of_step(FIRST_OLD_STEP)) {
            Ok(run) => free.push(run),
            Err(error) => {
                free.into_iter().for_each(|run| heap.free(run));
                return Err(error);
            }
        }
    }
    Ok(free)
}

/// The memory for the copies of a promotion.
pub(crate) struct Room(Mutex<RoomRuns>);

struct RoomRuns {
    holes: Vec<(Addr, Addr)>,
    free: Vec<BlockRun>,
    used: Vec<BlockRun>,
}

// SAFETY: each hole is between closures, each run is new, and each is returned once.
unsafe impl Destination for Room {
    type Room = BumpRoom;

    fn refill(&self, room: &mut BumpRoom, words: Words) -> bool {
        room.renew(self.next(words))
    }
}

impl Room {
    fn next(&self, words: Words) -> Option<(Addr, Addr)> {
        let mut runs = self.0.lock().expect("no thread panicked");
        while let Some((start, end)) = runs.holes.pop() {
            if end - start >= words.to_bytes() {
                return Some((start, end));
            }
        }
        let run = runs.free.pop()?;
        runs.used.push(run);
        Some((run.start(), run.end()))
    }
}

/// The table for a promotion: old closures count as marked.
pub(crate) struct Promotion<'o> {
    old: &'o Old,
    black: bool,
}

impl Promotion<'_> {
    /// Whether the closure at `at` is unswept garbage. Its slots may point anywhere.
    fn is_garbage(&self, at: Addr) -> bool {
        let in_run = |run: &BlockRun| (run.start()..run.end()).contains(&at);
        !self.old.marks.get(at) && self.old.unswept.iter().any(in_run)
    }
}

// SAFETY: `starts` decides; both tables have marks only at closures.
unsafe impl Marks for Promotion<'_> {
    fn mark<const PARALLEL: bool>(&self, at: Addr, words: Words) -> bool {
        let is_new = self.old.starts.mark::<PARALLEL>(at, words);
        if is_new && self.black {
            self.old.marks.mark::<PARALLEL>(at, words);
        }
        is_new
    }

    fn is_marked(&self, at: Addr) -> bool {
        self.old.starts.is_marked(at)
    }

    fn next_marked(&self, from: Addr, to: Addr) -> Option<Addr> {
        let mut next = self.old.starts.next_marked(from, to);
        while let Some(at) = next.filter(|at| self.is_garbage(*at)) {
            next = self.old.starts.next_marked(at + Words(1), to);
        }
        next
    }

    fn prefetch(&self, at: Addr) {
        self.old.starts.prefetch(at);
    }
}
