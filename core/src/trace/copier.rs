//! What one thread copies with: its lanes, and what it found on the way.
//!
//! A serial collection has one copier, a parallel one as many as threads that have come. Everything hot is here and in
//! [`super::scavenge`], once for both (`const PARALLEL`). What differs in parallel:
//!
//! * a closure is copied first and forwarded by compare-and-swap: who comes second gives its copy up and takes the first one's address, so that no
//!   closure is there twice and the cost is that of the instruction;
//! * a header is loaded with acquire (nothing on x86), and never again while its closure is copied;
//! * ranges that wait to be scavenged go to the thread's queue, where others can take them ([`super::exchange`]), and a part of the
//!   range at hand goes there at once if somebody has nothing to do;
//! * a large array is cut into slices.
//!
//! Roots, remembered slots and slots to be scavenged are each one thread's, but for slots that are remembered twice: those may be brought up to
//! date by two threads, both of which find the same address.

use super::copy::copy_closure;
use super::lane::{Cursor, OpenLane, SharedHeap};
use super::pending::Pending;
use super::queue::{MAX_LANES, first_lane};
use super::scavenge::{WORTH_CUTTING, Work};
use super::work::{WorkItem, WorkKind};
use crate::block::FIRST_OLD_STEP;
use crate::block::{BlockState, StateView};
use crate::closure::{ClosureRef, Header, Slot};
use crate::prefetch::{prefetch, prefetch_line};
use crate::remembered::RememberedSet;
use crate::sync::Arc;
use crate::words::Addr;
use crate::workers::WorkQueue;
use std::ops::Range;

/// Remembered slots between the prefetch of a slot and its evacuation.
const SLOTS_AHEAD: usize = 24;

/// Remembered slots between the prefetch of a referent and its evacuation.
const REFERENTS_AHEAD: usize = 12;

/// Slots of a large object that are one piece of work: as many as a chunk of to-space has words. Fewer in builds for tests.
const SLICE: usize = if cfg!(debug_assertions) { 64 } else { 4096 };

/// See the module's text.
#[derive(Debug)]
pub(super) struct Copier<'h> {
    pub heap: Arc<SharedHeap<'h>>,
    pub states: StateView,
    /// Two lanes a step, from step 1: closures with pointers, closures without.
    pub lanes: Vec<OpenLane>,
    pub cursors: [Cursor; MAX_LANES],
    /// Slots in old closures that point to young ones after this collection.
    pub remembered: RememberedSet,
    /// Large objects that were reached and wait to be scavenged, with their steps.
    pub large: Vec<(ClosureRef, u8)>,
    /// Remembered slots that were visited.
    pub remembered_seen: u64,
    pub pending: Pending,
    /// The step that roots count as: 0, unless everything is to be promoted to the oldest.
    pub roots: u8,
}

