//! For loom: the Chase-Lev deque of `crossbeam-deque`, whose atomics loom cannot see. The same
//! steps with the same memory orders (version 0.8, LIFO), without growth. Items that were pushed
//! and never taken are leaked.

use super::{AtomicUsize, Ordering::*, fence};
use loom::sync::atomic::AtomicPtr;
use std::sync::Arc;

/// Capacity of a queue, in items.
const ROOM: usize = 8;

#[derive(Debug)]
struct Inner<T> {
    front: AtomicUsize,
    back: AtomicUsize,
    slots: [AtomicPtr<T>; ROOM],
}

/// The owner's end of the queue.
#[derive(Debug)]
pub(crate) struct Worker<T>(Arc<Inner<T>>);

/// The end for all other threads.
#[derive(Debug)]
pub(crate) struct Stealer<T>(Arc<Inner<T>>);

/// The result of an attempt to steal.
#[derive(Debug)]
pub(crate) enum Steal<T> {
    Empty,
    Success(T),
    Retry,
}

impl<T> Worker<T> {
    pub(crate) fn new_lifo() -> Self {
        Worker(Arc::new(Inner {
            front: AtomicUsize::new(1),
            back: AtomicUsize::new(1),
            slots: std::array::from_fn(|_| AtomicPtr::new(std::ptr::null_mut())),
        }))
    }

    pub(crate) fn stealer(&self) -> Stealer<T> {
        Stealer(Arc::clone(&self.0))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.back.load(Relaxed) <= self.0.front.load(SeqCst)
    }

    pub(crate) fn push(&self, item: T) {
        let back = self.0.back.load(Relaxed);
        assert!(
            back - self.0.front.load(Acquire) < ROOM,
            "the model makes too many pieces"
        );
        self.0.slots[back % ROOM].store(Box::into_raw(Box::new(item)), Relaxed);
        fence(Release);
        self.0.back.store(back + 1, Relaxed);
    }

    pub(crate) fn pop(&self) -> Option<T> {
        let (back, front) = (self.0.back.load(Relaxed), self.0.front.load(Relaxed));
        if back <= front {
            return None;
        }
        let back = back - 1;
        self.0.back.store(back, Relaxed);
        fence(SeqCst);
        let front = self.0.front.load(Relaxed);
        if back < front {
            self.0.back.store(back + 1, Relaxed);
            return None;
        }
        let item = self.0.slots[back % ROOM].load(Relaxed);
        if back == front {
            let last = self.0.front.compare_exchange(front, front + 1, SeqCst, Relaxed);
            self.0.back.store(back + 1, Relaxed);
            last.ok()?;
        }
        // SAFETY: `push` made the pointer from a box, and the index that was won names one thread
        // as the item's only taker.
        Some(*unsafe { Box::from_raw(item) })
    }
}

impl<T> Stealer<T> {
    pub(crate) fn is_empty(&self) -> bool {
        let front = self.0.front.load(Acquire);
        fence(SeqCst);
        self.0.back.load(Acquire) <= front
    }

    pub(crate) fn steal(&self) -> Steal<T> {
        let front = self.0.front.load(Acquire);
        fence(SeqCst);
        if self.0.back.load(Acquire) <= front {
            return Steal::Empty;
        }
        let item = self.0.slots[front % ROOM].load(Relaxed);
        if self
            .0
            .front
            .compare_exchange(front, front + 1, SeqCst, Relaxed)
            .is_err()
        {
            return Steal::Retry;
        }
        // SAFETY: as in `pop`.
        Steal::Success(*unsafe { Box::from_raw(item) })
    }
}
