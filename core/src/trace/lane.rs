//! To-space under construction: the open chunk of a lane and what of it waits to be scanned.

use crate::block::{BlockState, blocks_for};
use crate::heap::Heap;
use crate::space::{Chunk, Lane};
use crate::sync::{Mutex, MutexGuard};
use crate::words::{Addr, Words};

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

    fn at_end_of(chunk: Chunk) -> Cursor {
        let free = chunk.end.as_mut_ptr();
        Cursor {
            free,
            limit: chunk.run.end().as_mut_ptr(),
            scan: free,
        }
    }

    /// Whether a closure of `words` words fits.
    #[inline(always)]
    pub fn has_room(self, words: usize) -> bool {
        self.free as usize + words * 8 <= self.limit as usize
    }

    /// Words of the open chunk that wait to be scanned.
    pub fn unscanned(&self) -> usize {
        (self.free as usize - self.scan as usize) / 8
    }

    /// What of the open chunk waits to be scanned, if anything. It is claimed: it is not given again, even if the chunk is
    /// replaced while it is scanned.
    #[inline(always)]
    pub fn claim(&mut self) -> Option<(*mut u64, *mut u64)> {
        let from = self.scan;
        (from < self.free).then(|| {
            self.scan = self.free;
            (from, self.free)
        })
    }

    /// Let nothing be claimed until the scan begins where it does now, which this gives, again. So whoever looks for work need not look for anything else.
    pub fn hold(&mut self) -> *mut u64 {
        std::mem::replace(&mut self.scan, std::ptr::without_provenance_mut(usize::MAX))
    }
}

/// The heap as the threads of a collection share it: for the rare steps that need more of it than the states of blocks.
#[derive(Debug)]
pub(super) struct SharedHeap<'h>(Mutex<&'h mut Heap>);

impl<'h> SharedHeap<'h> {
    pub fn new(heap: &'h mut Heap) -> Self {
        SharedHeap(Mutex::new(heap))
    }

    pub fn lock(&self) -> MutexGuard<'_, &'h mut Heap> {
        self.0.lock()
    }
}

/// A lane that closures are copied into, without its [`Cursor`].
#[derive(Debug)]
pub(super) struct OpenLane {
    /// Ranges of earlier chunks that have not been scanned.
    pub unscanned: Vec<(*mut u64, *mut u64)>,
    /// The lane, without the open chunk.
    lane: Lane,
    open: Option<Chunk>,
    /// Chunks with room left, for other threads to go on with. They are in the lane's words.
    parts: Vec<Chunk>,
    state: BlockState,
    /// Words there were when the lane was opened.
    before: usize,
}

impl OpenLane {
    /// Go on with what a lane holds.
    pub fn new(state: BlockState, mut lane: Lane) -> (Self, Cursor) {
        let before = lane.words;
        let open = lane.chunks.pop_if(|chunk| is_worth_filling(chunk));
        lane.words -= open.map_or(0, |chunk| chunk.words().0);
        let parts = std::iter::from_fn(|| lane.chunks.pop_if(|chunk| is_worth_filling(chunk))).collect();
        Self::opened(state, lane, open, parts, before)
    }

    /// The same lane for another thread, which goes on with a chunk that has room left, if there is one more.
    pub fn split(&mut self) -> (Self, Cursor) {
        let open = self.parts.pop();
        let words = open.map_or(0, |chunk| chunk.words().0);
        self.lane.words -= words;
        self.before -= words;
        Self::opened(self.state, Lane::default(), open, Vec::new(), words)
    }

    fn opened(state: BlockState, lane: Lane, open: Option<Chunk>, parts: Vec<Chunk>, before: usize) -> (Self, Cursor) {
        let lane = OpenLane {
            unscanned: Vec::new(),
            lane,
            open,
            parts,
            state,
            before,
        };
        (lane, open.map_or(Cursor::NONE, Cursor::at_end_of))
    }

    /// Ends the open chunk where the cursor is.
    fn close(&mut self, cursor: Cursor) -> Option<Chunk> {
        let mut chunk = self.open.take()?;
        chunk.end = Addr(cursor.free as usize);
        self.lane.words += chunk.words().0;
        Some(chunk)
    }

    /// Open a chunk with room for `words` words.
    pub fn replace(&mut self, cursor: Cursor, heap: &SharedHeap<'_>, words: usize) -> Cursor {
        let full = self.close(cursor);
        self.lane.chunks.extend(full);
        let needed = blocks_for(Words(words).to_bytes());
        let mut heap = heap.lock();
        let run = heap.allocate_chunk(needed);
        heap.set_state(run, self.state);
        let chunk = Chunk { run, end: run.start() };
        self.open = Some(chunk);
        Cursor::at_end_of(chunk)
    }

    /// The lane as it is now, and the words copied into it since it was opened. Chunks that are worth filling further are not in the lane
    /// but apart.
    pub fn finish(mut self, cursor: Cursor) -> (Lane, Vec<Chunk>, Words) {
        let open = self.close(cursor);
        let copied = Words(self.lane.words - self.before);
        match open {
            Some(chunk) if is_worth_filling(&chunk) => self.parts.push(chunk),
            full => self.lane.chunks.extend(full),
        }
        (self.lane, self.parts, copied)
    }
}

fn is_worth_filling(chunk: &Chunk) -> bool {
    chunk.run.bytes().0 / 8 - chunk.words().0 >= WORTH_FILLING.0
}
