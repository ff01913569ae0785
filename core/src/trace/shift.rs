//! The parallel part of a collection: a shift that threads come to, work in, and are done with.
//!
//! Each thread has a place: its copier, its queue, its figures. It uses them only while it is busy ([`super::exchange`]), so when nobody is, the thread
//! that collects takes everything back and goes on, whether the others have noticed the end or not, or never came. All that those may
//! still touch is the exchange, which they own with it.
//!
//! With load balancing the first thread begins with what it has found so far, and the others take from it. Without, each capability's roots and remembered
//! slots are one task, which goes to the thread of the same number (modulo their number), and nobody takes from anybody; only tasks of a thread that has
//! not come by the time the first one is done go to the first.

use super::copier::{Copier, Desk};
use super::exchange::{Exchange, Kind, Piece, Searches};
use super::team::Team;
use crate::closure::Slot;
use crate::collector::Capability;
use crate::gc_threads::Job;
use crate::mutator::{FrameHeader, for_each_frame_slot};
use crate::remembered::{RememberedChunks, RememberedSet};
use crate::stats::{Clock, GcThread, WorkSearch};
use crate::sync::deque::Worker;
use crate::sync::{Arc, AtomicBool, Ordering};
use std::cell::UnsafeCell;
use std::ops::Range;
use std::time::Instant;

/// Remembered slots that are one piece of work.
const REMEMBERED_PIECE: usize = 1024;

/// What a capability had when the world was stopped, to be evacuated by the thread that it belongs to.
#[derive(Debug)]
pub(super) struct Owned {
    remembered: *const RememberedSet,
    frames: *const FrameHeader,
    taken: AtomicBool,
}

impl Owned {
    pub fn of<A>(capability: &Capability<A>) -> Self {
        Owned {
            remembered: capability.remembered(),
            frames: capability.frames.get(),
            taken: AtomicBool::new(false),
        }
    }
}

/// See the module's text.
#[derive(Debug)]
pub(super) struct Shift<'h> {
    exchange: Exchange,
    places: Vec<Place<'h>>,
    owned: Vec<Owned>,
    balanced: bool,
    begun: Instant,
}

/// What one thread has to itself while it is busy. On cache lines of its own.
#[derive(Debug)]
#[repr(align(128))]
struct Place<'h>(UnsafeCell<Option<AtWork<'h>>>);

#[derive(Debug)]
struct AtWork<'h> {
    copier: Copier<'h>,
    queue: Worker<Piece>,
    figures: GcThread,
    /// Nanoseconds since the shift began at which its work ended last.
    rested: u64,
    /// Its CPU time when it came.
    cpu_before: u64,
}

// SAFETY: a place is used only by the thread whose number it has, while that is busy, and by the one that collects before anybody was called and after the
// end; `Exchange` orders these by the release and acquire of its count of busy threads. Capabilities are those of a stopped world, and only the thread
// that took the task (`Owned::taken`) looks at it.
unsafe impl Sync for Shift<'_> {}
// SAFETY: as above; what it holds may be sent.
unsafe impl Send for Shift<'_> {}

impl<'h> Shift<'h> {
    /// A shift for `team`, in which the first thread begins with what waits at `copier`, which is absent until it comes back from
    /// [`Shift::work`].
    pub fn new(
        copier: &mut Copier<'h>,
        chunks: &RememberedChunks,
        handles: Range<*mut u64>,
        owned: Vec<Owned>,
        team: &Team<'_>,
    ) -> Self {
        let queues: Vec<Worker<Piece>> = (0..team.size).map(|_| Worker::new_lifo()).collect();
        let stealers = queues.iter().map(Worker::stealer).collect();
        // Tasks that nobody has taken are as good as a busy thread each: they have to be done before the end.
        let exchange = Exchange::new(stealers, 1 + owned.len());
        let desk = Desk {
            queue: &queues[0],
            exchange: &exchange,
        };
        copier.offer_waiting(desk);
        desk.offer_slices(handles, Kind::Roots);
        for slots in chunks.iter().flat_map(|slots| slots.chunks(REMEMBERED_PIECE)) {
            let range = slots.as_ptr_range();
            desk.offer(Piece {
                from: range.start.cast_mut(),
                to: range.end.cast_mut(),
                kind: Kind::Remembered,
            });
        }
        let others: Vec<Copier<'h>> = (1..team.size).map(|_| copier.split()).collect();
        let first = std::mem::replace(copier, copier.absent());
        let place = |(copier, queue)| {
            Place(UnsafeCell::new(Some(AtWork {
                copier,
                queue,
                figures: GcThread::default(),
                rested: 0,
                cpu_before: 0,
            })))
        };
        let copiers = std::iter::once(first).chain(others);
        Shift {
            places: copiers.zip(queues).map(place).collect(),
            exchange,
            owned,
            balanced: team.is_balanced(),
            begun: Instant::now(),
        }
    }

