//! Locks, condition variables, atomics, queues to steal from, and threads: the one place where the core has them from.
//!
//! So that a model checker's are put in their place by a `cfg`, without a change anywhere else: loom's by `gclab_loom` (`trace::models` runs under it), shuttle's by
//! `gclab_shuttle` (whole worlds run under it). Locks are parking_lot's: a word each, they know no
//! poison (a panic leaves what they guard whole, each user says why), and thread sanitizers see through them.

#[cfg(gclab_loom)]
pub(crate) mod deque;
#[cfg(any(gclab_loom, gclab_shuttle))]
mod lock;

pub(crate) use std::sync::Arc;

#[cfg(not(any(gclab_loom, gclab_shuttle)))]
mod tool {
    pub(crate) use parking_lot::{Condvar, Mutex, MutexGuard};
    pub(crate) use std::hint::spin_loop;
    pub(crate) use std::sync::atomic;
    pub(crate) use std::thread;
}

#[cfg(gclab_loom)]
mod tool {
    pub(crate) use super::lock::{Condvar, Mutex, MutexGuard};
    pub(crate) use loom::hint::spin_loop;
    pub(crate) use loom::sync::atomic;
    pub(crate) use loom::thread;
}

#[cfg(gclab_shuttle)]
mod tool {
    pub(crate) use super::lock::{Condvar, Mutex, MutexGuard};
    pub(crate) use shuttle::hint::spin_loop;
    pub(crate) use shuttle::sync::atomic;
    pub(crate) use shuttle::thread;
}

#[cfg(not(gclab_loom))]
pub(crate) use crossbeam_deque as deque;
pub(crate) use tool::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering, fence};
pub(crate) use tool::thread::{Builder, JoinHandle, ThreadId, yield_now};
pub(crate) use tool::{Condvar, Mutex, MutexGuard, spin_loop};

/// The thread that asks.
pub(crate) fn this_thread() -> ThreadId {
    tool::thread::current().id()
}

/// A word of a heap; in loom's models one of loom's atomics, there in its place.
#[cfg(not(gclab_loom))]
use std::sync::atomic::AtomicU64 as Word;
#[cfg(gclab_loom)]
use tool::atomic::AtomicU64 as Word;

/// A word of the heap that several threads of a collection may read and write at a time.
///
/// # Safety
/// For `'a` it is memory, aligned, and read and written as an atomic only.
#[inline(always)]
pub(crate) unsafe fn shared_word<'a>(word: *mut u64) -> &'a Word {
    // Other threads may come in between, here too.
    #[cfg(gclab_shuttle)]
    yield_now();
    // SAFETY: the caller's promise.
    unsafe { &*word.cast::<Word>() }
}
