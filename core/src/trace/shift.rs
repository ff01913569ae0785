//! The parallel part of a collection: a shift that threads come to, work in, and are done with.
//!
//! Each thread has a place: what it traces with ([`Tracer`]: a copier, or a loop that marks), its queue, its figures. It uses them only while it is busy ([`super::exchange`]), so when nobody is, the thread
//! that collects takes everything back and goes on, whether the others have noticed the end or not, or never came. All that those may
//! still touch is the exchange, which they own with it.
//!
//! With load balancing the first thread begins with what it has found so far, and the others take from it. Without, there are tasks: each goes
//! to the thread of the same number (modulo their number), and nobody takes from anybody; only tasks of a thread that has not come by the time the first one is done go to
//! the first.

use super::exchange::{Desk, Exchange, Searches};
use super::team::Team;
use crate::clock::Clock;
use crate::gc_threads::Job;
use crate::stats::{GcThread, WorkSearch};
use crate::sync::deque::Worker;
use crate::sync::{Arc, AtomicBool, Ordering};
use std::cell::UnsafeCell;
use std::time::Instant;

/// What a thread of a shift traces with.
///
/// # Safety
/// It may be used by one thread after the other.
pub(super) unsafe trait Tracer {
    /// What threads take from each other.
    type Piece: Send;
    /// What one thread does, without load balancing, and others may look at before.
    type Task;

    /// Trace `piece`, or what waits here, and what that leads to, and what is in the thread's own queue, until nothing is left there.
    fn trace_shared(&mut self, piece: Option<Self::Piece>, desk: Desk<'_, Self::Piece>);

    /// Begin with what a task consists of.
    fn begin(&mut self, task: &Self::Task);
}

/// See the module's text.
pub(super) struct Shift<T: Tracer> {
    exchange: Exchange<T::Piece>,
    places: Vec<Place<T>>,
    tasks: Vec<(AtomicBool, T::Task)>,
    balanced: bool,
    begun: Instant,
}

/// What one thread has to itself while it is busy. On cache lines of its own.
#[repr(align(128))]
struct Place<T: Tracer>(UnsafeCell<Option<AtWork<T>>>);

struct AtWork<T: Tracer> {
    tracer: T,
    queue: Worker<T::Piece>,
    figures: GcThread,
    /// Nanoseconds since the shift began at which its work ended last.
    rested: u64,
    /// Its CPU time when it came.
    cpu_before: u64,
}

// SAFETY: a place is used only by the thread whose number it has, while that is busy, and by the one that collects before anybody was called and after the
// end; `Exchange` orders these by the release and acquire of its count of busy threads. What is there may be used by one thread after the other (`Tracer`). Only the
// thread that took a task looks into it.
unsafe impl<T: Tracer> Sync for Shift<T> {}
// SAFETY: as above; what it holds may be sent.
unsafe impl<T: Tracer> Send for Shift<T> {}

impl<T: Tracer> Shift<T> {
    /// A shift for `team`. `begin` offers what the first thread has for others, and gives what all threads trace with, the first one's first.
    pub fn new(team: &Team<'_>, tasks: Vec<T::Task>, begin: impl FnOnce(Desk<'_, T::Piece>) -> Vec<T>) -> Self {
        let queues: Vec<Worker<T::Piece>> = (0..team.size).map(|_| Worker::new_lifo()).collect();
        let stealers = queues.iter().map(Worker::stealer).collect();
        // Tasks that nobody has taken are as good as a busy thread each: they have to be done before the end.
        let exchange = Exchange::new(stealers, 1 + tasks.len());
        let tracers = begin(Desk {
            queue: &queues[0],
            exchange: &exchange,
        });
        assert_eq!(tracers.len(), queues.len(), "each thread has something to trace with");
        let place = |(tracer, queue)| {
            Place(UnsafeCell::new(Some(AtWork {
                tracer,
                queue,
                figures: GcThread::default(),
                rested: 0,
                cpu_before: 0,
            })))
        };
        Shift {
            places: tracers.into_iter().zip(queues).map(place).collect(),
            exchange,
            tasks: tasks.into_iter().map(|task| (AtomicBool::new(false), task)).collect(),
            balanced: team.is_balanced(),
            begun: Instant::now(),
        }
    }

    /// Call the others and work until everything is done. Gives back what all traced with and their figures, the first thread's first, and how many nanoseconds
    /// it took.
    pub fn work<'h>(self, team: &mut Team<'_>) -> (Vec<T>, Vec<GcThread>, u64)
    where
        T: 'h,
    {
        let shift = Arc::new(self);
        let job: Arc<dyn Job + 'h> = Arc::clone(&shift) as Arc<dyn Job + 'h>;
        // SAFETY: only lifetimes differ. What of `'h` a helper gets to, through the places, it uses while it is busy, which nobody is any more when
        // `lead` returns; and when the last helper lets go of the shift, the places are empty (see below), and tasks are nothing to be dropped.
        let job = unsafe { std::mem::transmute::<Arc<dyn Job + 'h>, Arc<dyn Job + 'static>>(job) };
        team.helpers.call(team.size - 1, job);
        shift.lead();
        team.helpers.dismiss();
        let parallel_ns = shift.begun.elapsed().as_nanos() as u64;
        // SAFETY: this is the end: nobody is busy, nor ever will be.
        let at_work = shift
            .places
            .iter()
            .filter_map(|place| unsafe { &mut *place.0.get() }.take());
        let (tracers, figures) = at_work
            .map(|at_work| (at_work.figures_at_end(parallel_ns), at_work.tracer))
            .map(|(figures, tracer)| (tracer, figures))
            .unzip();
        (tracers, figures, parallel_ns)
    }

    /// The first thread's part.
    fn lead(&self) {
        let mut search = Search::new(0);
        self.at_work(0, |at_work, shift| {
            at_work.tracer.trace_shared(None, shift.desk(&at_work.queue))
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
                at_work.tracer.trace_shared(Some(piece), shift.desk(&at_work.queue));
            });
            self.exchange.rest();
        }
    }

    /// Do the tasks that `whose` says, those that nobody has taken.
    fn do_tasks(&self, whose: impl Fn(usize) -> bool, number: usize) {
        for (_, (taken, task)) in self.tasks.iter().enumerate().filter(|(index, _)| whose(*index)) {
            // Relaxed: the task was there before anybody was called.
            if taken.swap(true, Ordering::Relaxed) {
                continue;
            }
            self.exchange.take_task();
            self.at_work(number, |at_work, shift| {
                at_work.tracer.begin(task);
                at_work.tracer.trace_shared(None, shift.desk(&at_work.queue));
            });
            self.exchange.rest();
        }
    }

    fn desk<'a>(&'a self, queue: &'a Worker<T::Piece>) -> Desk<'a, T::Piece> {
        Desk {
            queue,
            exchange: &self.exchange,
        }
    }

    /// Work at a place. The caller is busy, and `number` is its own.
    fn at_work(&self, number: usize, work: impl FnOnce(&mut AtWork<T>, &Self)) {
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

impl<T: Tracer> Job for Shift<T> {
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

impl<T: Tracer> AtWork<T> {
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
