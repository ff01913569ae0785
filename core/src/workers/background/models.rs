//! Models for loom (`.ci/loom`): the background thread beside mutators, and the world that parks it,
//! in every order that the memory model allows, or up to a number of preemptions.
//!
//! [`BackgroundThread`] is the real one, and so are loads and stores of slots. What the thread works
//! on is a loom cell, which detects two threads in it at a time, and a read that is not ordered after
//! the write.

use super::{Background, BackgroundThread, Helpers, Stop, Worked};
use crate::clock::Clock;
use crate::closure::{ClosureRef, Slot};
use crate::stats::Phase;
use crate::sync::Ordering::Relaxed;
use crate::sync::{Arc, AtomicBool, AtomicU64, Condvar, Mutex};
use crate::workers::models::model;
use loom::cell::UnsafeCell;
use loom::thread;

/// A heap that is worked on in steps.
struct Heap {
    steps: u64,
    done: UnsafeCell<u64>,
    is_over: Mutex<bool>,
    over: Condvar,
}

// SAFETY: in a pause the cell belongs to the one who stopped the world, and otherwise to the thread;
// loom finds out if that is wrong.
unsafe impl Sync for Heap {}
// SAFETY: as above.
unsafe impl Send for Heap {}

impl Heap {
    fn new(steps: u64) -> Arc<Heap> {
        Arc::new(Heap {
            steps,
            done: UnsafeCell::new(0),
            is_over: Mutex::new(false),
            over: Condvar::new(),
        })
    }

    /// As a mutator that waits for the end of the cycle.
    fn wait_until_over(&self) {
        let mut is_over = self.is_over.lock();
        while !*is_over {
            self.over.wait(&mut is_over);
        }
    }

    /// In a pause: the steps that were done.
    fn done(&self) -> u64 {
        // SAFETY: as above.
        self.done.with(|done| unsafe { *done })
    }
}

impl Background for Heap {
    fn work(&self, stop: &Stop, _: &mut Helpers) -> Worked {
        let before = self.done();
        let mut done = before;
        while done < self.steps {
            done += 1;
            // SAFETY: as above.
            self.done.with_mut(|cell| unsafe { *cell = done });
            if stop.is_asked() {
                break;
            }
        }
        Worked {
            phase: Phase::Marked,
            closures: done - before,
            is_over: done == self.steps,
        }
    }

    fn over(&self) {
        *self.is_over.lock() = true;
        self.over.notify_one();
    }
}

/// The thread, with its first work.
fn started(work: Arc<dyn Background>) -> BackgroundThread {
    let mut thread = BackgroundThread::new("lazy", Clock::start());
    thread.start(work);
    thread
}

/// Whenever a pause begins, the thread has not taken the work, is at it, or has finished (R13). The
/// pause has the heap to itself and knows what was done; the work goes on after it, and ends once.
#[test]
fn a_pause_has_the_heap_to_itself() {
    model(Some(3), || {
        let heap = Heap::new(2);
        let mut thread = started(Arc::clone(&heap) as Arc<dyn Background>);
        let mut known = 0;
        let mut parked = |thread: &mut BackgroundThread| {
            known += thread.park().map_or(0, |stretch| stretch.worked.closures);
            assert_eq!(heap.done(), known);
        };
        thread.resume();
        parked(&mut thread);
        thread.resume();
        heap.wait_until_over();
        parked(&mut thread);
        assert_eq!(heap.done(), heap.steps);
        thread.resume();
        assert!(thread.park().is_none(), "it began again");
        let next = Heap::new(1);
        thread.start(Arc::clone(&next) as Arc<dyn Background>);
        thread.resume();
        next.wait_until_over();
        thread.park();
        assert_eq!(next.done(), next.steps);
    });
}

/// A world that ends, perhaps because a mutator panicked, waits for the thread, wherever that is.
#[test]
fn the_thread_has_left_the_heap_when_the_world_is_dropped() {
    model(None, || {
        let heap = Heap::new(2);
        let mut thread = started(Arc::clone(&heap) as Arc<dyn Background>);
        thread.resume();
        drop(thread);
        assert!(heap.done() <= heap.steps);
    });
}

/// A slot of the snapshot, a slot that mutators share, and a closure that one of them makes.
struct Fresh {
    slot: AtomicU64,
    shared: AtomicU64,
    content: UnsafeCell<u64>,
    /// The state of its block.
    is_young: AtomicBool,
}

// SAFETY: the cell is written before the closure is published; loom finds out if that is wrong.
unsafe impl Sync for Fresh {}
// SAFETY: as above.
unsafe impl Send for Fresh {}

impl Fresh {
    fn closure(&self) -> ClosureRef {
        ClosureRef(std::ptr::from_ref(self).cast_mut().cast())
    }

    /// The closure that a slot holds, if any, as a marker and the accessors of mutable fields load it.
    fn load(slot: &AtomicU64) -> ClosureRef {
        // SAFETY: the atomic represents a slot.
        unsafe { Slot(std::ptr::from_ref(slot).cast_mut().cast()).load_beside() }
    }

    fn publish(slot: &AtomicU64, closure: ClosureRef) {
        // SAFETY: as above.
        unsafe { Slot(std::ptr::from_ref(slot).cast_mut().cast()).publish(closure) }
    }
}

impl Background for Fresh {
    /// As a marker that looks into the closure and at the state of its block.
    fn work(&self, _: &Stop, _: &mut Helpers) -> Worked {
        if !Fresh::load(&self.slot).0.is_null() {
            // SAFETY: as above.
            assert_eq!(self.content.with(|content| unsafe { *content }), 42);
            assert!(self.is_young.load(Relaxed));
        }
        Worked {
            phase: Phase::Marked,
            closures: 0,
            is_over: true,
        }
    }
}

/// The marker finds a closure that a mutator made, and another one stored into the snapshot (R14).
#[test]
fn the_marker_sees_a_closure_that_was_just_stored_initialised() {
    model(None, || {
        let fresh = Arc::new(Fresh {
            slot: AtomicU64::new(0),
            shared: AtomicU64::new(0),
            content: UnsafeCell::new(0),
            is_young: AtomicBool::new(false),
        });
        let mut marker = started(Arc::clone(&fresh) as Arc<dyn Background>);
        marker.resume();
        let other = {
            let fresh = Arc::clone(&fresh);
            thread::spawn(move || Fresh::publish(&fresh.slot, Fresh::load(&fresh.shared)))
        };
        fresh.is_young.store(true, Relaxed);
        // SAFETY: as above.
        fresh.content.with_mut(|content| unsafe { *content = 42 });
        Fresh::publish(&fresh.shared, fresh.closure());
        other.join().unwrap();
        marker.park();
    });
}
