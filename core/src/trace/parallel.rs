//! A shift of copiers: what they begin with, and what belongs to whom without load balancing.

use super::copier::{Copier, offer_slices};
use super::work::{WorkItem, WorkKind};
use crate::capability::Capability;
use crate::closure::Slot;
use crate::remembered::{RememberedChunks, RememberedSet};
use crate::roots::frames::{FrameHeader, for_each_frame_slot};
use crate::workers::{ParallelPhase, Tracer, WorkQueue, Workers};
use std::ops::Range;

/// Remembered slots that are one piece of work.
const REMEMBERED_PIECE: usize = 1024;

/// What a capability had when the world was stopped, to be evacuated by the thread that it belongs to.
#[derive(Debug)]
pub(super) struct Owned {
    remembered: *const RememberedSet,
    frames: *const FrameHeader,
}

impl Owned {
    pub fn of<A>(capability: Capability<'_, A>) -> Self {
        Owned {
            remembered: capability.remembered(),
            frames: capability.frames(),
        }
    }
}

// SAFETY: what a copier holds is memory of the heap, which any thread of the collection may work on, and a lock on it.
unsafe impl Tracer for Copier<'_> {
    type Item = WorkItem;
    type Task = Owned;

    fn trace_shared(&mut self, piece: Option<WorkItem>, queue: WorkQueue<'_, WorkItem>) {
        self.scavenge_shared(piece, queue);
    }

    fn begin(&mut self, task: &Owned) {
        let holder = self.roots;
        // SAFETY: the mutators are stopped, and who took the task has the set and the frames to itself.
        unsafe {
            (*task.remembered).drain(|_, slots| self.remembered_slots::<true>(slots));
            for_each_frame_slot(task.frames, |slot: Slot| self.evacuate_now::<true>(slot, holder));
        }
    }
}

/// A shift in which the first thread begins with what waits at `copier`, which is absent until the shift gives it back, and with slots that are shared out.
pub(super) fn phase_of<'h>(
    copier: &mut Copier<'h>,
    chunks: &RememberedChunks,
    handles: Range<*mut u64>,
    owned: Vec<Owned>,
    workers: &Workers<'_>,
) -> ParallelPhase<Copier<'h>> {
    ParallelPhase::new(workers, owned, |queue| {
        copier.offer_waiting(queue);
        offer_slices(queue, handles, WorkKind::Roots);
        for slots in chunks.iter().flat_map(|slots| slots.chunks(REMEMBERED_PIECE)) {
            let range = slots.as_ptr_range();
            queue.push(WorkItem {
                from: range.start.cast_mut(),
                to: range.end.cast_mut(),
                kind: WorkKind::Remembered,
            });
        }
        let others: Vec<Copier<'h>> = (1..workers.count()).map(|_| copier.split()).collect();
        let first = std::mem::replace(copier, copier.absent());
        std::iter::once(first).chain(others).collect()
    })
}
