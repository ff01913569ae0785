//! Evacuation and scavenging: copying collection over steps.
//!
//! *Evacuate* a slot: if its referent lies in a condemned block, copy it (or, if that was done, follow the forwarding
//! address) and update the slot. *Scavenge*: evacuate every slot of what was copied, until nothing is left. Every
//! collector that copies uses this, whatever its steps.
//!
//! Where a closure goes: one step up, or to the step of the closure that points to it if that is older (eager
//! promotion, for mutable holders too), so that tracing makes a pointer from old to young only where the referent had
//! gone to a younger step before, or lies in an old one that is not collected. Those slots are remembered; everything else
//! that was remembered is dropped, since remembered slots are evacuated first and promote their referents. (Where several threads share them, some roots may come
//! first; what those leave in a younger step is remembered again.)
//!
//! Order: slots found by scavenging, but the last ones of a range, go through the prefetch queue ([`super::queue`]), roots and remembered slots do
//! not. Older steps are scavenged before younger ones. Large objects are not copied: their blocks change state, and their
//! slots are scavenged from where they are.
//!
//! The thread that collects does it alone, in code without atomics, as long as there is not enough to be shared; then, if it has [`Workers`], it
//! wakes the others. So a collection that is small, or whose closures form one long chain, costs the same with any number of threads.

use super::copier::Copier;
use super::lane::{Cursor, OpenLane, SharedHeap};
use super::order::{RememberedTracing, Tracing};
use super::parallel::{Owned, phase_of};
use super::pending::Pending;
use super::queue::MAX_LANES;
use crate::block::FIRST_OLD_STEP;
use crate::block::{BlockRun, BlockState};
use crate::capability::Capabilities;
use crate::cause::{NotBegun, Outcome};
use crate::closure::{ClosureRef, Slot};
use crate::heap::Heap;
use crate::remembered::{RememberedChunks, RememberedSet};
use crate::roots::Roots;
use crate::space::{LargeObject, Nursery, Steps};
use crate::sync::Arc;
use crate::words::{Addr, Words};
use crate::workers::Workers;
use gclab_stats::{Shared, Sharing};
use std::ops::Range;

/// One collection by copying, under way.
#[derive(Debug)]
pub struct Evacuator<'h> {
    /// Of the thread that collects.
    copier: Copier<'h>,
    /// Of the threads that were called.
    others: Vec<Copier<'h>>,
    workers: Option<Workers<'h>>,
    /// What each thread of a team without load balancing has to begin with.
    owned: Vec<Owned>,
    /// Remembered slots that are shared out.
    chunks: RememberedChunks,
    /// Slots of handles that are shared out.
    handles: Range<*mut u64>,
    shared: Shared,
    /// What is freed at the end, unless (large objects) it was reached.
    from_space: Vec<BlockRun>,
    from_large: Vec<LargeObject>,
    last_condemned: u8,
}

const NO_SLOTS: Range<*mut u64> = std::ptr::null_mut()..std::ptr::null_mut();

/// What a copying collection did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Evacuated {
    /// Words copied.
    pub copied: Words,
    /// Of these, words copied into a generation that was not collected (none in a major collection).
    pub promoted: Words,
    /// Entries of the remembered set that were visited.
    pub remembered: u64,
    /// How the work was shared out.
    pub shared: Shared,
}

impl<'h> Evacuator<'h> {
    /// Condemn the nursery and all steps up to `last`, and open to-space for what survives.
    ///
    /// # Errors
    /// If there is no room for a copy of all of it. Nothing is condemned then, and the heap as it was.
    pub fn condemn(heap: &'h mut Heap, nursery: &mut Nursery, steps: &mut Steps, last: u8) -> Result<Self, NotBegun> {
        let copied: usize = (1..=last).map(|number| steps.step(number).copied_words().0).sum();
        heap.prepare_to_copy(nursery.words() + Words(copied), 2 * usize::from(steps.oldest()))
            .map_err(NotBegun)?;
        let (states, charges) = (heap.states(), heap.charges());
        let oldest = steps.oldest();
        let (mut from_space, mut from_large) = (Vec::new(), nursery.reset());
        let mut lanes = Vec::with_capacity(2 * usize::from(oldest));
        let mut cursors = [Cursor::NONE; MAX_LANES];
        for number in 1..=oldest {
            let step = steps.step_mut(number);
            if number <= last {
                let step = std::mem::take(step);
                let runs = step
                    .scanned
                    .chunks
                    .iter()
                    .chain(&step.flat.chunks)
                    .map(|chunk| chunk.run);
                let first = from_space.len();
                from_space.extend(runs);
                from_space[first..]
                    .iter()
                    .for_each(|run| heap.set_state(*run, BlockState::of_step(number).condemned(true)));
                step.large
                    .iter()
                    .for_each(|large| heap.set_state(large.run, BlockState::of_step(number).condemned(true).large()));
                from_large.extend(step.large);
            }
            let step = steps.step_mut(number);
            let state = BlockState::of_step(number);
            for lane in [&mut step.scanned, &mut step.flat] {
                let (open, cursor) = OpenLane::new(state, std::mem::take(lane));
                cursors[lanes.len()] = cursor;
                lanes.push(open);
            }
        }
        let copier = Copier {
            heap: Arc::new(SharedHeap::new(heap)),
            states,
            lanes,
            cursors,
            remembered: RememberedSet::charged(charges),
            large: Vec::new(),
            remembered_seen: 0,
            pending: Pending::ALONE,
            roots: 0,
        };
        Ok(Evacuator {
            copier,
            others: Vec::new(),
            workers: None,
            owned: Vec::new(),
            chunks: RememberedChunks::default(),
            handles: NO_SLOTS,
            shared: Shared::default(),
            from_space,
            from_large,
            last_condemned: last,
        })
    }

