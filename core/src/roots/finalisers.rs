//! The table of a heap's finalisers.
//!
//! A finaliser is *registered* for a closure. A collection that finds the closure dead makes it
//! *ready*, and the mutators run it at one of their next slow paths. There are two kinds, as in
//! OCaml's module `Gc`. A *first* finaliser gets the closure: the collection traces it, and all
//! that it leads to, as if it lived. A *last* one runs when the closure is gone for good.
//!
//! Finalisers run in the order in which collections made them ready; those of one collection in the
//! reverse order of their registration, first ones before last ones. (A collection may trace twice:
//! young closures, then all.) One runs at a time, unless it
//! lets the next one begin.
//!
//! An *alarm* is ready after each major collection.
//!
//! The table has numbers in place of functions, which the world has (`world/finalisers.rs`): a
//! function may own handles, and so the table that it would lie in.

use super::aged::{Aged, Visited};
use crate::closure::Slot;
use crate::sync::{AtomicBool, Mutex, MutexGuard, Ordering, ThreadId, this_thread};
use std::collections::VecDeque;

/// When a finaliser becomes ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Occasion {
    /// Its closure is unreachable for the first time. It gets the closure.
    First,
    /// Its closure is unreachable, and no other finaliser can reach it.
    Last,
    /// A major collection is over.
    Alarm,
}

/// A finaliser of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The address of the closure; 0 of a last finaliser that is ready, and of an alarm.
    pub(crate) closure: u64,
    /// The number of the function.
    pub(crate) number: u64,
}

/// The finalisers of one heap.
#[derive(Debug, Default)]
pub(crate) struct FinaliserTable {
    entries: Mutex<Entries>,
    /// A finaliser is ready, and none is running that the others wait for.
    due: AtomicBool,
}

#[derive(Debug, Default)]
struct Entries {
    /// Registered finalisers, in the order of their registration.
    first: Aged<Entry>,
    last: Aged<Entry>,
    alarms: Vec<Entry>,
    /// Ready ones, in the order in which they are to run.
    ready: VecDeque<Entry>,
    /// How many of the last ones in `ready` the tracing under way has added.
    added: usize,
    /// How many the collection under way has added.
    collected: usize,
    /// The number of the finaliser that is running, and its thread, if it has not let the next one
    /// begin.
    running: Option<(u64, ThreadId)>,
    /// Functions so far.
    numbers: u64,
}

impl Entries {
    /// Makes the finalisers ready whose closures are dead, the one that was registered last first.
    fn make_ready(&mut self, is_last: bool, visited: Visited, mut lives: impl FnMut(Slot) -> bool) {
        let registered = if is_last { &mut self.last } else { &mut self.first };
        let mut dead = registered.take_dead(visited, |entry| !lives(Slot(&mut entry.closure)));
        if is_last {
            dead.iter_mut().for_each(|entry| entry.closure = 0);
        } else if mutant!("finalisers/twice") {
            dead.iter().for_each(|&entry| self.first.push(entry));
        }
        self.added += dead.len();
        self.collected += dead.len();
        if mutant!("finalisers/in-order") {
            dead.reverse();
        }
        self.ready.extend(dead.into_iter().rev());
    }

    /// Brings the finalisers that several tracings of one collection made ready into the order in
    /// which one tracing would have made them ready.
    fn sort_collected(&mut self) {
        let before = self.ready.len() - self.collected;
        self.ready.make_contiguous()[before..].sort_by_key(|entry| {
            let is_last = entry.closure == 0;
            (is_last, std::cmp::Reverse(entry.number))
        });
    }
}

