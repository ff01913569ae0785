//! Scavenging until nothing is left: by one thread, or by the workers of a parallel phase.

use super::Copier;
use super::scavenge::{First, RANGE_WORTH_SPLITTING};
use super::work::{RememberedBits, RememberedSlots, WorkItem};
use crate::capability::Capability;
use crate::closure::SlotRange;
use crate::profile::{MoveSideWords, NoSideWords};
use crate::remembered::{RememberedChunks, RememberedSet};
use crate::roots::frames::{FrameHeader, for_each_frame_slot};
use crate::trace::drained::Drained;
use crate::words::Words;
use crate::workers::{ParallelPhase, Tracer, WorkQueue, Workers};

/// Slots of a large object in one work item: as many as a chunk of to-space has words. Fewer in
/// test builds.
const SLICE: usize = if cfg!(debug_assertions) { 64 } else { 4096 };

/// Remembered slots in one work item.
const REMEMBERED_SLICE: usize = 1024;

/// The roots that a capability had when the world was stopped, for its worker to evacuate.
#[derive(Debug)]
pub(in crate::trace) struct Owned {
    remembered: *const RememberedSet,
    frames: *const FrameHeader,
}

impl Owned {
    /// The remembered slots and the frames of `capability`.
    pub fn of<A>(capability: Capability<'_, A>) -> Self {
        Owned {
            remembered: capability.remembered(),
            frames: capability.frames(),
        }
    }
}

/// Roots and remembered slots that the workers evacuate.
#[derive(Debug)]
pub(in crate::trace) struct SharedRoots {
    /// Without load balancing: the tasks of the workers.
    pub owned: Vec<Owned>,
    /// With load balancing: remembered slots.
    pub chunks: RememberedChunks,
    /// With load balancing: slots of handles.
    pub handles: SlotRange,
}

impl SharedRoots {
    /// Nothing to share.
    pub fn none() -> Self {
        SharedRoots {
            owned: Vec::new(),
            chunks: RememberedChunks::default(),
            handles: SlotRange::EMPTY,
        }
    }

    /// Whether there is nothing to share.
    pub fn is_empty(&self) -> bool {
        self.owned.is_empty() && self.chunks.is_empty() && self.handles.is_empty()
    }
}

impl Copier<'_> {
    /// Whether a workspace has a range worth splitting, after enough chunks were filled.
    fn has_range(&self) -> bool {
        let scanned = || self.buffers.iter().step_by(2);
        self.pending.shares_anything() && scanned().any(|buffer| buffer.unscanned() >= RANGE_WORTH_SPLITTING)
    }

    /// Scavenges until nothing is left, or until the remaining work is worth sharing.
    pub fn scavenge_alone(&mut self) -> Drained {
        match self.side_words() {
            None => self.scavenge_steps(NoSideWords),
            Some(side_words) => self.scavenge_steps(side_words.view()),
        }
    }

    /// The same, with these side words.
    pub fn scavenge_steps(&mut self, side_words: impl MoveSideWords) -> Drained {
        loop {
            let mut step = self.oldest();
            while step > 0 {
                // SAFETY: nothing comes from elsewhere.
                let worked = unsafe { self.scavenge_lane::<false>(step, First::Nothing, None, side_words) };
                // Back to the oldest after each that had work: its referents must not be copied to
                // a younger step first (they are remembered if they were).
                step = if worked { self.oldest() } else { step - 1 };
                if self.pending.is_worth_sharing() || self.has_range() {
                    return Drained::WorthSharing;
                }
            }
            let Some((closure, step)) = self.large.pop() else {
                return Drained::All;
            };
            // SAFETY: large objects that were reached are whole closures, in the step that was
            // noted.
            unsafe {
                let slots = SlotRange::of(closure.extent());
                self.pending.words -= Words(slots.len());
                self.scavenge_lane::<false>(step, First::Slots(slots), None, side_words);
            }
        }
    }

    fn do_item(&mut self, item: WorkItem, queue: WorkQueue<'_, WorkItem>, side_words: impl MoveSideWords) {
        // SAFETY: a work item belongs to the worker that has taken it. Closures and slots of large
        // objects belong to the item's step; roots and remembered slots belong to this heap.
        unsafe {
            match item {
                WorkItem::Closures(closures, step) => {
                    self.scavenge_lane::<true>(step, First::Closures(closures), Some(queue), side_words);
                }
                WorkItem::Slots(slots, step) => {
                    self.scavenge_lane::<true>(step, First::Slots(slots), Some(queue), side_words);
                }
                WorkItem::Roots(slots) => slots.for_each(|slot| self.evacuate_root::<true>(slot, side_words)),
                WorkItem::Remembered(_) if mutant!("shared/remembered-forgotten") => {}
                WorkItem::RememberedBits(_) if mutant!("shared/remembered-bits-forgotten") => {}
                WorkItem::Remembered(run) => self.remembered_slots::<true>(run.slots(), side_words),
                WorkItem::RememberedBits(bits) => {
                    bits.piece()
                        .for_each_run(|slots| self.remembered_slots::<true>(slots, side_words));
                }
            }
        }
    }

    /// Pushes the pending work to `queue`: ranges of chunks that became full, and large objects, in
    /// slices.
    fn push_pending(&mut self, queue: WorkQueue<'_, WorkItem>) {
        if self.pending.words == Words(0) {
            return;
        }
        for workspace in &mut self.workspaces {
            let step = workspace.step();
            for range in workspace.unscanned.drain(..) {
                queue.push(WorkItem::Closures(range, step));
            }
        }
        for (closure, step) in self.large.drain(..) {
            // SAFETY: large objects that were reached are whole closures.
            let slots = SlotRange::of(unsafe { closure.extent() });
            if !mutant!("shared/slices-forgotten") {
                slots
                    .slices(SLICE)
                    .for_each(|slice| queue.push(WorkItem::Slots(slice, step)));
            }
        }
        self.pending.words = Words(0);
    }

    /// [`Tracer::trace_shared`].
    fn trace_items(&mut self, item: Option<WorkItem>, queue: WorkQueue<'_, WorkItem>, side_words: impl MoveSideWords) {
        let mut next = item;
        loop {
            if let Some(item) = next {
                self.do_item(item, queue, side_words);
            }
            let mut step = self.oldest();
            while step > 0 {
                // SAFETY: nothing comes from elsewhere.
                let worked = unsafe { self.scavenge_lane::<true>(step, First::Nothing, Some(queue), side_words) };
                step = if worked { self.oldest() } else { step - 1 };
            }
            self.push_pending(queue);
            next = queue.pop();
            if next.is_none() {
                return;
            }
        }
    }

    /// Evacuates the slots that `task` is for.
    fn evacuate_owned(&mut self, task: &Owned, side_words: impl MoveSideWords) {
        // SAFETY: the mutators are stopped, and the worker that took the task has the set and the
        // frames to itself.
        unsafe {
            (*task.remembered).drain(|_, slots| self.remembered_slots::<true>(slots, side_words));
            for_each_frame_slot(task.frames, |slot| self.evacuate_root::<true>(slot, side_words));
        }
    }
}

