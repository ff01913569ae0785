//! A copier: one worker's workspaces, and the work that it has found.
//!
//! A serial collection has one copier, a parallel one has a copier for each worker that has
//! entered. The hot code is in [`kernel`], [`copy`] and [`evacuate`], written once for both (`const
//! PARALLEL`), for heaps with and without a profile, and for the values of ephemerons
//! ([`MoveSideWords`]). The differences in parallel:
//!
//! * A closure is copied first and then forwarded by compare-and-swap. The loser of the race
//!   discards its copy and uses the winner's address. No closure exists twice; the cost is one CAS
//!   (race R7 of `docs/parallel-collection.md`).
//! * A header is loaded with acquire (nothing on x86), and never again while its closure is copied.
//! * Ranges that wait to be scavenged go to the worker's queue, from which others can steal. Part
//!   of the current range goes there at once if a worker is idle.
//! * A large array is cut into slices.
//!
//! Each root, remembered slot and slot to be scavenged belongs to one worker, except slots that are
//! remembered twice. Two workers may update such a slot, and both find the same address (R8).

mod copy;
mod drain;
mod evacuate;
mod kernel;
mod pending;
mod queued_slot;
mod scavenge;
mod work;
mod workspace;

pub(super) use copy::copy_run;
pub(super) use drain::{Owned, SharedRoots, phase_of};
pub(super) use pending::Pending;
pub(super) use workspace::Workspace;

use crate::block::StateView;
use crate::closure::ClosureRef;
use crate::profile::SideWords;
use crate::remembered::RememberedSet;
use crate::stats::Counted;
use crate::sync::Arc;
use crate::words::Words;
use workspace::{CopyBuffer, Filled, MAX_WORKSPACES, SharedHeap};

/// One worker's copying: see the module's text.
#[derive(Debug)]
pub(super) struct Copier<'h> {
    heap: Arc<SharedHeap<'h>>,
    states: StateView,
    /// The side words of a profiled heap, which move with the closures.
    side_words: Option<Arc<SideWords>>,
    /// Two for each step, from step 1: closures with pointers, closures without.
    workspaces: Vec<Workspace>,
    buffers: [CopyBuffer; MAX_WORKSPACES],
    /// Slots in old closures that point to young ones after this collection.
    remembered: RememberedSet,
    /// Large objects that were reached and wait to be scavenged, with their steps.
    large: Vec<(ClosureRef, u8)>,
    counted: Counted,
    pending: Pending,
    /// The step that roots count as: 0, unless everything is to be promoted to the oldest.
    roots: u8,
}

/// The results of a copier.
pub(super) struct CopierEnd {
    /// The content of each workspace, in the order of [`Copier::new`].
    pub filled: Vec<Filled>,
    /// Slots in old closures that point to young ones.
    pub remembered: RememberedSet,
    /// The numbers that this worker counted.
    pub counted: Counted,
}

impl<'h> Copier<'h> {
    /// A copier for the collecting thread, with two workspaces for each step: closures with
    /// pointers, then closures without.
    ///
    /// # Safety
    /// The mutators are stopped, and no block is freed, as long as there is a copier of this heap.
    /// The blocks of from-space are condemned.
    pub unsafe fn new(heap: &'h mut crate::heap::Heap, opened: Vec<(Workspace, CopyBuffer)>) -> Self {
        let (states, base, charges) = (heap.states(), heap.blocks().base(), heap.charges());
        let side_words = heap.side_words().cloned();
        let mut buffers = [CopyBuffer::NONE; MAX_WORKSPACES];
        let place = |((workspace, buffer), place): ((Workspace, CopyBuffer), &mut CopyBuffer)| {
            *place = buffer;
            workspace
        };
        Copier {
            heap: Arc::new(SharedHeap::new(heap)),
            states,
            side_words,
            workspaces: opened.into_iter().zip(&mut buffers).map(place).collect(),
            buffers,
            remembered: RememberedSet::of_heap(base, charges),
            large: Vec::new(),
            counted: Counted::default(),
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
            side_words: self.side_words.clone(),
            workspaces: Vec::new(),
            buffers: [CopyBuffer::NONE; MAX_WORKSPACES],
            remembered: self.remembered.another(),
            large: Vec::new(),
            counted: Counted::default(),
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

    /// The side words of a profiled heap.
    pub fn side_words(&self) -> Option<Arc<SideWords>> {
        self.side_words.clone()
    }

    /// The step that no closure leaves.
    pub fn oldest(&self) -> u8 {
        (self.workspaces.len() / 2) as u8
    }

    /// When this copier stops so that its work can be shared.
    pub fn set_pending(&mut self, pending: Pending) {
        self.pending = pending;
    }

    /// Whether `words` words of slots are enough to be shared.
    pub fn would_share(&self, words: Words) -> bool {
        self.pending.would_share(words)
    }

    /// From now on all survivors go to the oldest step, as if everything were held from there.
    pub fn promote_everything(&mut self) {
        self.roots = self.oldest();
    }

    /// Ends the copier, after all has been scavenged.
    pub fn finish(self) -> CopierEnd {
        let finish = |(workspace, buffer): (Workspace, CopyBuffer)| workspace.finish(buffer);
        CopierEnd {
            filled: self.workspaces.into_iter().zip(self.buffers).map(finish).collect(),
            remembered: self.remembered,
            counted: self.counted,
        }
    }
}
