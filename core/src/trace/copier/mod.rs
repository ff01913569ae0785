//! A copier: one worker's workspaces, and the work that it found on the way.
//!
//! A serial collection has one copier, a parallel one has a copier for each worker that has
//! entered. Everything hot is here and in [`scavenge`], once for both (`const PARALLEL`). The
//! differences in parallel:
//!
//! * A closure is copied first and then forwarded by compare-and-swap. The loser of the race
//!   discards its copy and uses the winner's address. No closure exists twice; the cost is one CAS
//!   (race R7 of `docs/parallel-collection.md`).
//! * A header is loaded with acquire (nothing on x86), and never again while its closure is copied.
//! * Ranges that wait to be scavenged go to the worker's queue, from which others can steal. A part
//!   of the range at hand goes there at once if a worker is idle.
//! * A large array is cut into slices.
//!
//! Each root, remembered slot and slot to be scavenged belongs to one worker, except slots that are
//! remembered twice. Two workers may update such a slot, and both find the same address (R8).

mod copy;
mod drain;
mod pending;
mod queued_slot;
mod scavenge;
mod work;
mod workspace;

pub(super) use drain::{Owned, SharedRoots, phase_of};
pub(super) use pending::Pending;
pub(super) use workspace::Workspace;

use crate::block::{BlockState, FIRST_OLD_STEP, StateView};
use crate::closure::{ClosureRef, Header, Slot};
use crate::prefetch::{prefetch_closure, prefetch_line};
use crate::remembered::RememberedSet;
use crate::sync::Arc;
use crate::words::Words;
use crate::workers::WorkQueue;
use copy::copy_closure;
use work::WorkItem;
use workspace::{CopyBuffer, Filled, MAX_WORKSPACES, SharedHeap, first_workspace};

/// Remembered slots between the prefetch of a slot and its evacuation.
const SLOTS_AHEAD: usize = 24;

/// Remembered slots between the prefetch of a referent and its evacuation.
const REFERENTS_AHEAD: usize = 12;

/// One worker's copying: see the module's text.
#[derive(Debug)]
pub(super) struct Copier<'h> {
    heap: Arc<SharedHeap<'h>>,
    states: StateView,
    /// Two for each step, from step 1: closures with pointers, closures without.
    workspaces: Vec<Workspace>,
    buffers: [CopyBuffer; MAX_WORKSPACES],
    /// Slots in old closures that point to young ones after this collection.
    remembered: RememberedSet,
    /// Large objects that were reached and wait to be scavenged, with their steps.
    large: Vec<(ClosureRef, u8)>,
    /// Remembered slots that were visited.
    remembered_seen: u64,
    pending: Pending,
    /// The step that roots count as: 0, unless everything is to be promoted to the oldest.
    roots: u8,
}

/// Where a closure is after an attempt to copy it.
#[derive(Debug)]
enum Copied {
    /// At this copy, which the caller has made.
    At(ClosureRef),
    /// At this copy of another worker, which was faster. The caller's copy has been discarded.
    Lost(ClosureRef),
}

/// The results of a copier.
pub(super) struct CopierEnd {
    /// The content of each workspace, in the order of [`Copier::new`].
    pub filled: Vec<Filled>,
    /// Slots in old closures that point to young ones.
    pub remembered: RememberedSet,
    /// Remembered slots that were visited.
    pub remembered_seen: u64,
}

impl<'h> Copier<'h> {
    /// A copier for the thread that collects, with two workspaces for each step: closures with
    /// pointers, then closures without.
    ///
    /// # Safety
    /// The mutators are stopped, and no block is freed, as long as there is a copier of this heap.
    /// The blocks of from-space are condemned.
    pub unsafe fn new(heap: &'h mut crate::heap::Heap, opened: Vec<(Workspace, CopyBuffer)>) -> Self {
        let (states, charges) = (heap.states(), heap.charges());
        let mut buffers = [CopyBuffer::NONE; MAX_WORKSPACES];
        let place = |((workspace, buffer), place): ((Workspace, CopyBuffer), &mut CopyBuffer)| {
            *place = buffer;
            workspace
        };
        Copier {
            heap: Arc::new(SharedHeap::new(heap)),
            states,
            workspaces: opened.into_iter().zip(&mut buffers).map(place).collect(),
            buffers,
            remembered: RememberedSet::charged(charges),
            large: Vec::new(),
            remembered_seen: 0,
            pending: Pending::ALONE,
            roots: 0,
        }
    }