impl<'h> Copier<'h> {
    /// A copier for another thread, into lanes of the same steps.
    pub fn split(&mut self) -> Copier<'h> {
        let mut cursors = [Cursor::NONE; MAX_LANES];
        let split = |(lane, place): (&mut OpenLane, &mut Cursor)| {
            let (lane, cursor) = lane.split();
            *place = cursor;
            lane
        };
        let lanes = self.lanes.iter_mut().zip(&mut cursors).map(split).collect();
        Copier {
            lanes,
            cursors,
            ..self.absent()
        }
    }

    /// Nobody's copier, to stand in the place of one that works elsewhere: it has no lanes.
    pub fn absent(&self) -> Copier<'h> {
        Copier {
            heap: Arc::clone(&self.heap),
            states: self.states,
            lanes: Vec::new(),
            cursors: [Cursor::NONE; MAX_LANES],
            remembered: self.remembered.another(),
            large: Vec::new(),
            remembered_seen: 0,
            pending: Pending::ALONE,
            roots: self.roots,
        }
    }

    /// The step that nothing leaves.
    pub fn oldest(&self) -> u8 {
        (self.lanes.len() / 2) as u8
    }

    /// Evacuate remembered slots that do not lie in memory that is or was condemned themselves.
    pub fn remembered_slots<const PARALLEL: bool>(&mut self, slots: &[u64]) {
        self.remembered_seen += slots.len() as u64;
        for (i, &word) in slots.iter().enumerate() {
            if let Some(&ahead) = slots.get(i + SLOTS_AHEAD) {
                prefetch_line(ahead);
            }
            if let Some(&ahead) = slots.get(i + REFERENTS_AHEAD) {
                // A large object that another thread has reached may be scavenged by a third, in plain words.
                let ahead = Slot(ahead as *mut u64);
                if !PARALLEL || !self.states.of(ahead.addr()).takes_part() {
                    // SAFETY: remembered slots lie in closures that have not been freed; if in parallel, in one that is not collected now. What this
                    // one holds is looked at no further.
                    prefetch(unsafe { load::<PARALLEL>(ahead) });
                }
            }
            let slot = Slot(word as *mut u64);
            let holder = self.states.of(slot.addr());
            if !holder.takes_part() {
                self.evacuate_now::<PARALLEL>(slot, holder.step());
            }
        }
    }

    /// Evacuate a slot of a closure in step `holder` ([`Copier::roots`] for roots) that may have been evacuated already.
    #[inline(always)]
    pub fn evacuate_now<const PARALLEL: bool>(&mut self, slot: Slot, holder: u8) {
        // SAFETY: a root, or a remembered slot of a closure that has not been freed; the mutators are stopped.
        let word = unsafe { load::<PARALLEL>(slot) };
        let state = self.states.of(Addr(word as usize));
        if state.is_condemned() {
            // SAFETY: such slots point to closures or to null, and null is not condemned.
            unsafe { self.evacuate::<PARALLEL>(slot, word, state, holder) };
        } else {
            self.remember_if_younger(slot, word, holder);
        }
    }

    /// Evacuate a slot of a closure in step `holder`, which holds `word`, wherever its referent belongs.
    ///
    /// # Safety
    /// `word` is the address of a closure or of where one was, in a block of this state, which is or was condemned.
    #[inline(always)]
    unsafe fn evacuate<const PARALLEL: bool>(&mut self, slot: Slot, word: u64, state: BlockState, holder: u8) {
        // SAFETY: the caller's promise: the first word is a header or the forwarding address.
        unsafe {
            let closure = ClosureRef(word as *mut u64);
            let header = if PARALLEL {
                closure.shared_header()
            } else {
                closure.header()
            };
            if !header.is_header() {
                store::<PARALLEL>(slot, header.0);
                self.remember_if_younger(slot, header.0, holder);
                return;
            }
            if state.is_large() {
                return self.evacuate_large(slot, closure, holder);
            }
            let dest = self.destination(state, holder);
            // Two branches, not a computed lane: predicted, they free the address of the copy from the header's load.
            let to = if header.ptrs() == 0 {
                self.copy::<PARALLEL>(closure, header, first_lane(dest) + 1)
            } else {
                self.copy::<PARALLEL>(closure, header, first_lane(dest))
            };
            match to {
                Ok(to) => store::<PARALLEL>(slot, to),
                Err(other) => {
                    store::<PARALLEL>(slot, other);
                    self.remember_if_younger(slot, other, holder);
                }
            }
        }
    }

    /// The step that a closure goes to from a block of this state.
    #[inline(always)]
    fn destination(&self, state: BlockState, holder: u8) -> u8 {
        (state.step() + 1).min(self.oldest()).max(holder)
    }

    /// What the scavenging loop leaves to others: see there.
    ///
    /// # Safety
    /// The slot holds the address of a closure or of where one was, in a block that was condemned.
    #[inline(never)]
    pub unsafe fn evacuate_elsewhere<const PARALLEL: bool>(&mut self, slot: Slot, holder: u8) {
        // SAFETY: passed on. A large object may have been reached since the slot was found.
        unsafe {
            let word = slot.load();
            let state = self.states.of(Addr(word as usize));
            self.evacuate::<PARALLEL>(slot, word, state, holder);
        }
    }

    /// Copy a closure into a lane, and forward it; the other address if another thread was faster.
    ///
    /// # Safety
    /// `closure` is a closure with this header, or (in parallel) was one until now.
    #[inline(always)]
    unsafe fn copy<const PARALLEL: bool>(
        &mut self,
        closure: ClosureRef,
        header: Header,
        lane: usize,
    ) -> Result<u64, u64> {
        let lane = lane % MAX_LANES;
        // Nobody is offered the range that a full chunk leaves: roots and remembered slots come before there is anybody, or a thread goes
        // through its own ranges afterwards.
        // SAFETY: passed on; to-space is not from-space.
        unsafe {
            let to = copy_closure::<PARALLEL>(closure, header, &mut self.cursors[lane], |cursor, words| {
                refill(
                    &mut self.lanes[lane],
                    lane,
                    &mut self.pending,
                    &self.heap,
                    None,
                    cursor,
                    words,
                )
            });
            forward::<PARALLEL>(closure, header, to, &mut self.cursors[lane])
        }
    }

    /// A slot of a closure in step `holder` points to `word` after this collection.
    #[inline(always)]
    pub fn remember_if_younger(&mut self, slot: Slot, word: u64, holder: u8) {
        if holder >= FIRST_OLD_STEP && self.states.of(Addr(word as usize)).step() < holder {
            self.remembered.push(slot);
        }
    }

    #[cold]
    #[inline(never)]
    fn evacuate_large(&mut self, slot: Slot, closure: ClosureRef, holder: u8) {
        let mut heap = self.heap.lock();
        let state = self.states.of(closure.addr());
        if state.is_condemned() {
            let dest = self.destination(state, holder);
            let run = heap
                .blocks
                .run_of(closure.addr())
                .expect("a large object has a block run of its own");
            heap.set_state(run, BlockState::of_step(dest).large().reached(true));
            drop(heap);
            // SAFETY: large objects are never forwarded, so this is a whole closure.
            let extent = unsafe { closure.extent() };
            if extent.slots > 0 {
                self.large.push((closure, dest));
                self.pending.words += extent.slots;
            }
        } else {
            drop(heap);
        }
        self.remember_if_younger(slot, closure.0 as u64, holder);
    }

    /// Whether a lane was left although it has a range to be scavenged, since that can be cut in two and shared.
    fn has_range(&self) -> bool {
        let long_since = self.pending.chunks >= self.pending.share_after_chunks;
        long_since
            && self
                .cursors
                .iter()
                .step_by(2)
                .any(|cursor| cursor.unscanned() >= WORTH_CUTTING)
    }

    /// Scavenge until nothing is left, or so much that it had better be shared: says whether it is the former.
    pub fn scavenge_alone(&mut self) -> bool {
        loop {
            let mut step = self.oldest();
            while step > 0 {
                // Back to the oldest after each that had work: what it points to had better not be copied to a younger step first (and
                // is remembered if it was).
                step = if self.scavenge_lane::<false>(step, Work::default(), None) {
                    self.oldest()
                } else {
                    step - 1
                };
                if self.pending.is_worth_sharing() || self.has_range() {
                    return false;
                }
            }
            let Some((closure, step)) = self.large.pop() else {
                return true;
            };
            // SAFETY: large objects that were reached are whole closures.
            let extent = unsafe { closure.extent() };
            self.pending.words -= extent.slots;
            self.scavenge_lane::<false>(step, Work::slots(extent.range()), None);
        }
    }

    /// Scavenge `piece`, what it leads to, and what is in the thread's own queue, until nothing is left there.
    pub fn scavenge_shared(&mut self, piece: Option<WorkItem>, queue: WorkQueue<'_, WorkItem>) {
        let mut next = piece;
        loop {
            if let Some(piece) = next {
                self.do_piece(piece, queue);
            }
            let mut step = self.oldest();
            while step > 0 {
                step = if self.scavenge_lane::<true>(step, Work::default(), Some(queue)) {
                    self.oldest()
                } else {
                    step - 1
                };
            }
            self.offer_waiting(queue);
            next = queue.pop();
            if next.is_none() {
                return;
            }
        }
    }

    fn do_piece(&mut self, piece: WorkItem, queue: WorkQueue<'_, WorkItem>) {
        match piece.kind {
            WorkKind::Closures(step) => {
                self.scavenge_lane::<true>(step, Work::closures(piece.from..piece.to), Some(queue));
            }
            WorkKind::Slots(step) => {
                self.scavenge_lane::<true>(step, Work::slots(piece.from..piece.to), Some(queue));
            }
            WorkKind::Roots => {
                let mut at = piece.from;
                while at < piece.to {
                    self.evacuate_now::<true>(Slot(at), self.roots);
                    at = at.wrapping_add(1);
                }
            }
            WorkKind::Remembered => {
                let count = (piece.to as usize - piece.from as usize) / 8;
                // SAFETY: a part of a chunk of a remembered set, which is kept until the collection is over.
                let slots = unsafe { std::slice::from_raw_parts(piece.from, count) };
                self.remembered_slots::<true>(slots);
            }
        }
    }

    /// Offer to others what waits here: ranges of chunks that became full, and large objects, in slices.
    pub fn offer_waiting(&mut self, queue: WorkQueue<'_, WorkItem>) {
        if self.pending.words == 0 {
            return;
        }
        for (index, lane) in self.lanes.iter_mut().enumerate() {
            for (from, to) in lane.unscanned.drain(..) {
                let kind = WorkKind::Closures(index as u8 / 2 + 1);
                queue.push(WorkItem { from, to, kind });
            }
        }
        for (closure, step) in self.large.drain(..) {
            // SAFETY: large objects that were reached are whole closures.
            let slots = unsafe { closure.extent() }.range();
            offer_slices(queue, slots, WorkKind::Slots(step));
        }
        self.pending.words = 0;
    }
}

