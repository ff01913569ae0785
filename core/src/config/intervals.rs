//! The intervals of a run's timer: GHC's rules for those that are not given.

use super::Config;
use std::time::Duration;

/// GHC's `-V`.
const TICK: f64 = 0.01;
/// GHC's `-V` in a program built for profiling.
const PROFILE_TICK: f64 = 0.001;
/// GHC's `-I`, in its threaded runtime.
const IDLE: f64 = 0.3;

impl Config {
    /// The time between two timer ticks: `-V`, or 1 ms for a time profile, or else 10 ms, but at
    /// most the shortest interval that depends on it. `None` if `-V0` turns the timer off.
    pub fn tick(&self) -> Option<Duration> {
        let rule = if self.time_profile.is_some() {
            PROFILE_TICK
        } else {
            TICK
        };
        let tick = self.timer.tick.unwrap_or(rule);
        let shortest = [Some(tick), self.census_interval(), self.idle_delay()];
        let shortest = shortest.into_iter().flatten().fold(f64::INFINITY, f64::min);
        (tick > 0.0).then(|| Duration::from_secs_f64(shortest))
    }

    /// Seconds without a running thread before an idle collection: `-I`, or 0.3 with several
    /// capabilities. (GHC's runtime of one thread has no idle collections either.) `None` for no
    /// idle collections.
    pub fn idle_delay(&self) -> Option<f64> {
        let rule = if self.capabilities > 1 { IDLE } else { 0.0 };
        self.by_timer(self.timer.idle.unwrap_or(rule))
    }

    /// Seconds between two censuses of the heap profile: `-i`. `None` if there is a census at each
    /// collection instead (as without a timer), or no profile.
    pub fn census_interval(&self) -> Option<f64> {
        self.profile.breakdown?;
        self.by_timer(self.profile.interval)
    }

    /// The interval, unless it or the timer is turned off.
    fn by_timer(&self, interval: f64) -> Option<f64> {
        (interval > 0.0 && self.timer.tick != Some(0.0)).then_some(interval)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Breakdown, HeapProfile, TimerConfig};

    fn config(capabilities: u32, tick: Option<f64>, idle: Option<f64>, interval: Option<f64>) -> Config {
        Config {
            capabilities,
            timer: TimerConfig {
                tick,
                idle,
                idle_wait: 0.0,
            },
            profile: HeapProfile {
                breakdown: interval.map(|_| Breakdown::ClosureType),
                interval: interval.unwrap_or(0.1),
                ..HeapProfile::default()
            },
            ..Config::default()
        }
    }

    #[test]
    fn one_capability_has_no_idle_collections_unless_asked_for() {
        let delay = |capabilities, tick, idle| config(capabilities, tick, idle, None).idle_delay();
        assert_eq!(delay(1, None, None), None);
        assert_eq!(delay(2, None, None), Some(0.3));
        assert_eq!(delay(1, None, Some(0.1)), Some(0.1));
        assert_eq!(delay(2, None, Some(0.0)), None);
        assert_eq!(delay(2, Some(0.0), Some(0.1)), None);
    }

    #[test]
    fn the_tick_is_the_shortest_interval() {
        let tick = |tick, idle, interval| config(1, tick, idle, interval).tick();
        let ms = |ms| Some(Duration::from_millis(ms));
        assert_eq!(tick(None, None, None), ms(10));
        assert_eq!(tick(Some(0.1), Some(0.05), None), ms(50));
        assert_eq!(tick(Some(0.1), None, Some(0.02)), ms(20));
        assert_eq!(tick(None, Some(0.5), Some(0.5)), ms(10));
        assert_eq!(tick(Some(0.0), Some(0.5), Some(0.5)), None);
        assert_eq!(config(1, Some(0.0), None, Some(0.5)).census_interval(), None);
        assert_eq!(config(1, None, None, Some(0.0)).census_interval(), None);
    }
}