    /// A copier for another worker, into workspaces of the same lanes.
    fn split(&mut self) -> Copier<'h> {
        let mut buffers = [CopyBuffer::NONE; MAX_WORKSPACES];
        let split = |(workspace, place): (&mut Workspace, &mut CopyBuffer)| {
            let (workspace, buffer) = workspace.split();
            *place = buffer;
            workspace
        };
        let workspaces = self.workspaces.iter_mut().zip(&mut buffers).map(split).collect();
        Copier {
            workspaces,
            buffers,
            ..self.absent()
        }
    }

    /// Empty placeholder left while the real copier is with the workers: it has no workspaces.
    fn absent(&self) -> Copier<'h> {
        Copier {
            heap: Arc::clone(&self.heap),
            states: self.states,
            workspaces: Vec::new(),
            buffers: [CopyBuffer::NONE; MAX_WORKSPACES],
            remembered: self.remembered.another(),
            large: Vec::new(),
            remembered_seen: 0,
            pending: Pending::ALONE,
            roots: self.roots,
        }
    }

    /// The heap, which all copiers of the collection share.
    pub fn heap(&self) -> Arc<SharedHeap<'h>> {
        Arc::clone(&self.heap)
    }

    /// The states of the heap's blocks.
    pub fn states(&self) -> StateView {
        self.states
    }

    /// The step that no closure leaves.
    pub fn oldest(&self) -> u8 {
        (self.workspaces.len() / 2) as u8
    }

    /// When this copier stops for its work to be shared.
    pub fn set_pending(&mut self, pending: Pending) {
        self.pending = pending;
    }

    /// Whether `words` words of slots are enough to be shared.
    pub fn would_share(&self, words: Words) -> bool {
        self.pending.would_share(words)
    }

    /// From now on all that survives goes to the oldest step, as if everything were held from
    /// there.
    pub fn promote_everything(&mut self) {
        self.roots = self.oldest();
    }

    /// Ends the copier, after all has been scavenged.
    pub fn finish(self) -> CopierEnd {
        let finish = |(workspace, buffer): (Workspace, CopyBuffer)| workspace.finish(buffer);
        CopierEnd {
            filled: self.workspaces.into_iter().zip(self.buffers).map(finish).collect(),
            remembered: self.remembered,
            remembered_seen: self.remembered_seen,
        }
    }

    /// Evacuates those of `slots` that do not lie in memory that is or was condemned.
    ///
    /// # Safety
    /// The slots are remembered ones, of closures that have not been freed. No other worker is at
    /// one of them, except (in parallel) a worker that calls this function, too.
    pub unsafe fn remembered_slots<const PARALLEL: bool>(&mut self, slots: &[Slot]) {
        self.remembered_seen += slots.len() as u64;
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
                unsafe { self.evacuate_now::<PARALLEL>(slot, holder.step()) };
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
    pub unsafe fn evacuate_now<const PARALLEL: bool>(&mut self, slot: Slot, holder: u8) {
        // SAFETY: the caller's promise; the mutators are stopped.
        let closure = unsafe { load::<PARALLEL>(slot) };
        let state = self.states.of(closure.addr());
        if state.is_condemned() {
            // SAFETY: such slots point to closures or to null, and null is not condemned.
            unsafe { self.evacuate::<PARALLEL>(slot, closure, state, holder) };
        } else {
            self.remember_if_younger(slot, closure, holder);
        }
    }

    /// Evacuates a root.
    ///
    /// # Safety
    /// As for [`Copier::evacuate_now`].
    #[inline(always)]
    pub unsafe fn evacuate_root<const PARALLEL: bool>(&mut self, slot: Slot) {
        // SAFETY: passed on.
        unsafe { self.evacuate_now::<PARALLEL>(slot, self.roots) };
    }

    /// After scavenging: updates a weak slot if its referent lives, and clears it if not.
    ///
    /// # Safety
    /// The slot is a root that no other thread uses.
    pub unsafe fn update_weak(&self, slot: Slot) {
        // SAFETY: the caller's promise; a root holds null or a closure, perhaps forwarded.
        unsafe {
            let closure = slot.load();
            if self.states.of(closure.addr()).is_condemned() {
                let null = ClosureRef(std::ptr::null_mut());
                let dead = mutant!("copy/weak-handle-kept", null => closure);
                slot.store(closure.header().forwarded_to().unwrap_or(dead));
            }
        }
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
                return self.evacuate_large(slot, closure, holder);
            }
            let dest = first_workspace(self.destination(state, holder));
            // Two branches, not a computed workspace: predicted, they free the address of the copy
            // from the header's load.
            let copied = if header.ptrs() == 0 {
                self.copy::<PARALLEL>(closure, header, dest + 1)
            } else {
                self.copy::<PARALLEL>(closure, header, dest)
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

    /// Evacuates a slot whose referent does not go to the lane that is being scavenged.
    ///
    /// # Safety
    /// The slot is one of a closure in step `holder` that this worker scavenges. It holds a
    /// closure, or the address of one that was forwarded, in a block that was condemned.
    #[inline(never)]
    unsafe fn evacuate_elsewhere<const PARALLEL: bool>(&mut self, slot: Slot, holder: u8) {
        // SAFETY: passed on. A large object may have been reached since the slot was found.
        unsafe {
            let closure = slot.load();
            let state = self.states.of(closure.addr());
            self.evacuate::<PARALLEL>(slot, closure, state, holder);
        }
    }

    /// Copies a closure into workspace number `index`, and forwards it.
    ///
    /// # Safety
    /// `closure` is a closure with this header, or (in parallel) was one until now.
    #[inline(always)]
    unsafe fn copy<const PARALLEL: bool>(&mut self, closure: ClosureRef, header: Header, index: usize) -> Copied {
        let index = index % MAX_WORKSPACES;
        // The range that a full chunk leaves is offered to no worker: roots and remembered slots
        // are evacuated before there are workers, or the worker goes through its own ranges
        // afterwards. SAFETY: passed on; to-space is not from-space.
        unsafe {
            let to = copy_closure::<PARALLEL>(closure, header, &mut self.buffers[index], |buffer, words| {
                refill(
                    &mut self.workspaces[index],
                    &mut self.pending,
                    &self.heap,
                    None,
                    buffer,
                    words,
                )
            });
            forward::<PARALLEL>(closure, header, to, &mut self.buffers[index])
        }
    }

    /// Remembers `slot`, of a closure in step `holder`, if it points to a younger closure after
    /// this collection.
    #[inline(always)]
    fn remember_if_younger(&mut self, slot: Slot, closure: ClosureRef, holder: u8) {
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
            let run = heap
                .blocks
                .run_of(closure.addr())
                .expect("a large object has a block run of its own");
            heap.set_state(run, BlockState::of_step(dest).large().reached(true));
            drop(heap);
            // SAFETY: large objects are never forwarded, so this is a whole closure.
            let extent = unsafe { closure.extent() };
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
unsafe fn load_header<const PARALLEL: bool>(closure: ClosureRef) -> Header {
    // SAFETY: passed on.
    unsafe {
        if PARALLEL {
            closure.shared_header()
        } else {
            closure.header()
        }
    }
}

/// Leaves the address of the copy `to`, which is the last in its buffer, at the closure. If another
/// worker was faster, takes the copy back.
///
/// # Safety
/// `closure` is a closure that has (or, in parallel, had) this header, and `to` is its copy.
#[inline(always)]
unsafe fn forward<const PARALLEL: bool>(
    closure: ClosureRef,
    header: Header,
    to: ClosureRef,
    buffer: &mut CopyBuffer,
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
    Copied::At(to)
}

/// Opens another chunk of a workspace. The closures of the old one that wait to be scanned go to
/// `queue`, or wait in the workspace.
#[cold]
#[inline(never)]
fn refill(
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
