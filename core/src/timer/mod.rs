//! The timer of a run: a thread that rings alarms at intervals while a program runs.
//!
//! It drives censuses of a heap profile (`-i`), idle collections (`-I`) and samples of a time
//! profile (`-p`), as in GHC. Time passes in *ticks* of `-V` seconds. An interval is a whole number
//! of ticks, rounded down, as in GHC. The thread sleeps until the next alarm, not from tick to
//! tick, and does not exist without alarms.
//!
//! Ticks that pass while an alarm rings are lost: an interval counts from the end of the last ring.
//! So the program gets to run between two censuses, even if a census takes longer than the
//! interval.

use crate::sync::real::{RecvTimeoutError, ScopedBuilder, channel, scope};
use std::io;
use std::panic::resume_unwind;
use std::time::{Duration, Instant};

/// A timer that has not been started.
pub struct Timer<'a> {
    tick: Duration,
    alarms: Vec<Alarm<'a>>,
}

/// A function that the timer calls repeatedly.
struct Alarm<'a> {
    /// The tick at which it is due.
    due: u64,
    /// Returns the time until the next call.
    ring: Box<dyn FnMut() -> Duration + Send + 'a>,
}

impl std::fmt::Debug for Timer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Timer({:?}, {} alarms)", self.tick, self.alarms.len())
    }
}

impl<'a> Timer<'a> {
    /// A timer without alarms. Its ticks are `tick` apart, but at least a microsecond.
    pub fn new(tick: Duration) -> Self {
        Timer {
            tick: tick.max(Duration::from_micros(1)),
            alarms: Vec::new(),
        }
    }

    /// The time between two ticks.
    pub fn tick(&self) -> Duration {
        self.tick
    }

    /// The ticks of an interval, rounded down, but at least one.
    fn ticks(&self, interval: Duration) -> u64 {
        (interval.as_nanos() / self.tick.as_nanos()).clamp(1, u64::MAX.into()) as u64
    }

    /// Calls `ring` every `interval`.
    pub fn every(&mut self, interval: Duration, mut ring: impl FnMut() + Send + 'a) {
        self.after(interval, move || {
            ring();
            interval
        });
    }

    /// Calls `ring` after `first`, and again after each time that it returns.
    pub fn after(&mut self, first: Duration, ring: impl FnMut() -> Duration + Send + 'a) {
        self.alarms.push(Alarm {
            due: self.ticks(first),
            ring: Box::new(ring),
        });
    }

    /// Runs `program`, and rings the alarms meanwhile on another thread. If an alarm panics, the
    /// panic continues here when the program has ended; no alarm rings after it.
    ///
    /// # Errors
    /// If there are alarms and the system has no thread for them. The program has not run then.
    pub fn run<R>(mut self, program: impl FnOnce() -> R) -> io::Result<R> {
        if self.alarms.is_empty() {
            return Ok(program());
        }
        scope(|scope| {
            let (over, wait) = channel::<()>();
            // The other end is dropped when the program has ended, also by unwinding.
            let thread = ScopedBuilder::new().spawn_scoped(scope, move || {
                let start = Instant::now();
                let wait = |until| matches!(wait.recv_timeout(until), Err(RecvTimeoutError::Timeout));
                self.ring_until(|| start.elapsed(), wait);
            })?;
            let result = {
                let _over = over;
                program()
            };
            thread.join().unwrap_or_else(|panic| resume_unwind(panic));
            Ok(result)
        })
    }

    /// Rings alarms that are due until `wait` returns false. `elapsed` returns the time since the
    /// start. `wait` sleeps for a time, and returns whether to continue.
    fn ring_until(&mut self, elapsed: impl Fn() -> Duration, wait: impl Fn(Duration) -> bool) {
        let tick = self.tick.as_nanos();
        let now = || (elapsed().as_nanos() / tick) as u64;
        while let Some(next) = self.alarms.iter().map(|alarm| alarm.due).min() {
            let at = Duration::from_nanos((u128::from(next) * tick).min(u64::MAX.into()) as u64);
            if !wait(at.saturating_sub(elapsed())) {
                return;
            }
            let reached = now().max(next);
            for alarm in 0..self.alarms.len() {
                if self.alarms[alarm].due <= reached {
                    let interval = (self.alarms[alarm].ring)();
                    self.alarms[alarm].due = now().max(next).saturating_add(self.ticks(interval));
                }
            }
        }
    }
}

