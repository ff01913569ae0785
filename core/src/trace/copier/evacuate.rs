//! Evacuation: a slot's referent is copied, unless it already was, and the slot updated.
//!
//! Evacuates roots, remembered slots, and the slots that the loop of [`super::scavenge`] leaves:
//! those whose referent does not go to the lane being scavenged.

use super::Copier;
use super::copy::copy_closure;
use super::pending::Pending;
use super::work::WorkItem;
use super::workspace::{CopyBuffer, MAX_WORKSPACES, SharedHeap, Workspace, first_workspace};
use crate::block::{BlockState, FIRST_OLD_STEP};
use crate::closure::{ClosureRef, Header, Slot, VARIABLE};
use crate::prefetch::{prefetch_closure, prefetch_line};
use crate::profile::MoveSideWords;
use crate::words::{WORD, Words};
use crate::workers::WorkQueue;

/// Remembered slots between the prefetch of a slot and its evacuation.
const SLOTS_AHEAD: usize = 24;

/// Remembered slots between the prefetch of a referent and its evacuation.
const REFERENTS_AHEAD: usize = 12;

/// Byte arrays of at least this many words are promoted when they first survive. Copying them a
/// second time, out of the aged step, costs more than is gained from those that die there.
const PROMOTED_FROM: Words = Words(128);

/// Where a closure is after an attempt to copy it.
#[derive(Debug)]
pub(super) enum Copied {
    /// At this copy, which the caller has made.
    At(ClosureRef),
    /// At this copy, made by another worker that was faster. The caller's copy has been discarded.
    Lost(ClosureRef),
}

