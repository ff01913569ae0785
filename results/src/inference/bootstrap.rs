//! Intervals of percentiles of pooled events, by resamples of whole runs.
//!
//! A resample draws whole runs with replacement. The events of a run stay together: collections of
//! one run depend on each other, and resampling them as well would count the same variation twice
//! (Davison and Hinkley, "Bootstrap Methods and their Application", 1997, section 3.8).
//!
//! The plain interval between the 2.5 % and the 97.5 % quantile of the resamples is too narrow for
//! few runs: resamples spread as with n instead of n - 1, and do not account for Student's t.
//! [`ends`] therefore takes quantiles further out, at the probability below -√(n/(n-1)) t of a
//! normal distribution: the *expanded percentile interval* of Hesterberg, "What teachers should
//! know about the bootstrap" (2015), section 5.2.
//!
//! The generator of resamples has a fixed seed, so that reports of the same runs have the same
//! figures.

use crate::inference::distributions::{normal_below, quantile_975};
use crate::inference::order::{quantile, rank};
use crate::inference::sample::Interval;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;

/// The number of resamples.
pub(crate) const RESAMPLES: usize = 10_000;

/// With fewer runs, less than 90 of 100 intervals of a percentile of pooled events would contain
/// it. Few runs say little about the rare events of a tail.
pub fn runs_for_percentile(percent: f64) -> usize {
    if percent > 50.0 { 9 } else { 5 }
}

/// The seed of all resamples.
const SEED: u128 = 0x0067_636c_6162;

/// Looking up sorted events starts at one of about this many steps.
const STEPS: usize = 1024;

/// Draws resamples.
#[derive(Debug)]
pub(crate) struct Resampler {
    random: Pcg64Mcg,
}

impl Resampler {
    /// A generator of resamples, always the same.
    pub(crate) fn new() -> Resampler {
        Resampler {
            random: Pcg64Mcg::new(SEED),
        }
    }

    /// Fills `drawn` with indexes below `n`. Some are more likely than others by 2^-32, too little
    /// to affect an interval.
    pub(crate) fn draw(&mut self, n: usize, drawn: &mut [usize]) {
        for pair in drawn.chunks_mut(2) {
            let random = self.random.next_u64();
            let halves = [random & 0xffff_ffff, random >> 32];
            for (index, half) in pair.iter_mut().zip(halves) {
                *index = ((half * n as u64) >> 32) as usize;
            }
        }
    }
}

/// The 95 % interval between the expanded percentiles of figures from resamples of `n` runs.
pub(crate) fn ends(mut figures: Vec<f64>, n: usize) -> Interval {
    let wider = (n as f64 / (n as f64 - 1.0)).sqrt();
    let below = normal_below(-wider * quantile_975((n - 1) as f64));
    figures.sort_by(f64::total_cmp);
    Interval {
        low: quantile(&figures, below),
        high: quantile(&figures, 1.0 - below),
    }
}

/// The 95 % intervals of percentiles (nearest rank) of the pooled events of several runs, such as
/// pauses. `runs` has each run's sorted events. An interval is `None` with fewer runs than
/// [`runs_for_percentile`], or without events.
pub fn interval_of_percentile(runs: &[Vec<u64>], percents: &[f64]) -> Vec<Option<Interval>> {
    let pooled: usize = runs.iter().map(Vec::len).sum();
    let mut intervals = vec![None; percents.len()];
    let known: Vec<usize> = (0..percents.len())
        .filter(|&at| pooled > 0 && runs.len() >= runs_for_percentile(percents[at]))
        .collect();
    if !known.is_empty() {
        let percents: Vec<f64> = known.iter().map(|&at| percents[at]).collect();
        let of_resamples = percentiles(runs, &percents, RESAMPLES);
        for (at, figures) in known.into_iter().zip(of_resamples) {
            intervals[at] = Some(ends(figures, runs.len()));
        }
    }
    intervals
}

/// For each percent, the percentiles of pooled resamples of whole runs.
pub(crate) fn percentiles(runs: &[Vec<u64>], percents: &[f64], resamples: usize) -> Vec<Vec<f64>> {
    let pool = Pool::of(runs);
    let n = runs.len();
    let mut resampler = Resampler::new();
    let (mut drawn, mut weights) = (vec![0; n], vec![0u32; n]);
    // The step at which the last resample had its percentile: the next one's is nearby.
    let mut near = vec![0; percents.len()];
    let mut all = vec![Vec::with_capacity(resamples); percents.len()];
    for _ in 0..resamples {
        resampler.draw(n, &mut drawn);
        weights.fill(0);
        drawn.iter().for_each(|&run| weights[run] += 1);
        let events = weights
            .iter()
            .zip(runs)
            .map(|(weight, run)| *weight as usize * run.len());
        let events: usize = events.sum();
        // A resample of runs without events has no percentile.
        if events > 0 {
            for ((figures, percent), near) in all.iter_mut().zip(percents).zip(&mut near) {
                figures.push(pool.at(&weights, rank(events, *percent), near));
            }
        }
    }
    all
}

