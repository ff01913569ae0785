//! GC threads: the threads of a world that sleep until a collection wakes them for a job.
//!
//! A world keeps its GC threads until it ends. Waking them is cheap for the caller (one lock, one
//! notification each) and commits it to nothing: the caller keeps working, a thread that wakes late
//! finds nothing left to do, and the caller waits for a thread only as long as that thread has work
//! ([`Job::run`] defines when that is). So a thread that the system does not schedule costs only
//! its help.

use super::spans::PhaseSpans;
use crate::abort::{When, abort_on_unwind};
use crate::clock::Clock;
use crate::sync::data::AtomicU64;
use crate::sync::{Arc, Builder, Condvar, JoinHandle, Mutex, Ordering::Relaxed};

/// The right to work as one numbered worker in a job. It is not `Copy`: only one thread has it.
#[derive(Debug)]
pub(super) struct WorkerNumber {
    number: usize,
    /// The thread's CPU time when it began the job, and what its figures have of the job so far.
    began_cpu_ns: u64,
    noted_cpu_ns: u64,
}

impl WorkerNumber {
    /// Worker `number`: 0 is the leader, GC threads begin at 1.
    ///
    /// # Safety
    /// While this value exists, no other of the same number is used with the same job.
    pub(super) unsafe fn new(number: usize) -> Self {
        WorkerNumber {
            number,
            began_cpu_ns: 0,
            noted_cpu_ns: 0,
        }
    }

    /// The number as an index of workers.
    pub(super) fn get(&self) -> usize {
        self.number
    }

    /// A GC thread's CPU time in the job so far, for its figures.
    pub(super) fn note_cpu_ns(&mut self) -> u64 {
        self.noted_cpu_ns = Clock::thread_cpu_ns() - self.began_cpu_ns;
        self.noted_cpu_ns
    }
}

/// A job for GC threads: one parallel phase.
pub(super) trait Job: Send + Sync {
    /// Works as worker `number` until nothing is left to do. The process ends if this panics.
    fn run(&self, number: &mut WorkerNumber);
}

/// The GC threads of one world.
#[derive(Debug, Default)]
pub struct GcThreads {
    parking: Arc<Parking>,
    threads: Vec<JoinHandle<()>>,
    pub(super) when: When,
    /// The clock for the spans of work, if they are noted.
    clock: Option<Clock>,
    /// The parallel phases since they were last taken.
    phases: Vec<PhaseSpans>,
    /// The CPU time of threads in phases since it was last taken, without that of leaders.
    cpu_ns: u64,
}

/// Where GC threads sleep between jobs.
#[derive(Debug, Default)]
struct Parking {
    request: Mutex<Request>,
    requested: Condvar,
    /// The CPU time of jobs that no figures have: of threads that found no work, or no more.
    idle_cpu_ns: AtomicU64,
}

/// The latest request for workers.
#[derive(Default)]
struct Request {
    /// How many requests there have been. A thread answers each request at most once.
    number: u64,
    /// Threads 1 to `workers` are requested.
    workers: usize,
    /// `None` before the first request, and after a job has been released.
    job: Option<Arc<dyn Job>>,
    shutdown: bool,
}

impl std::fmt::Debug for Request {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Request({} for {} threads)", self.number, self.workers)
    }
}

impl GcThreads {
    /// How many GC threads there are.
    pub fn count(&self) -> usize {
        self.threads.len()
    }

    /// From now on parallel phases note when each worker works, by `clock`.
    pub(crate) fn note_spans(&mut self, clock: Clock) {
        self.clock = Some(clock);
    }

    /// The clock for the spans of work, if they are noted.
    pub(super) fn clock(&self) -> Option<Clock> {
        self.clock
    }

    /// Adds a parallel phase.
    pub(super) fn add_phase(&mut self, phase: PhaseSpans) {
        self.phases.push(phase);
    }

    /// The parallel phases since the last call.
    pub(crate) fn take_phases(&mut self) -> Vec<PhaseSpans> {
        std::mem::take(&mut self.phases)
    }

    /// Threads that helped in a phase took this much CPU time.
    pub(super) fn add_cpu_ns(&mut self, cpu_ns: u64) {
        self.cpu_ns += cpu_ns;
    }

    /// The CPU time that threads took in phases since the last call, without leaders.
    pub(super) fn take_cpu_ns(&mut self) -> u64 {
        std::mem::take(&mut self.cpu_ns) + self.take_idle_cpu_ns()
    }

    /// The CPU time since the last call that threads took in jobs, but is not in their figures. Of a
    /// thread that has not noticed the end of a job, the next call returns it.
    pub(crate) fn take_idle_cpu_ns(&self) -> u64 {
        // Relaxed: nothing else depends on it.
        self.parking.idle_cpu_ns.swap(0, Relaxed)
    }

