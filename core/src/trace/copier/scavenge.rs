//! Scavenging a lane: the loop of [`super::kernel`], and the cases that the loop leaves.
//!
//! Referents that leave the lane (closures as old as their holder, where there is an older step;
//! large objects) are left to `Copier::evacuate_elsewhere`.
//!
//! Few closures wait in a lane's range at any time: in a tree, the part between the root and the
//! loop waits in the prefetch ring. So to share work ([`Pending::shares`]) the lane's scan is
//! *held* until the ring is empty, and then the range is split.

use super::Copier;
#[cfg(doc)]
use super::Pending;
use super::copy::copy_closure;
use super::evacuate::{Copied, forward, load_header, refill};
use super::kernel::{Exit, Scan};
use super::queued_slot::{QueuedSlot, SlotRing};
use super::work::WorkItem;
use super::workspace::{MAX_WORKSPACES, first_workspace};
use crate::block::BlockState;
use crate::closure::{ClosureRange, Slot, SlotRange};
use crate::prefetch::prefetch_closure;
use crate::profile::MoveSideWords;
use crate::words::Words;
use crate::workers::WorkQueue;

/// Words of a range that is worth splitting for an idle worker. Some eight closures: whole trees
/// may hang on each.
pub(super) const RANGE_WORTH_SPLITTING: Words = Words(32);

/// Work for a lane that precedes the lane's own.
#[derive(Debug)]
pub(super) enum First {
    /// Only the lane's own work.
    Nothing,
    /// Slots of a large object.
    Slots(SlotRange),
    /// Closures that were copied into a workspace of the same lane.
    Closures(ClosureRange),
}

/// The next work of a lane, when the loop has nothing left.
enum Next {
    /// The open chunk has closures again.
    Open,
    /// A range is to be scanned.
    Range(ClosureRange),
    /// A range is to be shared: the caller wakes workers.
    Share,
    /// Nothing is left.
    Done,
}

