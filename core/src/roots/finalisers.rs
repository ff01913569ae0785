//! The table of a heap's finalisers.
//!
//! A finaliser is *registered* for a closure. A collection that finds the closure dead makes it
//! *ready*, and the mutators run it at one of their next slow paths. There are two kinds, as in
//! OCaml's module `Gc`. A *first* finaliser gets the closure: the collection traces the closure,
//! and everything reachable from it, as if it were live. A *last* one runs when the closure is gone
//! for good.
//!
//! Finalisers run in the order in which collections made them ready; within one collection, in the
//! reverse order of registration, first ones before last ones. (A collection may trace twice: young
//! closures, then all.) One runs at a time, unless it lets the next one begin.
//!
//! An *alarm* is ready after each major collection, after its finalisers. With tracing in slices,
//! it is ready at the end of the trace, among the first finalisers: in OCaml an alarm is a first
//! finaliser, which the next trace finds if it was registered, and not ready, when that trace
//! started. Each time an alarm starts to run it is registered again.
//!
//! The table holds numbers instead of functions, which the world keeps (`world/owned.rs`): a
//! function may own handles, and thus the table that would contain it.

use super::aged::{Aged, Visited};
use crate::closure::Slot;
use crate::sync::{AtomicBool, Mutex, MutexGuard, Ordering, ThreadId, this_thread};
use std::collections::VecDeque;

/// When a finaliser becomes ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Occasion {
    /// Its closure has become unreachable. The finaliser gets the closure.
    First,
    /// Its closure is unreachable, and no other finaliser can reach it.
    Last,
    /// A major collection is over.
    Alarm,
}

/// A finaliser of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The address of the closure; 0 for a ready last finaliser, and for an alarm.
    pub(crate) closure: u64,
    /// The number of the function, with the bit [`LAST`] for last finalisers.
    pub(crate) number: u64,
}

/// Set in the numbers of last finalisers.
const LAST: u64 = 1 << 63;

/// A registered alarm: its identity for its owner, and the number of its current registration.
#[derive(Debug)]
struct Alarm {
    id: u64,
    number: u64,
    /// It was registered, and not ready, when the sliced trace started.
    is_found: bool,
}

impl Alarm {
    fn entry(&self) -> Entry {
        Entry {
            closure: 0,
            number: self.number,
        }
    }
}

/// The finalisers of one heap.
#[derive(Debug, Default)]
pub(crate) struct FinaliserTable {
    entries: Mutex<Entries>,
    /// A finaliser is ready, and none is running that others must wait for.
    due: AtomicBool,
}

#[derive(Debug, Default)]
struct Entries {
    /// Registered finalisers, in the order of their registration.
    first: Aged<Entry>,
    last: Aged<Entry>,
    alarms: Vec<Alarm>,
    /// The alarms have already been made ready for the current major collection.
    rung: bool,
    /// Ready ones, in the order in which they will run.
    ready: VecDeque<Entry>,
    /// How many entries at the end of `ready` the current trace has added.
    added: usize,
    /// How many the current collection has added.
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

    /// Reorders the finalisers that several traces of one collection made ready as if there had
    /// been one trace.
    fn sort_collected(&mut self) {
        let before = self.ready.len() - self.collected;
        self.ready.make_contiguous()[before..]
            .sort_by_key(|entry| (entry.number & LAST, std::cmp::Reverse(entry.number)));
    }

    /// Makes ready the alarms for which `is_due` is true, unless they are already waiting.
    fn ring(&mut self, is_due: impl Fn(&Alarm) -> bool) {
        for alarm in self.alarms.iter().filter(|alarm| is_due(alarm)) {
            if !self.ready.contains(&alarm.entry()) || mutant!("finalisers/alarm-twice") {
                self.ready.push_back(alarm.entry());
                self.collected += 1;
            }
        }
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
        match occasion {
            Occasion::First => entries.first.push(Entry { closure, number }),
            Occasion::Last => {
                let number = number | LAST;
                entries.last.push(Entry { closure, number });
                return number;
            }
            Occasion::Alarm => entries.alarms.push(Alarm {
                id: number,
                number,
                is_found: false,
            }),
        }
        number
    }

    /// Registers the alarm of this number again, after all finalisers. Returns its new number;
    /// `None` if it has been removed.
    pub(crate) fn renew_alarm(&self, number: u64) -> Option<u64> {
        let mut entries = self.lock();
        let Entries { alarms, numbers, .. } = &mut *entries;
        let alarm = alarms.iter_mut().find(|alarm| alarm.number == number)?;
        *numbers += 1;
        (alarm.number, alarm.is_found) = (*numbers, false);
        Some(*numbers)
    }