    /// From now on there are others who may help. Comes before anything is traced.
    pub fn share_with(&mut self, workers: Workers<'h>) {
        self.shared.sharing = workers.sharing_so_far();
        self.copier.pending = Pending::shared_with(&workers);
        self.workers = Some(workers).filter(Workers::has_helpers);
    }

    /// From now on all that survives goes to the oldest step, as if everything were held from there. That step must not be condemned, and nothing has been traced
    /// yet.
    pub fn promote_everything(&mut self) {
        debug_assert!(self.last_condemned < self.copier.oldest(), "nothing is older");
        self.copier.roots = self.copier.oldest();
    }

    /// Evacuate a root.
    #[inline]
    pub fn root(&mut self, slot: Slot) {
        self.copier.evacuate_now::<false>(slot, self.copier.roots);
    }

    /// Evacuate the remembered slots that do not lie in condemned memory themselves, and empty the sets. Comes before the
    /// roots, so that the referents go to the steps of the closures that point to them.
    pub fn remembered<A>(&mut self, capabilities: Capabilities<'_, A>) {
        let slots: usize = capabilities
            .iter()
            .map(|capability| capability.remembered().len())
            .sum();
        let (balanced, helpers) = self
            .workers
            .as_ref()
            .map_or((false, false), |workers| (workers.is_balanced(), true));
        if helpers && !balanced {
            self.owned.extend(capabilities.iter().map(Owned::of));
        } else if helpers && slots >= self.copier.pending.share_at {
            for capability in capabilities.iter() {
                self.chunks.take(capability.remembered());
            }
        } else {
            for capability in capabilities.iter() {
                let copier = &mut self.copier;
                capability
                    .remembered()
                    .drain(|_, slots| copier.remembered_slots::<false>(slots));
            }
        }
    }

    /// Evacuate the roots: heap roots, handles (unless there are so many that they had better be shared), and frames, unless the threads of a team are to do
    /// them each for its own capabilities.
    pub fn roots(&mut self, roots: Roots<'_>) {
        if self.owned.is_empty() {
            roots.for_each_frame_slot(|slot| self.root(slot));
        }
        roots.handles().for_each_heap_root(|slot| self.root(slot));
        let handles = roots.handles().strong_handles();
        let count = (handles.end as usize - handles.start as usize) / size_of::<u64>();
        if count >= self.copier.pending.share_at {
            self.handles = handles;
        } else {
            (0..count).for_each(|i| self.root(Slot(handles.start.wrapping_add(i))));
        }
    }

    /// Scavenge until nothing is left.
    pub fn scavenge(&mut self) {
        let shares_roots = !self.owned.is_empty() || !self.chunks.is_empty() || !self.handles.is_empty();
        if !shares_roots && self.copier.scavenge_alone() {
            return;
        }
        // Nobody is called twice.
        self.copier.pending = Pending {
            share_at: usize::MAX,
            share_after_chunks: usize::MAX,
            ..self.copier.pending
        };
        let Some(mut workers) = self.workers.take() else {
            unreachable!("nothing is left to be shared if there is nobody to share with");
        };
        self.shared.sharing = if workers.is_balanced() {
            Sharing::Balanced
        } else {
            Sharing::Owners
        };
        let handles = std::mem::replace(&mut self.handles, NO_SLOTS);
        let owned = std::mem::take(&mut self.owned);
        let phase = phase_of(&mut self.copier, &self.chunks, handles, owned, &workers);
        (self.others, self.shared.threads, self.shared.parallel_ns) = phase.run(&mut workers);
        self.copier = self.others.remove(0);
    }

