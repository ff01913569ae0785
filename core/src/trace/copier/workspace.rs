//! To-space under construction: a worker's part of a lane, its open chunk, and which of it waits to
//! be scanned (GHC's `gc_thread` has a *workspace* for each generation).

use crate::block::{BlockState, blocks_for};
use crate::closure::{ClosureRange, ClosureRef, SlotRange};
use crate::heap::Heap;
use crate::space::{Chunk, Lane};
use crate::sync::{Mutex, MutexGuard};
use crate::words::{Addr, WORD, Words};
use std::ptr::NonNull;

/// A chunk with less room than this is not filled further (GHC's limit for its `part_list`).
const WORTH_FILLING: Words = Words(128);

/// Workspaces for as many steps as a block state can distinguish, two for each step.
pub(super) const MAX_WORKSPACES: usize = 32;

/// The first workspace of a step, for closures with pointers; the one for closures without follows.
#[inline(always)]
pub(super) const fn first_workspace(step: u8) -> usize {
    (step as usize - 1) * 2
}

/// The open chunk of a workspace: all that the loops need. Kept apart from the rest, so that the
/// buffers of all workspaces are contiguous.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(in crate::trace) struct CopyBuffer {
    /// Where the next closure goes.
    pub free: *mut u64,
    /// The end of the open chunk.
    limit: *mut u64,
    /// How far the chunk has been scanned, or is being scanned.
    scan: *mut u64,
}

/// Where the scan of a held buffer resumes: see [`CopyBuffer::hold`].
#[derive(Clone, Copy, Debug)]
pub(in crate::trace) struct HeldScan(NonNull<u64>);

impl CopyBuffer {
    /// No open chunk: there is room for nothing.
    pub const NONE: CopyBuffer = CopyBuffer {
        free: std::ptr::null_mut(),
        limit: std::ptr::null_mut(),
        scan: std::ptr::null_mut(),
    };

    fn at_end_of(chunk: Chunk) -> CopyBuffer {
        let free = chunk.end.as_mut_ptr();
        CopyBuffer {
            free,
            limit: chunk.run.end().as_mut_ptr(),
            scan: free,
        }
    }

    /// Whether a closure of `words` words fits.
    #[inline(always)]
    pub fn has_room(self, words: Words) -> bool {
        self.free as usize + words.0 * WORD <= self.limit as usize
    }

    /// Takes the next closure that waits to be scanned, and returns its slots.
    ///
    /// # Safety
    /// The buffer belongs to a workspace of closures with pointers, and its chunk holds whole
    /// closures up to `free`.
    #[inline(always)]
    pub unsafe fn next_slots(&mut self) -> Option<SlotRange> {
        if self.scan >= self.free {
            return None;
        }
        let closure = ClosureRef(self.scan);
        // SAFETY: the caller's promise.
        let extent = unsafe { closure.extent_with_pointers(closure.header()) };
        self.scan = self.scan.wrapping_add(extent.words.0);
        Some(SlotRange::of(extent))
    }

    /// Whether `copy`, which is the last in the chunk, is the one closure that waits to be scanned.
    #[inline(always)]
    pub fn scans_next(&self, copy: ClosureRef) -> bool {
        self.scan == copy.0
    }

    /// Counts all closures of the chunk as scanned.
    #[inline(always)]
    pub fn skip_to_free(&mut self) {
        self.scan = self.free;
    }

    /// Words of the open chunk that wait to be scanned.
    pub fn unscanned(&self) -> Words {
        Words((self.free as usize - self.scan as usize) / WORD)
    }

    /// The closures of the open chunk that wait to be scanned, if there are any. They are claimed:
    /// they are not returned again, even if the chunk is replaced while they are scanned.
    #[inline(always)]
    pub fn claim(&mut self) -> Option<ClosureRange> {
        let from = self.scan;
        (from < self.free).then(|| {
            self.scan = self.free;
            // SAFETY: adjacent closures were copied there, and to-space is not freed while a
            // collection lasts.
            unsafe { ClosureRange::new(ClosureRef(from), ClosureRef(self.free)) }
        })
    }

    /// Lets nothing be claimed until [`CopyBuffer::resume`]: a worker looking for work finds
    /// nothing here. Without an open chunk there is nothing to hold, and the result is `None`.
    pub fn hold(&mut self) -> Option<HeldScan> {
        let from = NonNull::new(self.scan)?;
        self.scan = std::ptr::without_provenance_mut(usize::MAX);
        Some(HeldScan(from))
    }

    /// Resumes the scan where it was held.
    pub fn resume(&mut self, held: HeldScan) {
        let from = held.0.as_ptr();
        self.scan = mutant!("shared/held-range-forgotten", from => self.free);
    }

    /// The position of the scan, so that progress can be noticed.
    pub fn scan(&self) -> Addr {
        Addr(self.scan as usize)
    }
}

/// The heap as the workers of a collection share it: for the rare steps that need more of it than
/// the states of blocks.
#[derive(Debug)]
pub(in crate::trace) struct SharedHeap<'h>(Mutex<&'h mut Heap>);

impl<'h> SharedHeap<'h> {
    pub fn new(heap: &'h mut Heap) -> Self {
        SharedHeap(Mutex::new(heap))
    }

