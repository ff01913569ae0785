//! The change of a figure between two samples of runs, as a ratio with intervals of any confidence.
//!
//! Everything is on logarithms: figures are positive, their noise is a share of them, and a ratio
//! and its inverse then weigh the same. The estimate is the ratio of the geometric means.
//!
//! Where both samples have the same rounds (*blocks* of the design), runs are compared in pairs:
//! the disturbance of a round falls on both and cancels. The interval is Student's t on the
//! differences of the logarithms, with n - 1 degrees of freedom. Other samples have Welch's
//! interval.

use std::collections::BTreeMap;

use crate::inference::distributions::quantile;
use crate::inference::ratio::chance;
use crate::inference::runs::runs_to_see;
use crate::inference::sample::{Interval, RUNS_FOR_INTERVAL};

/// The change of a figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// The geometric mean of the base.
    pub base: f64,
    /// The geometric mean of the new sample.
    pub new: f64,
    /// The number of runs of the smaller sample.
    pub runs: usize,
    /// The standard error of the ratio's logarithm and its degrees of freedom; absent with too few
    /// runs.
    error: Option<(f64, f64)>,
}

/// A figure of a run with the round of the run.
pub type Rounds = [(u32, f64)];

impl Change {
    /// The change from `base` to `new`; `None` if a sample is empty or a value is not above 0.
    pub fn of(base: &Rounds, new: &Rounds) -> Option<Change> {
        let positive =
            |sample: &Rounds| !sample.is_empty() && sample.iter().all(|(_, value)| *value > 0.0 && value.is_finite());
        if !positive(base) || !positive(new) {
            return None;
        }
        let logs = |sample: &Rounds| -> Vec<f64> { sample.iter().map(|(_, value)| value.ln()).collect() };
        let (logs_base, logs_new) = (logs(base), logs(new));
        let runs = base.len().min(new.len());
        let error = (runs >= RUNS_FOR_INTERVAL).then(|| match differences(base, new) {
            Some(differences) => {
                let (_, variance) = moments(&differences);
                ((variance / runs as f64).sqrt(), (runs - 1) as f64)
            }
            None => welch(&logs_base, &logs_new),
        });
        Some(Change {
            base: moments(&logs_base).0.exp(),
            new: moments(&logs_new).0.exp(),
            runs,
            error,
        })
    }

    /// A change whose standard error is known from elsewhere, with its degrees of freedom; `runs`
    /// is the number of runs of the smaller side.
    pub(crate) fn with_error(base: f64, new: f64, runs: usize, error: Option<(f64, f64)>) -> Change {
        Change { base, new, runs, error }
    }

    /// New over base.
    pub fn ratio(&self) -> f64 {
        self.new / self.base
    }

    /// The interval of the ratio that leaves `1 - confidence` outside, half of it on each side;
    /// `None` with too few runs.
    pub fn interval(&self, confidence: f64) -> Option<Interval> {
        let factor = self.factor(confidence)?;
        Some(Interval {
            low: self.ratio() / factor,
            high: self.ratio() * factor,
        })
    }

    /// The least change that would have been told from noise, as a share: its interval of 95 %
    /// would just exclude 1. `None` with too few runs.
    pub fn visible(&self) -> Option<f64> {
        Some(self.factor(0.95)? - 1.0)
    }

    /// The probability of a change this large by chance, if nothing changed; `None` with too few
    /// runs. It is for judging several changes together, not for tables.
    pub fn chance(&self) -> Option<f64> {
        let (error, degrees) = self.error?;
        Some(chance(self.ratio().ln(), error, degrees))
    }

    /// The number of runs of each sample with which four of five experiments would decide: whether
    /// there is a change of the share `threshold` or more, or none. It follows from the ratio and
    /// the spread of the runs that are there. `None` with too few runs, and if more than
    /// [`crate::inference::MOST_RUNS`] would be needed, as they are close to the threshold.
    pub fn runs_to_decide(&self, threshold: f64) -> Option<usize> {
        let (error, _) = self.error?;
        let (log, edge) = (self.ratio().ln().abs(), threshold.ln_1p());
        let variance = error * error * self.runs as f64;
        // A change at or beyond the threshold must exclude 1 (an interval of 95 %). One within it
        // must lie within the threshold on both sides (an interval of 90 %).
        if log >= edge {
            runs_to_see(variance, log, 0.95, crate::inference::runs::MOST_RUNS)
        } else {
            runs_to_see(variance, edge - log, 0.9, crate::inference::runs::MOST_RUNS)
        }
    }

