//! `membalancer`: the square root rule of Kirisame, Shenoy and Panchekha, *Optimal Heap Limits for
//! Reducing Browser Memory Use*, OOPSLA 2022.
//!
//! A heap with *L* bytes live that may grow by *E* is collected once for *E* bytes that arrive in
//! it. At *g* bytes a second that is g / E times a second, and each time takes L / s seconds at a
//! collection speed of *s* bytes a second. One more byte of *E* saves L g / (s E²) of the time. The
//! rule gives each heap the *E* at which that saving is a price *c*, the same for all heaps of a
//! machine,
//!
//! ```text
//! E = √(L g / (c s))
//! ```
//!
//! so that no byte would save more time in another heap. Heaps that allocate fast and are slow to
//! collect become large, others stay small. *E* grows with the root of *L*, where `-F` grows with
//! *L* itself.
//!
//! *g* is the rate of arrival in the part of the heap that major collections collect: with several
//! generations, the rate of promotion. It is measured while the program runs, from collection to
//! collection, and so is *s*. Both are quotients of sums in which older figures count for less,
//! bytes and seconds apart, as in the paper: the sums of *g* are multiplied by 0.95 each second,
//! those of *s* by a half at each major collection. *c* is `--membalancer-c`, in percent of the
//! running time for a MiB.
//!
//! Where this differs from the paper: no thread wakes up for it, so *g* is updated at
//! collections, not every second. Its sums decay by the time that has passed, which has the same
//! result. A program that stops allocating keeps its heap.

use super::live::{Live, MajorStrategy};
use super::policy::{Measured, Policy};
use crate::config::Config;
use crate::words::Bytes;

/// The weight of an allocation rate one second later.
const KEPT_A_SECOND: f64 = 0.95;
/// The weight of a collection speed at the next major collection.
const KEPT_A_COLLECTION: f64 = 0.5;

/// The policy with MemBalancer's rule.
#[derive(Debug)]
pub struct MemBalancer {
    /// *c*: the part of the time that one more byte has to save.
    price: f64,
    /// Least growth: `-O`, or a whole allocation area if that is larger.
    least: Bytes,
    /// *g*, the rate of arrival.
    arrival: Rate,
    /// *s*, the speed of collections.
    speed: Rate,
}

/// Bytes and seconds, each a sum in which older figures count for less.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Rate {
    bytes: f64,
    seconds: f64,
}

impl Rate {
    fn add(&mut self, bytes: f64, seconds: f64, kept: f64) {
        self.bytes = self.bytes * kept + bytes;
        self.seconds = self.seconds * kept + seconds;
    }

    /// Bytes a second; `None` if nothing was measured.
    fn get(self) -> Option<f64> {
        (self.seconds > 0.0).then(|| (self.bytes / self.seconds).max(0.0))
    }
}

impl MemBalancer {
    /// The policy with the constants of `config`.
    pub fn new(config: &Config) -> MemBalancer {
        let area = config.allocation_area.0.saturating_mul(config.capabilities as usize);
        MemBalancer {
            price: config.membalancer_c / 100.0 / f64::from(1 << 20),
            least: config.old_min.max(Bytes(area)),
            arrival: Rate::default(),
            speed: Rate::default(),
        }
    }

    /// *E*. It is the least growth until there was a major collection and something to measure
    /// between two.
    fn extra(&self, live: Bytes) -> Bytes {
        let extra = match (self.arrival.get(), self.speed.get()) {
            (Some(arrival), Some(speed)) if speed > 0.0 => {
                // Saturated if a pause was too short for the clock.
                (live.0 as f64 * arrival / (self.price * speed)).sqrt() as usize
            }
            _ => 0,
        };
        Bytes(extra).max(self.least)
    }
}

impl Policy for MemBalancer {
    fn old_limit(&self, live: Bytes, _: MajorStrategy) -> Bytes {
        Bytes(live.0.saturating_add(self.extra(live).0))
    }

    fn area(&self, live: Live, _: MajorStrategy) -> Bytes {
        self.extra(live.total())
    }

    fn growth(&self, live: Bytes) -> Bytes {
        self.extra(live)
    }

