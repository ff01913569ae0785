//! The table of a heap's handles.
//!
//! It has its own lock, so that threads outside the heap can drop handles at any time. Only threads
//! inside make or open them, so that cannot happen during a collection. A handle dropped while the
//! world is stopped is set aside until the collection is over: until then the collection owns its
//! slot.

use super::aged::Visited;
use super::finalisers::FinaliserTable;
use super::slots::Slots;
use super::watch::Watch;
use crate::block::{FIRST_OLD_STEP, StateView};
use crate::closure::{Slot, SlotRange};
use crate::sync::{Mutex, MutexGuard};
use crate::words::Addr;

/// Whether a handle keeps its closure alive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strength {
    /// It does.
    Strong,
    /// It does not.
    Weak,
}

/// The slots behind the handles of one heap.
#[derive(Debug, Default)]
pub(crate) struct HandleTable {
    slots: Mutex<HandleSlots>,
    finalisers: FinaliserTable,
    foreign: Watch,
    sampled: Watch,
}

#[derive(Debug, Default)]
struct HandleSlots {
    strong: Slots<1>,
    weak: Slots<1>,
    /// Keys and values.
    ephemerons: Slots<2>,
    /// Those with names, strong and weak.
    heap_roots: [Vec<HeapRoot>; 2],
    /// Whether a collection owns the slots.
    collecting: bool,
    /// The prescan is over when this collection is.
    ends_prescan: bool,
}

/// A named root, for profilers.
#[derive(Debug)]
pub(crate) struct HeapRoot {
    pub(crate) name: String,
    pub(crate) closure: u64,
}

impl HandleSlots {
    fn of(&mut self, strength: Strength) -> &mut Slots<1> {
        match strength {
            Strength::Strong => &mut self.strong,
            Strength::Weak => &mut self.weak,
        }
    }

    fn for_each_heap_root(&mut self, strength: Strength, mut visit: impl FnMut(Slot)) {
        let roots = self.heap_roots[strength as usize].iter_mut();
        roots.for_each(|root| visit(Slot(&mut root.closure)));
    }
}