impl Copier<'_> {
    /// Evacuates those of `slots` that do not lie in memory that is or was condemned.
    ///
    /// # Safety
    /// The slots are remembered ones, of closures that have not been freed. No other worker is at
    /// one of them, except (in parallel) a worker that calls this function, too.
    pub unsafe fn remembered_slots<const PARALLEL: bool>(&mut self, slots: &[Slot], side_words: impl MoveSideWords) {
        self.counted.remembered += slots.len() as u64;
        for (i, &slot) in slots.iter().enumerate() {
            if let Some(&ahead) = slots.get(i + SLOTS_AHEAD) {
                prefetch_line(ahead.addr());
            }
            if let Some(&ahead) = slots.get(i + REFERENTS_AHEAD) {
                // R9: a large object that another worker has reached may be scavenged by a third,
                // in plain words.
                if !PARALLEL || !self.states.of(ahead.addr()).takes_part() {
                    // SAFETY: remembered slots lie in closures that have not been freed; if in
                    // parallel, this one's is not collected now. The referent is not read.
                    prefetch_closure(unsafe { load::<PARALLEL>(ahead) }.addr());
                }
            }
            let holder = self.states.of(slot.addr());
            if !holder.takes_part() {
                // SAFETY: the caller's promise; the holder's block says its step.
                unsafe { self.evacuate_now::<PARALLEL>(slot, holder.step(), side_words) };
            }
        }
    }

    /// Evacuates a slot of a closure in step `holder`, which may have been evacuated already.
    ///
    /// # Safety
    /// The slot is a root, with [`Copier::roots`] for `holder`, or a slot of a closure in step
    /// `holder` that has not been freed and is not collected. No other worker is at the slot,
    /// except (in parallel) a worker that calls this function, too.
    #[inline(always)]
    pub unsafe fn evacuate_now<const PARALLEL: bool>(
        &mut self,
        slot: Slot,
        holder: u8,
        side_words: impl MoveSideWords,
    ) {
        // SAFETY: the caller's promise; the mutators are stopped.
        let closure = unsafe { load::<PARALLEL>(slot) };
        let state = self.states.of(closure.addr());
        if state.is_condemned() {
            // SAFETY: such slots point to closures or to null, and null is not condemned.
            unsafe { self.evacuate::<PARALLEL>(slot, closure, state, holder, side_words) };
        } else {
            self.remember_if_younger(slot, closure, holder);
        }
    }

    /// Evacuates a root.
    ///
    /// # Safety
    /// As for [`Copier::evacuate_now`].
    #[inline(always)]
    pub unsafe fn evacuate_root<const PARALLEL: bool>(&mut self, slot: Slot, side_words: impl MoveSideWords) {
        // SAFETY: passed on.
        unsafe { self.evacuate_now::<PARALLEL>(slot, self.roots, side_words) };
    }

    /// Evacuates `closure`, which `slot` of a closure in step `holder` holds, to the step that it
    /// belongs to.
    ///
    /// # Safety
    /// `slot` as for [`Copier::evacuate_now`]. `closure` is a closure, or was one and is forwarded,
    /// in a block of this state, which is or was condemned.
    #[inline(always)]
    unsafe fn evacuate<const PARALLEL: bool>(
        &mut self,
        slot: Slot,
        closure: ClosureRef,
        state: BlockState,
        holder: u8,
        side_words: impl MoveSideWords,
    ) {
        // SAFETY: the caller's promise: the first word is a header or the forwarding address.
        unsafe {
            let header = load_header::<PARALLEL>(closure);
            if let Some(to) = header.forwarded_to() {
                store::<PARALLEL>(slot, to);
                self.remember_if_younger(slot, to, holder);
                return;
            }
            if state.is_large() {
                side_words.reaches(closure.addr());
                return self.evacuate_large(slot, closure, holder);
            }
            let dest = first_workspace(self.destination(state, holder));
            // Two branches, not a computed workspace: when predicted, the address of the copy does
            // not depend on the load of the header.
            let copied = if header.ptrs() == 0 {
                let flat = self.flat_workspace(closure, header, dest + 1);
                self.copy::<PARALLEL>(closure, header, flat, side_words)
            } else {
                self.copy::<PARALLEL>(closure, header, dest, side_words)
            };
            match copied {
                Copied::At(to) => store::<PARALLEL>(slot, to),
                Copied::Lost(other) => {
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

    /// The workspace for a closure without pointers that belongs to workspace `index`: a later one
    /// if the closure is a byte array that is promoted at once.
    ///
    /// # Safety
    /// `closure` is a closure with this header, which has no pointers, or (in parallel) was one
    /// until now.
    #[inline(always)]
    pub(super) unsafe fn flat_workspace(&self, closure: ClosureRef, header: Header, index: usize) -> usize {
        let promoted = first_workspace(FIRST_OLD_STEP) + 1;
        // SAFETY: the caller's promise.
        let is_promoted = || unsafe { closure.extent_from(header) }.words >= PROMOTED_FROM;
        if header.words() == VARIABLE && index < promoted && promoted < self.workspaces.len() && is_promoted() {
            promoted
        } else {
            index
        }
    }

    /// Evacuates a slot whose referent does not go to the lane that is being scavenged.
    ///
    /// # Safety
    /// The slot is one of a closure in step `holder` that this worker scavenges. It holds a
    /// closure, or the address of one that was forwarded, in a block that was condemned.
    #[inline(never)]
    pub(super) unsafe fn evacuate_elsewhere<const PARALLEL: bool>(
        &mut self,
        slot: Slot,
        holder: u8,
        side_words: impl MoveSideWords,
    ) {
        // SAFETY: passed on. A large object may have been reached since the slot was found.
        unsafe {
            let closure = slot.load();
            let state = self.states.of(closure.addr());
            self.evacuate::<PARALLEL>(slot, closure, state, holder, side_words);
        }
    }

    /// Copies a closure into workspace number `index`, and forwards it.
    ///
    /// # Safety
    /// `closure` is a closure with this header, or (in parallel) was one until now.
    #[inline(always)]
    unsafe fn copy<const PARALLEL: bool>(
        &mut self,
        closure: ClosureRef,
        header: Header,
        index: usize,
        side_words: impl MoveSideWords,
    ) -> Copied {
        let index = index % MAX_WORKSPACES;
        // The range that a full chunk leaves is offered to no worker: roots and remembered slots
        // are evacuated before there are workers, or the worker goes through its own ranges
        // afterwards. SAFETY: passed on; to-space is not from-space.
        unsafe {
            let to = copy_closure(closure, header, &mut self.buffers[index], |buffer, words| {
                refill(
                    &mut self.workspaces[index],
                    &mut self.pending,
                    &self.heap,
                    None,
                    buffer,
                    words,
                )
            });
            forward::<PARALLEL>(closure, header, to, &mut self.buffers[index], side_words)
        }
    }

    /// Remembers `slot`, of a closure in step `holder`, if it points to a younger closure after
    /// this collection.
    #[inline(always)]
    pub(super) fn remember_if_younger(&mut self, slot: Slot, closure: ClosureRef, holder: u8) {
        if holder >= FIRST_OLD_STEP && self.states.of(closure.addr()).step() < holder {
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
            // SAFETY: large objects are never forwarded, so this is a whole closure.
            let extent = unsafe { closure.extent() };
            let blocks = heap.blocks_of_large(closure.addr(), extent.words);
            heap.set_state(blocks, BlockState::of_step(dest).large().reached(true));
            drop(heap);
            if extent.slots > 0 && !mutant!("copy/large-not-scavenged") {
                self.large.push((closure, dest));
                self.pending.words += Words(extent.slots);
            }
        } else {
            drop(heap);
        }
        self.remember_if_younger(slot, closure, holder);
    }
}

/// The closure that a root or a remembered slot holds.
///
/// # Safety
/// As for [`Slot::load`], or in parallel [`Slot::load_shared`].
#[inline(always)]
unsafe fn load<const PARALLEL: bool>(slot: Slot) -> ClosureRef {
    // SAFETY: passed on.
    unsafe { if PARALLEL { slot.load_shared() } else { slot.load() } }
}

/// Updates a root or a remembered slot.
///
/// # Safety
/// As for [`Slot::store`], or in parallel [`Slot::store_shared`].
#[inline(always)]
unsafe fn store<const PARALLEL: bool>(slot: Slot, closure: ClosureRef) {
    // SAFETY: passed on.
    unsafe {
        if PARALLEL {
            slot.store_shared(closure);
        } else {
            slot.store(closure);
        }
    }
}

/// The header or the forwarding address of a closure of from-space.
///
/// # Safety
/// As for [`ClosureRef::header`].
#[inline(always)]
pub(super) unsafe fn load_header<const PARALLEL: bool>(closure: ClosureRef) -> Header {
    // SAFETY: passed on.
    unsafe {
        if PARALLEL {
            closure.shared_header()
        } else {
            closure.header()
        }
    }
}

/// Forwards the closure to its copy `to`, which is the last in its buffer, and moves the closure's
/// side word. If another worker was faster, takes the copy back.
///
/// # Safety
/// `closure` is a closure that has (or, in parallel, had) this header, and `to` is its copy.
#[inline(always)]
pub(super) unsafe fn forward<const PARALLEL: bool>(
    closure: ClosureRef,
    header: Header,
    to: ClosureRef,
    buffer: &mut CopyBuffer,
    side_words: impl MoveSideWords,
) -> Copied {
    // SAFETY: the caller's promise.
    unsafe {
        if !PARALLEL {
            *closure.0 = mutant!("copy/not-forwarded", to.0 as u64 => header.0);
        } else if let Err(other) = closure.forward_shared(header, to) {
            buffer.free = to.0;
            return Copied::Lost(other);
        }
    }
    if !mutant!("profiles/side-words-not-copied") {
        let words = Words((buffer.free.addr() - to.addr().0) / WORD);
        // SAFETY: from-space and to-space lie in the heap.
        unsafe { side_words.moves(closure.addr(), to.addr(), words) };
    }
    Copied::At(to)
}

/// Opens another chunk of a workspace. The closures of the old one that wait to be scanned go to
/// `queue`, or wait in the workspace.
#[cold]
#[inline(never)]
pub(super) fn refill(
    workspace: &mut Workspace,
    pending: &mut Pending,
    heap: &SharedHeap<'_>,
    queue: Option<WorkQueue<'_, WorkItem>>,
    buffer: CopyBuffer,
    words: Words,
) -> CopyBuffer {
    if let Some(range) = workspace.left_to_scan(buffer) {
        match queue {
            Some(queue) => queue.push(WorkItem::Closures(range, workspace.step())),
            None if mutant!("copy/range-forgotten") => {}
            None => {
                pending.words += range.words();
                workspace.unscanned.push(range);
            }
        }
    }
    pending.chunks += 1;
    pending.shares = queue.map_or_else(|| pending.shares_anything(), WorkQueue::should_share);
    workspace.replace(buffer, heap, words)
}
