//! To-space under construction: the open chunk of a lane and what of it waits to be scanned.

use crate::block::{BlockState, blocks_for};
use crate::heap::Heap;
use crate::space::{Chunk, Lane};
use crate::words::{Addr, Words};

/// Blocks of a to-space chunk: 32 KiB. Smaller ones waste room behind objects of a kilobyte, larger ones raise the peak of
/// small heaps.
const CHUNK_BLOCKS: u32 = 8;

/// A chunk with less room than this is not filled further (GHC's limit for its `part_list`).
const WORTH_FILLING: Words = Words(128);

/// A lane that closures are copied into.
#[derive(Debug)]
pub(super) struct OpenLane {
    /// Where the next closure goes.
    pub free: *mut u64,
    /// Behind the open chunk.
    pub limit: *mut u64,
    /// Up to where the open chunk has been scanned, or is being scanned.
    pub scan: *mut u64,
    /// Ranges of earlier chunks that have not been scanned.
    pub pending: Vec<(*mut u64, *mut u64)>,
    /// The lane, without the open chunk.
    lane: Lane,
    open: Option<Chunk>,
    state: BlockState,
    /// Words there were when the lane was opened.
    before: usize,
}

impl OpenLane {
    pub fn new(state: BlockState, mut lane: Lane) -> Self {
        let null = std::ptr::null_mut();
        let before = lane.words;
        let room = |chunk: &Chunk| chunk.run.bytes().0 / 8 - chunk.words().0;
        let open = lane.chunks.pop_if(|chunk| room(chunk) >= WORTH_FILLING.0);
        let mut this = OpenLane {
            free: null,
            limit: null,
            scan: null,
            pending: Vec::new(),
            lane,
            open: None,
            state,
            before,
        };
        if let Some(chunk) = open {
            this.open(chunk);
        }
        this
    }

    fn open(&mut self, chunk: Chunk) {
        self.lane.words -= chunk.words().0;
        self.free = chunk.end.0 as *mut u64;
        self.scan = self.free;
        self.limit = chunk.run.end().as_mut_ptr();
        self.open = Some(chunk);
    }

    fn close(&mut self) {
        if let Some(mut chunk) = self.open.take() {
            chunk.end = Addr(self.free as usize);
            self.lane.words += chunk.words().0;
            self.lane.chunks.push(chunk);
        }
    }

    /// Open a chunk with room for `words` words.
    #[cold]
    #[inline(never)]
    pub fn refill(&mut self, heap: &mut Heap, words: usize) {
        if self.scan < self.free {
            self.pending.push((self.scan, self.free));
        }
        self.close();
        let needed = blocks_for(Words(words).to_bytes());
        let run = heap.allocate_in_collection(needed, CHUNK_BLOCKS.max(needed));
        heap.set_state(run, self.state);
        self.open(Chunk { run, end: run.start() });
    }

    /// Words copied into the lane since it was opened.
    pub fn copied(&self) -> Words {
        let open = self
            .open
            .map_or(0, |chunk| (self.free as usize - chunk.run.start().0) / 8);
        Words(self.lane.words + open - self.before)
    }

    /// The lane as it is now.
    pub fn finish(mut self) -> Lane {
        self.close();
        self.lane
    }
}