impl HandleTable {
    fn lock(&self) -> MutexGuard<'_, HandleSlots> {
        // A panic under the lock leaves the table consistent: every operation on it is a single
        // step.
        self.slots.lock()
    }

    /// Takes a slot for `word` and returns its index.
    pub(crate) fn insert(&self, strength: Strength, word: u64) -> usize {
        self.lock().of(strength).insert([word])
    }

    /// Frees the slot at `index`, now or when the current collection is over.
    pub(crate) fn remove(&self, strength: Strength, index: usize) {
        let mut slots = self.lock();
        let collecting = slots.collecting || mutant!("threads/handle-dropped-late");
        slots.of(strength).remove(index, collecting);
    }

    /// The word of the slot at `index`.
    pub(crate) fn word(&self, strength: Strength, index: usize) -> u64 {
        let [word] = self.lock().of(strength).get(index);
        word
    }

    /// Takes slots for an ephemeron, and returns their index.
    pub(crate) fn insert_ephemeron(&self, key: u64, value: u64) -> usize {
        self.lock().ephemerons.insert([key, value])
    }

    /// Frees the slots of the ephemeron at `index`, now or when the current collection is over.
    pub(crate) fn remove_ephemeron(&self, index: usize) {
        let mut slots = self.lock();
        let collecting = slots.collecting;
        slots.ephemerons.remove(index, collecting);
    }

    /// The key and the value at `index`.
    pub(crate) fn ephemeron(&self, index: usize) -> [u64; 2] {
        self.lock().ephemerons.get(index)
    }

    /// Calls `visit` for the keys and values of ephemerons, some of them twice.
    pub(crate) fn for_each_ephemeron(&self, visited: Visited, visit: impl FnMut(&mut [u64; 2])) {
        self.lock().ephemerons.for_each(visited, visit);
    }

    /// Whether there ever was an ephemeron.
    pub(crate) fn has_ephemerons(&self) -> bool {
        !self.lock().ephemerons.is_empty()
    }

    /// Calls `visit` for the keys and values of some ephemerons, from number `from` on. Returns the number
    /// of the next one; `None` after the last.
    pub(crate) fn some_ephemerons(&self, from: usize, visit: impl FnMut([u64; 2])) -> Option<usize> {
        self.lock().ephemerons.some(from, visit)
    }

    /// Names roots, replacing earlier named ones.
    pub(crate) fn set_heap_roots(&self, strength: Strength, roots: Vec<HeapRoot>) {
        self.lock().heap_roots[strength as usize] = roots;
    }

    /// The world is stopped: from now on the slots do not move, and only the collection writes
    /// them.
    pub(crate) fn begin_collection(&self) {
        self.lock().collecting = true;
    }

    /// The collection is over: handles that were dropped meanwhile are freed. The block `states`
    /// say which closures are old now, unless the collection did not start.
    pub(crate) fn end_collection(&self, states: Option<StateView>) {
        let mut slots = self.lock();
        slots.collecting = false;
        slots.strong.remove_dropped();
        slots.weak.remove_dropped();
        slots.ephemerons.remove_dropped();
        let Some(states) = states else { return };
        let is_old = |word: u64| states.of(Addr(word as usize)).step() >= FIRST_OLD_STEP;
        let is_old = |word: u64| is_old(word) || mutant!("handles/settled-too-early");
        slots.strong.settle(is_old);
        slots.weak.settle(is_old);
        slots.ephemerons.settle(is_old);
        let ends_prescan = std::mem::take(&mut slots.ends_prescan);
        drop(slots);
        if ends_prescan {
            self.set_prescan(false);
        }
        self.finalisers.settle(is_old);
        self.foreign.settle(is_old);
        self.sampled.settle(is_old);
    }

    /// A prescan of all tables begins, or is over.
    pub(super) fn set_prescan(&self, yes: bool) {
        let mut slots = self.lock();
        slots.strong.set_prescan(yes);
        slots.weak.set_prescan(yes);
        slots.ephemerons.set_prescan(yes);
        drop(slots);
        self.finalisers.set_prescan(yes);
        self.foreign.set_prescan(yes);
        self.sampled.set_prescan(yes);
    }

    /// The prescan is over when the current collection is.
    pub(super) fn end_prescan(&self) {
        self.lock().ends_prescan = true;
    }

    /// Looks at some entries of the tables: `is_settled` tells whether a closure is marked, and stays
    /// where it is. Returns whether all have been seen.
    pub(crate) fn prescan(&self, is_settled: impl Fn(u64) -> bool + Copy) -> bool {
        self.lock().strong.prescan(|[closure]| is_settled(closure))
            && self.lock().weak.prescan(|[closure]| is_settled(closure))
            && (self.lock().ephemerons).prescan(|entry| entry.into_iter().all(is_settled))
            && self.finalisers.prescan(is_settled)
            && self.foreign.prescan(is_settled)
            && self.sampled.prescan(is_settled)
    }

    /// The finalisers of the heap.
    pub(crate) fn finalisers(&self) -> &FinaliserTable {
        &self.finalisers
    }

    /// The closures of the heap that own memory outside it.
    pub(crate) fn foreign(&self) -> &Watch {
        &self.foreign
    }

    /// The sampled closures of the heap.
    pub(crate) fn sampled(&self) -> &Watch {
        &self.sampled
    }

    /// Calls `visit` for the slots of ephemerons, of finalisers that are registered and of watched closures.
    pub(crate) fn for_each_observing(&self, visited: Visited, mut visit: impl FnMut(Slot)) {
        if !mutant!("ephemerons/not-updated") {
            self.for_each_ephemeron(visited, |entry| entry.iter_mut().for_each(|word| visit(Slot(word))));
        }
        self.finalisers.for_each_registered(visited, &mut visit);
        if !mutant!("foreign/watched-forgotten") {
            self.foreign.for_each(visited, &mut visit);
            self.sampled.for_each(visited, &mut visit);
        }
    }

    /// Calls `visit` for each slot that keeps its closure alive.
    pub(crate) fn for_each_strong(&self, visited: Visited, mut visit: impl FnMut(Slot)) {
        self.for_each_handle(Strength::Strong, visited, &mut visit);
        self.for_each_heap_root(&mut visit);
        self.finalisers.for_each_ready(visit);
    }

    /// Calls `visit` for the slots of handles.
    pub(crate) fn for_each_handle(&self, strength: Strength, visited: Visited, mut visit: impl FnMut(Slot)) {
        let mut slots = self.lock();
        slots.of(strength).for_each(visited, |[word]| visit(Slot(word)));
    }

    /// Calls `visit` for the slots of handles that are visited, some of them twice. Returns the others
    /// that are: they are contiguous, and do not move until the collection is over.
    pub(crate) fn visit_handles(&self, strength: Strength, visited: Visited, mut visit: impl FnMut(Slot)) -> SlotRange {
        let mut slots = self.lock();
        debug_assert!(slots.collecting, "only then they stay");
        let slots = slots.of(strength);
        slots.for_each_listed(visited, |[word]| visit(Slot(word)));
        let words = slots.rest_of(visited).as_flattened_mut();
        SlotRange::new(Slot(words.as_mut_ptr()), words.len())
    }

    /// Calls `visit` for the slots of strong heap roots.
    pub(crate) fn for_each_heap_root(&self, visit: impl FnMut(Slot)) {
        self.lock().for_each_heap_root(Strength::Strong, visit);
    }

    /// Calls `visit` for the slots of weak heap roots.
    pub(crate) fn for_each_weak_heap_root(&self, visit: impl FnMut(Slot)) {
        self.lock().for_each_heap_root(Strength::Weak, visit);
    }

    /// Calls `visit` for each slot that does not keep its closure alive.
    pub(crate) fn for_each_weak(&self, visited: Visited, mut visit: impl FnMut(Slot)) {
        self.for_each_handle(Strength::Weak, visited, &mut visit);
        self.for_each_weak_heap_root(&mut visit);
        self.for_each_observing(visited, visit);
    }

    /// The heap roots, strong ones first: names, the addresses of their closures (0 for one that
    /// was found dead), and whether they are weak.
    pub(crate) fn named_roots(&self) -> Vec<(String, u64, bool)> {
        let slots = self.lock();
        let [strong, weak] = &slots.heap_roots;
        let strong = strong.iter().map(|root| (root, false));
        let weak = weak.iter().map(|root| (root, true));
        let named = |(root, weak): (&HeapRoot, bool)| (root.name.clone(), root.closure, weak);
        strong.chain(weak).map(named).collect()
    }
}
