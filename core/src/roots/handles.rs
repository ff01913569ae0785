//! The table of a heap's handles.
//!
//! It has its own lock, so that threads outside the heap can drop handles at any time. Only threads
//! inside make or open them, so that cannot happen during a collection. A handle dropped while the
//! world is stopped is set aside until the collection is over: until then the collection owns its
//! slot.
//!
//! A list has the slots whose closures may be young: those taken since the last collection, and
//! those whose closures were young after it. A collection of generation 0 visits no others
//! ([`Visited::Young`]), since old closures do not move. So handles of old closures and empty weak
//! handles cost it nothing.

use super::aged::Visited;
use super::finalisers::FinaliserTable;
use super::prescan::Prescan;
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
    strong: Slots,
    weak: Slots,
    /// Whether a collection owns the slots.
    collecting: bool,
    /// The prescan is over when this collection is.
    ends_prescan: bool,
}

/// The slots of one strength.
#[derive(Debug, Default)]
struct Slots {
    /// Those of handles, at stable indices.
    words: Vec<u64>,
    vacant: Vec<usize>,
    /// The slots whose closures may be young, each once, and whether a slot is in this list.
    young: Vec<usize>,
    is_listed: Vec<bool>,
    /// Of all slots, while a snapshot is marked.
    prescan: Option<Prescan>,
    /// Dropped while a collection owned the slots.
    dropped: Vec<usize>,
    /// Those with names.
    heap_roots: Vec<HeapRoot>,
}

/// A named root, for profilers.
#[derive(Debug)]
pub(crate) struct HeapRoot {
    pub(crate) name: String,
    pub(crate) closure: u64,
}

impl Slots {
    fn insert(&mut self, word: u64) -> usize {
        let index = self.vacant.pop().unwrap_or_else(|| {
            self.words.push(0);
            self.is_listed.push(false);
            self.words.len() - 1
        });
        self.words[index] = word;
        if !std::mem::replace(&mut self.is_listed[index], true) {
            self.young.push(index);
        }
        index
    }

    /// Removes from the list the slots whose closures are old, and empty ones.
    fn settle(&mut self, is_old: impl Fn(u64) -> bool) {
        let Slots {
            words,
            young,
            is_listed,
            prescan,
            ..
        } = self;
        young.retain(|&index| {
            let word = words[index];
            is_listed[index] = word != 0 && !is_old(word);
            if let Some(prescan) = prescan.as_mut().filter(|_| word != 0 && !is_listed[index]) {
                prescan.inserted(index);
            }
            is_listed[index]
        });
    }

    /// Calls `visit` for the slots that are visited, some of them twice.
    fn for_each(&mut self, visited: Visited, mut visit: impl FnMut(Slot)) {
        self.for_each_listed(visited, &mut visit);
        let rest = self.rest(visited);
        self.words[rest..].iter_mut().for_each(|word| visit(Slot(word)));
    }

    /// The same for those that come before [`Slots::rest`].
    fn for_each_listed(&mut self, visited: Visited, mut visit: impl FnMut(Slot)) {
        let Slots {
            words, young, prescan, ..
        } = self;
        let mut visit = |&index: &usize| visit(Slot(&mut words[index]));
        match visited {
            Visited::All => {}
            Visited::Young => young.iter().for_each(visit),
            Visited::Doubtful => {
                young.iter().for_each(&mut visit);
                prescan.iter().flat_map(Prescan::doubtful).for_each(visit);
            }
        }
    }

    /// From here on all slots are visited.
    fn rest(&self, visited: Visited) -> usize {
        match visited {
            Visited::All => 0,
            Visited::Young => self.words.len(),
            Visited::Doubtful => self.prescan.as_ref().map_or(0, Prescan::rest),
        }
    }

    /// Looks at some slots, if a prescan has begun. Returns whether it has seen all of them.
    fn prescan(&mut self, is_settled: impl Fn(u64) -> bool) -> bool {
        let words = &self.words;
        let prescan = self.prescan.as_mut();
        prescan.is_none_or(|prescan| prescan.step(words.len(), |index| is_settled(words[index])))
    }

    fn remove(&mut self, index: usize, collecting: bool) {
        if collecting {
            self.dropped.push(index);
            return;
        }
        self.words[index] = 0;
        self.vacant.push(index);
    }

    fn remove_dropped(&mut self) {
        for index in std::mem::take(&mut self.dropped) {
            self.remove(index, false);
        }
    }

    fn for_each_heap_root(&mut self, mut visit: impl FnMut(Slot)) {
        let roots = self.heap_roots.iter_mut();
        roots.for_each(|root| visit(Slot(&mut root.closure)));
    }
}

