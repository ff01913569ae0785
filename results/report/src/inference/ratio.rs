//! Ratios of means with their intervals: of two samples, and of several pairs of samples.
//!
//! Sources: Kalibera and Jones, "Rigorous benchmarking in reasonable time" (ISMM 2013), for ratios
//! as effect sizes; Fieller, "Some problems in interval estimation" (1954), for the interval.

use crate::inference::bootstrap::{MANY, RESAMPLES, Resampler, ends};
use crate::inference::distributions::{both_tails, quantile_975};
use crate::inference::sample::{Interval, RUNS_FOR_INTERVAL, Sample, Spread};

/// From this number of runs on, the interval of a geometric mean is that of resamples. Resamples of
/// fewer runs are too much alike; Welch's interval then takes their place.
pub const RUNS_FOR_BOOTSTRAP: usize = 10;

/// The mean of one configuration over the mean of another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratio {
    /// The ratio of the means.
    pub estimate: f64,
    /// Its 95 % interval; absent when there are too few runs, or when they scatter so much that the
    /// base cannot be told from 0.
    pub ci95: Option<Interval>,
    /// The number of runs of the smallest sample.
    pub runs: usize,
    /// The probability of a ratio that is as far from 1 by chance, if the true ratio is 1; absent
    /// with too few runs. It is for judging several ratios together, not for tables.
    pub chance: Option<f64>,
}

impl Ratio {
    /// Whether the ratio differs from 1 by more than noise; `None` without an interval.
    pub fn differs(&self) -> Option<bool> {
        Some(!self.ci95?.contains(1.0))
    }

    /// The ends of the interval, if there is one: a ratio without it is not an exact one.
    pub fn ends(&self) -> Option<(f64, f64)> {
        self.ci95.map(|ci| (ci.low, ci.high))
    }
}

/// The ratio of the means, `new / base`; `None` when the base's mean is not above 0.
///
/// With h² = t² s²/n for the base and h'² for the new one, the ends are
/// (Y Y' ∓ √((Y Y')² − (Y² − h²)(Y'² − h'²))) / (Y² − h²), which is an interval only if Y² > h².
/// Student's t has the degrees of freedom of the smaller sample: with unequal samples the interval
/// is too wide rather than too narrow.
pub fn ratio_of_means(base: &Spread, new: &Spread) -> Option<Ratio> {
    if base.mean <= 0.0 {
        return None;
    }
    let n = base.n.min(new.n);
    let deviations = base.deviation.zip(new.deviation).filter(|_| n >= RUNS_FOR_INTERVAL);
    let ci95 = deviations.and_then(|(s, s_new)| {
        let t2 = quantile_975((n - 1) as f64).powi(2);
        let h2 = t2 * s * s / base.n as f64;
        let h2_new = t2 * s_new * s_new / new.n as f64;
        let denominator = base.mean.powi(2) - h2;
        if denominator <= 0.0 {
            return None;
        }
        let product = base.mean * new.mean;
        // Only rounding makes it negative: it is Y² h'² + Y'² h² − h² h'², and Y² > h².
        let root = (product * product - denominator * (new.mean.powi(2) - h2_new))
            .max(0.0)
            .sqrt();
        let ci = Interval {
            // A new mean that cannot be told from 0 puts the lower end below 0, and no figure
            // is negative.
            low: ((product - root) / denominator).max(0.0),
            high: (product + root) / denominator,
        };
        (ci.low.is_finite() && ci.high.is_finite()).then_some(ci)
    });
    // The interval contains 1 if and only if this t is below its quantile.
    let chance = deviations.map(|(s, s_new)| {
        let error = (s * s / base.n as f64 + s_new * s_new / new.n as f64).sqrt();
        chance(new.mean - base.mean, error, (n - 1) as f64)
    });
    Some(Ratio {
        estimate: new.mean / base.mean,
        ci95,
        runs: n,
        chance,
    })
}

/// The probability of a difference this large by chance.
pub(crate) fn chance(difference: f64, error: f64, degrees_of_freedom: f64) -> f64 {
    if difference == 0.0 {
        return 1.0;
    }
    both_tails(difference / error, degrees_of_freedom)
}

/// The geometric mean of the ratios `new / base` of the means of several pairs; `None` without
/// pairs, or if a mean is not above 0.
///
/// The pairs are fixed, as workloads are: the interval says how much the runs scatter, not how
/// other workloads would behave. From [`RUNS_FOR_BOOTSTRAP`] runs of every sample on, it is that of
/// resamples of each sample, with the degrees of freedom of Welch and Satterthwaite. With fewer
/// runs it is Welch's, of the mean of the logarithms. Below [`RUNS_FOR_INTERVAL`] runs it is
/// absent.
pub fn geometric_mean_of_ratios(pairs: &[(&Sample, &Sample)]) -> Option<Ratio> {
    geometric_mean_by(pairs, RESAMPLES)
}