    /// The end of the interval over the estimate.
    fn factor(&self, confidence: f64) -> Option<f64> {
        let (error, degrees) = self.error?;
        let factor = if error > 0.0 {
            (quantile(f64::midpoint(1.0, confidence), degrees) * error).exp()
        } else {
            1.0
        };
        factor.is_finite().then_some(factor)
    }
}

/// The differences of the logarithms by round; `None` if the samples do not have the same rounds,
/// or have a round twice.
fn differences(base: &Rounds, new: &Rounds) -> Option<Vec<f64>> {
    if is_same_order(base, new) {
        let pairs = base.iter().zip(new);
        return Some(
            pairs
                .map(|((_, value), (_, partner))| partner.ln() - value.ln())
                .collect(),
        );
    }
    let partners: BTreeMap<u32, f64> = new.iter().copied().collect();
    if base.len() != new.len() || partners.len() != new.len() {
        return None;
    }
    base.iter()
        .map(|(round, value)| Some(partners.get(round)?.ln() - value.ln()))
        .collect()
}

/// Whether both samples have the same rounds in ascending order, each once.
fn is_same_order(base: &Rounds, new: &Rounds) -> bool {
    let rounds = |sample: &Rounds| -> bool { sample.is_sorted_by(|one, other| one.0 < other.0) };
    let same = base
        .iter()
        .map(|(round, _)| round)
        .eq(new.iter().map(|(round, _)| round));
    same && rounds(base)
}

/// The mean and the variance with n - 1.
pub(crate) fn moments(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, squares / (n - 1.0).max(1.0))
}

