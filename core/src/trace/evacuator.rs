//! Evacuation and scavenging: copying collection over steps.
//!
//! *Evacuate* a slot: if its referent lies in a condemned block, copy it (or follow its forwarding
//! address, if it has one) and update the slot. *Scavenge*: evacuate every slot of the copies,
//! until nothing is left. Every copying collector uses this, with any steps.
//!
//! Where a closure goes: one step up, or to the step of the closure that points to it if that is
//! older (eager promotion, for mutable holders too). So tracing leaves a pointer from old to young
//! only where the referent had already gone to a younger step, or lies in an old one that is not
//! collected. Those slots are remembered; everything else that was remembered is dropped, since
//! remembered slots are evacuated first and promote their referents. (Where several workers share
//! them, some roots may come first; referents that those leave in a younger step are remembered
//! again.)
//!
//! Order: slots found by scavenging, except the last ones of a range, go through the prefetch ring;
//! roots and remembered slots do not. Older steps are scavenged before younger ones. Large objects
//! are not copied: their blocks change state, and their slots are scavenged from where they are.
//!
//! The collecting thread works alone, in code without atomics, until there is enough to share.
//! Then, if it has [`Workers`], it wakes them for a parallel phase. So a collection that is small,
//! or whose closures form one long chain, costs the same with any number of threads.

use super::copier::{Copier, Owned, Pending, SharedRoots, Workspace, phase_of};
use super::drained::Drained;
use super::ephemerons::{AwaitedKeys, AwaitingCopies};
use super::order::{RememberedTracing, Tracing};
use super::weak;
use crate::block::{BlockState, FIRST_OLD_STEP, StateView};
use crate::capability::Capabilities;
use crate::cause::NotBegun;
use crate::closure::Slot;
use crate::heap::{Heap, LargeObject};
use crate::profile::{MoveSideWords, NoSideWords};
use crate::remembered::RememberedSet;
use crate::roots::handles::Strength;
use crate::roots::{RootSlot, Roots};
use crate::space::{Chunk, Lane, Nursery, Step, Steps};
use crate::stats::{Cycle, Shared, Sharing, Work};
use crate::words::Words;
use crate::workers::Workers;

/// A copying collection in progress.
#[derive(Debug)]
pub struct Evacuator<'h> {
    /// The copier of the collecting thread.
    copier: Copier<'h>,
    /// The copiers of the other workers, after a parallel phase.
    others: Vec<Copier<'h>>,
    workers: Option<Workers<'h>>,
    /// Roots that the workers will evacuate.
    shared_roots: SharedRoots,
    shared: Shared,
    /// The condemned chunks. All are freed at the end.
    from_space: Vec<Lane>,
    /// The condemned large objects. Those not reached are freed at the end.
    from_large: Vec<LargeObject>,
    last_condemned: u8,
    /// The number of threads whose lanes have room.
    copiers: usize,
}