    pub fn lock(&self) -> MutexGuard<'_, &'h mut Heap> {
        self.0.lock()
    }
}

/// One worker's part of a lane that closures are copied into, without its [`CopyBuffer`].
#[derive(Debug)]
pub(in crate::trace) struct Workspace {
    /// Ranges of earlier chunks that have not been scanned.
    pub unscanned: Vec<ClosureRange>,
    /// The lane, without the open chunk.
    lane: Lane,
    open: Option<Chunk>,
    /// Chunks with room left, for other workers to continue.
    parts: Vec<Chunk>,
    state: BlockState,
    /// Whether its closures have pointers, and so are scanned.
    is_scanned: bool,
    /// Words that were in the lane and in the chunks with room left when the workspace was opened.
    before: Words,
}

/// The final content of a workspace.
#[derive(Debug)]
pub(in crate::trace) struct Filled {
    /// The lane as it is now, without `with_room`.
    pub lane: Lane,
    /// Chunks worth filling further.
    pub with_room: Vec<Chunk>,
    /// Words copied since the workspace was opened.
    pub copied: Words,
}

impl Workspace {
    /// Continues with the content of `lane`. Its blocks get this state, and `is_scanned` says
    /// whether its closures have pointers.
    pub fn new(state: BlockState, is_scanned: bool, mut lane: Lane) -> (Self, CopyBuffer) {
        let before = lane.words();
        let open = lane.pop_if(is_worth_filling);
        let parts = std::iter::from_fn(|| lane.pop_if(is_worth_filling)).collect();
        let workspace = Workspace {
            unscanned: Vec::new(),
            lane,
            open,
            parts,
            state,
            is_scanned,
            before,
        };
        (workspace, buffer_of(open))
    }

    /// A workspace of the same lane for another worker, which continues with another chunk that has
    /// room left, if there is one.
    pub fn split(&mut self) -> (Self, CopyBuffer) {
        let open = self.parts.pop();
        let words = open.map_or(Words(0), |chunk| chunk.words());
        self.before -= words;
        let workspace = Workspace {
            unscanned: Vec::new(),
            lane: Lane::default(),
            open,
            parts: Vec::new(),
            before: words,
            ..*self
        };
        (workspace, buffer_of(open))
    }

    /// The step of the lane.
    pub fn step(&self) -> u8 {
        self.state.step()
    }

    /// The closures of the open chunk, which is full, that wait to be scanned.
    pub fn left_to_scan(&self, mut buffer: CopyBuffer) -> Option<ClosureRange> {
        if self.is_scanned { buffer.claim() } else { None }
    }

    /// Ends the open chunk at the buffer's position.
    fn close(&mut self, buffer: CopyBuffer) -> Option<Chunk> {
        let mut chunk = self.open.take()?;
        chunk.end = Addr(buffer.free as usize);
        Some(chunk)
    }

    /// Opens a chunk with room for `words` words.
    pub fn replace(&mut self, buffer: CopyBuffer, heap: &SharedHeap<'_>, words: Words) -> CopyBuffer {
        if let Some(full) = self.close(buffer) {
            self.lane.push(full);
        }
        let needed = blocks_for(words.to_bytes());
        let mut heap = heap.lock();
        let run = heap.allocate_chunk(needed);
        heap.set_state(run, self.state);
        let chunk = Chunk { run, end: run.start() };
        self.open = Some(chunk);
        CopyBuffer::at_end_of(chunk)
    }

    /// Ends the workspace, whose buffer is `buffer`.
    pub fn finish(mut self, buffer: CopyBuffer) -> Filled {
        match self.close(buffer) {
            Some(chunk) if is_worth_filling(&chunk) => self.parts.push(chunk),
            Some(full) => self.lane.push(full),
            None => {}
        }
        let in_parts: usize = self.parts.iter().map(|chunk| chunk.words().0).sum();
        Filled {
            copied: self.lane.words() + Words(in_parts) - self.before,
            lane: self.lane,
            with_room: self.parts,
        }
    }
}

fn buffer_of(open: Option<Chunk>) -> CopyBuffer {
    open.map_or(CopyBuffer::NONE, CopyBuffer::at_end_of)
}

fn is_worth_filling(chunk: &Chunk) -> bool {
    chunk.run.bytes().0 / WORD - chunk.words().0 >= WORTH_FILLING.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_without_a_chunk_is_never_held() {
        let mut buffer = CopyBuffer::NONE;
        for _ in 0..2 {
            assert!(buffer.hold().is_none());
            assert_eq!(buffer.unscanned(), Words(0));
        }
    }

    #[test]
    fn a_held_scan_goes_on_where_it_was() {
        let mut chunk = [0; 8];
        let from = chunk.as_mut_ptr();
        let mut buffer = CopyBuffer {
            free: from.wrapping_add(8),
            limit: from.wrapping_add(8),
            scan: from.wrapping_add(2),
        };
        let held = buffer.hold().expect("there is a chunk");
        assert!(buffer.claim().is_none());
        buffer.resume(held);
        assert_eq!(buffer.unscanned(), Words(6));
    }
}
