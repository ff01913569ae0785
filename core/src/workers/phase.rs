//! A parallel phase of a collection: workers enter, work, and detect termination.
//!
//! Each worker has a slot with its [`Tracer`] (a copier, or a mark loop), its queue and its
//! figures. It uses them only while it is busy ([`Termination`]). So after termination the leader
//! takes everything back and continues, even if the others have not noticed, or never entered (R5
//! of `docs/parallel-collection.md`). All that they may still touch is the pool, which they own
//! jointly.
//!
//! With load balancing the leader starts with the work that it has found so far, and the others
//! steal from it. Without, there are *tasks*: each belongs to the worker with its number (modulo
//! the number of workers), and no worker steals. The leader takes the tasks of a worker that has
//! not entered by the time the leader's own tasks are done (R6).

use super::policy::Workers;
use super::pool::{Searches, WorkPool, WorkQueue};
use super::spans::PhaseSpans;
#[cfg(doc)]
use super::termination::Termination;
use super::threads::{Job, WorkerNumber};
use crate::stats::{GcThread, WorkSearch};
use crate::sync::deque::Worker as Deque;
use crate::sync::{Arc, AtomicBool, Ordering};
use std::cell::UnsafeCell;
use std::time::Instant;

/// A worker's own part of a phase: a copier, or a mark loop.
///
/// # Safety
/// Different threads may use it, one at a time.
pub(crate) unsafe trait Tracer {
    /// Work that any worker can do.
    type Item: Send;
    /// Work that belongs to one worker, without load balancing. Other threads may look at it
    /// before.
    type Task;