/// The events of several runs in ascending order, with each run's number of events up to regular
/// steps.
struct Pool {
    events: Vec<(u64, u32)>,
    step: usize,
    /// The counts up to the start of each step, of all runs one after another.
    counts: Vec<u32>,
    runs: usize,
}

impl Pool {
    fn of(runs: &[Vec<u64>]) -> Pool {
        let of_run = |(number, run): (u32, &Vec<u64>)| run.iter().map(|event| (*event, number)).collect::<Vec<_>>();
        let mut events: Vec<(u64, u32)> = (0..).zip(runs).flat_map(of_run).collect();
        events.sort_unstable();
        let step = events.len().div_ceil(STEPS).max(1);
        let mut counts = Vec::new();
        let mut so_far = vec![0u32; runs.len()];
        for chunk in events.chunks(step) {
            counts.extend_from_slice(&so_far);
            chunk.iter().for_each(|(_, run)| so_far[*run as usize] += 1);
        }
        Pool {
            events,
            step,
            counts,
            runs: runs.len(),
        }
    }

    /// The event with this rank, from 1, if each run counts as often as its weight. The search
    /// starts at step `near`, and leaves the event's step there.
    fn at(&self, weights: &[u32], rank: usize, near: &mut usize) -> f64 {
        let before = |step: usize| -> usize {
            let counts = &self.counts[step * self.runs..(step + 1) * self.runs];
            let weighted = counts.iter().zip(weights);
            let sum: u64 = weighted
                .map(|(count, weight)| u64::from(*count) * u64::from(*weight))
                .sum();
            sum as usize
        };
        // Before `low` there are fewer events than the rank, and before `high` there are not.
        let (mut low, mut high) = (0, self.counts.len() / self.runs);
        let mut seen = 0;
        let (mut at, mut reach) = ((*near).clamp(low, high - 1), 1);
        while low + 1 < high {
            let events = before(at);
            if events < rank {
                (low, seen) = (at, events);
            } else {
                high = at;
            }
            // Twice as far in the same direction, until the event is in between.
            let (up, down) = (low + reach, high.saturating_sub(reach));
            at = if events < rank && up < high {
                up
            } else if events >= rank && down > low {
                down
            } else {
                low.midpoint(high)
            };
            reach *= 2;
        }
        *near = low;
        let mut last = 0;
        for (event, run) in &self.events[low * self.step..] {
            seen += weights[*run as usize] as usize;
            last = *event;
            if seen >= rank {
                break;
            }
        }
        last as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inference::order::nearest_rank;

    #[test]
    fn few_runs_have_no_interval() {
        assert_eq!(interval_of_percentile(&vec![vec![1, 2]; 4], &[50.0]), [None]);
        assert_eq!(interval_of_percentile(&vec![Vec::new(); 9], &[50.0]), [None]);
    }

    /// A weighted percentile equals that of the pool with each run repeated.
    #[test]
    fn a_weighted_percentile_is_that_of_the_repeated_runs() {
        let mut state = 7u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % 1000
        };
        let runs: Vec<Vec<u64>> = [3000, 10, 700, 0]
            .map(|n| {
                let mut run: Vec<u64> = (0..n).map(|_| next()).collect();
                run.sort_unstable();
                run
            })
            .to_vec();
        let pool = Pool::of(&runs);
        let mut near = 0;
        for weights in [[1, 1, 1, 1], [0, 4, 0, 0], [2, 0, 1, 1], [0, 1, 3, 0]] {
            let mut all: Vec<u64> = Vec::new();
            for (run, weight) in runs.iter().zip(weights) {
                (0..weight).for_each(|_| all.extend(run));
            }
            all.sort_unstable();
            for percent in [0.0, 1.0, 50.0, 90.0, 100.0] {
                let wanted = nearest_rank(&all, percent).or(all.last().copied()).expect("events");
                assert_eq!(
                    pool.at(&weights, rank(all.len(), percent), &mut near),
                    wanted as f64,
                    "{weights:?} {percent}"
                );
            }
        }
    }

    /// Resamples are whole runs: if events are equal inside each run, no percentile is between two
    /// runs, and the interval reaches from run to run.
    #[test]
    fn events_of_a_run_stay_together() {
        let runs: Vec<Vec<u64>> = (1..=8).map(|run| vec![run * 100; 500]).collect();
        let ci = interval_of_percentile(&runs, &[50.0])[0].expect("eight runs");
        assert!(ci.low <= 200.0 && ci.high >= 700.0, "{ci:?}");
    }
}
