//! The statistics of reports: order statistics, percentiles, a mean and a ratio of means with their
//! intervals.
//!
//! The unit is the run (one process); nothing here looks inside one. Sources: Kalibera and Jones,
//! "Rigorous benchmarking in reasonable time" (ISMM 2013) for intervals of effect sizes; Fieller
//! (1954) for the ratio; Hyndman and Fan (1996), type 7, for quartiles. Each function costs one
//! sort. `tests/maths.rs` checks every formula against values from other sources.

use crate::student::quantile_975;

/// With fewer runs there is no interval: that of two runs would span a hundred deviations.
pub(crate) const RUNS_FOR_INTERVAL: usize = 3;

/// Greater values are no figures of a run: their squares are no numbers.
const MOST: f64 = 1e150;

/// One figure of one configuration, over its runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spread {
    /// Number of runs that have the figure.
    pub(crate) n: usize,
    /// The arithmetic mean.
    pub(crate) mean: f64,
    /// The standard deviation of the runs, with n-1; absent for one run.
    pub(crate) deviation: Option<f64>,
    /// The median value.
    pub(crate) median: f64,
    /// The least value.
    pub(crate) min: f64,
    /// The greatest value.
    pub(crate) max: f64,
    /// The lower quartile (type 7).
    pub(crate) q1: f64,
    /// The upper quartile (type 7).
    pub(crate) q3: f64,
    /// The 95 % interval of the mean by Student's t on logarithms, so that no end is negative;
    /// absent for fewer than [`RUNS_FOR_INTERVAL`] runs.
    pub(crate) ci95: Option<Interval>,
}

/// A closed interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Interval {
    /// The lower end.
    pub(crate) low: f64,
    /// The upper end.
    pub(crate) high: f64,
}

impl Interval {
    /// Whether the value lies in the interval.
    pub(crate) fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

impl Spread {
    /// Describes the values among these that are numbers below [`MOST`]; `None` when there are
    /// none.
    pub(crate) fn of(values: impl IntoIterator<Item = f64>) -> Option<Spread> {
        let mut sorted: Vec<f64> = values.into_iter().filter(|v| v.abs() < MOST).collect();
        sorted.sort_by(f64::total_cmp);
        let (&min, &max) = (sorted.first()?, sorted.last()?);
        let n = sorted.len();
        let mean = sorted.iter().sum::<f64>() / n as f64;
        let deviation = (n > 1).then(|| {
            let squares: f64 = sorted.iter().map(|v| (v - mean).powi(2)).sum();
            (squares / (n - 1) as f64).sqrt()
        });
        let ci95 = deviation
            .filter(|_| n >= RUNS_FOR_INTERVAL)
            .and_then(|s| interval_of_mean(mean, s, n));
        let quantile = |p| quantile(&sorted, p);
        Some(Spread {
            n,
            mean,
            deviation,
            median: quantile(0.5),
            min,
            max,
            q1: quantile(0.25),
            q3: quantile(0.75),
            ci95,
        })
    }
}

/// The 95 % interval of a mean from the standard deviation of `n` values.
///
/// No figure of a run is negative, and times are skewed to the right. So the interval is that of
/// the mean's logarithm, whose standard error is s / (Y √n) (delta method): Y · exp(∓ t s / (Y
/// √n)). A mean of 0 has the interval from 0 to 0. `None` if an end is no number.
fn interval_of_mean(mean: f64, deviation: f64, n: usize) -> Option<Interval> {
    let relative = if deviation == 0.0 { 0.0 } else { deviation / mean };
    let factor = (quantile_975((n - 1) as f64) * relative / (n as f64).sqrt()).exp();
    let interval = Interval {
        low: mean / factor,
        high: mean * factor,
    };
    (interval.low.is_finite() && interval.high.is_finite()).then_some(interval)
}

/// The p-quantile of sorted values, interpolated linearly between order statistics (type 7 of
/// Hyndman and Fan).
///
/// # Panics
/// When there are no values.
pub(crate) fn quantile(sorted: &[f64], p: f64) -> f64 {
    let position = p.clamp(0.0, 1.0) * (sorted.len() - 1) as f64;
    let below = sorted[position.floor() as usize];
    let above = sorted[position.ceil() as usize];
    below + (above - below) * position.fract()
}

/// The p-th percentile of sorted values by nearest rank: value number ceil(p/100 · n), which is
/// always an observed value. Above the median it needs 1 / (1 - p/100) values: 10 for 90 %, 100 for
/// 99 %, 1000 for 99.9 %. With fewer it would be the greatest value, so it is `None`.
pub(crate) fn nearest_rank<T: Copy>(sorted: &[T], p: f64) -> Option<T> {
    let beyond = (100.0 - p) / 100.0 * sorted.len() as f64;
    if p > 50.0 && p < 100.0 && beyond < 1.0 - 1e-9 {
        return None;
    }
    // 99.9 % of 1000 is 999.0000000000001 in binary. Without the correction the rank would be 1000.
    let rank = (p / 100.0 * sorted.len() as f64 - 1e-9).ceil().max(1.0) as usize;
    sorted.get(rank - 1).copied()
}

/// The mean of one configuration over the mean of another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Ratio {
    /// The ratio of the means.
    pub(crate) estimate: f64,
    /// Its 95 % interval; absent when there are too few runs, or when they scatter so much that the
    /// base cannot be told from 0.
    pub(crate) ci95: Option<Interval>,
    /// The number of runs of the smallest sample.
    pub(crate) runs: usize,
}