#[cfg(all(test, not(any(gclab_loom, gclab_shuttle))))]
mod tests {
    use super::*;
    use crate::sync::{AtomicU64, Ordering::Relaxed};
    use std::panic::{AssertUnwindSafe, catch_unwind};

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn intervals_are_rounded_down_to_whole_ticks_as_in_ghc() {
        let timer = Timer::new(10 * MS);
        let ticks = |interval| timer.ticks(interval);
        assert_eq!(
            [ticks(100 * MS), ticks(25 * MS), ticks(10 * MS), ticks(MS)],
            [10, 2, 1, 1]
        );
        assert_eq!(Timer::new(Duration::ZERO).tick(), Duration::from_micros(1));
    }

    /// A clock that stands still unless it is set.
    #[derive(Default)]
    struct MadeUp(AtomicU64);

    impl MadeUp {
        fn now(&self) -> Duration {
            Duration::from_nanos(self.0.load(Relaxed))
        }

        fn passes(&self, time: Duration) {
            self.0.fetch_add(time.as_nanos() as u64, Relaxed);
        }

        /// Rings the alarms of a timer until `end`. Each wait takes `late` longer than it should.
        fn rings(&self, timer: &mut Timer<'_>, late: Duration, end: Duration) {
            let wait = |until| {
                self.passes(until + late);
                self.now() < end
            };
            timer.ring_until(|| self.now(), wait);
        }
    }

    /// Counts the rings of an alarm every 2 ms and of one every 20 ms.
    fn fast_and_slow(late: Duration, end: Duration) -> (u64, u64) {
        let (clock, fast, slow) = (MadeUp::default(), AtomicU64::new(0), AtomicU64::new(0));
        let mut timer = Timer::new(MS);
        timer.every(2 * MS, || _ = fast.fetch_add(1, Relaxed));
        timer.every(20 * MS, || _ = slow.fetch_add(1, Relaxed));
        clock.rings(&mut timer, late, end);
        drop(timer);
        (fast.into_inner(), slow.into_inner())
    }

    #[test]
    fn alarms_ring_at_their_intervals_and_a_busy_machine_may_be_late_never_early() {
        assert_eq!(fast_and_slow(Duration::ZERO, 61 * MS), (30, 3));
        assert_eq!(fast_and_slow(Duration::ZERO, 60 * MS), (29, 2));
        // At 7, 14 and so on; the slow alarm rings at 21, 42 and 63.
        assert_eq!(fast_and_slow(5 * MS, 64 * MS), (9, 3));
    }

    #[test]
    fn an_alarm_that_takes_longer_than_its_interval_lets_the_program_go_on() {
        let (clock, rings) = (MadeUp::default(), AtomicU64::new(0));
        let mut timer = Timer::new(MS);
        timer.every(5 * MS, || {
            rings.fetch_add(1, Relaxed);
            clock.passes(20 * MS);
        });
        // At 5, 30, 55 and so on.
        clock.rings(&mut timer, Duration::ZERO, 1000 * MS);
        drop(timer);
        assert_eq!(rings.into_inner(), 40);
    }

    /// Sleeps until `holds` returns true, however slow the machine is.
    fn wait_until(holds: impl Fn() -> bool) {
        let begun = Instant::now();
        while !holds() {
            assert!(begun.elapsed() < Duration::from_secs(120), "not within two minutes");
            std::thread::sleep(MS);
        }
    }

    #[test]
    fn alarms_ring_on_their_own_thread_while_the_program_runs() {
        let rings = AtomicU64::new(0);
        let mut timer = Timer::new(MS);
        timer.every(2 * MS, || _ = rings.fetch_add(1, Relaxed));
        let begun = Instant::now();
        let ran = timer.run(|| {
            wait_until(|| rings.load(Relaxed) >= 3);
            begun.elapsed()
        });
        assert!(ran.expect("a thread") >= 6 * MS);
    }

    #[test]
    fn a_timer_without_alarms_has_no_thread_and_a_panic_of_an_alarm_continues() {
        let here = std::thread::current().id();
        assert_eq!(
            Timer::new(MS).run(|| std::thread::current().id()).expect("no thread"),
            here
        );
        let rung = AtomicU64::new(0);
        let mut timer = Timer::new(MS);
        timer.every(MS, || {
            rung.store(1, Relaxed);
            resume_unwind(Box::new("on purpose"))
        });
        let program = || wait_until(|| rung.load(Relaxed) == 1);
        let panic = catch_unwind(AssertUnwindSafe(|| timer.run(program)));
        assert_eq!(panic.expect_err("a panic").downcast_ref(), Some(&"on purpose"));
    }
}
