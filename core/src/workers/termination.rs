//! When a parallel phase ends, and where workers without work wait for more.
//!
//! A worker is *busy* while it has a work item, or may still find one in its own queue; otherwise
//! it is *idle*. Only busy workers make work items. A worker stops being busy when its own queue is
//! empty, and becomes busy again *before* it takes an item from another worker's queue. So when no
//! worker is busy, all queues are empty and stay empty: the phase has *terminated*, and no worker
//! becomes busy again. The workers agree on this one number only; a worker that enters late, or
//! never, delays no other.
//!
//! An idle worker *spins* for about as long as a few items take to copy, then *yields*, then
//! *sleeps* until an item is added. Adding an item wakes one sleeper.
//!
//! The states and races (R1 to R6) have their names in `docs/parallel-collection.md`; `models`
//! tries their orders under loom.

use crate::sync::Ordering::{AcqRel, Acquire, Relaxed, SeqCst};
use crate::sync::{AtomicUsize, Condvar, Mutex, fence, spin_loop, yield_now};

/// Failed attempts that an idle worker makes before it yields: some microseconds, about as long as
/// one work item.
const SPINS: u32 = if cfg!(any(gclab_loom, gclab_shuttle)) { 0 } else { 200 };

/// How often an idle worker then yields before it sleeps. Being woken takes tens of microseconds,
/// as long as all of this.
const YIELDS: u32 = if cfg!(gclab_loom) {
    0
} else if cfg!(gclab_shuttle) {
    1
} else {
    20
};

/// Spins or yields after `tries` failed attempts. Returns false, and does neither, when it is time
/// to sleep.
fn wait_awake(tries: u32) -> bool {
    if tries < SPINS {
        spin_loop();
    } else if tries < SPINS + YIELDS {
        yield_now();
    }
    tries < SPINS + YIELDS
}

/// The states of a phase's workers, as far as they must know each other's.
#[derive(Debug)]
pub(super) struct Termination {
    /// Busy workers, and tasks that no worker has taken. 0: the phase has terminated.
    busy: AtomicUsize,
    /// Workers that have entered and have no work. A hint.
    idle: AtomicUsize,
    /// Idle workers that sleep or are about to.
    sleepers: AtomicUsize,
    /// Held by a worker from its last look at the queues until it sleeps.
    sleep_lock: Mutex<()>,
    /// Signalled when an item is added or the phase terminates.
    wake: Condvar,
}

impl Termination {
    /// A phase in which `busy` workers and tasks have work already.
    pub(super) fn new(busy: usize) -> Self {
        Termination {
            busy: AtomicUsize::new(busy),
            idle: AtomicUsize::new(0),
            sleepers: AtomicUsize::new(0),
            sleep_lock: Mutex::new(()),
            wake: Condvar::new(),
        }
    }

    /// Whether a worker has entered and has no work.
    #[inline(always)]
    pub(super) fn has_idle(&self) -> bool {
        // Relaxed: a hint. Sharing an item too many, or too late, does no harm.
        self.idle.load(Relaxed) > 0
    }

    /// Tells the others that the caller has added an item to its queue.
    #[inline]
    pub(super) fn work_added(&self) {
        // R1: either this load sees the sleeper, or the sleeper's last look sees the item.
        if !mutant!("models/added-without-fence") {
            fence(SeqCst);
        }
        if self.sleepers.load(Relaxed) > 0 {
            self.wake_one();
        }
    }

    #[cold]
    fn wake_one(&self) {
        // R2: after holding the lock once, any sleeper that has taken its last look is asleep.
        if !mutant!("models/sleeper-not-asleep") {
            drop(self.sleep_lock.lock());
        }
        self.wake.notify_one();
    }

    /// A worker enters the phase, idle.
    pub(super) fn enter(&self) {
        self.idle.fetch_add(1, Relaxed);
    }

    /// The caller was busy, its queue is empty, and it is idle from now on. Terminates the phase if
    /// it was the last.
    ///
    /// # Safety
    /// As for [`Termination::leave_busy`].
    pub(super) unsafe fn become_idle(&self) {
        self.idle.fetch_add(1, Relaxed);
        // SAFETY: the caller's promise.
        unsafe { self.leave_busy() };
    }

    /// The caller is no longer one of the busy workers.
    ///
    /// # Safety
    /// The caller is one of the busy workers until this call: it was counted by
    /// [`Termination::new`], took a task, or became busy by [`Termination::try_become_busy`]. From
    /// now on it does not touch its part of the phase. (If the count were too low, the leader would
    /// take back the part of a worker that is still working.)
    pub(super) unsafe fn leave_busy(&self) {
        // R3. Release: a worker that sees the 0 sees everything that was done. Acquire: the last
        // worker sees the others' work.
        let ordering = mutant!("models/leave-relaxed", AcqRel => Relaxed);
        if self.busy.fetch_sub(1, ordering) == 1 && !mutant!("models/end-not-announced") {
            drop(self.sleep_lock.lock());
            self.wake.notify_all();
        }
    }

    /// Makes the caller one of the busy workers. Returns false after termination.
    pub(super) fn try_become_busy(&self) -> bool {
        // R4. Relaxed: a caller that finds the 0 here, because a queue did not look empty to it,
        // asks `is_terminated` next, which acquires what was done.
        if mutant!("models/steals-without-joining") {
            return !self.is_terminated();
        }
        // The refusal makes termination final. (No model fails without it: a worker that joined
        // after the end would find all queues empty, and leave.)
        self.busy
            .fetch_update(Relaxed, Relaxed, |busy| (busy > 0).then_some(busy + 1))
            .is_ok()
    }

    /// The caller, which has become busy, has got an item: it is no longer idle. (The number of idle
    /// workers is a hint, so a call that is wrong costs time and nothing else; that holds for
    /// `got_task` and `enter`, too.)
    pub(super) fn got_work(&self) {
        self.idle.fetch_sub(1, Relaxed);
    }

    /// The caller, which is idle, has taken a task. Tasks count as busy from the beginning (R6), so
    /// the caller is busy now.
    pub(super) fn got_task(&self) {
        self.idle.fetch_sub(1, Relaxed);
    }

    /// Whether no worker is busy, nor will ever be.
    pub(super) fn is_terminated(&self) -> bool {
        // R3, R5.
        self.busy.load(mutant!("models/end-not-acquired", Acquire => Relaxed)) == 0
    }

    /// Waits a little after `tries` failed attempts to find work: spins, yields, or sleeps until an
    /// item is added. `has_work` is the last look before sleep.
    pub(super) fn wait_for_work(&self, tries: u32, has_work: impl FnOnce() -> bool) {
        if !wait_awake(tries) {
            self.sleep(has_work);
        }
    }

    #[cold]
    fn sleep(&self, has_work: impl FnOnce() -> bool) {
        let mut lock = self.sleep_lock.lock();
        self.sleepers.fetch_add(1, Relaxed);
        // R1: the counterpart of the fence in `work_added`. (No model fails without it: the deque
        // has its own fence where `has_work` looks at it, but does not promise one.)
        fence(SeqCst);
        if !self.is_terminated() && !has_work() {
            self.wake.wait(&mut lock);
        }
        self.sleepers.fetch_sub(1, Relaxed);
    }

    /// The caller, which is idle and looks for no work, waits until the phase has terminated.
    pub(super) fn wait(&self) {
        let mut tries = 0;
        while !self.is_terminated() {
            tries += 1;
            if !wait_awake(tries) {
                let mut lock = self.sleep_lock.lock();
                if !self.is_terminated() {
                    self.wake.wait(&mut lock);
                }
            }
        }
    }
}
