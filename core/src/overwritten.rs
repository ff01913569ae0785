//! The values that mutators overwrote while a snapshot of the heap is marked.

use crate::closure::{ClosureRef, Slot};
use crate::remembered::{RememberedChunks, RememberedSet};
use crate::sync::{Arc, AtomicU64, AtomicUsize, Mutex, Ordering::Relaxed, yield_now};
use crate::words::Addr;
use std::cell::Cell;
use std::time::{Duration, Instant};

/// The values that one mutator overwrote, and the closures of weak handles that it opened, since
/// marking began or this was last emptied (GHC's update remembered set). None of these closures
/// moves. The memory is bounded and counts towards the limit, as for a [`RememberedSet`]; when
/// there are many, each is kept once.
///
/// While a marker runs concurrently, the mutator hands its notes over whenever they fill a chunk, and
/// when the marker asks for them (R16).
#[derive(Debug)]
pub struct Overwritten {
    /// A set of addresses of the heap, like the set of slots.
    closures: RememberedSet,
    /// A snapshot is being marked.
    marking: Cell<bool>,
    queue: Arc<NoteQueue>,
    /// The last request of the queue that was answered.
    answered: Cell<u64>,
}

/// Where mutators hand notes to a marker that runs concurrently, so that pauses find few of them.
/// Correctness does not depend on it: the pause that ends the marking takes what is left here and
/// with the mutators.
#[derive(Debug, Default)]
pub(crate) struct NoteQueue {
    notes: Mutex<Notes>,
    /// How often the marker has asked for notes.
    asked: AtomicU64,
    /// Mutators that have notes.
    holders: AtomicUsize,
}

#[derive(Debug, Default)]
struct Notes {
    chunks: RememberedChunks,
    /// A marker takes them.
    is_open: bool,
}

/// Chunks in the queue, beyond which mutators keep their notes.
const MOST: usize = 16;

/// How often, and how long, a marker yields until mutators answer. One that neither allocates nor stores
/// keeps its notes for the next pause. In models no clock decides, and loom lets who yields wait for all
/// others.
const TRIES: u32 = match (cfg!(gclab_loom), cfg!(gclab_shuttle)) {
    (true, _) => 0,
    (_, true) => 2,
    _ => 500,
};

const LONGEST: Duration = if cfg!(any(gclab_loom, gclab_shuttle)) {
    Duration::MAX
} else {
    Duration::from_millis(1)
};

impl Overwritten {
    /// None yet, in the heap of a remembered set.
    pub(crate) fn beside(remembered: &RememberedSet, queue: Arc<NoteQueue>) -> Self {
        Overwritten {
            closures: remembered.another(),
            marking: Cell::new(false),
            queue,
            answered: Cell::new(0),
        }
    }

    pub(crate) fn push(&self, closure: ClosureRef) {
        if self.closures.is_empty() {
            self.queue.holders.fetch_add(1, Relaxed);
        }
        self.closures.push(Slot(closure.0));
        if self.closures.is_full() || self.is_asked() {
            self.flush();
        }
    }

    /// The mutator is at a safepoint: it answers the marker.
    #[inline]
    pub(crate) fn answer(&self) {
        if self.is_asked() {
            self.flush();
        }
    }

    /// Hands all notes to a marker, if one runs. The mutator may not reach a safepoint for a long time.
    pub(crate) fn flush(&self) {
        self.answered.set(self.queue.asked.load(Relaxed));
        if !self.closures.is_empty() && self.queue.put(&self.closures) {
            self.queue.holders.fetch_sub(1, Relaxed);
        }
    }

    fn is_asked(&self) -> bool {
        self.answered.get() != self.queue.asked.load(Relaxed)
    }

    /// Where its notes are handed over.
    pub(crate) fn queue(&self) -> &Arc<NoteQueue> {
        &self.queue
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.closures.is_empty() && self.queue.is_empty()
    }

    /// Whether a snapshot is being marked.
    pub(crate) fn set_marking(&self, on: bool) {
        self.marking.set(on);
    }

    /// Whether a snapshot is being marked.
    pub(crate) fn is_marking(&self) -> bool {
        self.marking.get()
    }

    /// The addresses of the closures, for the checker.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = Addr> + '_ {
        let flushed: Vec<_> = self.queue.notes.lock().chunks.iter().flatten().copied().collect();
        self.closures.slots().chain(flushed).map(|slot| slot.addr())
    }

    /// Calls `visit` for each of them and of those that any mutator has handed over, possibly twice,
    /// and forgets them. The world is stopped.
    pub(crate) fn take(&self, mut visit: impl FnMut(ClosureRef)) {
        if !mutant!("concurrent/flushed-not-taken") {
            let flushed = std::mem::take(&mut self.queue.notes.lock().chunks);
            flushed.iter().flatten().for_each(|slot| visit(ClosureRef(slot.0)));
        }
        if !self.closures.is_empty() {
            self.queue.holders.fetch_sub(1, Relaxed);
        }
        self.closures.take(|slot| visit(ClosureRef(slot.0)));
    }
}

impl NoteQueue {
    /// Takes all notes of a set. Returns false, and takes none, if no marker runs, if it has enough, or
    /// if there were so many that they are bits.
    fn put(&self, set: &RememberedSet) -> bool {
        let mut notes = self.notes.lock();
        let is_wanted = notes.is_open && notes.chunks.len() < MOST && set.is_listed();
        if is_wanted {
            notes.chunks.take(set);
        }
        is_wanted
    }

