//! Who is in the heap: a list that is read without locks.
//!
//! A list is never changed, only replaced, under the world's lock; readers pin an epoch (crossbeam-epoch), load the current one and go
//! through it. What was replaced is freed when the last reader that may have seen it is gone, and a member with the last list that names
//! it. So a thread can find out whether it is inside while a collection has the lock (a listener that tries to enter), a monitor can look at a stopped world, and hundreds of
//! capabilities can be asked to stop by somebody who holds nobody up.
//!
//! Costs: to come or to leave, a new list (a word for each member); to read, an epoch registered and pinned.

use crate::collector::{Alloc, Capability};
use crate::sync::{Arc, AtomicU8, AtomicU64, Ordering, ThreadId};
use crate::words::Bytes;
use crossbeam_epoch::{Atomic, Collector as Epochs, Owned, unprotected};

/// A list that is read without locks.
pub(super) struct Registry<T> {
    list: Atomic<Vec<Arc<T>>>,
    /// Of this registry alone: what was replaced goes with it, at the latest.
    epochs: Epochs,
}

impl<T: Send + Sync> Registry<T> {
    pub(super) fn new() -> Self {
        Registry {
            list: Atomic::new(Vec::new()),
            epochs: Epochs::new(),
        }
    }

    /// Look at the list as it is at some moment during the call.
    pub(super) fn read<R>(&self, look: impl FnOnce(&[Arc<T>]) -> R) -> R {
        let epoch = self.epochs.register();
        let guard = epoch.pin();
        // Acquire: the list was written before it was put here.
        // SAFETY: never null; what is replaced while this guard is pinned is freed after it is dropped.
        let list = unsafe { self.list.load(Ordering::Acquire, &guard).deref() };
        look(list)
    }

    /// Replace the list by what `change` makes of it. Callers take turns, by the world's lock.
    pub(super) fn change(&self, change: impl FnOnce(&mut Vec<Arc<T>>)) {
        let epoch = self.epochs.register();
        let guard = epoch.pin();
        let mut list = self.read(|list| list.to_vec());
        change(&mut list);
        // Release: who loads it sees it written. Acquire: the one that it replaces is freed here, perhaps.
        let old = self.list.swap(Owned::new(list), Ordering::AcqRel, &guard);
        // SAFETY: no reader can find it any more, and those that have pinned an epoch.
        unsafe { guard.defer_destroy(old) };
        // These guards are short and few: without it nothing would be freed before the end.
        guard.flush();
    }
}

impl<T> Drop for Registry<T> {
    fn drop(&mut self) {
        // SAFETY: nobody else has the registry any more.
        drop(unsafe { self.list.load(Ordering::Relaxed, unprotected()).into_owned() });
    }
}

/// What a thread that is inside does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Doing {
    /// It runs the program.
    Running,
    /// It stands still: a collection goes on, or is about to.
    Stopped,
    /// It collects, or looks at the stopped heap.
    Stopping,
    /// It is in [`crate::mutator::Mutator::blocking`].
    Blocking,
}

/// What other threads see of one that is inside.
#[derive(Debug)]
pub(crate) struct Member<A> {
    pub(super) thread: ThreadId,
    /// Its capability, or null if it only looks. Whoever follows it has the world's lock, and found the member in the registry.
    pub(super) capability: *const Capability<A>,
    number: Option<usize>,
    doing: AtomicU8,
    /// Bytes that it has allocated in this stay up to the last collection.
    collected: AtomicU64,
    /// Bytes since then, as far as it has said so: it does when it comes to a slow path.
    since: AtomicU64,
}

/// All that are inside.
pub(super) type Members<A> = [Arc<Member<A>>];

// SAFETY: what `capability` points to is used under the world's lock only, and what is done there to another thread's says itself why
// it may; an allocator may go from thread to thread.
unsafe impl<A: Send> Send for Member<A> {}
// SAFETY: as above; all else is atomic or never changes.
unsafe impl<A: Send> Sync for Member<A> {}