impl Copier<'_> {
    /// Scavenges `first`, and then the lane of step `holder` for closures with pointers, until it
    /// is exhausted. Returns whether there was any work. In parallel, other workers steal from
    /// `queue`.
    ///
    /// # Safety
    /// The slots or closures of `first` are of whole closures in step `holder`, which no other
    /// worker scavenges.
    pub(super) unsafe fn scavenge_lane<const PARALLEL: bool>(
        &mut self,
        holder: u8,
        first: First,
        queue: Option<WorkQueue<'_, WorkItem>>,
        side_words: impl MoveSideWords,
    ) -> bool {
        let queue = queue.filter(|_| PARALLEL);
        let index = first_workspace(holder) % MAX_WORKSPACES;
        let states = self.states.in_heap();
        let (slots, closures) = match first {
            First::Nothing => (SlotRange::EMPTY, ClosureRange::EMPTY),
            First::Slots(slots) => (slots, ClosureRange::EMPTY),
            First::Closures(closures) => (SlotRange::EMPTY, closures),
        };
        let mut scan = Scan {
            holder,
            stays_below: self.stays_below(holder),
            index,
            open: self.buffers[index],
            flat: self.buffers[index + 1],
            worked: !slots.is_empty() || !closures.is_empty(),
            slots,
            closures,
            ring: SlotRing::new(),
            held: None,
        };
        let scan_before = scan.open.scan();
        let worked = loop {
            // SAFETY: the caller's promise for `first`; all else that is scanned is a copy that
            // this worker made. Buffers are those of workspaces, which own their chunks.
            let exit = unsafe {
                if scan.closures.is_empty() {
                    scan.run::<PARALLEL, true>(states, side_words)
                } else {
                    scan.run::<PARALLEL, false>(states, side_words)
                }
            };
            match exit {
                // SAFETY: the loop found the slot in a closure of this step. The referent was
                // condemned then; if it does not leave the lane it is not large.
                Exit::General(slot) => unsafe { self.evacuate_in_lane::<PARALLEL>(slot, &mut scan, queue, side_words) },
                // SAFETY: as above, for a referent that leaves the lane.
                Exit::Leaving(slot) => unsafe { self.queue_leaving::<PARALLEL>(slot, &mut scan, queue, side_words) },
                // SAFETY: as above.
                Exit::LeavesLane(slot) => unsafe { self.evacuate_elsewhere::<PARALLEL>(slot, holder, side_words) },
                // SAFETY: a slot of a live closure; the mutators are stopped.
                Exit::Younger(slot) => self.remember_if_younger(slot, unsafe { slot.load() }, holder),
                Exit::RangeDone => {}
                Exit::Idle => match self.next_in_lane::<PARALLEL>(&mut scan, queue) {
                    Next::Open => {}
                    Next::Range(range) => scan.closures = range,
                    Next::Share => break true,
                    // The scan has moved if there was anything in the open chunk.
                    Next::Done => break scan.worked || scan.open.scan() != scan_before,
                },
            }
        };
        self.buffers[index] = scan.open;
        self.buffers[index + 1] = scan.flat;
        worked
    }

    /// Puts into the ring a slot whose referent is condemned and does not come to the lane.
    /// Evacuates the slot that it displaces.
    ///
    /// # Safety
    /// The slot is one of a closure that `scan` scavenges.
    unsafe fn queue_leaving<const PARALLEL: bool>(
        &mut self,
        slot: Slot,
        scan: &mut Scan,
        queue: Option<WorkQueue<'_, WorkItem>>,
        side_words: impl MoveSideWords,
    ) {
        // SAFETY: no slot lies at null. All slots of the ring are of closures that this scan
        // scavenges, and point to closures that were condemned when they were put in.
        unsafe {
            let closure = slot.load();
            let leaves_lane = !(mutant!("copy/large-copied") && self.states.of(closure.addr()).is_large());
            prefetch_closure(closure.addr());
            side_words.prefetch(closure.addr());
            if let Some(oldest) = scan.ring.push(QueuedSlot::new(slot, leaves_lane)) {
                match oldest.in_lane() {
                    Some(slot) => self.evacuate_in_lane::<PARALLEL>(slot, scan, queue, side_words),
                    None => self.evacuate_elsewhere::<PARALLEL>(oldest.slot(), scan.holder, side_words),
                }
            }
        }
    }

    /// Evacuates a slot whose referent comes to the lane that is being scavenged, of any size, and
    /// opens another chunk if need be.
    ///
    /// # Safety
    /// The slot is one of a closure that `scan` scavenges. It holds a closure of from-space, not a
    /// large one, or the address of one that was forwarded.
    #[inline(never)]
    unsafe fn evacuate_in_lane<const PARALLEL: bool>(
        &mut self,
        slot: Slot,
        scan: &mut Scan,
        queue: Option<WorkQueue<'_, WorkItem>>,
        side_words: impl MoveSideWords,
    ) {
        // SAFETY: the caller's promise; to-space is not from-space.
        unsafe {
            let closure = slot.load();
            let header = load_header::<PARALLEL>(closure);
            if let Some(to) = header.forwarded_to() {
                slot.store(to);
                return self.remember_if_younger(slot, to, scan.holder);
            }
            let held = &mut scan.held;
            let copied = if header.ptrs() == 0 {
                let flat = self.flat_workspace(closure, header, scan.index + 1);
                let (heap, pending) = (&self.heap, &mut self.pending);
                let (workspace, open) = (&mut self.workspaces[flat], &mut scan.open);
                let flat_buffer = if flat == scan.index + 1 {
                    &mut scan.flat
                } else {
                    &mut self.buffers[flat]
                };
                let to = copy_closure(closure, header, flat_buffer, |buffer, words| {
                    let buffer = refill(workspace, pending, heap, queue, buffer, words);
                    if pending.shares && held.is_none() {
                        *held = open.hold();
                    }
                    buffer
                });
                forward::<PARALLEL>(closure, header, to, flat_buffer, side_words)
            } else {
                let (heap, pending) = (&self.heap, &mut self.pending);
                let workspace = &mut self.workspaces[scan.index];
                let to = copy_closure(closure, header, &mut scan.open, |mut buffer, words| {
                    // The held range is the beginning of the chunk that is full now.
                    if let Some(held) = held.take() {
                        buffer.resume(held);
                    }
                    let mut buffer = refill(workspace, pending, heap, queue, buffer, words);
                    *held = if pending.shares { buffer.hold() } else { None };
                    buffer
                });
                forward::<PARALLEL>(closure, header, to, &mut scan.open, side_words)
            };
            match copied {
                Copied::At(to) => slot.store(to),
                Copied::Lost(other) => {
                    slot.store(other);
                    self.remember_if_younger(slot, other, scan.holder);
                }
            }
        }
    }

    /// The next work of the lane, when the loop has nothing left.
    fn next_in_lane<const PARALLEL: bool>(&mut self, scan: &mut Scan, queue: Option<WorkQueue<'_, WorkItem>>) -> Next {
        if let Some(held) = scan.held.take() {
            // Everything this worker knew of is now in the range.
            scan.open.resume(held);
            if scan.open.unscanned() < RANGE_WORTH_SPLITTING {
                return Next::Open;
            }
            let Some(queue) = queue else {
                return Next::Share;
            };
            let range = scan.open.claim().unwrap_or(ClosureRange::EMPTY);
            return Next::Range(share_half(range, scan.holder, queue));
        }
        if let Some(range) = self.take_unscanned::<PARALLEL>(scan.index) {
            scan.worked = true;
            return Next::Range(range);
        }
        Next::Done
    }

    /// A range of a full chunk of the lane; none if enough is waiting to wake workers. (Once they
    /// are awake, such ranges go to the work queue.)
    fn take_unscanned<const PARALLEL: bool>(&mut self, index: usize) -> Option<ClosureRange> {
        if PARALLEL || self.pending.is_worth_sharing() {
            return None;
        }
        let range = self.workspaces[index].unscanned.pop()?;
        self.pending.words -= range.words();
        Some(range)
    }

    /// Condemned steps below this one hold small closures that come to the step of a holder in
    /// `holder`.
    fn stays_below(&self, holder: u8) -> u8 {
        if holder == self.oldest() || mutant!("copy/all-to-one-step") {
            BlockState::STEP_OUTSIDE
        } else {
            holder
        }
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