impl<'h> Evacuator<'h> {
    /// Condemns the nursery and all steps up to `last`, and opens to-space for the survivors.
    ///
    /// # Errors
    /// If there is no room for a copy of all of it. Then nothing is condemned, and the heap is
    /// unchanged.
    pub fn condemn(heap: &'h mut Heap, nursery: &mut Nursery, steps: &mut Steps, last: u8) -> Result<Self, NotBegun> {
        let copied: usize = (1..=last).map(|number| steps.step(number).copied_words().0).sum();
        let oldest = steps.oldest();
        let (words, lanes) = (nursery.words() + Words(copied), 2 * usize::from(oldest));
        let mut fresh = nursery.take_fresh(heap);
        let mut prepared = heap.prepare_to_copy(words, lanes);
        if prepared.is_err() && !fresh.is_empty() {
            fresh.drain(..).for_each(|run| heap.free(run));
            prepared = heap.prepare_to_copy(words, lanes);
        }
        let copiers = match prepared {
            Err(_) if mutant!("memory/begun-without") => 1,
            prepared => prepared.map_err(NotBegun)?,
        };
        let mut from_large = nursery.reset();
        let replaced = nursery
            .replace(fresh)
            .into_iter()
            .map(|run| Chunk { run, end: run.start() });
        let mut from_space = vec![replaced.collect()];
        let mut opened = Vec::with_capacity(2 * usize::from(oldest));
        for number in 1..=oldest {
            if number <= last {
                let step = std::mem::take(steps.step_mut(number));
                condemn_step(heap, &step, number);
                from_large.extend(step.large());
                from_space.extend([step.scanned, step.flat]);
            }
            let step = steps.step_mut(number);
            let state = BlockState::of_step(number);
            opened.push(Workspace::new(state, true, std::mem::take(&mut step.scanned)));
            opened.push(Workspace::new(state, false, std::mem::take(&mut step.flat)));
        }
        // SAFETY: a collector calls this in a pause, from which `heap` is borrowed (`unsafe trait
        // Collector`), and from-space was condemned just now; `finish` frees it when the copiers
        // are gone.
        let copier = unsafe { Copier::new(heap, opened) };
        Ok(Evacuator {
            copier,
            others: Vec::new(),
            workers: None,
            shared_roots: SharedRoots::none(),
            shared: Shared::default(),
            from_space,
            from_large,
            last_condemned: last,
            copiers,
        })
    }

    /// Condemns the nursery and all steps but the oldest. All survivors go to the oldest, as if
    /// everything were held from there.
    ///
    /// # Errors
    /// Same as [`Evacuator::condemn`].
    pub fn promote_everything(heap: &'h mut Heap, nursery: &mut Nursery, steps: &mut Steps) -> Result<Self, NotBegun> {
        let last = steps.oldest() - 1;
        let mut evacuator = Evacuator::condemn(heap, nursery, steps, last)?;
        if !mutant!("compact/not-promoted") {
            evacuator.copier.promote_everything();
        }
        Ok(evacuator)
    }

    /// From now on `workers` may help, as many as there is room for their lanes. Closures found
    /// before remain the collecting thread's work.
    pub fn share_with(&mut self, workers: Workers<'h>) {
        let workers = workers.at_most(self.copiers);
        self.shared.sharing = workers.sharing_so_far();
        self.copier.set_pending(Pending::shared_with(&workers));
        self.workers = Some(workers).filter(Workers::has_helpers);
    }

    /// Frees condemned memory that was not reached, and gives the survivors to the steps. Slots
    /// that must stay remembered go to the mutators' remembered sets: each worker's to its own
    /// capability. Returns the figures of the collection that left `steps`: one of the generation
    /// whose steps were condemned, and a whole cycle if all were.
    pub fn finish<A>(self, steps: &mut Steps, capabilities: Capabilities<'_, A>) -> Work {
        let mut work = Work {
            generation: u32::from(self.last_condemned).saturating_sub(1),
            cycle: Cycle::whole_if(self.last_condemned == steps.oldest()),
            shared: self.shared,
            ..Work::default()
        };
        let (states, heap) = (self.copier.states(), self.copier.heap());
        let mut heap = heap.lock();
        let sets: Vec<&RememberedSet> = capabilities.iter().map(|capability| capability.remembered()).collect();
        if let Some(first) = sets.first().filter(|_| !self.shared_roots.chunks.is_empty()) {
            self.shared_roots.chunks.give_back(first);
        }
        // Chunks with room left come last, where the next collection looks for them.
        let mut parts = Vec::new();
        let others = self
            .others
            .into_iter()
            .filter(|_| !mutant!("shared/lanes-of-others-lost"));
        for (number, copier) in std::iter::once(self.copier).chain(others).enumerate() {
            let end = copier.finish();
            work.counted += end.counted;
            let mut copied_by_all = 0;
            for (index, filled) in end.filled.into_iter().enumerate() {
                let step_number = index as u8 / 2 + 1;
                copied_by_all += filled.copied.0;
                if step_number > self.last_condemned && step_number >= FIRST_OLD_STEP {
                    work.promoted += filled.copied.to_bytes();
                }
                steps.lane_mut(index).append(filled.lane);
                parts.extend(filled.with_room.into_iter().map(|part| (index, part)));
            }
            work.copied += Words(copied_by_all).to_bytes();
            if let Some(thread) = work.shared.threads.get_mut(number) {
                thread.copied = Words(copied_by_all).to_bytes().0 as u64;
            }
            if let Some(set) = sets.get(number % sets.len().max(1)) {
                let skipped = usize::from(mutant!("copy/remembered-dropped"));
                end.remembered
                    .drain(|_, slots| slots.iter().skip(skipped).for_each(|&slot| set.push(slot)));
            }
        }
        for (index, part) in parts {
            steps.lane_mut(index).push(part);
        }
        release(&mut heap, states, (&self.from_space, self.from_large), steps);
        // The rest of the collection may need memory for other things.
        heap.blocks.end_promise();
        steps.account(work)
    }