    /// Traces `item`, or the work that waits in the tracer, and everything reachable from there,
    /// and the items of `queue`, until `queue` is empty.
    fn trace_shared(&mut self, item: Option<Self::Item>, queue: WorkQueue<'_, Self::Item>);

    /// Does `task`, except for the work that it leads to.
    fn begin(&mut self, task: &Self::Task);
}

/// One parallel phase: see the module's text.
pub(crate) struct ParallelPhase<T: Tracer> {
    pool: WorkPool<T::Item>,
    slots: Vec<WorkerSlot<T>>,
    tasks: Vec<(AtomicBool, T::Task)>,
    balanced: bool,
    begun: Instant,
    /// The world's clock when the phase began, if spans of work are recorded.
    spans_from: Option<u64>,
}

/// The part of a phase that one worker has exclusively while it is busy, on its own cache lines.
/// Empty once the leader has taken it back.
#[repr(align(128))]
struct WorkerSlot<T: Tracer>(UnsafeCell<Option<Worker<T>>>);

struct Worker<T: Tracer> {
    tracer: T,
    queue: Deque<T::Item>,
    figures: GcThread,
    /// Nanoseconds from the beginning of the phase to the end of its last work.
    idle_since: u64,
    /// The spans of its work, in nanoseconds from the beginning of the phase, if they are noted.
    spans: Vec<(u64, u64)>,
}

// SAFETY: a slot is used by the worker with its number while that is busy, and by the leader before
// the threads are woken and after termination; `Termination` orders these by release and acquire of
// its count of busy workers (R3). `Tracer` promises that different threads may use the content of a
// slot one after another. Only the worker that took a task looks into it.
unsafe impl<T: Tracer> Sync for ParallelPhase<T> {}
// SAFETY: as above; tracers, items and tasks may be sent.
unsafe impl<T: Tracer> Send for ParallelPhase<T> {}

impl<T: Tracer> ParallelPhase<T> {
    /// A phase for `workers`. `begin` pushes the items that the leader shares to the leader's
    /// queue, and returns the tracers of all workers, the leader's first.
    ///
    /// # Panics
    /// Unless there is a tracer for each worker.
    pub(crate) fn new(
        workers: &Workers<'_>,
        tasks: Vec<T::Task>,
        begin: impl FnOnce(WorkQueue<'_, T::Item>) -> Vec<T>,
    ) -> Self {
        let queues: Vec<Deque<T::Item>> = (0..workers.count()).map(|_| Deque::new_lifo()).collect();
        let stealers = queues.iter().map(Deque::stealer).collect();
        // R6: each task counts as a busy worker until a worker has done it.
        let pool = WorkPool::new(stealers, 1 + tasks.len());
        let tracers = begin(WorkQueue::new(&queues[0], &pool));
        assert_eq!(tracers.len(), queues.len(), "each worker has something to trace with");
        let slot = |(tracer, queue)| {
            WorkerSlot(UnsafeCell::new(Some(Worker {
                tracer,
                queue,
                figures: GcThread::default(),
                idle_since: 0,
                spans: Vec::new(),
            })))
        };
        ParallelPhase {
            slots: tracers.into_iter().zip(queues).map(slot).collect(),
            pool,
            tasks: tasks.into_iter().map(|task| (AtomicBool::new(false), task)).collect(),
            balanced: workers.is_balanced(),
            begun: Instant::now(),
            spans_from: workers.gc_threads.clock().map(|clock| clock.elapsed_ns()),
        }
    }

    /// Wakes the GC threads and works until the phase has terminated. Returns the tracers and
    /// figures of all workers, the leader's first, and the duration of the phase in nanoseconds.
    pub(crate) fn run<'h>(self, workers: &mut Workers<'_>) -> (Vec<T>, Vec<GcThread>, u64)
    where
        T: 'h,
    {
        let phase = Arc::new(self);
        let job: Arc<dyn Job + 'h> = Arc::clone(&phase) as Arc<dyn Job + 'h>;
        // SAFETY: only lifetimes differ. A GC thread reaches data of `'h` only through the slots,
        // while it is busy, and no worker is busy when `lead` returns. When the last
        // thread drops the phase, the slots are empty (see below), and tasks need no drop.
        let job = unsafe { std::mem::transmute::<Arc<dyn Job + 'h>, Arc<dyn Job + 'static>>(job) };
        let helpers = workers.count() - 1;
        workers.gc_threads.run(helpers, job);
        // SAFETY: the numbers of GC threads begin at 1, and a phase runs once: `run` consumes it.
        phase.lead(&mut unsafe { WorkerNumber::new(0) });
        workers.gc_threads.release();
        let parallel_ns = phase.begun.elapsed().as_nanos() as u64;
        let finished = phase.slots.iter().filter_map(|slot| {
            // SAFETY: the phase has terminated: no worker is busy, nor ever will be.
            unsafe { &mut *slot.0.get() }.take()
        });
        let mut spans = phase.spans_from.map(|from| PhaseSpans {
            end_ns: from + parallel_ns,
            busy: Vec::new(),
        });
        let (tracers, figures): (_, Vec<_>) = finished
            .map(|mut worker| {
                if let (Some(spans), Some(from)) = (&mut spans, phase.spans_from) {
                    let own = std::mem::take(&mut worker.spans);
                    spans
                        .busy
                        .push(own.into_iter().map(|(begin, end)| (from + begin, from + end)).collect());
                }
                (worker.final_figures(parallel_ns), worker.tracer)
            })
            .map(|(figures, tracer)| (tracer, figures))
            .unzip();
        if let Some(spans) = spans {
            workers.gc_threads.add_phase(spans);
        }
        let helped = figures.iter().skip(1).map(|figures: &GcThread| figures.cpu_ns);
        workers.gc_threads.add_cpu_ns(helped.sum());
        (tracers, figures, parallel_ns)
    }

    /// The leader's part.
    fn lead(&self, number: &mut WorkerNumber) {
        let trace = |worker: &mut Worker<T>| worker.tracer.trace_shared(None, self.queue(&worker.queue));
        // SAFETY: this is the leader, and it is busy: the pool has counted it from the beginning.
        unsafe {
            self.with_worker(number, trace);
            self.pool.termination.become_idle();
        }
        if self.balanced {
            self.steal_until_terminated(number);
        } else {
            self.run_tasks(|index| index % self.slots.len() == 0, number);
            self.run_tasks(|_| true, number);
            self.pool.termination.wait();
        }
    }

