//! The loop that scavenges a lane: the hot path of a collection.
//!
//! It walks the closures that were copied into the lane, slot by slot. A slot whose referent is
//! condemned goes into the prefetch ring. The slot that it displaces is evacuated, usually into the
//! same lane. Everything rare ends the loop with an [`Exit`]; the caller handles it and re-enters
//! the loop. So the loop calls nothing, and its state stays in registers: the slots at hand, the
//! closures that follow, the open chunk, and the position in the ring.
//!
//! Two loops are compiled from one source (`OPEN`). One scans the open chunk, up to where closures
//! are being copied; the other scans a range of a full chunk.
//!
//! A list is the hard case: each cell is found only when the previous one has been copied. When the
//! cell just copied is all that is left to scan, its one pointer is read from the old cell, and its
//! referent is evacuated at once. The critical path from one cell to the next is only the load of
//! the old cell: loads from the tables feed only branches, and these are predicted.
//!
//! Tried and found slower: evacuating in turns of eight, without a branch on whether a slot's
//! referent is condemned (a sixth more time on trees); copies without a branch on the size (a third
//! more time on lists: the address of the next copy waits for the header); a call from the loop for
//! the rare cases (12 instructions more for each copy, since the state is saved around it).

use super::copy::{copy_flat, copy_pointers};
use super::evacuate::{Copied, forward, load_header};
use super::queued_slot::{QueuedSlot, SlotRing};
use super::workspace::{CopyBuffer, HeldScan};
use crate::block::{BlockState, FIRST_OLD_STEP, HeapStates};
use crate::closure::{ClosureRange, Slot, SlotRange};
use crate::prefetch::prefetch_closure;
use crate::profile::MoveSideWords;

/// A scan of one lane in progress.
pub(super) struct Scan {
    /// The step of the lane.
    pub holder: u8,
    /// Condemned steps below this one hold closures that come to the lane, unless they are large.
    pub stays_below: u8,
    /// The number of its workspace for closures with pointers.
    pub index: usize,
    /// The buffer of the workspace for closures with pointers.
    pub open: CopyBuffer,
    /// The buffer of the workspace for closures without pointers.
    pub flat: CopyBuffer,
    /// The remaining slots of one closure.
    pub slots: SlotRange,
    /// The closures that follow it in a range.
    pub closures: ClosureRange,
    /// Slots whose referents are on their way into the cache.
    pub ring: SlotRing,
    /// Where the lane's scan resumes if it is held.
    pub held: Option<HeldScan>,
    /// Whether there was any work.
    pub worked: bool,
}

/// Why the loop ended.
pub(super) enum Exit {
    /// The loop has nothing left.
    Idle,
    /// Nothing is left of the range. Slots may wait in the ring.
    RangeDone,
    /// This slot is to be evacuated: its closure comes to the lane, but is too large for the loop,
    /// or has no room in the open chunk.
    General(Slot),
    /// The closure of this slot is condemned, and does not come to the lane. The slot is to be
    /// queued.
    Leaving(Slot),
    /// This slot, which was queued, is to be evacuated. Its closure does not come to the lane.
    LeavesLane(Slot),
    /// This slot is to be remembered, if its referent is younger after this collection.
    Younger(Slot),
}

