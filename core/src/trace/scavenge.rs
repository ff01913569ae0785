//! The loop that scavenges a lane: all that is hot in a collection.
//!
//! It walks the closures that were copied into the lane, slot by slot. A slot whose referent is condemned goes into the
//! prefetch queue; the one that comes out for it is evacuated, most often into the same lane, whose cursor the
//! loop keeps in registers. What goes elsewhere (closures as old as their holder, where there is an older step; large objects) is left to
//! [`Evacuator::evacuate_elsewhere`]. There is one place where slots are found and one where they are evacuated, so that the compiler makes one loop of it.
//!
//! A list is the hard case: each cell is found only when the one before it has been copied. So the last slot of a range does not
//! go through the queue, and on the way from one cell to the next nothing is waited for but the copied cell itself: what the
//! tables say is needed for branches only, and these are predicted. That made lists twice as fast as with every slot in the queue.
//!
//! What was tried and was slower: evacuating in turns of eight, without a branch on whether a slot's referent is condemned (a
//! sixth more time on trees); the state of the referent's block in what the last slot hands on (a third more on lists, which waited for it).

use super::copy::copy_closure;
use super::evacuator::Evacuator;
use super::queue::{Found, MAX_LANES, Queue, first_lane, prefetch};
use crate::block::BlockState;
use crate::closure::{ClosureRef, Extent, Slot};
use crate::space::FIRST_OLD_STEP;
use crate::words::Addr;

impl Evacuator<'_> {
    /// Scavenge the slots of `first`, a closure of step `holder`, and then the lane of that step for closures with
    /// pointers, until nothing is left of it. Says whether there was any work.
    pub(super) fn scavenge_lane(&mut self, holder: u8, first: Option<Extent>) -> bool {
        let index = first_lane(holder) % MAX_LANES;
        let flat = (index + 1) % MAX_LANES;
        let states = self.states;
        let stay = self.stay_below(holder);
        let mut queue = Queue::new();
        let mut open = self.cursors[index];
        let mut worked = first.is_some();
        let nothing = std::ptr::null_mut::<u64>();
        // The slots left of one closure, then the closures that follow it.
        let (mut next, mut slots_end) =
            first.map_or((nothing, nothing), |extent| (extent.range().start, extent.range().end));
        let (mut at, mut end) = (nothing, nothing);
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
                        if let Some(oldest) = queue.push(Found::new(slot, elsewhere)) {
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
                    worked = true;
                    (at, end) = range;
                } else if let Some(newest) = queue.pop() {
                    break (newest.slot(), newest.goes_elsewhere());
                } else if let Some(range) = self.lanes[index].pending.pop() {
                    worked = true;
                    (at, end) = range;
                } else {
                    self.cursors[index] = open;
                    return worked;
                }
            };
            // SAFETY: the slot is of a live closure, and points to one that was condemned when the slot was found. If that does not go elsewhere, it is not
            // large: it still lies in from-space, and its first word is its header or its forwarding address. Cursors are those of lanes, which own their chunks.
            unsafe {
                if elsewhere {
                    self.evacuate_elsewhere(slot, holder);
                    continue;
                }
                let closure = ClosureRef(slot.load() as *mut u64);
                let header = closure.header();
                if !header.is_header() {
                    slot.store(header.0);
                    if holder >= FIRST_OLD_STEP {
                        self.remember_if_younger(slot, header.0, holder);
                    }
                    continue;
                }
                let to = if header.ptrs() == 0 {
                    copy_closure(closure, header, &mut self.cursors[flat], |cursor, words| {
                        self.lanes[flat].refill(cursor, self.heap, words)
                    })
                } else {
                    copy_closure(closure, header, &mut open, |cursor, words| {
                        self.lanes[index].refill(cursor, self.heap, words)
                    })
                };
                *closure.0 = to as u64;
                slot.store(to as u64);
            }
        }
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
