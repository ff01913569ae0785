//! The background thread: a thread of the world on which a collector works concurrently.
//!
//! It works only while mutators may run. Whoever stops the world parks it first, so a pause has the
//! heap and the collector's tables to itself, and what the thread wrote happens before. Between two
//! pauses it reads closures while mutators write them (races R13 to R17 of
//! `docs/parallel-collection.md`).

use super::threads::GcThreads;
use crate::abort::{When, abort_on_unwind};
use crate::clock::Clock;
use crate::stats::{Phase, Times};
use crate::sync::{Arc, AtomicBool, AtomicU64, Builder, Condvar, JoinHandle, Mutex, Ordering::Relaxed};

/// Concurrent work of a collector. The collector keeps it, too, and has it to itself in a pause.
pub trait Background: Send + Sync {
    /// Works until nothing is left or `stop` is asked for. The process ends if this panics.
    fn work(&self, stop: &Stop, helpers: &mut Helpers) -> Worked;

    /// How many threads work, this one included.
    fn threads(&self) -> usize {
        1
    }

    /// Nothing is left, and a pause would not have to wait for the thread: a collector that needs one
    /// may ask for it. Must be short. The process ends if this panics.
    fn over(&self) {}
}

/// What the work was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Worked {
    /// The phase that it is part of.
    pub phase: Phase,
    /// The closures that it marked.
    pub closures: u64,
    /// Whether nothing is left.
    pub is_over: bool,
}

/// The work between two pauses.
#[derive(Clone, Copy, Debug)]
pub struct Stretch {
    /// What it was.
    pub worked: Worked,
    /// When it began, by the clock of the world, in nanoseconds.
    pub began_ns: u64,
    /// The time that it took.
    pub times: Times,
}

/// A request to stop, since a pause begins.
#[derive(Debug)]
pub struct Stop {
    is_asked: AtomicBool,
    /// Questions until it is, in a pause that works as the thread does.
    countdown: Option<AtomicU64>,
}

impl Stop {
    fn new(countdown: Option<u64>) -> Self {
        Stop {
            is_asked: AtomicBool::new(false),
            countdown: countdown.map(AtomicU64::new),
        }
    }

    /// A request that is made after this many questions.
    pub(crate) fn after(questions: u64) -> Self {
        Stop::new(Some(questions))
    }

    /// Whether to stop. Cheap, but not for every closure: a pause waits for the answer.
    pub fn is_asked(&self) -> bool {
        // Relaxed: the lock orders everything else.
        let is_over = |countdown: &AtomicU64| {
            let left = countdown.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1));
            left.is_err()
        };
        self.is_asked.load(Relaxed) || self.countdown.as_ref().is_some_and(is_over)
    }
}

impl Default for Stop {
    fn default() -> Self {
        Stop::new(None)
    }
}

/// The threads that help the background thread, which start when they are first needed.
#[derive(Debug, Default)]
pub struct Helpers {
    pub(super) gc_threads: GcThreads,
    /// Threads, the background thread included.
    pub(super) threads: usize,
}

/// The background thread of one world, which starts with the first work.
#[derive(Debug)]
pub struct BackgroundThread {
    /// The collector's name.
    collector: &'static str,
    clock: Clock,
    parking: Arc<Parking>,
    thread: Option<JoinHandle<()>>,
    /// The work that is not over, as far as the collector knows.
    work: Option<Arc<dyn Background>>,
}

/// Where the thread sleeps and finds its work.
#[derive(Debug, Default)]
struct Parking {
    state: Mutex<State>,
    /// Signalled when there is work, and when the thread has stopped.
    changed: Condvar,
    stop: Stop,
}

#[derive(Default)]
struct State {
    /// Work that the thread is to begin.
    work: Option<Arc<dyn Background>>,
    is_working: bool,
    /// Nothing is left of the work.
    is_over: bool,
    shutdown: bool,
    /// The work since the thread was last parked.
    stretch: Option<Stretch>,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "State(working: {}, over: {})", self.is_working, self.is_over)
    }
}

impl std::fmt::Debug for dyn Background {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Background")
    }
}

impl BackgroundThread {
    /// No thread yet. `clock` is the world's.
    pub(crate) fn new(collector: &'static str, clock: Clock) -> Self {
        BackgroundThread {
            collector,
            clock,
            parking: Arc::default(),
            thread: None,
            work: None,
        }
    }

    /// From the end of this pause on, `work` is done concurrently, until it is over. Earlier
    /// work is given up. If the system refuses the thread, nothing is done: a collector must not
    /// depend on it.
    pub fn start(&mut self, work: Arc<dyn Background>) {
        if self.thread.is_none() {
            let (parking, collector, clock) = (Arc::clone(&self.parking), self.collector, self.clock);
            let thread = Builder::new().name("gc concurrent".to_owned());
            self.thread = thread.spawn(move || parking.serve(collector, clock)).ok();
        }
        if !mutant!("background/over-left") {
            self.parking.state.lock().is_over = false;
        }
        self.work = Some(work);
    }