/// [`geometric_mean_of_ratios`] with a number of resamples.
pub(crate) fn geometric_mean_by(pairs: &[(&Sample, &Sample)], resamples: usize) -> Option<Ratio> {
    let spreads: Vec<(Spread, Spread)> = pairs.iter().map(|(base, new)| (base.spread, new.spread)).collect();
    let welch = Welch::of(&spreads)?;
    let bootstrap = welch.runs >= RUNS_FOR_BOOTSTRAP && welch.error > 0.0;
    let ci95 = if bootstrap {
        Some(ends(
            means_of_resamples(pairs, resamples),
            welch.runs,
            welch.degrees_of_freedom,
        ))
    } else {
        welch.interval()
    };
    Some(Ratio {
        estimate: welch.log.exp(),
        ci95,
        runs: welch.runs,
        chance: (welch.runs >= RUNS_FOR_INTERVAL).then(|| chance(welch.log, welch.error, welch.degrees_of_freedom)),
    })
}

/// The mean of the logarithms of several ratios of means, with its standard error.
#[derive(Debug)]
pub(crate) struct Welch {
    log: f64,
    error: f64,
    degrees_of_freedom: f64,
    runs: usize,
}

impl Welch {
    /// The variance is the sum over all samples of s² / (n Y²) (delta method), divided by the
    /// square of the number of pairs.
    pub(crate) fn of(pairs: &[(Spread, Spread)]) -> Option<Welch> {
        if pairs.is_empty() || pairs.iter().any(|(base, new)| base.mean <= 0.0 || new.mean <= 0.0) {
            return None;
        }
        let count = pairs.len() as f64;
        let samples = || pairs.iter().flat_map(|(base, new)| [base, new]);
        let variance = |s: &Spread| (s.deviation.unwrap_or(0.0) / s.mean).powi(2) / s.n as f64;
        let all: f64 = samples().map(variance).sum();
        let uncertain: f64 = samples().map(|s| variance(s).powi(2) / (s.n.max(2) - 1) as f64).sum();
        let degrees = if uncertain > 0.0 { all * all / uncertain } else { 1.0 };
        Some(Welch {
            log: pairs.iter().map(|(base, new)| (new.mean / base.mean).ln()).sum::<f64>() / count,
            error: all.sqrt() / count,
            degrees_of_freedom: degrees.max(1.0),
            runs: samples().map(|sample| sample.n).min().unwrap_or(0),
        })
    }

    pub(crate) fn interval(&self) -> Option<Interval> {
        let half = if self.error > 0.0 {
            quantile_975(self.degrees_of_freedom) * self.error
        } else {
            0.0
        };
        (self.runs >= RUNS_FOR_INTERVAL).then(|| Interval {
            low: (self.log - half).exp(),
            high: (self.log + half).exp(),
        })
    }
}

/// The sum of the values at these places. Four sums side by side take a third of the time of one.
fn sum_of(values: &[f64], places: &[usize]) -> f64 {
    let mut sums = [0.0; 4];
    let fours = places.chunks_exact(4);
    let rest: f64 = fours.remainder().iter().map(|&place| values[place]).sum();
    for four in fours {
        for (sum, &place) in sums.iter_mut().zip(four) {
            *sum += values[place];
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// The geometric means of the ratios of resamples of each sample.
fn means_of_resamples(pairs: &[(&Sample, &Sample)], resamples: usize) -> Vec<f64> {
    let mut resampler = Resampler::new();
    let mut logs = vec![0.0; resamples];
    let mut drawn = Vec::new();
    for (sample, sign) in pairs.iter().flat_map(|(base, new)| [(base, -1.0), (new, 1.0)]) {
        let values = &sample.values;
        if values.len() >= MANY {
            let Spread { mean, deviation, .. } = sample.spread;
            let error = deviation.unwrap_or(0.0) / (values.len() as f64).sqrt();
            for log in &mut logs {
                *log += sign * (mean + error * resampler.normal()).ln();
            }
            continue;
        }
        drawn.resize(values.len(), 0);
        for log in &mut logs {
            resampler.draw(values.len(), &mut drawn);
            *log += sign * (sum_of(values, &drawn) / values.len() as f64).ln();
        }
    }
    let count = pairs.len() as f64;
    logs.into_iter().map(|log| (log / count).exp()).collect()
}