/// A thread's stay, as its own slow paths see it.
pub(crate) struct Stay<'a, A> {
    pub(crate) capability: &'a Capability<A>,
    pub(crate) member: &'a Member<A>,
}

impl<A> Clone for Stay<'_, A> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<A> Copy for Stay<'_, A> {}

impl<A: Alloc> Stay<'_, A> {
    /// Say how much was allocated.
    pub(super) fn note(self) {
        let since = self.capability.alloc().allocated().0 as u64;
        self.member.since.store(since, Ordering::Relaxed);
    }
}

impl<A> Member<A> {
    /// A thread with a capability, or one that only looks: null and no number.
    pub(super) fn new(thread: ThreadId, capability: *const Capability<A>, number: Option<usize>, doing: Doing) -> Self {
        Member {
            thread,
            capability,
            number,
            doing: AtomicU8::new(doing as u8),
            collected: AtomicU64::new(0),
            since: AtomicU64::new(0),
        }
    }

    /// Who decides by it has the world's lock, under which it changes; others are told what was so a moment ago.
    pub(super) fn doing(&self) -> Doing {
        match self.doing.load(Ordering::Relaxed) {
            0 => Doing::Running,
            1 => Doing::Stopped,
            2 => Doing::Stopping,
            _ => Doing::Blocking,
        }
    }

    pub(super) fn set_doing(&self, doing: Doing) {
        self.doing.store(doing as u8, Ordering::Relaxed);
    }

    /// A collection counted `allocated` bytes.
    pub(super) fn counted(&self, allocated: Bytes) {
        self.since.store(0, Ordering::Relaxed);
        self.collected.fetch_add(allocated.0 as u64, Ordering::Relaxed);
    }

    /// Bytes since the last collection, as far as it is known.
    pub(super) fn since(&self) -> u64 {
        self.since.load(Ordering::Relaxed)
    }
}

/// A thread that is in the heap, as others see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadInside {
    /// Which.
    pub thread: ThreadId,
    /// The number of its capability; none if it only looks at the stopped heap.
    pub capability: Option<usize>,
    /// What it does.
    pub doing: Doing,
    /// Bytes that it has allocated in this stay, as far as it has said so: when its allocator last ran out.
    pub allocated: Bytes,
}

impl<A> From<&Member<A>> for ThreadInside {
    fn from(member: &Member<A>) -> Self {
        ThreadInside {
            thread: member.thread,
            capability: member.number,
            doing: member.doing(),
            allocated: Bytes((member.collected.load(Ordering::Relaxed) + member.since()) as usize),
        }
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

    #[test]
    fn readers_see_whole_lists_and_what_left_is_freed() {
        let (there, most, done) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicBool::new(false));
        let registry = Registry::new();
        std::thread::scope(|s| {
            for _ in 0..3 {
                s.spawn(|| {
                    while !done.load(Relaxed) {
                        registry.read(|list: &[Arc<Counted<'_>>]| {
                            // In the order in which they came, since who comes is put last.
                            assert!(list.is_sorted_by_key(|one| one.1) && list.len() <= 8);
                        });
                    }
                });
            }
            let rounds = if cfg!(miri) { 50 } else { 5_000 };
            for number in 0..rounds {
                there.fetch_add(1, Relaxed);
                registry.change(|list| list.push(Arc::new(Counted(&there, number))));
                if number >= 7 {
                    registry.change(|list| drop(list.remove(number % 3)));
                }
                most.fetch_max(there.load(Relaxed), Relaxed);
            }
            done.store(true, Relaxed);
        });
        // Epochs go on as long as nobody stays pinned: what left is not kept until the end.
        let most = most.into_inner();
        assert!(cfg!(miri) || (8..4_000).contains(&most), "{most} were there at a time");
        drop(registry);
        assert_eq!(there.into_inner(), 0);
    }
}
