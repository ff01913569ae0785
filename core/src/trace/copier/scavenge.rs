//! The loop that scavenges a lane: all that is hot in a collection.
//!
//! It walks the closures that were copied into the lane, slot by slot. A slot whose referent is
//! condemned goes into the prefetch ring; the one that comes out for it is evacuated, most often
//! into the same lane, whose buffer the loop keeps in registers. Referents that leave the lane
//! (closures as old as their holder, where there is an older step; large objects) are left to
//! `Copier::evacuate_elsewhere`. There is one place where slots are found and one where they are
//! evacuated, so that the compiler makes one loop of it.
//!
//! A list is the hard case: each cell is found only when the one before it has been copied. So the
//! last slot of a range does not go through the ring, and on the way from one cell to the next
//! nothing is waited for but the copied cell itself: the loads from the tables are needed for
//! branches only, and these are predicted. That made lists twice as fast as with every slot in the
//! ring.
//!
//! Few closures wait in a lane's range at any time: of a tree, the part between the root and the
//! loop waits in the prefetch ring. So when something is to be shared ([`Pending::shares`]) the
//! lane's scan is *held* until the ring is empty, and then the range is split.
//!
//! Tried, and slower: evacuating in turns of eight, without a branch on whether a slot's referent
//! is condemned (a sixth more time on trees); the state of the referent's block together with the
//! slot that the last slot hands on (a third more on lists, which waited for it).

use super::Copier;
#[cfg(doc)]
use super::Pending;
use super::copy::copy_closure;
use super::evacuate::{Copied, forward, load_header, refill};
use super::queued_slot::{QueuedSlot, SlotRing};
use super::work::WorkItem;
use super::workspace::{CopyBuffer, HeldScan, MAX_WORKSPACES, first_workspace};
use crate::block::{BlockState, FIRST_OLD_STEP};
use crate::closure::{ClosureRange, ClosureRef, Slot, SlotRange};
use crate::prefetch::prefetch_closure;
use crate::words::Words;
use crate::workers::WorkQueue;

/// Words of a range that is worth splitting for an idle worker. Some eight closures: whole trees
/// may hang on each.
pub(super) const RANGE_WORTH_SPLITTING: Words = Words(32);

/// Work for a lane that comes before the lane's own.
#[derive(Debug)]
pub(super) enum First {
    /// Only the lane's own work.
    Nothing,
    /// Slots of a large object.
    Slots(SlotRange),
    /// Closures that were copied into a workspace of the same lane.
    Closures(ClosureRange),
}

/// The loop's next action when it has looked at all slots that it knew of.
enum Next {
    /// Evacuates a slot that waited in the ring.
    Slot(QueuedSlot),
    /// Scans a range.
    Range(ClosureRange),
    /// Leaves the lane with a range to be shared: the caller wakes workers.
    Share,
    /// Leaves the lane: nothing is left.
    Done,
}

/// A scan of one lane, under way.
struct LaneScan {
    /// The step of the lane.
    holder: u8,
    /// The number of its workspace for closures with pointers.
    index: usize,
    /// The buffer of that workspace.
    open: CopyBuffer,
    /// The slots that are left of one closure.
    slots: SlotRange,
    /// The closures that follow it.
    closures: ClosureRange,
    /// Where the lane's scan goes on if it is held.
    held: Option<HeldScan>,
    /// Whether there was any work.
    worked: bool,
}

