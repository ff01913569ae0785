//! Locks, condition variables, atomics, queues to steal from, and threads: core takes them from
//! here only.
//!
//! So a `cfg` puts a model checker's types in their place without a change anywhere else: loom's
//! with `gclab_loom` (`trace::models` runs under it), shuttle's with `gclab_shuttle` (whole worlds
//! run under it). Locks are parking_lot's. Each is one word. They have no poison (each user says
//! why a panic leaves the guarded data whole), and thread sanitizers understand them.

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

/// The calling thread's id.
pub(crate) fn this_thread() -> ThreadId {
    tool::thread::current().id()
}

/// The type of a shared word of a heap; in loom's models, one of loom's atomics stands at its
/// address.
#[cfg(not(gclab_loom))]
use std::sync::atomic::AtomicU64 as Word;
#[cfg(gclab_loom)]
use tool::atomic::AtomicU64 as Word;

/// A word of the heap that several threads of a collection may read and write at a time.
///
/// # Safety
/// For all of `'a`, `word` points to aligned, committed memory, and every access to it is atomic.
#[inline(always)]
pub(crate) unsafe fn shared_word<'a>(word: *mut u64) -> &'a Word {
    // A point at which shuttle may run other threads.
    #[cfg(gclab_shuttle)]
    yield_now();
    // SAFETY: the caller vouches for the memory and for atomic access.
    unsafe { &*word.cast::<Word>() }
}