impl Scan {
    /// Scavenges the open chunk if `OPEN`, otherwise the range `closures`, until a case comes up
    /// that the loop does not handle.
    ///
    /// # Safety
    /// The slots and closures of the scan are of whole closures in step `holder`, which no other
    /// worker scavenges. Its buffers are those of workspaces, which own their chunks. `states` are
    /// those of the heap, and the mutators are stopped.
    #[inline(never)]
    pub unsafe fn run<const PARALLEL: bool, const OPEN: bool>(
        &mut self,
        states: HeapStates,
        side_words: impl MoveSideWords,
    ) -> Exit {
        let mut slots = std::mem::replace(&mut self.slots, SlotRange::EMPTY);
        let mut range = if OPEN {
            ClosureRange::EMPTY
        } else {
            std::mem::replace(&mut self.closures, ClosureRange::EMPTY)
        };
        let mut open = self.open;
        let mut ring = self.ring.hand();
        let exit = 'run: loop {
            let queued = loop {
                if let Some(slot) = slots.next() {
                    // SAFETY: a slot of a live closure; the mutators are stopped.
                    let closure = unsafe { slot.load() };
                    if closure.is_null() {
                        continue;
                    }
                    // SAFETY: a slot holds null or a closure of the heap.
                    let state = unsafe { states.of(closure.addr()) };
                    if state.condemned_step() >= rare(&self.stays_below) {
                        if state.is_condemned() {
                            break 'run Exit::Leaving(slot);
                        }
                        if is_younger(state, &self.holder) {
                            break 'run Exit::Younger(slot);
                        }
                        continue;
                    }
                    prefetch_closure(closure.addr());
                    side_words.prefetch(closure.addr());
                    // SAFETY: no slot lies at null.
                    if let Some(oldest) = ring.push(unsafe { QueuedSlot::new(slot, false) }) {
                        break oldest;
                    }
                } else if OPEN {
                    // SAFETY: closures with pointers were copied there, adjacent to each other.
                    if let Some(next) = unsafe { open.next_slots() } {
                        slots = next;
                    } else if let Some(newest) = ring.pop_newest().filter(|_| !mutant!("copy/ring-forgotten")) {
                        break newest;
                    } else {
                        break 'run Exit::Idle;
                    }
                // SAFETY: the caller's promise for the range: a chunk of the lane.
                } else if let Some(next) = unsafe { range.next_slots() } {
                    slots = next;
                } else {
                    break 'run Exit::RangeDone;
                }
            };
            let Some(mut slot) = queued.in_lane() else {
                break 'run Exit::LeavesLane(queued.slot());
            };
            // SAFETY: as above.
            let mut closure = unsafe { slot.load() };
            loop {
                // SAFETY: the slot belongs to a live closure, and points to one that was condemned
                // when the slot was found. That one is not large: it still lies in from-space, and
                // its first word is its header or its forwarding address.
                let header = unsafe { load_header::<PARALLEL>(closure) };
                if let Some(to) = header.forwarded_to() {
                    // SAFETY: as above; a copy lies in the heap.
                    let state = unsafe {
                        slot.store(to);
                        states.of(to.addr())
                    };
                    if is_younger(state, &self.holder) && rare(&self.holder) >= FIRST_OLD_STEP {
                        break 'run Exit::Younger(slot);
                    }
                    break;
                }
                // SAFETY: as above; the copy has room, and is not from-space.
                let copied = unsafe {
                    if header.ptrs() == 0 {
                        copy_flat(closure, header, &mut self.flat)
                            .map(|to| forward::<PARALLEL>(closure, header, to, &mut self.flat, side_words))
                    } else {
                        copy_pointers(closure, header, &mut open)
                            .map(|to| forward::<PARALLEL>(closure, header, to, &mut open, side_words))
                    }
                };
                let to = match copied {
                    Some(Copied::At(to)) => to,
                    Some(Copied::Lost(other)) => {
                        // SAFETY: as above.
                        unsafe { slot.store(other) };
                        break 'run Exit::Younger(slot);
                    }
                    None => break 'run Exit::General(slot),
                };
                // SAFETY: as above.
                unsafe { slot.store(to) };
                // The next cell of a list.
                if !OPEN || !open.scans_next(to) || header.ptrs() != 1 || !slots.is_empty() || !ring.is_empty() {
                    break;
                }
                // SAFETY: the closure has a pointer, which lies after its header, and which nothing
                // has changed in from-space.
                let next = unsafe { closure.first_slot().load() };
                // SAFETY: a slot holds null or a closure of the heap.
                if next.is_null() || unsafe { states.of(next.addr()) }.condemned_step() >= rare(&self.stays_below) {
                    break;
                }
                open.skip_to_free();
                if mutant!("copy/next-cell-skipped") {
                    break;
                }
                (slot, closure) = (to.first_slot(), next);
            }
        };
        drop(ring);
        self.slots = slots;
        self.closures = range;
        self.open = open;
        exit
    }
}

/// Whether a closure in a block of this state is younger than one in step `holder`.
#[inline(always)]
fn is_younger(state: BlockState, holder: &u8) -> bool {
    state.step() < rare(holder) && !mutant!("copy/younger-not-remembered")
}

/// Reads a value from memory, so that it does not occupy a register in the loop.
#[inline(always)]
fn rare(value: &u8) -> u8 {
    // SAFETY: a reference can be read.
    unsafe { std::ptr::read_volatile(value) }
}