    /// Starts threads until there are `count`, so that no collection has to. There are fewer if the
    /// system refuses one.
    pub(crate) fn spawn_up_to(&mut self, count: usize) {
        while self.threads.len() < count {
            let (parking, number, when) = (Arc::clone(&self.parking), self.threads.len() + 1, self.when);
            let seen = parking.request.lock().number;
            let kind = match when {
                When::InCollection => "",
                When::BesideProgram => "concurrent ",
            };
            let thread = Builder::new().name(format!("gc {kind}{number}"));
            // SAFETY: a world numbers its GC threads, each differently; a job belongs to one world.
            let number = unsafe { WorkerNumber::new(number) };
            match thread.spawn(move || parking.serve(number, seen, when)) {
                Ok(thread) => self.threads.push(thread),
                Err(_) => break,
            }
        }
    }

    /// Wakes `workers` threads for `job`. Threads that the system refused are missing; a job works
    /// without them.
    pub(super) fn run(&mut self, workers: usize, job: Arc<dyn Job>) {
        self.spawn_up_to(workers);
        let mut request = self.parking.request.lock();
        request.number += 1;
        request.workers = workers;
        request.job = Some(job);
        drop(request);
        self.parking.requested.notify_all();
    }

    /// Ends the request: a thread that has not answered it yet goes back to sleep.
    pub(super) fn release(&mut self) {
        self.parking.request.lock().job = None;
    }
}

impl Parking {
    /// The life of GC thread `number`. `seen` is the last request that it need not answer.
    fn serve(&self, mut number: WorkerNumber, mut seen: u64, when: When) {
        let mut request = self.request.lock();
        while !request.shutdown {
            let answered = request.number == seen;
            seen = request.number;
            match request
                .job
                .clone()
                .filter(|_| !answered && number.get() <= request.workers)
            {
                Some(job) => {
                    drop(request);
                    (number.began_cpu_ns, number.noted_cpu_ns) = (Clock::thread_cpu_ns(), 0);
                    abort_on_unwind("a GC thread", when, || job.run(&mut number));
                    drop(job);
                    let noted = number.noted_cpu_ns;
                    let idle = number.note_cpu_ns() - noted;
                    self.idle_cpu_ns.fetch_add(idle, Relaxed);
                    request = self.request.lock();
                }
                None => self.requested.wait(&mut request),
            }
        }
    }
}

impl Drop for GcThreads {
    fn drop(&mut self) {
        self.parking.request.lock().shutdown = true;
        self.parking.requested.notify_all();
        for thread in self.threads.drain(..) {
            // A thread that panicked has ended the process.
            let _ = thread.join();
        }
    }
}

#[cfg(all(test, not(any(gclab_loom, gclab_shuttle))))]
mod tests {
    use super::*;
    use crate::sync::AtomicUsize;
    use std::time::{Duration, Instant};

    #[derive(Default)]
    struct Count {
        runs: AtomicUsize,
        numbers: AtomicUsize,
    }

    impl Job for Count {
        fn run(&self, number: &mut WorkerNumber) {
            self.numbers.fetch_add(number.get(), Relaxed);
            self.runs.fetch_add(1, Relaxed);
        }
    }

    fn wait_for(job: &Count, workers: usize) {
        let begun = Instant::now();
        while job.runs.load(Relaxed) < workers {
            assert!(begun.elapsed() < Duration::from_secs(120), "GC threads do not wake");
            std::thread::yield_now();
        }
    }

    #[test]
    fn each_requested_thread_runs_the_job_once() {
        let mut threads = GcThreads::default();
        for workers in [1, 3, 2, 3] {
            let job = Arc::new(Count::default());
            threads.run(workers, Arc::clone(&job) as Arc<dyn Job>);
            wait_for(&job, workers);
            std::thread::sleep(Duration::from_millis(5));
            let numbers = job.numbers.load(Relaxed);
            assert_eq!(
                (job.runs.load(Relaxed), numbers),
                (workers, workers * (workers + 1) / 2)
            );
        }
        assert_eq!(threads.count(), 3);
    }

    /// Takes CPU time, for its figures if it has some.
    struct Works {
        has_figures: bool,
    }

    const WORK_NS: u64 = 5_000_000;

    impl Job for Works {
        fn run(&self, number: &mut WorkerNumber) {
            let began = Clock::thread_cpu_ns();
            while Clock::thread_cpu_ns() - began < WORK_NS {}
            if self.has_figures {
                assert!(number.note_cpu_ns() >= WORK_NS);
            }
        }
    }

    #[test]
    fn cpu_time_that_no_figures_have_is_counted() {
        for has_figures in [true, false] {
            let mut threads = GcThreads::default();
            threads.run(1, Arc::new(Works { has_figures }));
            let begun = Instant::now();
            let mut idle = 0;
            while idle == 0 {
                assert!(begun.elapsed() < Duration::from_secs(120), "GC threads do not wake");
                idle = threads.take_idle_cpu_ns();
            }
            assert_eq!(idle >= WORK_NS, !has_figures, "{idle}");
            assert_eq!(threads.take_idle_cpu_ns(), 0);
        }
    }
}
