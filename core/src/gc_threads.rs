//! GC threads: helpers that wait until a collection calls them.
//!
//! A world has its own, kept until the world ends, asleep between calls. Calling them is cheap for whoever
//! calls (one lock, one wake-up each) and binds nobody: the caller goes on working, a helper that wakes up late finds that there is nothing
//! left to do, and the caller waits for helpers only as long as they have work (`Job::take_part` says when that is). So a helper that
//! the system does not run costs nothing but its help.

use crate::sync::{Arc, Builder, Condvar, JoinHandle, Mutex};

/// What helpers are called for.
pub(crate) trait Job: Send + Sync {
    /// Take part as helper `number`, from 1 (the caller is 0), until there is nothing left to do. The process ends if it panics.
    fn take_part(&self, number: usize);
}

/// The helpers of one world.
#[derive(Debug, Default)]
pub struct GcThreads {
    office: Arc<Office>,
    threads: Vec<JoinHandle<()>>,
}

/// Where helpers wait.
#[derive(Debug, Default)]
struct Office {
    call: Mutex<Call>,
    called: Condvar,
}

#[derive(Default)]
struct Call {
    /// Calls so far; a helper answers each once at most.
    number: u64,
    /// Helpers from 1 to this are called.
    helpers: usize,
    job: Option<Arc<dyn Job>>,
    over: bool,
}

impl std::fmt::Debug for Call {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Call({} for {} helpers)", self.number, self.helpers)
    }
}

impl GcThreads {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.threads.len()
    }

    /// Have at least so many, so that they need not be made when they are called.
    pub(crate) fn hire(&mut self, helpers: usize) {
        while self.threads.len() < helpers {
            let (office, number) = (Arc::clone(&self.office), self.threads.len() + 1);
            let seen = office.call.lock().number;
            let thread = Builder::new().name(format!("gc {number}"));
            match thread.spawn(move || office.serve(number, seen)) {
                Ok(thread) => self.threads.push(thread),
                Err(_) => break,
            }
        }
    }

    /// Call `helpers` of them to `job`. Those that the system does not give are missing, which no job minds.
    pub(crate) fn call(&mut self, helpers: usize, job: Arc<dyn Job>) {
        self.hire(helpers);
        let mut call = self.office.call.lock();
        call.number += 1;
        call.helpers = helpers;
        call.job = Some(job);
        drop(call);
        self.office.called.notify_all();
    }

    /// The job is done: who has not answered the call need not do so any more.
    pub(crate) fn dismiss(&mut self) {
        self.office.call.lock().job = None;
    }
}

/// Ends the process when it is dropped: a collection that has lost one of its threads can neither go on nor be given up.
struct AbortOnUnwind;

impl Drop for AbortOnUnwind {
    #[cold]
    fn drop(&mut self) {
        // Written directly, since the test harness keeps what `eprintln` prints.
        let message =
            b"gclab: a GC thread panicked in the middle of a collection, which leaves no heap to go on with\n";
        let _ = std::io::Write::write_all(&mut std::io::stderr(), message);
        std::process::abort();
    }
}

impl Office {
    fn serve(&self, number: usize, mut seen: u64) {
        let mut call = self.call.lock();
        while !call.over {
            let answered = call.number == seen;
            seen = call.number;
            match call.job.clone().filter(|_| !answered && number <= call.helpers) {
                Some(job) => {
                    drop(call);
                    let whole = AbortOnUnwind;
                    job.take_part(number);
                    std::mem::forget(whole);
                    drop(job);
                    call = self.call.lock();
                }
                None => self.called.wait(&mut call),
            }
        }
    }
}

impl Drop for GcThreads {
    fn drop(&mut self) {
        self.office.call.lock().over = true;
        self.office.called.notify_all();
        for thread in self.threads.drain(..) {
            // A helper that panicked has ended the process.
            let _ = thread.join();
        }
    }
}

#[cfg(all(test, not(any(gclab_loom, gclab_shuttle))))]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::{Duration, Instant};

    #[derive(Default)]
    struct Count {
        came: AtomicUsize,
        numbers: AtomicUsize,
    }

    impl Job for Count {
        fn take_part(&self, number: usize) {
            self.numbers.fetch_add(number, Ordering::Relaxed);
            self.came.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn wait_for(job: &Count, helpers: usize) {
        let begun = Instant::now();
        while job.came.load(Ordering::Relaxed) < helpers {
            assert!(begun.elapsed() < Duration::from_secs(60), "helpers do not come");
            std::thread::yield_now();
        }
    }

    #[test]
    fn each_that_is_called_comes_once() {
        let mut threads = GcThreads::default();
        for helpers in [1, 3, 2, 3] {
            let job = Arc::new(Count::default());
            threads.call(helpers, Arc::clone(&job) as Arc<dyn Job>);
            wait_for(&job, helpers);
            std::thread::sleep(Duration::from_millis(5));
            let numbers = job.numbers.load(Ordering::Relaxed);
            assert_eq!(
                (job.came.load(Ordering::Relaxed), numbers),
                (helpers, helpers * (helpers + 1) / 2)
            );
        }
        assert_eq!(threads.count(), 3);
    }
}