    /// Evacuates the roots: heap roots, handles (unless there are enough to be shared), and frames
    /// (unless each worker is to do those of its own capabilities).
    fn evacuate_roots(&mut self, roots: Roots<'_>, side_words: impl MoveSideWords) {
        let evacuate = |copier: &mut Copier<'_>, slot: Slot| {
            // SAFETY: a root of a stopped world (see `Roots`), which no other thread uses.
            unsafe { copier.evacuate_root::<false>(slot, side_words) };
        };
        if self.shared_roots.owned.is_empty() {
            roots.for_each_frame_slot(|slot| evacuate(&mut self.copier, slot));
        }
        roots
            .handles()
            .for_each_heap_root(|slot| evacuate(&mut self.copier, slot));
        let ready = roots.handles().finalisers();
        if !mutant!("finalisers/ready-forgotten") {
            ready.for_each_ready(|slot| evacuate(&mut self.copier, slot));
        }
        let listed = |slot| evacuate(&mut self.copier, slot);
        let handles = roots.handles().visit_handles(Strength::Strong, roots.visited(), listed);
        if self.copier.would_share(Words(handles.len())) {
            self.shared_roots.handles = handles;
        } else {
            handles.for_each(|slot| evacuate(&mut self.copier, slot));
        }
    }

    /// Evacuates the slots of `sets`, and empties them.
    fn evacuate_remembered<'s>(
        &mut self,
        sets: impl Iterator<Item = &'s RememberedSet>,
        side_words: impl MoveSideWords,
    ) {
        let copier = &mut self.copier;
        // SAFETY: the slots are in closures of this heap that have not been freed (the collector's
        // barrier remembers no others), and this is the only thread.
        sets.for_each(|set| set.drain(|_, slots| unsafe { copier.remembered_slots::<false>(slots, side_words) }));
    }
}

/// Condemns the content of step `number`.
fn condemn_step(heap: &mut Heap, step: &Step, number: u8) {
    let condemned = BlockState::of_step(number).condemned(true);
    for chunk in step.scanned.chunks().iter().chain(step.flat.chunks()) {
        heap.set_state(chunk.run, condemned);
    }
    for large in step.large() {
        heap.set_state(large.run, condemned.large());
    }
}