impl Ratio {
    /// Whether the ratio differs from 1 by more than noise; `None` without an interval.
    pub(crate) fn differs(&self) -> Option<bool> {
        Some(!self.ci95?.contains(1.0))
    }

    /// The ends of the interval; without one the estimate itself, twice.
    pub(crate) fn ends(&self) -> (f64, f64) {
        self.ci95.map_or((self.estimate, self.estimate), |ci| (ci.low, ci.high))
    }
}

/// The ratio of the means, `new / base`; `None` when the base's mean is not above 0.
///
/// With h² = t² s²/n for the base and h'² for the new one, the ends are
/// (Y Y' ∓ √((Y Y')² − (Y² − h²)(Y'² − h'²))) / (Y² − h²), which is an interval only if Y² > h².
/// Student's t has the degrees of freedom of the smaller sample: with unequal samples the interval
/// is too wide rather than too narrow.
pub(crate) fn ratio_of_means(base: &Spread, new: &Spread) -> Option<Ratio> {
    if base.mean <= 0.0 {
        return None;
    }
    let estimate = new.mean / base.mean;
    let n = base.n.min(new.n);
    let ci95 = base
        .deviation
        .zip(new.deviation)
        .filter(|_| n >= RUNS_FOR_INTERVAL)
        .and_then(|(s, s_new)| {
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
            Some(Interval {
                // A new mean that cannot be told from 0 puts the lower end below 0, and no figure
                // is negative.
                low: ((product - root) / denominator).max(0.0),
                high: (product + root) / denominator,
            })
        })
        .filter(|ci| ci.low.is_finite() && ci.high.is_finite());
    Some(Ratio {
        estimate,
        ci95,
        runs: n,
    })
}

/// The geometric mean of the ratios `new / base` of the means of several pairs; `None` without
/// pairs, or if a mean is not above 0.
///
/// The pairs are fixed, as workloads are: the interval says how much the runs scatter, not how
/// other workloads would behave. It is that of the mean of the logarithms. Their variance is the
/// sum over all samples of s² / (n Y²) (delta method), divided by the square of the number of
/// pairs, with Welch and Satterthwaite's degrees of freedom. The interval is absent if a sample is
/// smaller than [`RUNS_FOR_INTERVAL`].
pub(crate) fn geometric_mean_of_ratios(pairs: &[(Spread, Spread)]) -> Option<Ratio> {
    if pairs.is_empty() || pairs.iter().any(|(base, new)| base.mean <= 0.0 || new.mean <= 0.0) {
        return None;
    }
    let count = pairs.len() as f64;
    let log = pairs.iter().map(|(base, new)| (new.mean / base.mean).ln()).sum::<f64>() / count;
    let samples = || pairs.iter().flat_map(|(base, new)| [base, new]);
    let ci95 = samples().all(|sample| sample.n >= RUNS_FOR_INTERVAL).then(|| {
        let variance = |s: &Spread| (s.deviation.unwrap_or(0.0) / s.mean).powi(2) / s.n as f64;
        let all: f64 = samples().map(variance).sum();
        let uncertain: f64 = samples().map(|s| variance(s).powi(2) / (s.n - 1) as f64).sum();
        let half = if all > 0.0 {
            quantile_975((all * all / uncertain).max(1.0)) * all.sqrt() / count
        } else {
            0.0
        };
        Interval {
            low: (log - half).exp(),
            high: (log + half).exp(),
        }
    });
    Some(Ratio {
        estimate: log.exp(),
        ci95,
        runs: samples().map(|sample| sample.n).min().unwrap_or(0),
    })
}
