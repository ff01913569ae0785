//! Where locks, atomics and fences that threads meet at come from.
//!
//! One place, so that a build for a tool can have them from that tool.

pub(crate) use parking_lot::{Condvar, Mutex, MutexGuard};
pub(crate) use std::hint::spin_loop;
pub(crate) use std::sync::atomic::{AtomicUsize, fence};
pub(crate) use std::thread::yield_now;
