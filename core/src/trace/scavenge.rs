//! The loop that scavenges a lane: all that is hot in a collection.
//!
//! It walks the closures that were copied into the lane, slot by slot. A slot whose referent is condemned goes into the
//! prefetch queue; the one that comes out for it is evacuated, most often into the same lane, whose cursor the
//! loop keeps in registers. What goes elsewhere (closures as old as their holder, where there is an older step; large objects) is left to
//! [`Copier::evacuate_elsewhere`]. There is one place where slots are found and one where they are evacuated, so that the compiler makes one loop of it.
//!
//! A list is the hard case: each cell is found only when the one before it has been copied. So the last slot of a range does not
//! go through the queue, and on the way from one cell to the next nothing is waited for but the copied cell itself: what the
//! tables say is needed for branches only, and these are predicted. That made lists twice as fast as with every slot in the queue.
//!
//! Few closures wait in a lane's range at any time: of a tree, what is between the root and where the loop is waits in the prefetch queue. So when
//! something is to be shared ([`Pending::shares`]) the queue is emptied first, and then the range is cut in two.
//!
//! What was tried and was slower: evacuating in turns of eight, without a branch on whether a slot's referent is condemned (a
//! sixth more time on trees); the state of the referent's block in what the last slot hands on (a third more on lists, which waited for it).

use super::copier::{Copier, forward, refill};
use super::copy::copy_closure;
use super::lane::Cursor;
#[cfg(doc)]
use super::pending::Pending;
use super::queue::{Found, MAX_LANES, Queue, first_lane};
use super::work::{WorkItem, WorkKind};
use crate::block::BlockState;
use crate::block::FIRST_OLD_STEP;
use crate::closure::{ClosureRef, Slot};
use crate::prefetch::prefetch;
use crate::words::Addr;
use crate::workers::WorkQueue;
use std::ops::Range;

/// Words of a range that are worth to be cut in two for somebody who has nothing to do. Some eight closures: whole trees may hang on each.
pub(super) const WORTH_CUTTING: usize = 32;

/// What a lane is scavenged from, before what is in it: slots, and closures that were copied into a lane of its step.
#[derive(Clone, Debug)]
pub(super) struct Work {
    slots: Range<*mut u64>,
    closures: Range<*mut u64>,
}

impl Default for Work {
    /// Nothing: only what is in the lane.
    fn default() -> Self {
        let nothing = std::ptr::null_mut()..std::ptr::null_mut();
        Work {
            slots: nothing.clone(),
            closures: nothing,
        }
    }
}

impl Work {
    pub fn slots(slots: Range<*mut u64>) -> Self {
        Work {
            slots,
            ..Work::default()
        }
    }

    pub fn closures(closures: Range<*mut u64>) -> Self {
        Work {
            closures,
            ..Work::default()
        }
    }
}