    /// The work that was started, if any, is no longer done.
    pub fn give_up(&mut self) {
        self.work = None;
    }

    /// Asks the thread to stop.
    pub(crate) fn ask_to_stop(&self) {
        if self.thread.is_some() {
            self.parking.stop.is_asked.store(true, Relaxed);
        }
    }

    /// Waits until the thread has stopped. Returns what it has done since the last call.
    pub(crate) fn park(&mut self) -> Option<Stretch> {
        self.thread.as_ref()?;
        self.ask_to_stop();
        let mut state = self.parking.state.lock();
        // R13: the thread has not taken the work, or says that it is working.
        if !mutant!("background/work-left") {
            state.work = None;
        }
        while state.is_working && !mutant!("background/not-parked") {
            self.parking.changed.wait(&mut state);
        }
        let stretch = mutant!("background/reported-twice", state.stretch.take() => state.stretch);
        stretch.filter(|_| !mutant!("background/work-not-reported"))
    }

    /// The mutators are about to run: the thread goes on.
    pub(crate) fn resume(&mut self) {
        let Some(work) = &self.work else {
            return;
        };
        let mut state = self.parking.state.lock();
        if !state.is_over && !state.is_working && !mutant!("background/not-resumed") {
            self.parking
                .stop
                .is_asked
                .store(mutant!("background/stop-left"), Relaxed);
            state.work = Some(Arc::clone(work));
            drop(state);
            self.parking.changed.notify_all();
        }
    }
}

impl Parking {
    /// The life of the thread.
    fn serve(&self, collector: &str, clock: Clock) {
        let party = format_args!("the {collector} collector's background thread");
        let now = || Times {
            cpu_ns: Clock::thread_cpu_ns(),
            elapsed_ns: clock.elapsed_ns(),
        };
        let mut helpers = Helpers::default();
        helpers.gc_threads.when = When::BesideProgram;
        let mut state = self.state.lock();
        while !state.shutdown {
            let Some(work) = state.work.take() else {
                self.changed.wait(&mut state);
                continue;
            };
            state.is_working = true;
            drop(state);
            let began = now();
            helpers.threads = work.threads();
            let worked = abort_on_unwind(party, When::BesideProgram, || work.work(&self.stop, &mut helpers));
            let mut times = now().since(began);
            times.cpu_ns += helpers.gc_threads.take_cpu_ns();
            state = self.state.lock();
            state.stretch = Some(Stretch {
                worked,
                began_ns: began.elapsed_ns,
                times,
            });
            state.is_over = worked.is_over;
            state.is_working = false;
            if worked.is_over {
                abort_on_unwind(party, When::BesideProgram, || work.over());
            }
            // The collector has it to itself from here on.
            drop(work);
            self.changed.notify_all();
        }
    }
}

impl Drop for BackgroundThread {
    fn drop(&mut self) {
        self.ask_to_stop();
        let mut state = self.parking.state.lock();
        state.shutdown = true;
        state.work = None;
        drop(state);
        self.parking.changed.notify_all();
        if let Some(thread) = self.thread.take().filter(|_| !mutant!("background/not-joined")) {
            // A thread that panicked has ended the process.
            let _ = thread.join();
        }
    }
}

#[cfg(all(test, gclab_loom))]
mod models;

#[cfg(all(test, not(any(gclab_loom, gclab_shuttle))))]
mod tests {
    use super::*;
    use crate::block::BlockAllocator;
    use crate::memory::MemoryConfig;
    use crate::sync::yield_now;
    use std::hint::black_box;
    use std::process::Command;
    use std::time::{Duration, Instant};

    /// Counts up to a number.
    #[derive(Default)]
    struct Count {
        to: u64,
        begun: AtomicU64,
        counted: AtomicU64,
        is_working: AtomicBool,
    }

    impl Background for Count {
        fn work(&self, stop: &Stop, _: &mut Helpers) -> Worked {
            assert!(!self.is_working.swap(true, Relaxed));
            self.begun.fetch_add(1, Relaxed);
            while !stop.is_asked() && self.counted.load(Relaxed) < self.to {
                self.counted.fetch_add(1, Relaxed);
                yield_now();
            }
            self.is_working.store(false, Relaxed);
            Worked {
                phase: Phase::Marked,
                closures: 0,
                is_over: self.counted.load(Relaxed) == self.to,
            }
        }
    }