impl HandleSlots {
    fn of(&mut self, strength: Strength) -> &mut Slots {
        match strength {
            Strength::Strong => &mut self.strong,
            Strength::Weak => &mut self.weak,
        }
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
        self.lock().of(strength).insert(word)
    }

    /// Frees the slot at `index`, now or when the current collection is over.
    pub(crate) fn remove(&self, strength: Strength, index: usize) {
        let mut slots = self.lock();
        let collecting = slots.collecting || mutant!("threads/handle-dropped-late");
        slots.of(strength).remove(index, collecting);
    }

    /// The word of the slot at `index`.
    pub(crate) fn word(&self, strength: Strength, index: usize) -> u64 {
        self.lock().of(strength).words[index]
    }

    /// Names roots, replacing earlier named ones.
    pub(crate) fn set_heap_roots(&self, strength: Strength, roots: Vec<HeapRoot>) {
        self.lock().of(strength).heap_roots = roots;
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
        let Some(states) = states else { return };
        let is_old = |word: u64| states.of(Addr(word as usize)).step() >= FIRST_OLD_STEP;
        let is_old = |word: u64| is_old(word) || mutant!("handles/settled-too-early");
        slots.strong.settle(is_old);
        slots.weak.settle(is_old);
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
        slots.strong.prescan = yes.then(Prescan::default);
        slots.weak.prescan = yes.then(Prescan::default);
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
        self.lock().strong.prescan(is_settled)
            && self.lock().weak.prescan(is_settled)
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

    /// Calls `visit` for the slots of finalisers that are registered and of watched closures.
    pub(crate) fn for_each_observing(&self, visited: Visited, mut visit: impl FnMut(Slot)) {
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
    pub(crate) fn for_each_handle(&self, strength: Strength, visited: Visited, visit: impl FnMut(Slot)) {
        self.lock().of(strength).for_each(visited, visit);
    }

    /// Calls `visit` for the slots of handles that are visited, some of them twice. Returns the others
    /// that are: they are contiguous, and do not move until the collection is over.
    pub(crate) fn visit_handles(&self, strength: Strength, visited: Visited, visit: impl FnMut(Slot)) -> SlotRange {
        let mut slots = self.lock();
        debug_assert!(slots.collecting, "only then they stay");
        let slots = slots.of(strength);
        slots.for_each_listed(visited, visit);
        let rest = slots.rest(visited);
        let words = &mut slots.words[rest..];
        SlotRange::new(Slot(words.as_mut_ptr()), words.len())
    }

    /// Calls `visit` for the slots of strong heap roots.
    pub(crate) fn for_each_heap_root(&self, visit: impl FnMut(Slot)) {
        self.lock().strong.for_each_heap_root(visit);
    }

    /// Calls `visit` for the slots of weak heap roots.
    pub(crate) fn for_each_weak_heap_root(&self, visit: impl FnMut(Slot)) {
        self.lock().weak.for_each_heap_root(visit);
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
        let strong = slots.strong.heap_roots.iter().map(|root| (root, false));
        let weak = slots.weak.heap_roots.iter().map(|root| (root, true));
        let named = |(root, weak): (&HeapRoot, bool)| (root.name.clone(), root.closure, weak);
        strong.chain(weak).map(named).collect()
    }
}

#[cfg(all(test, not(any(gclab_loom, gclab_shuttle))))]
mod tests {
    use super::*;

    fn visited(slots: &mut Slots, visited: Visited) -> Vec<u64> {
        let mut words = Vec::new();
        // SAFETY: a slot of the table.
        slots.for_each(visited, |slot| words.push(unsafe { slot.load() }.0 as u64));
        words
    }

    #[test]
    fn slots_of_old_closures_and_empty_slots_are_visited_only_with_all_others() {
        let mut slots = Slots::default();
        let indices: Vec<_> = [8, 16, 24].map(|word| slots.insert(word)).into();
        assert_eq!(visited(&mut slots, Visited::Young), [8, 16, 24]);
        // A collection cleared one.
        slots.words[indices[0]] = 0;
        slots.settle(|word| word == 16);
        assert_eq!(visited(&mut slots, Visited::Young), [24]);
        assert_eq!(visited(&mut slots, Visited::All), [0, 16, 24]);
        // A slot that is taken repeatedly is listed once.
        for index in [indices[1], indices[2]] {
            for word in [32, 40] {
                slots.remove(index, false);
                assert_eq!(slots.insert(word), index);
            }
        }
        assert_eq!(visited(&mut slots, Visited::Young), [40, 40]);
        slots.settle(|_| true);
        assert_eq!(visited(&mut slots, Visited::Young), [0; 0]);
    }
}