/// Offer a run of slots in slices.
pub(super) fn offer_slices(queue: WorkQueue<'_, WorkItem>, slots: Range<*mut u64>, kind: WorkKind) {
    let mut from = slots.start;
    while from < slots.end {
        let to = from.wrapping_add(SLICE).min(slots.end);
        queue.push(WorkItem { from, to, kind });
        from = to;
    }
}

/// What a root or a remembered slot holds.
///
/// # Safety
/// As for [`Slot::load`], or in parallel [`Slot::load_shared`].
#[inline(always)]
unsafe fn load<const PARALLEL: bool>(slot: Slot) -> u64 {
    // SAFETY: passed on.
    unsafe { if PARALLEL { slot.load_shared() } else { slot.load() } }
}

/// Bring a root or a remembered slot up to date.
///
/// # Safety
/// As for [`Slot::store`], or in parallel [`Slot::store_shared`].
#[inline(always)]
unsafe fn store<const PARALLEL: bool>(slot: Slot, value: u64) {
    // SAFETY: passed on.
    unsafe {
        if PARALLEL {
            slot.store_shared(value);
        } else {
            slot.store(value);
        }
    }
}

/// Leave the address of the copy, which is the last in its lane, at the closure; if another thread was faster, take the copy back and give
/// the other's address.
///
/// # Safety
/// A closure that has (or, in parallel, had) this header, and its copy.
#[inline(always)]
pub(super) unsafe fn forward<const PARALLEL: bool>(
    closure: ClosureRef,
    header: Header,
    to: *mut u64,
    cursor: &mut Cursor,
) -> Result<u64, u64> {
    // SAFETY: the caller's promise.
    unsafe {
        if !PARALLEL {
            *closure.0 = to as u64;
        } else if let Err(other) = closure.forward_shared(header, to as u64) {
            cursor.free = to;
            return Err(other);
        }
    }
    Ok(to as u64)
}

/// Open another chunk of a lane. What is left to be scanned in the old one is offered to others, or waits.
#[cold]
#[inline(never)]
pub(super) fn refill(
    lane: &mut OpenLane,
    index: usize,
    pending: &mut Pending,
    heap: &SharedHeap<'_>,
    queue: Option<WorkQueue<'_, WorkItem>>,
    cursor: Cursor,
    words: usize,
) -> Cursor {
    // Lanes of closures without pointers are not scanned.
    if cursor.scan < cursor.free && index.is_multiple_of(2) {
        let (from, to) = (cursor.scan, cursor.free);
        match queue {
            Some(queue) => queue.push(WorkItem {
                from,
                to,
                kind: WorkKind::Closures(index as u8 / 2 + 1),
            }),
            None => {
                pending.words += (to as usize - from as usize) / 8;
                lane.unscanned.push((from, to));
            }
        }
    }
    pending.chunks += 1;
    pending.shares = queue.map_or(pending.chunks >= pending.share_after_chunks, WorkQueue::should_share);
    lane.replace(cursor, heap, words)
}