impl Copier<'_> {
    /// Scavenges `first`, and then the lane of step `holder` for closures with pointers, until
    /// nothing is left of it. Returns whether there was any work. In parallel, other workers steal
    /// from `queue`.
    ///
    /// # Safety
    /// The slots or closures of `first` are of whole closures in step `holder`, which no other
    /// worker scavenges.
    pub(super) unsafe fn scavenge_lane<const PARALLEL: bool>(
        &mut self,
        holder: u8,
        first: First,
        queue: Option<WorkQueue<'_, WorkItem>>,
    ) -> bool {
        // So that it takes no register where it cannot be used.
        let queue = queue.filter(|_| PARALLEL);
        let index = first_workspace(holder) % MAX_WORKSPACES;
        let flat = (index + 1) % MAX_WORKSPACES;
        let states = self.states;
        let stays_below = self.stays_below(holder);
        let mut ring = SlotRing::new();
        let (slots, closures) = match first {
            First::Nothing => (SlotRange::EMPTY, ClosureRange::EMPTY),
            First::Slots(slots) => (slots, ClosureRange::EMPTY),
            First::Closures(closures) => (SlotRange::EMPTY, closures),
        };
        let mut scan = LaneScan {
            holder,
            index,
            open: self.buffers[index],
            worked: !slots.is_empty() || !closures.is_empty(),
            slots,
            closures,
            held: None,
        };
        let scan_before = scan.open.scan();
        loop {
            let (slot, leaves_lane) = loop {
                if let Some(slot) = scan.slots.next() {
                    // SAFETY: a slot of a live closure; the mutators are stopped.
                    let closure = unsafe { slot.load() };
                    let state = states.of(closure.addr());
                    if state.is_condemned() {
                        let is_copied = mutant!("copy/large-copied") && state.is_large();
                        let leaves_lane = state.0 >= stays_below && !is_copied;
                        // Not as a `QueuedSlot`: its address would wait for the state of the block.
                        if scan.slots.is_empty() && scan.closures.is_empty() {
                            break (slot, leaves_lane);
                        }
                        prefetch_closure(closure.addr());
                        // SAFETY: no slot lies at null.
                        let found = unsafe { QueuedSlot::new(slot, leaves_lane) };
                        if let Some(oldest) = ring.push(found) {
                            break (oldest.slot(), oldest.leaves_lane());
                        }
                    } else if state.step() < holder && !mutant!("copy/settled-not-remembered") {
                        self.promoted_past(slot);
                    }
                } else if let Some(extent) = scan.closures.next() {
                    scan.slots = SlotRange::of(extent);
                } else {
                    match self.next_in_lane::<PARALLEL>(&mut scan, &mut ring, queue) {
                        Next::Range(range) => scan.closures = range,
                        Next::Slot(newest) => break (newest.slot(), newest.leaves_lane()),
                        Next::Share => {
                            self.buffers[index] = scan.open;
                            return true;
                        }
                        Next::Done => {
                            // A claim moves the scan.
                            self.buffers[index] = scan.open;
                            return scan.worked || scan.open.scan() != scan_before;
                        }
                    }
                }
            };
            // SAFETY: the slot is of a live closure, and points to one that was condemned when the
            // slot was found. If that does not leave the lane, it is not large: it still lies in
            // from-space, and its first word is its header or its forwarding address. Buffers are
            // those of workspaces, which own their chunks.
            unsafe {
                if leaves_lane {
                    self.evacuate_elsewhere::<PARALLEL>(slot, holder);
                    continue;
                }
                let closure = slot.load();
                let header = load_header::<PARALLEL>(closure);
                if let Some(to) = header.forwarded_to() {
                    slot.store(to);
                    if holder >= FIRST_OLD_STEP && !mutant!("copy/forwarded-not-remembered") {
                        self.remember_if_younger(slot, to, holder);
                    }
                    continue;
                }
                let (heap, pending) = (&self.heap, &mut self.pending);
                let copied = if header.ptrs() == 0 {
                    let (workspace, buffer) = (&mut self.workspaces[flat], &mut self.buffers[flat]);
                    let to = copy_closure::<PARALLEL>(closure, header, buffer, |buffer, words| {
                        let buffer = refill(workspace, pending, heap, queue, buffer, words);
                        if pending.shares && scan.held.is_none() {
                            scan.held = scan.open.hold();
                        }
                        buffer
                    });
                    forward::<PARALLEL>(closure, header, to, buffer)
                } else {
                    let workspace = &mut self.workspaces[index];
                    let held = &mut scan.held;
                    let to = copy_closure::<PARALLEL>(closure, header, &mut scan.open, |mut buffer, words| {
                        // The held range is the beginning of the chunk that is full now.
                        if let Some(held) = held.take() {
                            buffer.resume(held);
                        }
                        let mut buffer = refill(workspace, pending, heap, queue, buffer, words);
                        *held = if pending.shares { buffer.hold() } else { None };
                        buffer
                    });
                    forward::<PARALLEL>(closure, header, to, &mut scan.open)
                };
                match copied {
                    Copied::At(to) => slot.store(to),
                    Copied::Lost(other) => self.lost_race(slot, other, holder),
                }
            }
        }
    }

    /// The next work of the lane, when all of `scan`'s slots and closures have been looked at.
    #[inline(always)]
    fn next_in_lane<const PARALLEL: bool>(
        &mut self,
        scan: &mut LaneScan,
        ring: &mut SlotRing,
        queue: Option<WorkQueue<'_, WorkItem>>,
    ) -> Next {
        if let Some(range) = scan.open.claim() {
            return Next::Range(range);
        }
        if let Some(newest) = ring.pop_newest().filter(|_| !mutant!("copy/ring-forgotten")) {
            return Next::Slot(newest);
        }
        if let Some(held) = scan.held.take() {
            // All that this worker knew of is in the range now.
            scan.open.resume(held);
            if scan.open.unscanned() >= RANGE_WORTH_SPLITTING {
                let Some(queue) = queue else {
                    return Next::Share;
                };
                let range = scan.open.claim().unwrap_or(ClosureRange::EMPTY);
                return Next::Range(share_half(range, scan.holder, queue));
            }
            return Next::Range(ClosureRange::EMPTY);
        }
        if let Some(range) = self.take_unscanned::<PARALLEL>(scan.index) {
            scan.worked = true;
            return Next::Range(range);
        }
        Next::Done
    }

    /// A range of a full chunk of the lane; none if so much of that waits that workers are to be
    /// woken. (Once they are, such ranges go to the work queue.)
    #[inline(always)]
    fn take_unscanned<const PARALLEL: bool>(&mut self, index: usize) -> Option<ClosureRange> {
        if PARALLEL || self.pending.is_worth_sharing() {
            return None;
        }
        let range = self.workspaces[index].unscanned.pop()?;
        self.pending.words -= range.words();
        Some(range)
    }

    /// Another worker forwarded the referent of `slot` to `other` while this one copied it.
    #[cold]
    #[inline(never)]
    fn lost_race(&mut self, slot: Slot, other: ClosureRef, holder: u8) {
        // SAFETY: a slot of a live closure, which this worker scavenges.
        unsafe { slot.store(other) };
        self.remember_if_younger(slot, other, holder);
    }

    /// Remembers a slot of a closure that was promoted past its referent, which this collection
    /// does not move: eager promotion may skip a generation that is not collected, and a large
    /// object stays in the step of the worker that reached it first.
    #[cold]
    #[inline(never)]
    fn promoted_past(&mut self, slot: Slot) {
        self.remembered.push(slot);
    }

    /// States of condemned blocks less than this are of small closures that come to the step of a
    /// holder in `holder`.
    fn stays_below(&self, holder: u8) -> u8 {
        let first_past = if holder == self.oldest() || mutant!("copy/all-to-one-step") {
            BlockState::STEP_OUTSIDE
        } else {
            holder
        };
        BlockState::of_step(0).condemned(true).0 | first_past
    }
}

/// Pushes the second half of a range of closures of step `step` to `queue`, and returns the first.
#[cold]
#[inline(never)]
fn share_half(mut range: ClosureRange, step: u8, queue: WorkQueue<'_, WorkItem>) -> ClosureRange {
    let half = range.split_half();
    if !half.is_empty() && !mutant!("shared/half-forgotten") {
        queue.push(WorkItem::Closures(half, step));
    }
    range
}