    #[test]
    fn it_works_only_between_pauses_until_its_work_is_over() {
        let mut thread = BackgroundThread::new("lazy", Clock::start());
        let count = Arc::new(Count {
            to: 10_000,
            ..Count::default()
        });
        let waited = Instant::now();
        thread.resume();
        assert!(thread.park().is_none());
        thread.start(Arc::clone(&count) as Arc<dyn Background>);
        let (mut times, mut counted, mut ended_ns) = (Times::default(), 0, 0);
        while counted < count.to {
            thread.resume();
            while count.counted.load(Relaxed) == counted {
                assert!(waited.elapsed() < Duration::from_secs(30), "it was not resumed");
                yield_now();
            }
            let stretch = thread.park().expect("it has worked");
            assert!(stretch.began_ns >= ended_ns);
            ended_ns = stretch.began_ns + stretch.times.elapsed_ns;
            times += stretch.times;
            counted = count.counted.load(Relaxed);
            assert!(!count.is_working.load(Relaxed));
        }
        assert!(times.elapsed_ns > 0 && times.cpu_ns > 0);
        // It is over, and is not begun again.
        thread.resume();
        assert!(thread.park().is_none());
        // Other work is.
        let other = Arc::new(Count::default());
        thread.start(Arc::clone(&other) as Arc<dyn Background>);
        thread.resume();
        while other.begun.load(Relaxed) == 0 {
            assert!(waited.elapsed() < Duration::from_secs(30), "it was not begun");
            yield_now();
        }
    }

    /// The thread wakes up when the pause has begun.
    #[test]
    fn a_pause_withdraws_work_that_was_not_begun() {
        let count = Arc::new(Count {
            to: u64::MAX,
            ..Count::default()
        });
        let mut thread = BackgroundThread::new("lazy", Clock::start());
        thread.start(Arc::clone(&count) as Arc<dyn Background>);
        for _ in 0..20 {
            thread.resume();
            thread.park();
            let begun = count.begun.load(Relaxed);
            std::thread::sleep(Duration::from_millis(1));
            assert_eq!(count.begun.load(Relaxed), begun);
        }
    }

    /// What it does wrong.
    #[derive(Clone, Copy, PartialEq)]
    enum Wrong {
        PanicsInWork,
        PanicsInOver,
        Crashes,
    }

    impl Background for Wrong {
        fn work(&self, _: &Stop, _: &mut Helpers) -> Worked {
            assert!(*self != Wrong::PanicsInWork);
            if *self == Wrong::Crashes {
                // SAFETY: none: nothing is there, which ends the process.
                unsafe { std::ptr::without_provenance::<u64>(black_box(16)).read_volatile() };
            }
            Worked {
                phase: Phase::Marked,
                closures: 0,
                is_over: true,
            }
        }

        fn over(&self) {
            assert!(*self != Wrong::PanicsInOver);
        }
    }

    /// Whoever waits for the thread does not wait for ever.
    #[test]
    fn a_panic_or_crash_of_the_thread_ends_the_process() {
        const WRONG: &str = "GCLAB_WRONG";
        let panicked = "gclab: the lazy collector's background thread panicked beside the program, ";
        let crashed = "gclab: segmentation fault at 0x10, in the collector's background thread, beside the program, \
                       outside every heap (collector: lazy). With -DS, ";
        let all = [
            (Wrong::PanicsInWork, panicked),
            (Wrong::PanicsInOver, panicked),
            (Wrong::Crashes, crashed),
        ];
        if let Ok(number) = std::env::var(WRONG) {
            let mut blocks = BlockAllocator::new(&MemoryConfig::default()).expect("addresses");
            blocks.watch("lazy");
            let mut thread = BackgroundThread::new("lazy", Clock::start());
            thread.start(Arc::new(all[number.parse::<usize>().expect("an index")].0));
            thread.resume();
            std::thread::sleep(Duration::from_secs(30));
        }
        for (number, (_, message)) in all.into_iter().enumerate() {
            let mut child = Command::new(std::env::current_exe().expect("the tests"));
            child.args(["a_panic_or_crash_of_the_thread_ends_the_process", "--nocapture"]);
            let output = child.env(WRONG, number.to_string()).output().expect("a child");
            let told = String::from_utf8_lossy(&output.stderr);
            assert!(told.contains(message), "{told}");
        }
    }

    #[test]
    fn the_thread_has_left_its_work_when_the_world_is_dropped() {
        for _ in 0..20 {
            let count = Arc::new(Count {
                to: u64::MAX,
                ..Count::default()
            });
            let mut thread = BackgroundThread::new("lazy", Clock::start());
            thread.start(Arc::clone(&count) as Arc<dyn Background>);
            thread.resume();
            while count.counted.load(Relaxed) == 0 {
                yield_now();
            }
            drop(thread);
            assert_eq!(Arc::strong_count(&count), 1);
        }
    }
}
