//! The threads inside the heap: a list that is read without locks.
//!
//! A list is never changed, only replaced, by one thread at a time; readers pin an epoch
//! (crossbeam-epoch), load the current one and go through it. A replaced list is freed when the
//! last reader that may have seen it is gone, and a participant with the last list that names it.
//! So a thread can find out whether it is inside while a collection holds the lock (a listener that
//! tries to enter), a monitor can look at a stopped world, and a thread can ask hundreds of
//! capabilities to stop without delaying any other.
//!
//! Costs: entering or leaving copies the list (a word for each participant). A reader registers and
//! pins an epoch.

use crate::sync::epoch::{Atomic, Collector as Epochs, Owned, unprotected};
use crate::sync::{Arc, Mutex, Ordering};

/// A list that is read without locks.
pub(super) struct Registry<T> {
    list: Atomic<Arc<Vec<Arc<T>>>>,
    /// Held by the thread that replaces the list. It guards nothing that a panic could leave torn.
    replacing: Mutex<()>,
    /// Used by this registry alone, so replaced lists are freed with it at the latest.
    epochs: Epochs,
}

impl<T: Send + Sync> Registry<T> {
    pub(super) fn new() -> Self {
        Registry {
            list: Atomic::new(Arc::default()),
            replacing: Mutex::new(()),
            epochs: Epochs::new(),
        }
    }

    /// Look at the list as it is at some moment during the call.
    pub(super) fn read<R>(&self, look: impl FnOnce(&[Arc<T>]) -> R) -> R {
        self.with_list(|list| look(list))
    }

    /// The list as it is at some moment during the call. It is not copied.
    pub(super) fn snapshot(&self) -> Arc<Vec<Arc<T>>> {
        self.with_list(Arc::clone)
    }

    fn with_list<R>(&self, look: impl FnOnce(&Arc<Vec<Arc<T>>>) -> R) -> R {
        let epoch = self.epochs.register();
        let guard = epoch.pin();
        // Acquire: the list was written before it was put here. SAFETY: never null; a list that is
        // replaced while this guard is pinned is freed after the guard is dropped.
        let list = unsafe { self.list.load(Ordering::Acquire, &guard).deref() };
        look(list)
    }

    /// Replaces the list with the one that `change` makes from it. Callers take turns.
    pub(super) fn change(&self, change: impl FnOnce(&mut Vec<Arc<T>>)) {
        let _turn = self.replacing.lock();
        let epoch = self.epochs.register();
        let guard = epoch.pin();
        let mut list = self.read(|list| list.to_vec());
        change(&mut list);
        // Release: a thread that loads the list sees its content. Acquire: the replaced list may be
        // freed here.
        let old = self.list.swap(Owned::new(Arc::new(list)), Ordering::AcqRel, &guard);
        // SAFETY: readers can no longer find it, nor can those that have pinned an epoch.
        unsafe { guard.defer_destroy(old) };
        // Guards are few and short-lived: without this nothing would be freed before the end.
        guard.flush();
    }
}

impl<T> Drop for Registry<T> {
    fn drop(&mut self) {
        // SAFETY: no other thread has the registry.
        drop(unsafe { self.list.load(Ordering::Relaxed, unprotected()).into_owned() });
    }
}

#[cfg(all(test, not(any(gclab_loom, gclab_shuttle))))]
mod tests {
    use super::*;
    use crate::sync::{AtomicBool, AtomicUsize, Ordering::Relaxed};

    /// Counts those that are there.
    struct Counted<'a>(&'a AtomicUsize, usize);
    impl Drop for Counted<'_> {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Relaxed);
        }
    }

    /// The list of numbers that a registry has after `number` was put last: at most eight.
    fn change<'a>(registry: &Registry<Counted<'a>>, there: &'a AtomicUsize, number: usize) {
        there.fetch_add(1, Relaxed);
        registry.change(|list| list.push(Arc::new(Counted(there, number))));
        if number >= 7 {
            registry.change(|list| drop(list.remove(number % 3)));
        }
    }

    /// In the order in which they entered, since a new thread is put last.
    fn is_whole(list: &[Arc<Counted<'_>>]) {
        assert!(list.is_sorted_by_key(|one| one.1) && list.len() <= 8);
    }

    const ROUNDS: usize = if cfg!(miri) { 50 } else { 5_000 };

    #[test]
    fn readers_see_whole_lists() {
        let (there, done) = (AtomicUsize::new(0), AtomicBool::new(false));
        let registry = Registry::new();
        std::thread::scope(|s| {
            for _ in 0..3 {
                s.spawn(|| {
                    while !done.load(Relaxed) {
                        registry.read(is_whole);
                    }
                });
            }
            (0..ROUNDS).for_each(|number| change(&registry, &there, number));
            done.store(true, Relaxed);
        });
        drop(registry);
        assert_eq!(there.into_inner(), 0);
    }

    /// Epochs advance as long as no thread stays pinned. So participants that left are not kept
    /// until the end.
    #[test]
    fn what_left_is_freed_while_others_come_and_go() {
        let there = AtomicUsize::new(0);
        let registry = Registry::new();
        for number in 0..ROUNDS {
            change(&registry, &there, number);
            registry.read(is_whole);
            let now = there.load(Relaxed);
            assert!(cfg!(miri) || now < 200, "{now} are there in round {number}");
        }
        drop(registry);
        assert_eq!(there.into_inner(), 0);
    }

    /// Without turns, a change could start from a list that another change is replacing.
    #[test]
    fn no_change_is_lost_if_two_threads_make_them() {
        let registry = Registry::new();
        let rounds = if cfg!(miri) { 20 } else { 2_000 };
        std::thread::scope(|s| {
            for thread in 0..4 {
                let registry = &registry;
                s.spawn(move || {
                    for number in 0..rounds {
                        registry.change(|list| list.push(Arc::new((thread, number))));
                        registry.change(|list| list.retain(|one| **one != (thread, number)));
                    }
                    registry.change(|list| list.push(Arc::new((thread, rounds))));
                });
            }
        });
        let mut left = registry.read(|list| list.iter().map(|one| **one).collect::<Vec<_>>());
        left.sort_unstable();
        assert_eq!(left, [(0, rounds), (1, rounds), (2, rounds), (3, rounds)]);
    }
}
