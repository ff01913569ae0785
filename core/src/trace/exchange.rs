//! Where the threads of a parallel collection exchange work, and find out that there is none left.
//!
//! Work comes in pieces, [`Piece`]s where something is copied, spans where it is marked. Each thread has a queue of its own (a Chase-Lev deque of `crossbeam-deque`): it takes the newest of its
//! pieces, whoever has nothing takes the oldest of somebody else's, beginning with a victim chosen at random.
//!
//! **The end.** A thread is *busy* while it has a piece, or may still find one in its own queue. Only busy threads make pieces, and they stop being busy when
//! their own queue is empty; to take a piece of another thread's one has to be busy before. So when the number of busy threads
//! falls to 0 all queues are empty, and stay so: that is the end, and nobody becomes busy any more. There is nothing else to agree on, and a thread that comes
//! late, or never, is waited for by nobody. (loom tries the orders: `models`.)
//!
//! **Waiting.** Who finds nothing looks again for as long as it takes to copy a few pieces, then lets others run, then sleeps until a piece is offered. Who offers
//! one wakes one sleeper. The order of both sides' steps is by sequentially consistent fences: either the sleeper, who has said that it will sleep,
//! sees the piece, or who offers it sees the sleeper.

use crate::sync::Ordering::{AcqRel, Acquire, Relaxed, SeqCst};
use crate::sync::deque::{Steal, Stealer, Worker};
use crate::sync::{AtomicUsize, Condvar, Mutex, fence, spin_loop, yield_now};

/// How often a thread without work looks again before it lets others run: some microseconds, about what one piece takes.
const SPINS: u32 = if cfg!(any(gclab_loom, gclab_shuttle)) { 0 } else { 200 };

/// How often it then lets others run before it sleeps. To be woken takes tens of microseconds, as much as all this.
const YIELDS: u32 = if cfg!(gclab_loom) {
    0
} else if cfg!(gclab_shuttle) {
    1
} else {
    20
};

/// Waits a little after so many tries in vain; not at all if it is time to sleep.
fn wait_awake(tries: u32) -> bool {
    if tries < SPINS {
        spin_loop();
    } else if tries < SPINS + YIELDS {
        yield_now();
    }
    tries < SPINS + YIELDS
}

/// Work that is given from hand to hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub from: *mut u64,
    pub to: *mut u64,
    pub kind: Kind,
}

/// What lies between the two ends of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Closures that were copied into this step, one behind the other, to be scavenged.
    Closures(u8),
    /// Slots of a large object in this step, to be scavenged.
    Slots(u8),
    /// Slots of handles.
    Roots,
    /// Addresses of remembered slots.
    Remembered,
}

// SAFETY: addresses of memory that only who has the piece works on.
unsafe impl Send for Piece {}

/// See the module's text.
#[derive(Debug)]
pub(super) struct Exchange<T = Piece> {
    stealers: Vec<Stealer<T>>,
    /// 0: the end.
    busy: AtomicUsize,
    /// Threads that have come and have no work.
    idle: AtomicUsize,
    /// Of these, threads that sleep or are about to.
    sleepers: AtomicUsize,
    bed: Mutex<()>,
    offered: Condvar,
}

/// How often a thread looked for work.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Searches {
    pub any_work: u64,
    pub no_work: u64,
}

/// Where a thread of a parallel collection puts what others may do.
#[derive(Debug)]
pub(super) struct Desk<'a, T = Piece> {
    pub queue: &'a Worker<T>,
    pub exchange: &'a Exchange<T>,
}

impl<T> Clone for Desk<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Desk<'_, T> {}

impl<T> Desk<'_, T> {
    pub fn offer(self, piece: T) {
        self.queue.push(piece);
        self.exchange.offer();
    }

    /// Whether somebody waits for a part of what is at hand: nobody finds anything in this queue either.
    #[inline(always)]
    pub fn is_wanted(self) -> bool {
        self.exchange.is_hungry() && self.queue.is_empty()
    }
}

impl<T> Exchange<T> {
    /// An exchange between threads with these queues, of which `busy` have work already.
    pub fn new(stealers: Vec<Stealer<T>>, busy: usize) -> Self {
        Exchange {
            stealers,
            busy: AtomicUsize::new(busy),
            idle: AtomicUsize::new(0),
            sleepers: AtomicUsize::new(0),
            bed: Mutex::new(()),
            offered: Condvar::new(),
        }
    }

