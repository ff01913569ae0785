//! The nursery: the allocation area (`-A`), step 0.
//!
//! Runs of blocks that mutators bump through, one after the other; all of it is condemned at every collection and used
//! again afterwards, so it stays in the cache as far as it fits there. Large objects that are still young count against
//! its size, as in GHC (`-AL`, by default `-A`).

use super::{LargeObject, Region};
use crate::block::{BLOCK, BLOCKS_PER_MEGABLOCK, BlockRun, BlockState, blocks_for, poison};
use crate::collector::{Bump, Refill};
use crate::flags::Flags;
use crate::heap::{Heap, OutOfMemory};
use crate::words::{Addr, Bytes, Words};

/// Where mutators allocate.
#[derive(Debug, Default)]
pub struct Nursery {
    runs: Vec<NurseryRun>,
    /// The run that is handed out next; the one before it is the mutator's.
    next: usize,
    /// Most blocks of a run.
    chunk: u32,
    /// Blocks that the runs have together.
    blocks: u32,
    large: Vec<LargeObject>,
    large_words: usize,
    /// Words of large objects at which a collection is due.
    large_limit: usize,
}

#[derive(Debug)]
struct NurseryRun {
    run: BlockRun,
    /// Behind the last closure.
    end: Addr,
}

/// The state of nursery blocks, always: they are in every collection.
const NURSERY: BlockState = BlockState::NURSERY.condemned(true);

impl Nursery {
    /// A nursery of `size`, in chunks (`-n`) and with a limit on young large objects (`-AL`) as `flags` say.
    ///
    /// # Errors
    /// If the heap has not as much memory.
    pub fn new(heap: &mut Heap, size: Bytes, flags: &Flags) -> Result<Self, OutOfMemory> {
        let large_limit = flags.large_limit().to_words_up().0;
        let chunk = flags.chunk_size().map_or(BLOCKS_PER_MEGABLOCK, blocks_for);
        let chunk = chunk.clamp(1, BLOCKS_PER_MEGABLOCK);
        let mut nursery = Nursery {
            large_limit,
            chunk,
            ..Nursery::default()
        };
        nursery.resize(heap, size)?;
        Ok(nursery)
    }

    /// Size of the allocation area.
    pub fn size(&self) -> Bytes {
        Bytes(self.blocks as usize * BLOCK.0)
    }

    /// Words in young large objects.
    pub fn large_words(&self) -> Words {
        Words(self.large_words)
    }

    /// Give the mutator the next run.
    pub fn refill(&mut self, alloc: &Bump) -> Refill {
        self.leave(alloc);
        let Some(next) = self.runs.get(self.next) else {
            return Refill::Collect;
        };
        let start = next.run.start();
        alloc.set_region(start, next.run.end());
        self.next += 1;
        Refill::Ready
    }

    /// Take the mutator's run back (before a collection).
    pub fn leave(&mut self, alloc: &Bump) {
        let end = alloc.leave_region();
        if end.0 != 0 {
            self.runs[self.next - 1].end = end;
        }
    }

    /// Space for a large object, or `None` if a collection is due: when those there are reach the limit. So one object
    /// may be larger than the limit, and straight after a collection there is always room.
    ///
    /// # Errors
    /// If the heap has not as much memory.
    pub fn allocate_large(&mut self, heap: &mut Heap, words: Words) -> Result<Option<Addr>, OutOfMemory> {
        if self.large_words >= self.large_limit {
            return Ok(None);
        }
        let run = heap.allocate_words(words)?;
        heap.set_state(run, NURSERY.large());
        let end = run.start() + words;
        // SAFETY: the run is new, and what is behind the object stays unused.
        unsafe { poison::retire(end, run.end() - end) };
        self.large.push(LargeObject { run, words });
        self.large_words += words.0;
        Ok(Some(run.start()))
    }

    /// After a collection: all runs are empty again, and no large object is young. Gives the large objects back: who
    /// collects has to say which live on.
    pub fn reset(&mut self) -> Vec<LargeObject> {
        self.next = 0;
        self.runs.iter_mut().for_each(|run| run.end = run.run.start());
        self.large_words = 0;
        std::mem::take(&mut self.large)
    }

    /// Make the allocation area `size` large, at least a block. It must be empty (just reset).
    ///
    /// # Errors
    /// If the heap has not as much memory; the nursery is then as large as it could become.
    pub fn resize(&mut self, heap: &mut Heap, size: Bytes) -> Result<(), OutOfMemory> {
        let wanted = blocks_for(size).max(1);
        while self.blocks > wanted {
            let Some(last) = self.runs.pop() else { break };
            self.blocks -= last.run.blocks();
            heap.blocks.free(last.run);
        }
        while self.blocks < wanted {
            // A megablock at most: such runs can be found in any heap, and a refill is rare enough.
            let most = (wanted - self.blocks).min(self.chunk);
            let run = heap.blocks.allocate_up_to(most.min(16), most)?;
            heap.set_state(run, NURSERY);
            self.blocks += run.blocks();
            self.runs.push(NurseryRun { run, end: run.start() });
        }
        for NurseryRun { run, .. } in &self.runs {
            // SAFETY: the nursery is empty, and the mutator has no run of it.
            unsafe { poison::retire(run.start(), run.bytes()) };
        }
        Ok(())
    }

    /// The regions that hold closures; `alloc` is the mutator's.
    pub fn for_each_region(&self, alloc: &Bump, visit: &mut dyn FnMut(Region)) {
        for (index, NurseryRun { run, end }) in self.runs.iter().enumerate() {
            let running = index + 1 == self.next && alloc.cursor().0 != 0;
            let end = if running { alloc.cursor() } else { *end };
            visit(Region {
                run: *run,
                start: run.start(),
                end,
                step: 0,
                large: false,
            });
        }
        self.large.iter().for_each(|large| visit(large.region(0)));
    }
}
