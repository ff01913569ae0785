//! Locks, condition variables, atomics, work-stealing queues, and threads: core takes them only
//! from here.
//!
//! So a `cfg` can substitute a model checker's types without changes elsewhere: loom's with
//! `gclab_loom` (`workers::models` and `trace::models` run under it), shuttle's with
//! `gclab_shuttle` (whole worlds run under it). Locks are parking_lot's. Each is one word. They are
//! not poisoned (each user says why a panic leaves the guarded data consistent), and thread
//! sanitizers understand them.
//!
//! A checker's atomics cannot overlay mapped memory: they have their own state. So words of the
//! heap ([`shared_word`]) and entries of side tables ([`Mapped`]) are std's atomics, with a point
//! before each access at which shuttle may run another thread. loom's models put a loom atomic at
//! the address of a shared word; they have no side tables. The bytes and words that programs see
//! ([`data`]) are std's in every build. A test (`imports` in experiments/tests/it) checks that no
//! other file of core names these crates and modules.

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
/// Epochs, for lists that are read without locks. The exception: crossbeam's own atomics in every
/// build, which a checker does not see. Only the world's list of threads uses them, and no model
/// covers it: under shuttle each of its steps is atomic. ThreadSanitizer and Miri see them.
pub(crate) use crossbeam_epoch as epoch;
pub(crate) use tool::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering, fence};
pub(crate) use tool::thread::{Builder, JoinHandle, ThreadId, yield_now};
pub(crate) use tool::{Condvar, Mutex, MutexGuard, spin_loop};

/// The calling thread's id.
pub(crate) fn this_thread() -> ThreadId {
    tool::thread::current().id()
}

/// Whether the calling thread is unwinding.
pub(crate) fn panicking() -> bool {
    std::thread::panicking()
}

/// Real threads and channels in every build, for the timer, which no model covers.
pub(crate) mod real {
    pub(crate) use std::sync::mpsc::{RecvTimeoutError, channel};
    pub(crate) use std::thread::{Builder as ScopedBuilder, scope};
}

/// The atomics of heap data in the public interface.
pub(crate) mod data {
    pub(crate) use std::sync::atomic::{AtomicU8, AtomicU64};
}
use data::{AtomicU8 as DataU8, AtomicU64 as DataU64};

/// The type of a shared word of a heap; in loom's models, one of loom's atomics represents its
/// address.
#[cfg(not(gclab_loom))]
pub(crate) use std::sync::atomic::AtomicU64 as Word;
#[cfg(gclab_loom)]
pub(crate) use tool::atomic::AtomicU64 as Word;

/// A point at which shuttle may run other threads.
#[inline(always)]
fn schedule() {
    // `yield_now` would lower the thread's priority, and threads would take turns.
    #[cfg(gclab_shuttle)]
    shuttle::thread::sleep(std::time::Duration::ZERO);
}

/// A word of the heap that several threads may read and write at a time.
///
/// # Safety
/// For all of `'a`, `word` points to aligned, committed memory, and every access to it is atomic.
#[inline(always)]
pub(crate) unsafe fn shared_word<'a>(word: *mut u64) -> &'a Word {
    schedule();
    // SAFETY: the caller vouches for the memory and for atomic access.
    unsafe { &*word.cast::<Word>() }
}

/// An atomic entry of a side table in mapped memory. Zero is a valid value.
#[derive(Debug)]
#[repr(transparent)]
pub(crate) struct Mapped<A>(A);

/// A [`Mapped`] byte.
pub(crate) type MappedU8 = Mapped<DataU8>;

/// A [`Mapped`] word.
pub(crate) type MappedU64 = Mapped<DataU64>;

macro_rules! mapped {
    ($atomic:ty, $value:ty) => {
        impl Mapped<$atomic> {
            #[inline(always)]
            pub(crate) fn load(&self, order: Ordering) -> $value {
                schedule();
                self.0.load(order)
            }

            #[inline(always)]
            pub(crate) fn store(&self, value: $value, order: Ordering) {
                schedule();
                self.0.store(value, order);
            }

            #[inline(always)]
            pub(crate) fn get_mut(&mut self) -> &mut $value {
                self.0.get_mut()
            }
        }
    };
}

mapped!(DataU8, u8);
mapped!(DataU64, u64);

impl MappedU64 {
    #[inline(always)]
    pub(crate) fn compare_exchange(&self, current: u64, new: u64, order: Ordering) -> Result<u64, u64> {
        schedule();
        self.0.compare_exchange(current, new, order, order)
    }
}
