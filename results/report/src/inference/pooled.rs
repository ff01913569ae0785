//! Ratios of configurations with few runs each, by a spread that all of them share.
//!
//! One or two runs of a configuration say nothing about its spread. Runs of many configurations of
//! one program on one machine scatter by about the same share, so their logarithms have about the
//! same variance. It is estimated from all of them together, as in an analysis of variance: the sum
//! of the squared deviations from each configuration's mean, divided by the number of runs that are
//! more than the first of their configuration. Even a single run then has an interval.
//!
//! The intervals are those of ratios of geometric means. They decide what is worth another run; a
//! figure for a table has an interval of its own runs ([`crate::inference::ratio_of_means`]).

use crate::inference::distributions::quantile;
use crate::inference::sample::Interval;

/// The spread that several samples share: that of the logarithms of their values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pooled {
    variance: f64,
    degrees_of_freedom: f64,
}

impl Pooled {
    /// The spread of these samples of positive values; `None` if none of them has two values.
    pub fn of<'s>(samples: impl IntoIterator<Item = &'s [f64]>) -> Option<Pooled> {
        let (mut squares, mut degrees) = (0.0, 0.0);
        for sample in samples.into_iter().filter(|sample| sample.len() > 1) {
            let mean = mean_log(sample);
            squares += sample.iter().map(|value| (value.ln() - mean).powi(2)).sum::<f64>();
            degrees += (sample.len() - 1) as f64;
        }
        (degrees > 0.0).then(|| Pooled {
            variance: squares / degrees,
            degrees_of_freedom: degrees,
        })
    }

    /// The interval of the ratio of the geometric means, `new / base`. It leaves `1 - confidence`
    /// outside, half of it on each side.
    ///
    /// # Panics
    /// Panics if a sample is empty.
    pub fn ratio(&self, base: &[f64], new: &[f64], confidence: f64) -> Interval {
        assert!(!base.is_empty() && !new.is_empty(), "a sample without values");
        let error = (1.0 / base.len() as f64 + 1.0 / new.len() as f64).sqrt();
        self.around(mean_log(new) - mean_log(base), error, confidence)
    }

    /// The interval of the geometric mean of one sample.
    ///
    /// # Panics
    /// Panics if the sample is empty.
    pub fn mean(&self, sample: &[f64], confidence: f64) -> Interval {
        assert!(!sample.is_empty(), "a sample without values");
        self.around(mean_log(sample), (sample.len() as f64).sqrt().recip(), confidence)
    }

    fn around(&self, log: f64, error: f64, confidence: f64) -> Interval {
        let deviation = self.variance.sqrt();
        let half = if deviation > 0.0 {
            quantile(f64::midpoint(1.0, confidence), self.degrees_of_freedom) * deviation * error
        } else {
            0.0
        };
        Interval {
            low: (log - half).exp(),
            high: (log + half).exp(),
        }
    }
}

fn mean_log(sample: &[f64]) -> f64 {
    sample.iter().map(|value| value.ln()).sum::<f64>() / sample.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inference::noise::Noise;

    /// By hand: the logarithms of the first sample are 0 and 2, of the second 0, 3 and 3, so the
    /// squares are 2 and 6, and the degrees of freedom 1 and 2. t(0.975, 3) is 3.182446305284263.
    #[test]
    fn two_samples_by_hand() {
        let (e2, e3) = (2.0_f64.exp(), 3.0_f64.exp());
        let (one, two) = ([1.0, e2], [1.0, e3, e3]);
        let pooled = Pooled::of([&one[..], &two[..], &[5.0]]).expect("two values");
        let half = 3.182_446_305_284_263 * (8.0_f64 / 3.0).sqrt() * (1.0_f64 / 2.0 + 1.0 / 3.0).sqrt();
        let ratio = pooled.ratio(&one, &two, 0.95);
        assert!((ratio.low.ln() - (1.0 - half)).abs() < 1e-9, "{ratio:?}");
        assert!((ratio.high.ln() - (1.0 + half)).abs() < 1e-9, "{ratio:?}");
        assert_eq!(Pooled::of([&[1.0][..], &[2.0]]), None);
    }

    /// The share of intervals of single runs that contain the true ratio.
    #[test]
    fn an_interval_of_single_runs_covers() {
        let mut noise = Noise::new(7);
        let mut covered = 0;
        for _ in 0..2000 {
            let mut runs = |mean: f64, count: usize| -> Vec<f64> {
                (0..count).map(|_| mean * (0.05 * noise.normal()).exp()).collect()
            };
            let (default, one, other) = (runs(1.0, 4), runs(0.9, 1), runs(2.0, 2));
            let pooled = Pooled::of([&default[..], &one, &other]).expect("several runs");
            covered += usize::from(pooled.ratio(&default, &one, 0.95).contains(0.9));
        }
        assert!((1860..=1940).contains(&covered), "{covered} of 2000");
    }
}