    /// A marker begins or ceases to take notes.
    pub(crate) fn set_open(&self, yes: bool) {
        self.notes.lock().is_open = yes;
    }

    /// Calls `visit` for a chunk of the notes that were handed over, and forgets them.
    pub(crate) fn take_chunk(&self, mut visit: impl FnMut(ClosureRef)) {
        let some = self.notes.lock().chunks.pop();
        if let Some(some) = some.filter(|_| !mutant!("concurrent/flushed-lost")) {
            some.iter().flatten().for_each(|slot| visit(ClosureRef(slot.0)));
        }
    }

    fn is_empty(&self) -> bool {
        self.notes.lock().chunks.is_empty()
    }

    /// Asks the mutators for their notes, and gives those that have some a little time to come to a
    /// store or a safepoint, unless `must_stop` says that there is none. Returns how many chunks there
    /// are now.
    pub(crate) fn ask(&self, must_stop: impl Fn() -> bool) -> usize {
        let holders = || self.holders.load(Relaxed);
        if holders() > 0 {
            self.asked.fetch_add(1, Relaxed);
            let begun = Instant::now();
            let mut tries = 0..TRIES;
            while holders() > 0 && !must_stop() && begun.elapsed() < LONGEST && tries.next().is_some() {
                yield_now();
            }
        }
        self.notes.lock().chunks.len()
    }
}

/// A model for loom (`.ci/loom`).
#[cfg(all(test, gclab_loom))]
mod models {
    use super::*;
    use crate::workers::models::model;
    use loom::thread;

    /// Wherever the marker is when it ends: a pause takes what it has not taken, and nothing twice.
    #[test]
    fn each_note_comes_to_the_marker_or_to_the_pause() {
        model(Some(3), || {
            let queue = Arc::new(NoteQueue::default());
            let take = |queue: &NoteQueue, found: &mut Vec<usize>| {
                let chunks = queue.ask(|| false);
                (0..chunks).for_each(|_| queue.take_chunk(|closure| found.push(closure.addr().0)));
            };
            let marker = {
                let queue = Arc::clone(&queue);
                thread::spawn(move || {
                    let mut found = Vec::new();
                    queue.set_open(true);
                    take(&queue, &mut found);
                    queue.set_open(false);
                    found
                })
            };
            let mutator = Overwritten::beside(&RememberedSet::default(), queue);
            for address in [8, 16] {
                mutator.push(ClosureRef(address as *mut u64));
                mutator.answer();
            }
            let mut found = marker.join().unwrap();
            mutator.take(|closure| found.push(closure.addr().0));
            found.sort_unstable();
            assert_eq!(found, [8, 16]);
            assert!(mutator.is_empty());
            assert_eq!(mutator.queue.holders.load(Relaxed), 0);
        });
    }
}

#[cfg(all(test, not(any(gclab_loom, gclab_shuttle))))]
mod tests {
    use super::*;

    fn closure(number: usize) -> ClosureRef {
        ClosureRef((8 * number) as *mut u64)
    }

    /// The notes of a mutator, in order: of those that it handed over, and of those that a pause takes.
    fn notes(mutator: &Overwritten) -> [Vec<usize>; 2] {
        let mut lists = [Vec::new(), Vec::new()];
        while !mutator.queue.is_empty() {
            mutator.queue.take_chunk(|closure| lists[0].push(closure.addr().0 / 8));
        }
        mutator.take(|closure| lists[1].push(closure.addr().0 / 8));
        assert!(mutator.is_empty());
        assert_eq!(mutator.queue.holders.load(Relaxed), 0);
        lists.iter_mut().for_each(|list| list.sort_unstable());
        lists
    }

    #[test]
    fn a_mutator_hands_over_full_chunks_and_all_notes_when_it_is_asked() {
        let mutator = Overwritten::beside(&RememberedSet::default(), Arc::default());
        let push = |numbers: std::ops::Range<usize>| numbers.for_each(|number| mutator.push(closure(number)));
        // No marker runs.
        push(1..10_000);
        assert_eq!(notes(&mutator), [vec![], (1..10_000).collect()]);
        mutator.queue.set_open(true);
        push(1..10_000);
        let [flushed, kept] = notes(&mutator);
        assert!(!kept.is_empty() && kept.len() < 5_000, "{}", kept.len());
        assert!(flushed.into_iter().chain(kept).eq(1..10_000));
        // It answers at a safepoint or when it notes more, once.
        for at_safepoint in [true, false] {
            push(1..10);
            mutator.queue.ask(|| false);
            if at_safepoint {
                mutator.answer();
            }
            push(10..20);
            push(20..30);
            let last = if at_safepoint { 10 } else { 11 };
            assert_eq!(notes(&mutator), [(1..last).collect::<Vec<_>>(), (last..30).collect()]);
        }
        // A marker that does not keep up gets no more than it can hold.
        push(1..1_000_000);
        let chunks = || mutator.queue.notes.lock().chunks.len();
        assert_eq!(chunks(), MOST);
        // The others are bits by now, which stay when there is room again.
        let mut taken = 0;
        mutator.queue.take_chunk(|_| taken += 1);
        push(1_000_000..1_010_000);
        assert_eq!(chunks(), MOST - 1);
        let [flushed, kept] = notes(&mutator);
        assert_eq!(taken + flushed.len() + kept.len(), 1_009_999);
    }
}