// SAFETY: a copier holds memory of the heap, which any thread of the collection may work on, and a
// lock on the heap.
unsafe impl Tracer for Copier<'_> {
    type Item = WorkItem;
    type Task = Owned;

    fn trace_shared(&mut self, item: Option<WorkItem>, queue: WorkQueue<'_, WorkItem>) {
        // Taken, not cloned: their count of owners is shared with the other workers.
        let Some(side_words) = self.side_words.take() else {
            return self.trace_items(item, queue, NoSideWords);
        };
        self.trace_items(item, queue, side_words.view());
        self.side_words = Some(side_words);
    }

    fn begin(&mut self, task: &Owned) {
        match self.side_words() {
            None => self.evacuate_owned(task, NoSideWords),
            Some(side_words) => self.evacuate_owned(task, side_words.view()),
        }
    }
}

/// A phase in which the leader starts with the pending work of `copier`, and `roots` are shared
/// out. `copier` is absent until the phase returns it.
pub(in crate::trace) fn phase_of<'h>(
    copier: &mut Copier<'h>,
    roots: &mut SharedRoots,
    workers: &Workers<'_>,
) -> ParallelPhase<Copier<'h>> {
    // The workers are woken once.
    copier.pending.share_no_more();
    let owned = std::mem::take(&mut roots.owned);
    let handles = std::mem::replace(&mut roots.handles, SlotRange::EMPTY);
    ParallelPhase::new(workers, owned, |queue| {
        copier.push_pending(queue);
        if !mutant!("shared/handles-forgotten") {
            handles
                .slices(SLICE)
                .for_each(|slice| queue.push(WorkItem::Roots(slice)));
        }
        for slots in roots.chunks.iter().flat_map(|slots| slots.chunks(REMEMBERED_SLICE)) {
            // SAFETY: the chunks are kept until the collection is over.
            queue.push(WorkItem::Remembered(unsafe { RememberedSlots::new(slots) }));
        }
        for piece in roots.chunks.pieces() {
            // SAFETY: the bits are kept until the collection is over.
            queue.push(WorkItem::RememberedBits(unsafe { RememberedBits::new(piece) }));
        }
        let others: Vec<Copier<'h>> = (1..workers.count()).map(|_| copier.split()).collect();
        let leader = std::mem::replace(copier, copier.absent());
        std::iter::once(leader).chain(others).collect()
    })
}