    /// Does items of other workers until termination.
    fn steal_until_terminated(&self, number: &mut WorkerNumber) {
        let search = &mut Search::new(number.get());
        while let Some(item) = self.pool.steal_or_wait(&mut search.rng, &mut search.searches) {
            let trace = |worker: &mut Worker<T>| {
                search.add_to(&mut worker.figures.search);
                worker.tracer.trace_shared(Some(item), self.queue(&worker.queue));
            };
            // SAFETY: this worker has been busy since it got an item.
            unsafe {
                self.with_worker(number, trace);
                self.pool.termination.become_idle();
            }
        }
    }

    /// Does the tasks that no worker has taken, of those whose index `is_mine` accepts.
    fn run_tasks(&self, is_mine: impl Fn(usize) -> bool, number: &mut WorkerNumber) {
        for (_, (taken, task)) in self.tasks.iter().enumerate().filter(|(index, _)| is_mine(*index)) {
            // R6. Relaxed: the task was there before any thread was woken.
            if taken.swap(true, Ordering::Relaxed) {
                continue;
            }
            self.pool.termination.got_task();
            let trace = |worker: &mut Worker<T>| {
                worker.tracer.begin(task);
                worker.tracer.trace_shared(None, self.queue(&worker.queue));
            };
            // SAFETY: this worker has been busy since it took a task.
            unsafe {
                self.with_worker(number, trace);
                self.pool.termination.become_idle();
            }
        }
    }

    fn queue<'a>(&'a self, deque: &'a Deque<T::Item>) -> WorkQueue<'a, T::Item> {
        WorkQueue::new(deque, &self.pool)
    }

    /// Calls `work` with worker `number`.
    ///
    /// # Safety
    /// The worker is busy in this phase.
    unsafe fn with_worker(&self, number: &mut WorkerNumber, work: impl FnOnce(&mut Worker<T>)) {
        // SAFETY: the number is the caller's alone, and it is busy. So it has the slot to itself:
        // see `Sync`.
        let Some(worker) = (unsafe { &mut *self.slots[number.get()].0.get() }) else {
            unreachable!("slots are emptied after termination");
        };
        let begun = self.begun.elapsed().as_nanos() as u64;
        if worker.idle_since > 0 {
            worker.figures.idle_ns += begun - worker.idle_since;
        } else if number.get() > 0 {
            worker.figures.start_ns = begun;
        }
        worker.figures.search.scav_find_work += 1;
        work(worker);
        worker.idle_since = self.begun.elapsed().as_nanos() as u64;
        worker.figures.work_ns += worker.idle_since - begun;
        if self.spans_from.is_some() {
            worker.spans.push((begun, worker.idle_since));
        }
        if number.get() > 0 {
            worker.figures.cpu_ns = number.note_cpu_ns();
        }
    }
}

impl<T: Tracer> Job for ParallelPhase<T> {
    fn run(&self, number: &mut WorkerNumber) {
        self.pool.termination.enter();
        if self.balanced {
            self.steal_until_terminated(number);
        } else {
            let (own, workers) = (number.get(), self.slots.len());
            self.run_tasks(|index| index % workers == own, number);
        }
    }
}

impl<T: Tracer> Worker<T> {
    fn final_figures(&self, parallel_ns: u64) -> GcThread {
        let figures = self.figures;
        let accounted = figures.start_ns + figures.idle_ns + figures.work_ns;
        if figures.work_ns == 0 {
            // It entered too late, or found nothing.
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

/// A worker's search for work.
#[derive(Debug)]
struct Search {
    rng: u64,
    searches: Searches,
}

impl Search {
    fn new(number: usize) -> Self {
        Search {
            // Any odd number gives each worker its own sequence of victims.
            rng: 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(2 * number as u64 + 1),
            searches: Searches::default(),
        }
    }

    fn add_to(&mut self, figures: &mut WorkSearch) {
        let found = std::mem::take(&mut self.searches);
        figures.any_work += found.any_work;
        figures.no_work += found.no_work;
    }
}