/// The standard error of a difference of means and its degrees of freedom, by Welch and
/// Satterthwaite.
fn welch(base: &[f64], new: &[f64]) -> (f64, f64) {
    let of = |sample: &[f64]| (moments(sample).1 / sample.len() as f64, (sample.len() - 1) as f64);
    let ((a, degrees_a), (b, degrees_b)) = (of(base), of(new));
    if a + b == 0.0 {
        return (0.0, degrees_a.min(degrees_b));
    }
    let degrees = (a + b).powi(2) / (a * a / degrees_a + b * b / degrees_b);
    ((a + b).sqrt(), degrees.max(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds(values: &[f64]) -> Vec<(u32, f64)> {
        (0..).zip(values.iter().copied()).collect()
    }

    #[track_caller]
    fn close(a: f64, b: f64) {
        assert!((a / b - 1.0).abs() < 1e-9, "{a} is not {b}");
    }

    /// Each round of the new sample takes 1.1 times as long, whatever the round took: the rounds'
    /// disturbance cancels. Without pairs the same figures show nothing.
    #[test]
    fn a_disturbance_of_a_round_cancels() {
        let (base, new) = (rounds(&[1.0, 2.0, 4.0]), rounds(&[1.1, 2.2, 4.4]));
        let change = Change::of(&base, &new).expect("a change");
        let ci = change.interval(0.95).expect("three pairs");
        assert!((ci.low - 1.1).abs() < 1e-6 && (ci.high - 1.1).abs() < 1e-6, "{ci:?}");
        let elsewhere: Vec<(u32, f64)> = new.iter().map(|(round, value)| (round + 9, *value)).collect();
        let unpaired = Change::of(&base, &elsewhere)
            .expect("a change")
            .interval(0.95)
            .expect("three runs");
        assert!(unpaired.low < 0.5 && unpaired.high > 2.0, "{unpaired:?}");
    }

    /// The order of runs in a sample changes nothing.
    #[test]
    fn pairs_are_found_in_any_order() {
        let (base, new) = (rounds(&[1.0, 2.0, 4.0, 3.0]), rounds(&[1.2, 2.1, 4.5, 3.9]));
        let in_order = Change::of(&base, &new).expect("a change");
        let mut mixed = new.clone();
        mixed.swap(0, 2);
        let mixed = Change::of(&base, &mixed).expect("a change");
        close(in_order.ratio(), mixed.ratio());
        let width = |change: &Change| change.interval(0.95).expect("four pairs").high;
        close(width(&in_order), width(&mixed));
    }

    /// Differences of the logarithms 0, 0.1 and 0.2: mean 0.1, standard error 0.1 / √3, and
    /// t(0.975, 2) = 4.302652729749464.
    #[test]
    fn pairs_by_hand() {
        let new: Vec<f64> = [0.0f64, 0.1, 0.2].iter().map(|log| 5.0 * log.exp()).collect();
        let change = Change::of(&rounds(&[5.0; 3]), &rounds(&new)).expect("a change");
        close(change.ratio(), 0.1f64.exp());
        let half = 4.302_652_729_749_464 * 0.1 / 3f64.sqrt();
        close(change.interval(0.95).expect("pairs").high, (0.1 + half).exp());
        close(change.visible().expect("pairs"), half.exp() - 1.0);
    }

    #[test]
    fn few_runs_and_zeros_claim_nothing() {
        let two = Change::of(&rounds(&[1.0, 1.1]), &rounds(&[2.0, 2.1])).expect("a change");
        assert_eq!((two.interval(0.95), two.visible()), (None, None));
        assert_eq!(Change::of(&rounds(&[0.0, 1.0]), &rounds(&[1.0, 1.0])), None);
        assert_eq!(Change::of(&rounds(&[]), &rounds(&[1.0])), None);
        let equal = Change::of(&rounds(&[19.0; 3]), &rounds(&[20.0; 3])).expect("a change");
        assert_eq!(equal.visible(), Some(0.0));
    }

    /// A change of 10 % with a standard error of 8 % of each pair: (t + 0.84)² 0.0064 ≤ n 0.0091
    /// from 8 on. Without a change, 3 % on both sides must lie outside.
    #[test]
    fn the_runs_that_would_decide() {
        let noise = |at: usize, by: f64| if at.is_multiple_of(2) { by } else { -by };
        let of = |log: f64, by: f64| {
            let new: Vec<f64> = (0..10).map(|at| (log + noise(at, by)).exp()).collect();
            Change::of(&rounds(&[1.0; 10]), &rounds(&new)).expect("a change")
        };
        // The deviation of ±0.08 in ten pairs is 0.08 · √(10/9).
        assert_eq!(of(0.1f64.ln_1p(), 0.08).runs_to_decide(0.03), Some(9));
        let none = of(0.0, 0.08).runs_to_decide(0.03).expect("a number");
        assert!((45..60).contains(&none), "{none}");
        assert_eq!(of(0.029_558, 0.08).runs_to_decide(0.03), None, "at the threshold");
        // A change between once and twice the threshold must exclude 1, too: (t + z)² v is at most
        // n ln(1.05)². With v = 0.08² · 10/9 and t(25) = 2.060 that is so from 26 runs on.
        assert_eq!(of(0.05f64.ln_1p(), 0.08).runs_to_decide(0.03), Some(26));
        // A gain is decided by as many runs as a loss of the same ratio.
        for log in [0.1f64, 0.02] {
            assert_eq!(of(-log, 0.08).runs_to_decide(0.03), of(log, 0.08).runs_to_decide(0.03));
        }
        assert_eq!(
            Change::of(&rounds(&[1.0; 2]), &rounds(&[1.1; 2]))
                .expect("a change")
                .runs_to_decide(0.03),
            None
        );
    }

    /// The chance of a change is 5 % where an end of its interval is 1.
    #[test]
    fn the_chance_agrees_with_the_interval() {
        let new: Vec<f64> = [0.0f64, 0.1, 0.2].iter().map(|log| log.exp()).collect();
        let change = Change::of(&rounds(&[1.0; 3]), &rounds(&new)).expect("a change");
        let chance = change.chance().expect("three pairs");
        let ends = change.interval(1.0 - chance).expect("three pairs");
        assert!((ends.low - 1.0).abs() < 1e-6, "{ends:?} {chance}");
        let steady = Change::of(&rounds(&[1.0; 3]), &rounds(&[1.1; 3])).expect("a change");
        let equal = Change::of(&rounds(&[1.0; 3]), &rounds(&[1.0; 3])).expect("a change");
        assert_eq!((steady.chance(), equal.chance()), (Some(0.0), Some(1.0)));
    }

    /// Ten pairs against ten, 4 % noise of the runs and 30 % of the rounds, true ratio 1.03: about
    /// 95 of 100 intervals contain it, and they are narrow.
    #[test]
    fn paired_intervals_cover_the_true_ratio() {
        let mut noise = crate::inference::noise::Noise::new(11);
        let mut normal = move || noise.normal();
        let (mut covered, mut widest, trials) = (0, 0.0, 2000);
        for _ in 0..trials {
            let (mut base, mut new) = (Vec::new(), Vec::new());
            for round in 0..10 {
                let disturbance = (0.3 * normal()).exp();
                base.push((round, disturbance * (0.04 * normal()).exp()));
                new.push((round, 1.03 * disturbance * (0.04 * normal()).exp()));
            }
            let ci = Change::of(&base, &new)
                .and_then(|change| change.interval(0.95))
                .expect("ten pairs");
            covered += usize::from(ci.contains(1.03));
            widest = f64::max(widest, ci.high / ci.low);
        }
        let share = covered as f64 / trials as f64;
        assert!((0.935..=0.965).contains(&share) && widest < 1.25, "{share} {widest}");
    }
}
