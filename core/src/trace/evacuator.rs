//! Evacuation and scavenging: copying collection over steps.
//!
//! *Evacuate* a slot: if its referent lies in a condemned block, copy it (or, if that was done, follow the forwarding
//! address) and update the slot. *Scavenge*: evacuate every slot of what was copied, until nothing is left. Every
//! collector that copies uses this, whatever its steps.
//!
//! Where a closure goes: one step up, or to the step of the closure that points to it if that is older (eager
//! promotion, for mutable holders too), so that tracing makes a pointer from old to young only where the referent had
//! gone to a younger step before, or lies in an old one that is not collected. Those slots are remembered; everything else
//! that was remembered is dropped, since remembered slots are evacuated first and promote their referents.
//!
//! Order: slots found by scavenging, but the last ones of a range, go through the prefetch queue ([`super::queue`]), roots and remembered slots do
//! not. Older steps are scavenged before younger ones. Large objects are not copied: their blocks change state, and their
//! slots are scavenged from where they are.

use super::copy::copy_closure;
use super::lane::{Cursor, OpenLane};
use super::queue::{MAX_LANES, first_lane, prefetch, prefetch_line};
use crate::block::{BlockRun, BlockState, StateView};
use crate::closure::{ClosureRef, Header, Slot};
use crate::collector::Capabilities;
use crate::heap::Heap;
use crate::remembered::RememberedSet;
use crate::space::{FIRST_OLD_STEP, LargeObject, Nursery, Steps};
use crate::words::{Addr, Words};

/// Remembered slots between the prefetch of a slot and its evacuation.
const SLOTS_AHEAD: usize = 24;

/// Remembered slots between the prefetch of a referent and its evacuation.
const REFERENTS_AHEAD: usize = 12;

/// One collection by copying, under way.
#[derive(Debug)]
pub struct Evacuator<'h> {
    pub(super) heap: &'h mut Heap,
    pub(super) states: StateView,
    /// Two lanes a step, from step 1: closures with pointers, closures without.
    pub(super) lanes: Vec<OpenLane>,
    pub(super) cursors: [Cursor; MAX_LANES],
    /// Slots in old closures that point to young ones after this collection.
    remembered: RememberedSet,
    /// Large objects that were reached and wait to be scavenged, with their steps.
    large: Vec<(ClosureRef, u8)>,
    /// What is freed at the end, unless (large objects) it was reached.
    from_space: Vec<BlockRun>,
    from_large: Vec<LargeObject>,
    last_condemned: u8,
    remembered_seen: u64,
}

/// What a copying collection did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Evacuated {
    /// Words copied.
    pub copied: Words,
    /// Of these, words copied into a generation that was not collected (none in a major collection).
    pub promoted: Words,
    /// Entries of the remembered set that were visited.
    pub remembered: u64,
}

impl<'h> Evacuator<'h> {
    /// Condemn the nursery and all steps up to `last`, and open to-space for what survives.
    pub fn condemn(heap: &'h mut Heap, nursery: &mut Nursery, steps: &mut Steps, last: u8) -> Self {
        let states = heap.states();
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
        Evacuator {
            heap,
            states,
            lanes,
            cursors,
            remembered: RememberedSet::default(),
            large: Vec::new(),
            from_space,
            from_large,
            last_condemned: last,
            remembered_seen: 0,
        }
    }

    /// Evacuate a root.
    #[inline]
    pub fn root(&mut self, slot: Slot) {
        self.evacuate_now(slot, 0);
    }

    /// Evacuate the remembered slots that do not lie in condemned memory themselves, and empty the sets. Comes before the
    /// roots, so that the referents go to the steps of the closures that point to them.
    pub fn remembered<A>(&mut self, capabilities: Capabilities<'_, A>) {
        capabilities
            .iter()
            .for_each(|capability| self.remembered_set(capability.remembered()));
    }