    /// After scavenging: updates a weak slot if its referent lives, clears it if not.
    pub fn weak(&mut self, slot: Slot) {
        // SAFETY: weak slots are roots' memory, and what they hold is null or a closure, perhaps forwarded.
        unsafe {
            let word = slot.load();
            let state = self.copier.states.of(Addr(word as usize));
            if state.is_condemned() {
                let header = ClosureRef(word as *mut u64).header();
                slot.store(if header.is_header() { 0 } else { header.0 });
            }
        }
    }

    /// Free what was condemned and not reached, give the steps what survived, and the mutators' remembered sets what must
    /// stay remembered: each thread's to its own capability.
    pub fn finish<A>(self, steps: &mut Steps, capabilities: Capabilities<'_, A>) -> Evacuated {
        let mut done = Evacuated {
            shared: self.shared,
            ..Evacuated::default()
        };
        let (states, heap) = (self.copier.states, Arc::clone(&self.copier.heap));
        let mut heap = heap.lock();
        if let Some(side_words) = heap.side_words() {
            // SAFETY: all that lives has been copied, and nothing of from-space was freed.
            unsafe { side_words.follow_copies(states) };
        }
        let sets: Vec<&RememberedSet> = capabilities.iter().map(|capability| capability.remembered()).collect();
        if let Some(first) = sets.first().filter(|_| !self.chunks.is_empty()) {
            self.chunks.give_back(first);
        }
        // What has room left comes last, where the next collection looks for it.
        let mut parts = Vec::new();
        for (number, copier) in std::iter::once(self.copier).chain(self.others).enumerate() {
            done.remembered += copier.remembered_seen;
            let mut copied_by_all = 0;
            for (index, lane) in copier.lanes.into_iter().enumerate() {
                let step_number = index as u8 / 2 + 1;
                let (lane, with_room, copied) = lane.finish(copier.cursors[index]);
                copied_by_all += copied.0;
                if step_number > self.last_condemned && step_number >= FIRST_OLD_STEP {
                    done.promoted.0 += copied.0;
                }
                let to = steps.lane_mut(index);
                to.chunks.extend(lane.chunks);
                to.words += lane.words;
                parts.extend(with_room.into_iter().map(|part| (index, part)));
            }
            done.copied.0 += copied_by_all;
            if let Some(thread) = done.shared.threads.get_mut(number) {
                thread.copied = copied_by_all as u64 * 8;
            }
            if let Some(set) = sets.get(number % sets.len().max(1)) {
                copier
                    .remembered
                    .drain(|_, slots| slots.iter().for_each(|&word| set.push(Slot(word as *mut u64))));
            }
        }
        for (index, part) in parts {
            steps.lane_mut(index).chunks.push(part);
        }
        for large in self.from_large {
            let state = states.of(large.run.start());
            if state.is_condemned() {
                heap.blocks.free(large.run);
            } else {
                heap.set_state(large.run, state.reached(false));
                let step = steps.step_mut(state.step());
                step.large_words += large.words.0;
                step.large.push(large);
            }
        }
        // Freed last to first, so that the next collection's to-space gets them in the order they were filled.
        self.from_space.into_iter().rev().for_each(|run| heap.blocks.free(run));
        // What else the collection does may need memory of another kind.
        heap.blocks.end_promise();
        done
    }
}

impl Tracing for Evacuator<'_> {
    fn roots(&mut self, roots: Roots<'_>) {
        Evacuator::roots(self, roots);
    }

    fn trace(&mut self) {
        self.scavenge();
    }

    fn weak(&mut self, slot: Slot) {
        Evacuator::weak(self, slot);
    }
}

impl RememberedTracing for Evacuator<'_> {
    fn remembered<A>(&mut self, capabilities: Capabilities<'_, A>) {
        Evacuator::remembered(self, capabilities);
    }
}

impl Evacuated {
    /// The outcome of a collection that left `steps`, but for its generation and whether it was major.
    pub fn outcome(&self, steps: &Steps) -> Outcome {
        Outcome {
            copied: self.copied.to_bytes(),
            promoted: self.promoted.to_bytes(),
            remembered: self.remembered,
            shared: self.shared.clone(),
            live: steps.words().to_bytes(),
            large: steps.large_words().to_bytes(),
            slop: steps.slop(),
            ..Outcome::default()
        }
    }
}