impl Copier<'_> {
    /// Scavenge `work`, which belongs to step `holder`, and then the lane of that step for closures with pointers, until nothing is left of it. Says
    /// whether there was any work. In parallel `queue` is where others take theirs from.
    pub(super) fn scavenge_lane<const PARALLEL: bool>(
        &mut self,
        holder: u8,
        work: Work,
        queue: Option<WorkQueue<'_, WorkItem>>,
    ) -> bool {
        // So that nothing of it is kept at hand where it cannot be used.
        let queue = queue.filter(|_| PARALLEL);
        let index = first_lane(holder) % MAX_LANES;
        let flat = (index + 1) % MAX_LANES;
        let states = self.states;
        let stay = self.stay_below(holder);
        let mut ring = Queue::new();
        let mut open = self.cursors[index];
        // The slots left of one closure, then the closures that follow it.
        let (mut next, mut slots_end) = (work.slots.start, work.slots.end);
        let (mut at, mut end) = (work.closures.start, work.closures.end);
        let nothing = std::ptr::null_mut();
        // Where the lane's scan goes on if it is held, so that what is known comes together and can be shared.
        let mut held: *mut u64 = nothing;
        let scan_before = open.scan;
        let mut worked = next < slots_end || at < end;
        loop {
            let (slot, elsewhere) = loop {
                if next < slots_end {
                    let slot = Slot(next);
                    next = next.wrapping_add(1);
                    // SAFETY: a slot of a live closure; the mutators are stopped.
                    let word = unsafe { slot.load() };
                    let state = states.of(Addr(word as usize));
                    if state.is_condemned() {
                        let elsewhere = state.0 >= stay;
                        if next == slots_end && at == end {
                            break (slot, elsewhere);
                        }
                        prefetch(word);
                        if let Some(oldest) = ring.push(Found::new(slot, elsewhere)) {
                            break (oldest.slot(), oldest.goes_elsewhere());
                        }
                    } else if state.step() < holder {
                        self.settled(slot);
                    }
                } else if at < end {
                    // SAFETY: ranges of to-space hold closures one behind the other, whole, with their headers.
                    let extent = unsafe { ClosureRef(at).extent() };
                    (next, slots_end) = (extent.range().start, extent.range().end);
                    at = at.wrapping_add(extent.words.0);
                } else if let Some(range) = open.claim() {
                    (at, end) = range;
                } else if let Some(newest) = ring.pop() {
                    break (newest.slot(), newest.goes_elsewhere());
                } else if !held.is_null() {
                    // All that this thread knew of is in the range now.
                    open.scan = std::mem::replace(&mut held, nothing);
                    if open.unscanned() >= WORTH_CUTTING {
                        let Some(queue) = queue else {
                            self.cursors[index] = open;
                            return true;
                        };
                        (at, end) = open.claim().unwrap_or((at, end));
                        end = give_half(at, end, holder, queue);
                    }
                } else if let Some(range) = self.next_pending::<PARALLEL>(index) {
                    worked = true;
                    (at, end) = range;
                } else {
                    // What was claimed moved the scan.
                    self.cursors[index] = open;
                    return worked || open.scan != scan_before;
                }
            };
            // SAFETY: the slot is of a live closure, and points to one that was condemned when the slot was found. If that does not go elsewhere, it is not
            // large: it still lies in from-space, and its first word is its header or its forwarding address. Cursors are those of lanes, which own their chunks.
            unsafe {
                if elsewhere {
                    self.evacuate_elsewhere::<PARALLEL>(slot, holder);
                    continue;
                }
                let closure = ClosureRef(slot.load() as *mut u64);
                let header = if PARALLEL {
                    closure.shared_header()
                } else {
                    closure.header()
                };
                if !header.is_header() {
                    slot.store(header.0);
                    if holder >= FIRST_OLD_STEP {
                        self.remember_if_younger(slot, header.0, holder);
                    }
                    continue;
                }
                let (heap, pending) = (&self.heap, &mut self.pending);
                let to = if header.ptrs() == 0 {
                    let (lane, cursor) = (&mut self.lanes[flat], &mut self.cursors[flat]);
                    let to = copy_closure::<PARALLEL>(closure, header, cursor, |cursor, words| {
                        let cursor = refill(lane, flat, pending, heap, queue, cursor, words);
                        if pending.shares && held.is_null() {
                            held = open.hold();
                        }
                        cursor
                    });
                    forward::<PARALLEL>(closure, header, to, cursor)
                } else {
                    let lane = &mut self.lanes[index];
                    let to = copy_closure::<PARALLEL>(closure, header, &mut open, |cursor, words| {
                        // What is held is where the chunk that is full now began.
                        let cursor = if held.is_null() {
                            cursor
                        } else {
                            Cursor { scan: held, ..cursor }
                        };
                        let mut cursor = refill(lane, index, pending, heap, queue, cursor, words);
                        held = if pending.shares { cursor.hold() } else { nothing };
                        cursor
                    });
                    forward::<PARALLEL>(closure, header, to, &mut open)
                };
                match to {
                    Ok(to) => slot.store(to),
                    Err(other) => self.forwarded_meanwhile(slot, other, holder),
                }
            }
        }
    }

    /// A range of a full chunk of the lane; none if there is so much of that that others had better be called. (Once they are, such ranges go to
    /// where they can take them.)
    #[inline(always)]
    fn next_pending<const PARALLEL: bool>(&mut self, index: usize) -> Option<(*mut u64, *mut u64)> {
        if PARALLEL || self.pending.is_worth_sharing() {
            return None;
        }
        let (from, to) = self.lanes[index].unscanned.pop()?;
        self.pending.words -= (to as usize - from as usize) / 8;
        Some((from, to))
    }

    /// Another thread forwarded what `slot` points to while this one copied it.
    #[cold]
    #[inline(never)]
    fn forwarded_meanwhile(&mut self, slot: Slot, other: u64, holder: u8) {
        // SAFETY: a slot of a live closure, which this thread scavenges.
        unsafe { slot.store(other) };
        self.remember_if_younger(slot, other, holder);
    }

    /// A slot of a closure that was promoted past its referent, which this collection does not move: eager promotion may
    /// skip a generation that is not collected, and a large object settles in the step of whoever reached it first.
    #[cold]
    #[inline(never)]
    fn settled(&mut self, slot: Slot) {
        self.remembered.push(slot);
    }

    /// States of condemned blocks less than this are of small closures that come to the step of a holder in `holder`.
    fn stay_below(&self, holder: u8) -> u8 {
        let first_past = if holder == self.oldest() {
            BlockState::STEP_OUTSIDE
        } else {
            holder
        };
        BlockState::of_step(0).condemned(true).0 | first_past
    }
}

/// Offer the second half of a range of closures of step `step`; gives the end of what is left.
#[cold]
#[inline(never)]
fn give_half(from: *mut u64, to: *mut u64, step: u8, queue: WorkQueue<'_, WorkItem>) -> *mut u64 {
    let middle = from.wrapping_add((to as usize - from as usize) / 16);
    let mut cut = from;
    while cut < middle {
        // SAFETY: ranges of to-space hold closures one behind the other, whole, with their headers.
        cut = cut.wrapping_add(unsafe { ClosureRef(cut).words() }.0);
    }
    if cut < to {
        queue.push(WorkItem {
            from: cut,
            to,
            kind: WorkKind::Closures(step),
        });
    }
    cut
}