impl Tracing for Evacuator<'_> {
    #[inline]
    fn root(&mut self, slot: RootSlot<'_>) {
        // SAFETY: a root of a stopped world, which no other thread uses.
        unsafe {
            match self.copier.side_words() {
                None => self.copier.evacuate_root::<false>(slot.slot(), NoSideWords),
                Some(side_words) => self.copier.evacuate_root::<false>(slot.slot(), side_words.view()),
            }
        }
    }

    fn roots(&mut self, roots: Roots<'_>) {
        match self.copier.side_words() {
            None => self.evacuate_roots(roots, NoSideWords),
            Some(side_words) => self.evacuate_roots(roots, side_words.view()),
        }
    }

    /// Scavenges until nothing is left. Workers are woken once.
    fn trace(&mut self) {
        let roots_wait = !self.shared_roots.is_empty() && self.others.is_empty();
        if !roots_wait && self.copier.scavenge_alone() == Drained::All {
            return;
        }
        let Some(workers) = &mut self.workers else {
            unreachable!("nothing is worth sharing without workers to share it with");
        };
        self.shared.sharing = if workers.is_balanced() {
            Sharing::Balanced
        } else {
            Sharing::Owners
        };
        let phase = phase_of(&mut self.copier, &mut self.shared_roots, workers);
        (self.others, self.shared.threads, self.shared.parallel_ns) = phase.run(workers);
        self.copier = self.others.remove(0);
    }

    fn trace_from(&mut self, keys: &AwaitedKeys<RootSlot<'_>>) {
        let side_words = self.copier.side_words();
        let awaiting = AwaitingCopies {
            side_words: side_words.as_ref().map(|side_words| side_words.view()),
            keys,
        };
        // Workers do not tell what they reach. From now on one thread traces.
        self.copier.set_pending(Pending::ALONE);
        while let Some(value) = keys.next_root() {
            // SAFETY: a root of a stopped world, which no other thread uses.
            unsafe { self.copier.evacuate_root::<false>(value.slot(), awaiting) };
            self.copier.scavenge_steps(awaiting);
        }
    }

    fn lives(&mut self, slot: RootSlot<'_>) -> bool {
        // SAFETY: everything has been scavenged, and no other thread uses the slot.
        unsafe { weak::lives(slot.slot(), self.copier.states()) }
    }

    fn weak_handles(&mut self, roots: Roots<'_>) {
        let survivors = self.copier.states();
        // SAFETY: everything has been scavenged.
        self.shared += unsafe { weak::update(roots, survivors, self.workers.as_mut()) };
    }
}

/// Frees chunks, and large objects that were not reached. Large objects that were reached go to
/// their steps.
fn release(heap: &mut Heap, states: StateView, (chunks, large): (&[Lane], Vec<LargeObject>), steps: &mut Steps) {
    for large in large {
        let state = states.of(large.start);
        if state.is_condemned() || mutant!("memory/freed-too-early") && large.words.0 % 2 == 0 {
            heap.free_large(large);
        } else {
            heap.set_state(large.run, state.reached(false));
            steps.step_mut(state.step()).push_large(large);
        }
    }
    // Freed last to first, so that the next collection's to-space gets them in the order they were
    // filled.
    let chunks = chunks.iter().rev().flat_map(|lane| lane.chunks().iter().rev());
    chunks
        .filter(|_| !mutant!("memory/never-freed"))
        .for_each(|chunk| heap.blocks.free(chunk.run));
}

impl RememberedTracing for Evacuator<'_> {
    fn spares_old(&self) -> bool {
        self.last_condemned < FIRST_OLD_STEP
    }

    /// Evacuates the remembered slots that do not lie in condemned memory themselves, and empties
    /// the sets. Comes before the roots, so that the referents go to the steps of the closures that
    /// point to them.
    fn remembered<A>(&mut self, capabilities: Capabilities<'_, A>) {
        let sets = capabilities.iter().map(|capability| capability.remembered());
        let slots = || sets.clone().map(RememberedSet::len).sum();
        let balanced = self.workers.as_ref().map(Workers::is_balanced);
        if balanced == Some(false) {
            self.shared_roots.owned.extend(capabilities.iter().map(Owned::of));
        } else if balanced == Some(true) && self.copier.would_share(Words(slots())) {
            sets.for_each(|set| self.shared_roots.chunks.take(set));
        } else {
            match self.copier.side_words() {
                None => self.evacuate_remembered(sets, NoSideWords),
                Some(side_words) => self.evacuate_remembered(sets, side_words.view()),
            }
        }
    }
}
