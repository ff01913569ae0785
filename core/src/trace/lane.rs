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

/// The open chunk of a lane: all that the loops need of it. Kept apart from the rest, so that those of all lanes lie side by
/// side.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(super) struct Cursor {
    /// Where the next closure goes.
    pub free: *mut u64,
    /// Behind the open chunk.
    pub limit: *mut u64,
    /// Up to where it has been scanned, or is being scanned.
    pub scan: *mut u64,
}

impl Cursor {
    /// No open chunk: there is room for nothing.
    pub const NONE: Cursor = Cursor {
        free: std::ptr::null_mut(),
        limit: std::ptr::null_mut(),
        scan: std::ptr::null_mut(),
    };

    /// Whether a closure of `words` words fits.
    #[inline(always)]
    pub fn has_room(self, words: usize) -> bool {
        self.free as usize + words * 8 <= self.limit as usize
    }

    /// What of the open chunk waits to be scanned, if anything. It is claimed: it is not given again, even if the chunk is
    /// replaced while it is scanned.
    #[inline(always)]
    pub fn claim(&mut self) -> Option<(*mut u64, *mut u64)> {
        let from = std::mem::replace(&mut self.scan, self.free);
        (from < self.free).then_some((from, self.free))
    }
}

/// A lane that closures are copied into, without its [`Cursor`].
#[derive(Debug)]
pub(super) struct OpenLane {
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
    /// Go on with what a lane holds.
    pub fn new(state: BlockState, mut lane: Lane) -> (Self, Cursor) {
        let before = lane.words;
        let room = |chunk: &Chunk| chunk.run.bytes().0 / 8 - chunk.words().0;
        let open = lane.chunks.pop_if(|chunk| room(chunk) >= WORTH_FILLING.0);
        let mut this = OpenLane {
            pending: Vec::new(),
            lane,
            open: None,
            state,
            before,
        };
        let cursor = open.map_or(Cursor::NONE, |chunk| this.open(chunk));
        (this, cursor)
    }

    fn open(&mut self, chunk: Chunk) -> Cursor {
        self.lane.words -= chunk.words().0;
        self.open = Some(chunk);
        let free = chunk.end.as_mut_ptr();
        Cursor {
            free,
            limit: chunk.run.end().as_mut_ptr(),
            scan: free,
        }
    }

    fn close(&mut self, cursor: Cursor) {
        if let Some(mut chunk) = self.open.take() {
            chunk.end = Addr(cursor.free as usize);
            self.lane.words += chunk.words().0;
            self.lane.chunks.push(chunk);
        }
    }

    /// Open a chunk with room for `words` words.
    #[cold]
    #[inline(never)]
    pub fn refill(&mut self, cursor: Cursor, heap: &mut Heap, words: usize) -> Cursor {
        if cursor.scan < cursor.free {
            self.pending.push((cursor.scan, cursor.free));
        }
        self.close(cursor);
        let needed = blocks_for(Words(words).to_bytes());
        let run = heap.allocate_in_collection(needed, CHUNK_BLOCKS.max(needed));
        heap.set_state(run, self.state);
        self.open(Chunk { run, end: run.start() })
    }

    /// The lane as it is now, and the words copied into it since it was opened.
    pub fn finish(mut self, cursor: Cursor) -> (Lane, Words) {
        self.close(cursor);
        let copied = Words(self.lane.words - self.before);
        (self.lane, copied)
    }
}
