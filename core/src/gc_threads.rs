//! GC threads: helpers that wait until a collection calls them.
//!
//! A world has its own, made at the first call and kept until the world ends, asleep between calls. Calling them is cheap for whoever
//! calls (one lock, one wake-up each) and binds nobody: the caller goes on working, a helper that wakes up late finds that there is nothing
//! left to do, and the caller waits for helpers only as long as they have work ([`Job::take_part`] says when that is). So a helper that
//! the system does not run costs nothing but its help.

use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::thread::JoinHandle;

/// What helpers are called for.
pub(crate) trait Job: Send + Sync {
    /// Take part as helper `number`, from 1 (the caller is 0), until there is nothing left to do. Does not panic.
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

    /// Call `helpers` of them to `job`. Those that the system does not give are missing, which no job minds.
    pub(crate) fn call(&mut self, helpers: usize, job: Arc<dyn Job>) {
        while self.threads.len() < helpers {
            let (office, number) = (Arc::clone(&self.office), self.threads.len() + 1);
            let seen = office.call.lock().number;
            let thread = std::thread::Builder::new().name(format!("gc {number}"));
            match thread.spawn(move || office.serve(number, seen)) {
                Ok(thread) => self.threads.push(thread),
                Err(_) => break,
            }
        }
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

impl Office {
    fn serve(&self, number: usize, mut seen: u64) {
        let mut call = self.call.lock();
        while !call.over {
            let answered = call.number == seen;
            seen = call.number;
            match call.job.clone().filter(|_| !answered && number <= call.helpers) {
                Some(job) => {
                    drop(call);
                    job.take_part(number);
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
            // A helper that panicked has ended the process already.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
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