impl FinaliserTable {
    fn lock(&self) -> MutexGuard<'_, Entries> {
        // A panic under the lock leaves the table consistent.
        self.entries.lock()
    }

    fn note_due(&self, entries: &Entries) {
        self.due.store(
            !entries.ready.is_empty() && entries.running.is_none(),
            Ordering::Relaxed,
        );
    }

    /// Registers a finaliser of the closure at `closure` (0 for an alarm). Returns its number.
    pub(crate) fn register(&self, occasion: Occasion, closure: u64) -> u64 {
        let mut entries = self.lock();
        entries.numbers += 1;
        let number = entries.numbers;
        let entry = Entry { closure, number };
        match occasion {
            Occasion::First => entries.first.push(entry),
            Occasion::Last => entries.last.push(entry),
            Occasion::Alarm => entries.alarms.push(entry),
        }
        number
    }

    /// Removes the alarm of this number.
    pub(crate) fn remove_alarm(&self, number: u64) {
        let mut entries = self.lock();
        entries.alarms.retain(|alarm| alarm.number != number);
        entries.ready.retain(|ready| ready.number != number);
        self.note_due(&entries);
    }

    /// Whether there is an alarm of this number.
    pub(crate) fn has_alarm(&self, number: u64) -> bool {
        self.lock().alarms.iter().any(|alarm| alarm.number == number)
    }

    /// Whether a finaliser is to run. (A thread that learns of it late runs it late.)
    pub(crate) fn is_due(&self) -> bool {
        self.due.load(Ordering::Relaxed)
    }

    /// How many finalisers are ready.
    pub(crate) fn ready(&self) -> usize {
        self.lock().ready.len()
    }

    /// Takes the next finaliser that is to run, if none is running. Its closure is not a root any
    /// more.
    pub(crate) fn begin(&self) -> Option<Entry> {
        let mut entries = self.lock();
        if entries.running.is_some() {
            return None;
        }
        let next = entries.ready.pop_front()?;
        entries.running = Some((next.number, this_thread()));
        self.note_due(&entries);
        Some(next)
    }

    /// The finaliser of this number has ended. (If it let the next one begin, others are running.)
    pub(crate) fn end(&self, number: u64) {
        self.release_if(|(running, _)| running == number);
    }

    /// The finaliser that is running on this thread lets the next one begin.
    pub(crate) fn release(&self) {
        self.release_if(|(_, thread)| thread == this_thread());
    }

    fn release_if(&self, is_it: impl FnOnce((u64, ThreadId)) -> bool) {
        let mut entries = self.lock();
        let it = entries
            .running
            .take_if(|running| is_it(*running) || mutant!("finalisers/another-released"));
        if it.is_some() {
            self.note_due(&entries);
        }
    }

    /// A collection begins: the finalisers that it makes ready are of one order.
    pub(crate) fn begin_collection(&self) {
        self.lock().collected = 0;
    }

    /// After tracing: makes the first finalisers ready whose closures are dead, as `lives` says of
    /// their slots. Returns whether there are any. Then their slots are to be traced
    /// ([`FinaliserTable::for_each_added`]).
    pub(crate) fn make_first_ready(&self, visited: Visited, lives: impl FnMut(Slot) -> bool) -> bool {
        let mut entries = self.lock();
        entries.added = 0;
        entries.make_ready(false, visited, lives);
        entries.added > 0
    }

    /// Calls `visit` for the slots of the finalisers that this collection has made ready.
    pub(crate) fn for_each_added(&self, visit: impl FnMut(Slot)) {
        let mut entries = self.lock();
        let before = entries.ready.len() - entries.added;
        let added = entries.ready.range_mut(before..);
        added.map(|entry| Slot(&mut entry.closure)).for_each(visit);
    }

    /// After all tracing: makes the last finalisers ready whose closures are dead.
    pub(crate) fn make_last_ready(&self, visited: Visited, lives: impl FnMut(Slot) -> bool) {
        let mut entries = self.lock();
        entries.make_ready(true, visited, lives);
        if entries.collected > entries.added && !mutant!("finalisers/tracings-apart") {
            entries.sort_collected();
        }
        self.note_due(&entries);
    }

    /// A collection is over, after which `is_old` says whether closures are old.
    pub(super) fn settle(&self, is_old: impl Fn(u64) -> bool) {
        let mut entries = self.lock();
        let Entries { first, last, .. } = &mut *entries;
        first.settle(|entry| is_old(entry.closure));
        last.settle(|entry| is_old(entry.closure));
    }

    /// A major collection is over: the alarms are ready that are not waiting already.
    pub(crate) fn ring(&self) {
        let mut entries = self.lock();
        let Entries { alarms, ready, .. } = &mut *entries;
        for alarm in alarms {
            if !ready.contains(alarm) || mutant!("finalisers/alarm-twice") {
                ready.push_back(*alarm);
            }
        }
        self.note_due(&entries);
    }

    /// Calls `visit` for the slots of finalisers that are ready: they keep their closures alive.
    pub(crate) fn for_each_ready(&self, mut visit: impl FnMut(Slot)) {
        let mut entries = self.lock();
        let ready = entries.ready.iter_mut();
        ready.for_each(|entry| visit(Slot(&mut entry.closure)));
    }

    /// Calls `visit` for the slots of registered finalisers, which do not keep closures alive.
    pub(crate) fn for_each_registered(&self, mut visit: impl FnMut(Slot)) {
        let mut entries = self.lock();
        let Entries { first, last, .. } = &mut *entries;
        let registered = first.iter_mut().chain(last.iter_mut());
        registered.for_each(|entry| visit(Slot(&mut entry.closure)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn only_the_finaliser_that_runs_lets_the_next_one_begin() {
        let table = FinaliserTable::default();
        (1..=3).for_each(|closure| _ = table.register(Occasion::First, 8 * closure));
        assert!(table.make_first_ready(Visited::All, |_| false));
        let begin = || table.begin().map(|entry| entry.number);
        assert_eq!(begin(), Some(3));
        // A thread without a finaliser.
        thread::scope(|scope| _ = scope.spawn(|| table.release()));
        assert_eq!((table.is_due(), begin()), (false, None));
        table.release();
        assert_eq!((table.is_due(), begin()), (true, Some(2)));
        // The one that has let it begin ends.
        table.end(3);
        assert_eq!((table.is_due(), begin()), (false, None));
        table.end(2);
        assert_eq!(begin(), Some(1));
    }
}
