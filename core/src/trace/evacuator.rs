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
//! Order: slots found by scavenging go through the prefetch queue ([`super::queue`]), roots and remembered slots do
//! not. Older steps are scavenged before younger ones. Large objects are not copied: their blocks change state, and their
//! slots are scavenged from where they are.

use super::copy::copy_words;
use super::lane::{Cursor, OpenLane};
use super::queue::{Entry, MAX_LANES, Queue, Routes, entry, prefetch, prefetch_line};
use crate::block::{BlockRun, BlockState, StateView};
use crate::closure::{ClosureRef, Header, Slot, VARIABLE};
use crate::heap::Heap;
use crate::remembered::RememberedSet;
use crate::space::{FIRST_OLD_STEP, LargeObject, Nursery, Steps};
use crate::words::{Addr, Words};

/// Remembered slots between the prefetch of a slot and its evacuation.
const SLOTS_AHEAD: usize = 24;

/// One collection by copying, under way.
#[derive(Debug)]
pub struct Evacuator<'h> {
    heap: &'h mut Heap,
    states: StateView,
    queue: Queue,
    /// Two lanes a step, from step 1: closures with pointers, closures without.
    lanes: Vec<OpenLane>,
    cursors: [Cursor; MAX_LANES],
    routes: Routes,
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
            queue: Queue::new(),
            lanes,
            cursors,
            routes: Routes::new(oldest),
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

    /// Evacuate the remembered slots that do not lie in condemned memory themselves, and empty the set. Comes before the
    /// roots, so that the referents go to the steps of the closures that point to them.
    pub fn remembered(&mut self, set: &mut RememberedSet) {
        set.drain(|_, slots| {
            self.remembered_seen += slots.len() as u64;
            for (i, &word) in slots.iter().enumerate() {
                if let Some(&ahead) = slots.get(i + SLOTS_AHEAD) {
                    prefetch_line(ahead);
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
            let mut lane = self.lanes.len();
            while lane > 0 {
                // Lanes of closures without pointers, the odd ones, are never scavenged.
                lane -= 2;
                if self.scavenge_lane(lane) {
                    // Back to the oldest: what it points to must not be copied to a younger step first.
                    lane = self.lanes.len();
                }
            }
            let Some((closure, step)) = self.large.pop() else {
                return;
            };
            self.scavenge_large(closure, step);
        }
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

    /// Free what was condemned and not reached, give the steps what survived, and the mutator's remembered set what must
    /// stay remembered.
    pub fn finish(self, steps: &mut Steps, remembered: &mut RememberedSet) -> Evacuated {
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
        let mut kept = self.remembered;
        kept.drain(|_, slots| slots.iter().for_each(|&word| remembered.push(Slot(word as *mut u64))));
        done
    }

    /// Scavenge a lane until it has no work and the queue is empty; says whether it had any work.
    ///
    /// The queue is emptied here, not by the caller, for the sake of lists: there every closure found is the only one, and
    /// goes round this loop.
    #[inline]
    fn scavenge_lane(&mut self, index: usize) -> bool {
        let holder = index as u8 / 2 + 1;
        let mut worked = false;
        loop {
            if let Some((from, to)) = self.cursors[index % MAX_LANES].claim() {
                worked = true;
                self.scavenge_range(from, to, holder);
            } else if let Some(entry) = self.queue.pop() {
                self.evacuate(entry);
            } else if let Some((from, to)) = self.lanes[index].pending.pop() {
                worked = true;
                self.scavenge_range(from, to, holder);
            } else {
                return worked;
            }
        }
    }

    /// Visit every slot of the closures from `from` to `to`.
    #[inline]
    fn scavenge_range(&mut self, from: *mut u64, to: *mut u64, holder: u8) {
        let states = self.states;
        let mut at = from;
        while at < to {
            // SAFETY: ranges of to-space hold closures one behind the other, whole, with their headers.
            let extent = unsafe { ClosureRef(at).extent() };
            for slot in extent.slots() {
                self.visit(states, slot, holder);
            }
            at = at.wrapping_add(extent.words.0);
        }
    }

    #[cold]
    #[inline(never)]
    fn scavenge_large(&mut self, closure: ClosureRef, step: u8) {
        // SAFETY: large objects that were reached are whole closures.
        let extent = unsafe { closure.extent() };
        let states = self.states;
        for slot in extent.slots() {
            self.visit(states, slot, step);
        }
    }

    /// A slot of a closure that lives in step `holder`: queue it if its referent must be evacuated.
    #[inline(always)]
    fn visit(&mut self, states: StateView, slot: Slot, holder: u8) {
        // SAFETY: a slot of a live closure; the mutators are stopped.
        let word = unsafe { slot.load() };
        let state = states.of(Addr(word as usize));
        if state.is_condemned() {
            prefetch(word);
            if let Some(oldest) = self.queue.push(entry(self.routes.from(holder), slot, state)) {
                self.evacuate(oldest);
            }
        } else if state.step() < holder {
            self.settled(slot);
        }
    }

    /// A slot of a closure that was promoted past its referent, which this collection does not move: eager promotion may
    /// skip a generation that is not collected, and a large object settles in the step of whoever reached it first.
    #[cold]
    #[inline(never)]
    fn settled(&mut self, slot: Slot) {
        self.remembered.push(slot);
    }

    /// Evacuate a slot that may have been evacuated already.
    #[inline(always)]
    fn evacuate_now(&mut self, slot: Slot, holder: u8) {
        // SAFETY: a root or a remembered slot of a live closure; the mutators are stopped.
        let word = unsafe { slot.load() };
        let state = self.states.of(Addr(word as usize));
        if state.is_condemned() {
            self.evacuate(entry(self.routes.from(holder), slot, state));
        } else {
            self.remember_if_younger(slot, word, holder);
        }
    }

    /// Evacuate the referent of a slot that was condemned when the slot was queued, and has not been updated since.
    #[inline(always)]
    fn evacuate(&mut self, entry: Entry) {
        let slot = entry.slot();
        // SAFETY: the slot is of a live closure or a root; it holds the address of a condemned closure, whose first word is
        // its header or its forwarding address. To-space has room for the closure after `refill`.
        unsafe {
            let word = slot.load();
            let closure = ClosureRef(word as *mut u64);
            let header = closure.header();
            if !header.is_header() {
                slot.store(header.0);
                self.remember_if_younger(slot, header.0, entry.holder());
                return;
            }
            if entry.is_large() {
                return self.evacuate_large(closure, entry);
            }
            // Two branches, not a computed lane: predicted, they free the address of the copy from the header's load.
            let to = if header.ptrs() == 0 {
                self.copy(closure, header, entry.first_lane() + 1)
            } else {
                self.copy(closure, header, entry.first_lane())
            };
            *closure.0 = to as u64;
            slot.store(to as u64);
        }
    }

    /// Copy a closure into a lane. Sizes that nearly all closures have are copied by code of their own, for the same reason.
    ///
    /// # Safety
    /// `closure` is a closure with this header.
    #[inline(always)]
    unsafe fn copy(&mut self, closure: ClosureRef, header: Header, lane: usize) -> *mut u64 {
        // SAFETY: passed on; a closure of fixed layout has one word more than its payload.
        unsafe {
            match header.words() {
                1 => self.copy_words(closure, 2, lane),
                2 => self.copy_words(closure, 3, lane),
                3 => self.copy_words(closure, 4, lane),
                4 => self.copy_words(closure, 5, lane),
                5 => self.copy_words(closure, 6, lane),
                VARIABLE => self.copy_words(closure, closure.extent_from(header).words.0, lane),
                words => self.copy_words(closure, 1 + usize::from(words), lane),
            }
        }
    }

    /// Copy `words` words into a lane.
    ///
    /// # Safety
    /// A closure of so many words starts at `closure`.
    #[inline(always)]
    unsafe fn copy_words(&mut self, closure: ClosureRef, words: usize, lane: usize) -> *mut u64 {
        let lane = lane % MAX_LANES;
        let cursor = &mut self.cursors[lane];
        if !cursor.has_room(words) {
            *cursor = self.lanes[lane].refill(*cursor, self.heap, words);
        }
        let to = cursor.free;
        cursor.free = to.wrapping_add(words);
        // SAFETY: the caller vouches for the closure; to-space has room for it, and is not from-space.
        unsafe { copy_words(closure.0, to, words) };
        to
    }

    /// A slot of a closure in step `holder` points to `word` after this collection.
    #[inline(always)]
    fn remember_if_younger(&mut self, slot: Slot, word: u64, holder: u8) {
        if holder >= FIRST_OLD_STEP && self.states.of(Addr(word as usize)).step() < holder {
            self.remembered.push(slot);
        }
    }

    #[cold]
    #[inline(never)]
    fn evacuate_large(&mut self, closure: ClosureRef, entry: Entry) {
        if self.states.of(closure.addr()).is_condemned() {
            // SAFETY: large objects are never forwarded, so this is a whole closure.
            let extent = unsafe { closure.extent() };
            let run = self
                .heap
                .blocks
                .run_of(closure.addr())
                .expect("a large object has a block run of its own");
            self.heap.set_state(run, BlockState::of_step(entry.dest()).large());
            if extent.slots > 0 {
                self.large.push((closure, entry.dest()));
            }
        }
        self.remember_if_younger(entry.slot(), closure.0 as u64, entry.holder());
    }
}
