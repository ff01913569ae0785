//! The loop that scavenges a lane: all that is hot in a collection.
//!
//! It does two things in turns. *Find*: walk the closures that were copied into the lane, slot by slot, and put the slots
//! whose referents are condemned into the prefetch queue. *Evacuate*: take some out again and copy their referents, most of them into the same
//! lane, whose cursor the loop keeps in registers. What must go elsewhere (aged closures of a young holder, large objects) is left to
//! [`Evacuator::evacuate_elsewhere`].
//!
//! In turns of several, because which slots are null or point elsewhere cannot be predicted: finding has no branch on
//! it, and evacuating knows how many it will do.
//!
//! A list is the hard case: each cell is found only when the one before it has been copied. So the last slot of a range
//! does not go through the queue, and nothing on the way from one cell to the next waits for a table or for memory
//! that was just written, but for the copied cell itself.

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
            // SAFETY: the slot is of a live closure, and pointed to a condemned one when it was found. That one's first word is its header or its
            // forwarding address, unless it is large.
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
                    copy_closure(
                        closure,
                        header,
                        &mut self.cursors[flat],
                        &mut self.lanes[flat],
                        self.heap,
                    )
                } else {
                    copy_closure(closure, header, &mut open, &mut self.lanes[index], self.heap)
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