    fn remembered_set(&mut self, set: &RememberedSet) {
        set.drain(|_, slots| {
            self.remembered_seen += slots.len() as u64;
            for (i, &word) in slots.iter().enumerate() {
                if let Some(&ahead) = slots.get(i + SLOTS_AHEAD) {
                    prefetch_line(ahead);
                }
                if let Some(&ahead) = slots.get(i + REFERENTS_AHEAD) {
                    // SAFETY: remembered slots lie in closures that have not been freed; what this one holds is looked at no further.
                    prefetch(unsafe { Slot(ahead as *mut u64).load() });
                }
                let slot = Slot(word as *mut u64);
                let holder = self.states.of(slot.addr());
                if !holder.is_condemned() {
                    self.evacuate_now(slot, holder.step());
                }
            }
        });
    }

    /// Scavenge until nothing is left.
    pub fn scavenge(&mut self) {
        loop {
            let mut step = self.oldest();
            while step > 0 {
                // Back to the oldest after each that had work: what it points to had better not be copied to a younger step first (and
                // is remembered if it was).
                step = if self.scavenge_lane(step, None) {
                    self.oldest()
                } else {
                    step - 1
                };
            }
            let Some((closure, step)) = self.large.pop() else {
                return;
            };
            // SAFETY: large objects that were reached are whole closures.
            let extent = unsafe { closure.extent() };
            self.scavenge_lane(step, Some(extent));
        }
    }

    /// The step that nothing leaves.
    pub(super) fn oldest(&self) -> u8 {
        (self.lanes.len() / 2) as u8
    }

    /// After scavenging: updates a weak slot if its referent lives, clears it if not.
    pub fn weak(&mut self, slot: Slot) {
        // SAFETY: weak slots are roots' memory, and what they hold is null or a closure, perhaps forwarded.
        unsafe {
            let word = slot.load();
            let state = self.states.of(Addr(word as usize));
            if state.is_condemned() {
                let header = ClosureRef(word as *mut u64).header();
                slot.store(if header.is_header() { 0 } else { header.0 });
            }
        }
    }

    /// Free what was condemned and not reached, give the steps what survived, and the first mutator's remembered set what must
    /// stay remembered.
    pub fn finish<A>(self, steps: &mut Steps, capabilities: Capabilities<'_, A>) -> Evacuated {
        let mut done = Evacuated {
            remembered: self.remembered_seen,
            ..Evacuated::default()
        };
        for (index, lane) in self.lanes.into_iter().enumerate() {
            let number = index as u8 / 2 + 1;
            let (lane, copied) = lane.finish(self.cursors[index]);
            done.copied.0 += copied.0;
            if number > self.last_condemned && number >= FIRST_OLD_STEP {
                done.promoted.0 += copied.0;
            }
            let step = steps.step_mut(number);
            *(if index % 2 == 0 {
                &mut step.scanned
            } else {
                &mut step.flat
            }) = lane;
        }
        for large in self.from_large {
            let state = self.states.of(large.run.start());
            if state.is_condemned() {
                self.heap.blocks.free(large.run);
            } else {
                let step = steps.step_mut(state.step());
                step.large_words += large.words.0;
                step.large.push(large);
            }
        }
        // Freed last to first, so that the next collection's to-space gets them in the order they were filled.
        self.from_space
            .into_iter()
            .rev()
            .for_each(|run| self.heap.blocks.free(run));
        if let Some(first) = capabilities.iter().next() {
            let kept = first.remembered();
            self.remembered
                .drain(|_, slots| slots.iter().for_each(|&word| kept.push(Slot(word as *mut u64))));
        }
        done
    }

    /// A slot of a closure that was promoted past its referent, which this collection does not move: eager promotion may
    /// skip a generation that is not collected, and a large object settles in the step of whoever reached it first.
    #[cold]
    #[inline(never)]
    pub(super) fn settled(&mut self, slot: Slot) {
        self.remembered.push(slot);
    }