    /// Whether somebody has come and has no work.
    #[inline(always)]
    pub fn is_hungry(&self) -> bool {
        // Relaxed: a hint; a piece too many or one too late does no harm.
        self.idle.load(Relaxed) > 0
    }

    /// There is a new piece in the caller's queue.
    #[inline]
    pub fn offer(&self) {
        fence(SeqCst);
        if self.sleepers.load(Relaxed) > 0 {
            self.wake_one();
        }
    }

    #[cold]
    fn wake_one(&self) {
        // Taken so that a sleeper that has looked for the last time is asleep.
        drop(self.bed.lock());
        self.offered.notify_one();
    }

    /// A thread comes, without work.
    pub fn come(&self) {
        self.idle.fetch_add(1, Relaxed);
    }

    /// The caller, who was busy, has nothing left in its queue: it is idle from now on. Ends everything if it was the last.
    pub fn rest(&self) {
        self.idle.fetch_add(1, Relaxed);
        self.leave();
    }

    /// The caller is busy no more.
    fn leave(&self) {
        // Release: who sees the 0 sees all that was done. Acquire: the last sees what the others did.
        if self.busy.fetch_sub(1, AcqRel) == 1 {
            drop(self.bed.lock());
            self.offered.notify_all();
        }
    }

    /// The caller, who is idle, has taken a task that counted as busy so far: it is that now.
    pub fn take_task(&self) {
        self.idle.fetch_sub(1, Relaxed);
    }

    /// Become busy, unless this is the end.
    fn try_join(&self) -> bool {
        // Acquire: who finds the end here, since a queue looked as if there was something in it, sees all that was done, as in `is_over`.
        self.busy
            .fetch_update(Relaxed, Acquire, |busy| (busy > 0).then_some(busy + 1))
            .is_ok()
    }

    /// Whether this is the end.
    pub fn is_over(&self) -> bool {
        self.busy.load(Acquire) == 0
    }

    /// The caller, who is idle, waits for a piece of somebody else's: it is busy then. `None`: this is the end.
    pub fn next(&self, chance: &mut u64, searches: &mut Searches) -> Option<T> {
        let mut tries = 0;
        while !self.is_over() {
            searches.any_work += 1;
            if self.stealers.iter().any(|queue| !queue.is_empty()) {
                if !self.try_join() {
                    return None;
                }
                if let Some(piece) = self.steal(chance) {
                    self.idle.fetch_sub(1, Relaxed);
                    return Some(piece);
                }
                self.leave();
            }
            searches.no_work += 1;
            tries += 1;
            if !wait_awake(tries) {
                self.sleep();
            }
        }
        None
    }

    /// The caller, who is idle, waits for the end.
    pub fn wait_for_end(&self) {
        let mut tries = 0;
        while !self.is_over() {
            tries += 1;
            if !wait_awake(tries) {
                let mut bed = self.bed.lock();
                if !self.is_over() {
                    self.offered.wait(&mut bed);
                }
            }
        }
    }

    #[cold]
    fn sleep(&self) {
        let mut bed = self.bed.lock();
        self.sleepers.fetch_add(1, Relaxed);
        fence(SeqCst);
        if !self.is_over() && self.stealers.iter().all(Stealer::is_empty) {
            self.offered.wait(&mut bed);
        }
        self.sleepers.fetch_sub(1, Relaxed);
    }

    /// The oldest piece of a queue, of the first that has one from a random one on.
    fn steal(&self, chance: &mut u64) -> Option<T> {
        // Xorshift: victims need not be more random than that.
        *chance ^= *chance << 13;
        *chance ^= *chance >> 7;
        *chance ^= *chance << 17;
        let count = self.stealers.len();
        let first = *chance as usize % count;
        (0..count).find_map(|i| {
            let victim = &self.stealers[(first + i) % count];
            loop {
                match victim.steal() {
                    Steal::Success(piece) => return Some(piece),
                    Steal::Empty => return None,
                    Steal::Retry => {}
                }
            }
        })
    }
}