    /// Removes the alarm that was first registered as number `id`. Returns its current number.
    pub(crate) fn remove_alarm(&self, id: u64) -> Option<u64> {
        let mut entries = self.lock();
        let place = entries.alarms.iter().position(|alarm| alarm.id == id)?;
        let Alarm { number, .. } = entries.alarms.remove(place);
        entries.ready.retain(|ready| ready.number != number);
        self.note_due(&entries);
        Some(number)
    }

    /// Whether there is an alarm of this number.
    pub(crate) fn has_alarm(&self, number: u64) -> bool {
        self.lock().alarms.iter().any(|alarm| alarm.number == number)
    }

    /// Whether a finaliser is due. (A thread that sees this late runs it late.)
    pub(crate) fn is_due(&self) -> bool {
        self.due.load(Ordering::Relaxed)
    }

    /// How many finalisers are ready.
    pub(crate) fn ready(&self) -> usize {
        self.lock().ready.len()
    }

    /// Takes the next finaliser to run, if none is running. Its closure is no longer a root.
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

    /// The finaliser of this number has ended. (If it let the next one start, others are running.)
    pub(crate) fn end(&self, number: u64) {
        self.release_if(|(running, _)| running == number);
    }

    /// The finaliser running on this thread lets the next one start.
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

    /// A collection starts: the finalisers that it makes ready are ordered together.
    pub(crate) fn begin_collection(&self) {
        self.lock().collected = 0;
    }

    /// After tracing: makes ready the first finalisers whose closures are dead, which `lives` tells
    /// by their slots. Returns whether there are any; if so, their slots must be traced
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

    /// After all tracing: makes ready the last finalisers whose closures are dead.
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

    /// A trace in slices begins.
    pub(crate) fn begin_trace(&self) {
        let mut entries = self.lock();
        let Entries { alarms, ready, .. } = &mut *entries;
        for alarm in alarms {
            alarm.is_found = !ready.contains(&alarm.entry());
        }
    }

    /// The trace is given up: alarms ring when the next one is over.
    pub(crate) fn abandon_trace(&self) {
        self.lock().rung = mutant!("concurrent/abandoned-has-rung", false => true);
    }

    /// The trace has made first finalisers ready: makes the alarms ready, in order.
    pub(crate) fn ring_among_first(&self) {
        let mut entries = self.lock();
        entries.ring(|alarm| alarm.is_found);
        entries.sort_collected();
        entries.rung = true;
    }

    /// A major collection is over: makes the alarms ready, unless that was done during the trace.
    pub(crate) fn ring(&self) {
        let mut entries = self.lock();
        if !std::mem::take(&mut entries.rung) {
            entries.ring(|_| true);
        }
        self.note_due(&entries);
    }

    /// Calls `visit` for the slots of first finalisers whose closures a collection of `visited` may
    /// find dead.
    pub(super) fn for_each_first(&self, visited: Visited, mut visit: impl FnMut(Slot)) {
        let mut entries = self.lock();
        let slot = |entry: &mut Entry| visit(Slot(&mut entry.closure));
        entries.first.for_each(visited, slot);
    }

    /// Calls `visit` for the slots of finalisers that are ready: they keep their closures alive.
    pub(crate) fn for_each_ready(&self, mut visit: impl FnMut(Slot)) {
        let mut entries = self.lock();
        let ready = entries.ready.iter_mut();
        ready.for_each(|entry| visit(Slot(&mut entry.closure)));
    }

    /// Calls `visit` for the slots of registered finalisers, which do not keep closures alive.
    pub(crate) fn for_each_registered(&self, visited: Visited, mut visit: impl FnMut(Slot)) {
        let mut entries = self.lock();
        let Entries { first, last, .. } = &mut *entries;
        for table in [first, last] {
            table.for_each(visited, |entry| visit(Slot(&mut entry.closure)));
        }
    }

    /// A prescan of the finalisers begins, or is over.
    pub(super) fn set_prescan(&self, yes: bool) {
        let mut entries = self.lock();
        entries.first.set_prescan(yes);
        entries.last.set_prescan(yes);
    }

    /// Looks at some finalisers. Returns whether it has seen all of them.
    pub(super) fn prescan(&self, is_settled: impl Fn(u64) -> bool) -> bool {
        let mut entries = self.lock();
        let Entries { first, last, .. } = &mut *entries;
        let mut tables = [first, last].into_iter();
        tables.all(|table| table.prescan(|entry| is_settled(entry.closure)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn only_the_running_finaliser_lets_the_next_one_start() {
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
        // The one that let it start ends.
        table.end(3);
        assert_eq!((table.is_due(), begin()), (false, None));
        table.end(2);
        assert_eq!(begin(), Some(1));
    }
}