    fn note(&mut self, measured: &Measured) {
        let running = measured.running.as_secs_f64();
        if let Some(arrived) = measured.arrived {
            self.arrival.add(arrived, running, KEPT_A_SECOND.powf(running));
        }
        if measured.major {
            let seconds = measured.collecting.as_secs_f64();
            self.speed.add(measured.live.0 as f64, seconds, KEPT_A_COLLECTION);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const MIB: usize = 1 << 20;

    fn policy(c: f64) -> MemBalancer {
        MemBalancer::new(&Config {
            membalancer_c: c,
            ..Config::default()
        })
    }

    fn ran(arrived: usize, running: Duration) -> Measured {
        Measured {
            arrived: Some(arrived as f64),
            running,
            ..Measured::default()
        }
    }

    fn collected(live: usize, collecting: Duration) -> Measured {
        Measured {
            major: true,
            live: Bytes(live),
            collecting,
            ..Measured::default()
        }
    }

    /// The growth beyond `live` that the policy allows, in MiB.
    fn extra(policy: &MemBalancer, live: usize) -> f64 {
        let limit = policy.old_limit(Bytes(live * MIB), MajorStrategy::Copying);
        limit.0 as f64 / MIB as f64 - live as f64
    }

    #[test]
    fn the_rule() {
        // L = 100 MiB, g = 50 MiB/s, s = 1000 MiB/s, c = 0.05 % a MiB: √(100 · 50 / (0.0005 ·
        // 1000)) = 100 MiB.
        let mut one = policy(0.05);
        one.note(&ran(100 * MIB, Duration::from_secs(2)));
        one.note(&collected(100 * MIB, Duration::from_millis(100)));
        assert!((extra(&one, 100) - 100.0).abs() < 0.01, "{}", extra(&one, 100));
        // Four times as much live: twice as much room.
        assert!((extra(&one, 400) - 200.0).abs() < 0.01);
        // Four times the price: half the room.
        let mut dear = policy(0.2);
        dear.note(&ran(100 * MIB, Duration::from_secs(2)));
        dear.note(&collected(100 * MIB, Duration::from_millis(100)));
        assert!((extra(&dear, 100) - 50.0).abs() < 0.01);
        // The same rule for a heap that is collected each time, and for one in which nothing moves.
        let live = Live {
            copied: Bytes(100 * MIB),
            ..Live::default()
        };
        for area in [one.area(live, MajorStrategy::Copying), one.growth(Bytes(100 * MIB))] {
            assert!(area.0.abs_diff(100 * MIB) < MIB / 100, "{area}");
        }
    }

    #[test]
    fn what_is_known_less_well_than_nothing_is_the_least() {
        let least = |policy: &MemBalancer| assert_eq!(extra(policy, 100), 4.0);
        let mut one = policy(0.05);
        least(&one);
        one.note(&ran(100 * MIB, Duration::from_secs(1)));
        least(&one);
        let mut one = policy(0.05);
        one.note(&collected(100 * MIB, Duration::from_millis(100)));
        least(&one);
        // More has died than has arrived.
        one.note(&Measured {
            arrived: Some(-5e6),
            running: Duration::from_secs(1),
            ..Measured::default()
        });
        least(&one);
        // Nothing is live.
        one.note(&ran(100 * MIB, Duration::from_secs(1)));
        assert_eq!(one.old_limit(Bytes::ZERO, MajorStrategy::Copying), Bytes(4 * MIB));
    }

    #[test]
    fn a_stopped_clock_does_no_harm() {
        let mut one = policy(0.05);
        one.note(&ran(100 * MIB, Duration::ZERO));
        one.note(&collected(100 * MIB, Duration::ZERO));
        assert_eq!(extra(&one, 100), 4.0);
        one.note(&ran(100 * MIB, Duration::from_nanos(1)));
        one.note(&collected(0, Duration::from_secs(1)));
        assert!(extra(&one, 100) > 4.0);
    }

    #[test]
    fn old_figures_count_for_less() {
        // One second at 100 MiB/s, then a long time at 1: in the end the root of a hundredth.
        let mut one = policy(0.05);
        one.note(&collected(100 * MIB, Duration::from_millis(100)));
        one.note(&ran(100 * MIB, Duration::from_secs(1)));
        let fast = extra(&one, 1000);
        one.note(&ran(MIB, Duration::from_secs(1)));
        let g = (100.0 * KEPT_A_SECOND + 1.0) / (KEPT_A_SECOND + 1.0);
        assert!((extra(&one, 1000) / fast - (g / 100.0).sqrt()).abs() < 1e-3);
        // The result is the same, in one piece or in ten.
        let (mut whole, mut parts) = (policy(0.05), policy(0.05));
        for policy in [&mut whole, &mut parts] {
            policy.note(&collected(100 * MIB, Duration::from_millis(100)));
            policy.note(&ran(1000 * MIB, Duration::from_secs(1)));
        }
        whole.note(&ran(300 * MIB, Duration::from_secs(300)));
        (0..300).for_each(|_| parts.note(&ran(MIB, Duration::from_secs(1))));
        assert!((extra(&whole, 1000) / extra(&parts, 1000) - 1.0).abs() < 1e-3);
        // Speed: a slow collection weighs half as much at the next.
        let mut one = policy(0.05);
        one.note(&ran(100 * MIB, Duration::from_secs(1)));
        one.note(&collected(100 * MIB, Duration::from_millis(400)));
        one.note(&collected(100 * MIB, Duration::from_millis(100)));
        let s = 150.0 / 0.3;
        assert!((extra(&one, 100) - f64::sqrt(100.0 * 100.0 / (0.0005 * s))).abs() < 0.01);
    }
}