    /// Evacuate a slot of a closure in step `holder` (0 for roots) that may have been evacuated already.
    #[inline(always)]
    fn evacuate_now(&mut self, slot: Slot, holder: u8) {
        // SAFETY: a root, or a remembered slot of a closure that has not been freed; the mutators are stopped.
        let word = unsafe { slot.load() };
        let state = self.states.of(Addr(word as usize));
        if state.is_condemned() {
            // SAFETY: such slots point to closures or to null, and null is not condemned.
            unsafe { self.evacuate(slot, state, holder) };
        } else {
            self.remember_if_younger(slot, word, holder);
        }
    }

    /// Evacuate a slot of a closure in step `holder` wherever its referent belongs.
    ///
    /// # Safety
    /// The slot holds the address of a closure or of where one was, in a block of this state, which is or was condemned.
    #[inline(always)]
    unsafe fn evacuate(&mut self, slot: Slot, state: BlockState, holder: u8) {
        // SAFETY: the caller's promise: the first word is a header or the forwarding address.
        unsafe {
            let closure = ClosureRef(slot.load() as *mut u64);
            let header = closure.header();
            if !header.is_header() {
                slot.store(header.0);
                self.remember_if_younger(slot, header.0, holder);
                return;
            }
            let dest = (state.step() + 1).min(self.oldest()).max(holder);
            if state.is_large() {
                return self.evacuate_large(slot, closure, dest, holder);
            }
            // Two branches, not a computed lane: predicted, they free the address of the copy from the header's load.
            let to = if header.ptrs() == 0 {
                self.copy(closure, header, first_lane(dest) + 1)
            } else {
                self.copy(closure, header, first_lane(dest))
            };
            *closure.0 = to as u64;
            slot.store(to as u64);
        }
    }

    /// What the scavenging loop leaves to others: see there.
    ///
    /// # Safety
    /// The slot holds the address of a closure or of where one was, in a block that was condemned.
    #[inline(never)]
    pub(super) unsafe fn evacuate_elsewhere(&mut self, slot: Slot, holder: u8) {
        // SAFETY: passed on. A large object may have been reached since the slot was found.
        unsafe {
            let state = self.states.of(Addr(slot.load() as usize));
            self.evacuate(slot, state, holder);
        }
    }

    /// Copy a closure into a lane.
    ///
    /// # Safety
    /// `closure` is a closure with this header.
    #[inline(always)]
    unsafe fn copy(&mut self, closure: ClosureRef, header: Header, lane: usize) -> *mut u64 {
        let lane = lane % MAX_LANES;
        // SAFETY: passed on; to-space is not from-space.
        unsafe {
            copy_closure(closure, header, &mut self.cursors[lane], |cursor, words| {
                self.lanes[lane].refill(cursor, self.heap, words)
            })
        }
    }

    /// A slot of a closure in step `holder` points to `word` after this collection.
    #[inline(always)]
    pub(super) fn remember_if_younger(&mut self, slot: Slot, word: u64, holder: u8) {
        if holder >= FIRST_OLD_STEP && self.states.of(Addr(word as usize)).step() < holder {
            self.remembered.push(slot);
        }
    }

    #[cold]
    #[inline(never)]
    fn evacuate_large(&mut self, slot: Slot, closure: ClosureRef, dest: u8, holder: u8) {
        if self.states.of(closure.addr()).is_condemned() {
            // SAFETY: large objects are never forwarded, so this is a whole closure.
            let extent = unsafe { closure.extent() };
            let run = self
                .heap
                .blocks
                .run_of(closure.addr())
                .expect("a large object has a block run of its own");
            self.heap.set_state(run, BlockState::of_step(dest).large());
            if extent.slots > 0 {
                self.large.push((closure, dest));
            }
        }
        self.remember_if_younger(slot, closure.0 as u64, holder);
    }
}
