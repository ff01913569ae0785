//! Locks, condition variables, atomics and threads: the one place where the core has them from.
//!
//! So that a model checker's can be put in their place by a `cfg`, without a change anywhere else. Locks are parking_lot's: a word each, they know no
//! poison (a panic leaves what they guard whole, each user says why), and thread sanitizers see through them.

pub(crate) use parking_lot::{Condvar, Mutex, MutexGuard};
pub(crate) use std::hint::spin_loop;
pub(crate) use std::sync::Arc;
pub(crate) use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering, fence};
pub(crate) use std::thread::{ThreadId, yield_now};

/// The thread that asks.
pub(crate) fn this_thread() -> ThreadId {
    std::thread::current().id()
}
