//! A figure over the runs of one configuration: its values, their description, and the interval of
//! its mean.

use crate::inference::distributions::quantile_975;
use crate::inference::order::quantile;

/// With fewer runs there is no interval: that of two runs would span a hundred deviations.
pub const RUNS_FOR_INTERVAL: usize = 3;

/// Greater values are no figures of a run: their squares are no numbers.
const MOST: f64 = 1e150;

/// A closed interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// Whether the value lies in the interval.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

/// One figure of one configuration: the values of its runs with their description.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// The values, sorted.
    pub values: Vec<f64>,
    /// The centre and the spread of the values.
    pub spread: Spread,
}

impl Sample {
    /// The values among these that are numbers (below 1e150); `None` when there are none.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Sample> {
        let values = values.into_iter();
        // Of millions of values, a vector that grows would take twice the room.
        let mut sorted: Vec<f64> = Vec::with_capacity(values.size_hint().1.unwrap_or(0));
        sorted.extend(values.filter(|v| v.abs() < MOST));
        sorted.sort_by(f64::total_cmp);
        let spread = Spread::of_sorted(&sorted)?;
        Some(Sample { values: sorted, spread })
    }
}

/// The description of a sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// Number of runs that have the figure.
    pub n: usize,
    /// The arithmetic mean.
    pub mean: f64,
    /// The standard deviation of the runs, with n-1; absent for one run.
    pub deviation: Option<f64>,
    /// The median value.
    pub median: f64,
    /// The least value.
    pub min: f64,
    /// The greatest value.
    pub max: f64,
    /// The lower quartile (type 7).
    pub q1: f64,
    /// The upper quartile (type 7).
    pub q3: f64,
    /// The 95 % interval of the mean by Student's t on logarithms, so that no end is negative;
    /// absent for fewer than [`RUNS_FOR_INTERVAL`] runs.
    pub ci95: Option<Interval>,
}

impl Spread {
    /// Describes the values among these that are numbers (below 1e150); `None` when there are none.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Spread> {
        Some(Sample::of(values)?.spread)
    }

    fn of_sorted(sorted: &[f64]) -> Option<Spread> {
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
        Some(Spread {
            n,
            mean,
            deviation,
            median: quantile(sorted, 0.5),
            min,
            max,
            q1: quantile(sorted, 0.25),
            q3: quantile(sorted, 0.75),
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