    /// Call the others and work until everything is done. Gives their copiers, the figures of all threads, the first one's first, and how many nanoseconds
    /// it took.
    pub fn work(self, copier: &mut Copier<'h>, team: Team<'_>) -> (Vec<Copier<'h>>, Vec<GcThread>, u64) {
        let helpers = team.size - 1;
        let shift = Arc::new(self);
        let job: Arc<dyn Job + 'h> = Arc::clone(&shift) as Arc<dyn Job + 'h>;
        // SAFETY: only lifetimes differ. What of `'h` a helper gets to, through the places, it uses while it is busy, which nobody is any more when
        // `lead` returns; and when the last helper lets go of the shift, the places are empty (see below).
        let job = unsafe { std::mem::transmute::<Arc<dyn Job + 'h>, Arc<dyn Job + 'static>>(job) };
        team.helpers.call(helpers, job);
        shift.lead();
        team.helpers.dismiss();
        let parallel_ns = shift.begun.elapsed().as_nanos() as u64;
        let mut copiers = Vec::with_capacity(helpers);
        let mut figures = Vec::with_capacity(team.size);
        for (number, place) in shift.places.iter().enumerate() {
            // SAFETY: this is the end: nobody is busy, nor ever will be.
            let Some(at_work) = unsafe { &mut *place.0.get() }.take() else {
                continue;
            };
            figures.push(at_work.figures_at_end(parallel_ns));
            if number == 0 {
                *copier = at_work.copier;
            } else {
                copiers.push(at_work.copier);
            }
        }
        (copiers, figures, parallel_ns)
    }

    /// The first thread's part.
    fn lead(&self) {
        let mut search = Search::new(0);
        self.at_work(0, |at_work, shift| {
            at_work.copier.scavenge_shared(None, shift.desk(&at_work.queue))
        });
        self.exchange.rest();
        if self.balanced {
            self.help_out(0, &mut search);
        } else {
            self.do_tasks(|index| index % self.places.len() == 0, 0);
            self.do_tasks(|_| true, 0);
            self.exchange.wait_for_end();
        }
    }

    /// Take pieces of others until the end.
    fn help_out(&self, number: usize, search: &mut Search) {
        while let Some(piece) = self.exchange.next(&mut search.chance, &mut search.searches) {
            self.at_work(number, |at_work, shift| {
                search.hand_in(&mut at_work.figures.search);
                at_work.copier.scavenge_shared(Some(piece), shift.desk(&at_work.queue));
            });
            self.exchange.rest();
        }
    }

    /// Do the tasks that `whose` says, those that nobody has taken.
    fn do_tasks(&self, whose: impl Fn(usize) -> bool, number: usize) {
        for (_, task) in self.owned.iter().enumerate().filter(|(index, _)| whose(*index)) {
            // Relaxed: the task was there before anybody was called.
            if task.taken.swap(true, Ordering::Relaxed) {
                continue;
            }
            self.exchange.take_task();
            self.at_work(number, |at_work, shift| {
                let copier = &mut at_work.copier;
                let holder = copier.roots;
                // SAFETY: the mutators are stopped, and who took the task has the set and the frames to itself.
                unsafe {
                    (*task.remembered).drain(|_, slots| copier.remembered_slots::<true>(slots));
                    for_each_frame_slot(task.frames, |slot: Slot| copier.evacuate_now::<true>(slot, holder));
                }
                copier.scavenge_shared(None, shift.desk(&at_work.queue));
            });
            self.exchange.rest();
        }
    }

    fn desk<'a>(&'a self, queue: &'a Worker<Piece>) -> Desk<'a> {
        Desk {
            queue,
            exchange: &self.exchange,
        }
    }

    /// Work at a place. The caller is busy, and `number` is its own.
    fn at_work(&self, number: usize, work: impl FnOnce(&mut AtWork<'h>, &Self)) {
        // SAFETY: the caller's number and its being busy give it the place: see `Sync`.
        let Some(at_work) = (unsafe { &mut *self.places[number].0.get() }) else {
            unreachable!("places are emptied after the end");
        };
        let begun = self.begun.elapsed().as_nanos() as u64;
        if at_work.rested > 0 {
            at_work.figures.idle_ns += begun - at_work.rested;
        } else if number > 0 {
            at_work.figures.start_ns = begun;
            at_work.cpu_before = Clock::thread_cpu_ns();
        }
        at_work.figures.search.scav_find_work += 1;
        work(at_work, self);
        at_work.rested = self.begun.elapsed().as_nanos() as u64;
        at_work.figures.work_ns += at_work.rested - begun;
        if number > 0 {
            at_work.figures.cpu_ns = Clock::thread_cpu_ns() - at_work.cpu_before;
        }
    }
}

impl Job for Shift<'_> {
    fn take_part(&self, number: usize) {
        self.exchange.come();
        if self.balanced {
            self.help_out(number, &mut Search::new(number));
        } else {
            let threads = self.places.len();
            self.do_tasks(|index| index % threads == number, number);
        }
    }
}

impl AtWork<'_> {
    fn figures_at_end(&self, parallel_ns: u64) -> GcThread {
        let figures = self.figures;
        let accounted = figures.start_ns + figures.idle_ns + figures.work_ns;
        if figures.work_ns == 0 {
            // It came too late, or found nothing.
            return GcThread {
                start_ns: parallel_ns,
                ..figures
            };
        }
        GcThread {
            termination_ns: parallel_ns.saturating_sub(accounted),
            ..figures
        }
    }
}

/// A thread's search for work.
#[derive(Debug)]
struct Search {
    chance: u64,
    searches: Searches,
}

impl Search {
    fn new(number: usize) -> Self {
        Search {
            // Any odd number gives each thread a row of victims of its own.
            chance: 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(2 * number as u64 + 1),
            searches: Searches::default(),
        }
    }

    fn hand_in(&mut self, to: &mut WorkSearch) {
        let found = std::mem::take(&mut self.searches);
        to.any_work += found.any_work;
        to.no_work += found.no_work;
    }
}
