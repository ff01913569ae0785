//! Do figures depend on the time of the run? A machine that warms up, fills up or is shared drifts
//! while an experiment runs.
//!
//! A *residual* is the logarithm of a run's figure less the mean of its configuration: what is left
//! when the configuration is known. The drift is the slope of a line through the residuals against
//! the runs' positions, with a separate mean for each configuration (least squares with fixed
//! effects), and its interval is Student's t with N - G - 1 degrees of freedom for N runs of G
//! configurations. In shuffled rounds each configuration has early and late runs, so drift widens
//! intervals but favours no configuration.

use crate::inference::distributions::quantile_975;
use crate::inference::sample::Interval;

/// With fewer degrees of freedom a line means nothing.
const LEAST_DEGREES: usize = 5;

/// The dependence of figures on the time of the run.
#[derive(Debug, Clone, PartialEq)]
pub struct Drift {
    /// The line's value at the last position over its value at the first.
    pub change: f64,
    /// The 95 % interval of the change.
    pub ci95: Interval,
}

impl Drift {
    /// Whether the slope exceeds noise.
    pub fn is_certain(&self) -> bool {
        !self.ci95.contains(1.0)
    }
}

/// The sums that determine the line. Configurations are added one by one, so that only one's runs
/// are in memory at a time.
#[derive(Debug, Clone, Copy)]
pub struct Trend {
    /// The sums of squares and of products of residuals and positions, each without the mean of its
    /// configuration.
    squares: (f64, f64),
    products: f64,
    degrees: usize,
    positions: Interval,
    is_positive: bool,
}

impl Default for Trend {
    fn default() -> Trend {
        Trend {
            squares: (0.0, 0.0),
            products: 0.0,
            degrees: 0,
            positions: Interval {
                low: f64::INFINITY,
                high: f64::NEG_INFINITY,
            },
            is_positive: true,
        }
    }
}

impl Trend {
    /// Adds the runs of a configuration, each with its position and its figure. Returns the
    /// geometric mean of the figures, to which the residuals are relative. A lone run has none.
    pub fn add(&mut self, runs: &[(f64, f64)]) -> Option<f64> {
        for (position, value) in runs {
            self.is_positive &= *value > 0.0 && value.is_finite();
            self.positions.low = self.positions.low.min(*position);
            self.positions.high = self.positions.high.max(*position);
        }
        if runs.len() < 2 || !self.is_positive {
            return None;
        }
        let n = runs.len() as f64;
        let (x, y) = runs
            .iter()
            .fold((0.0, 0.0), |(x, y), (position, value)| (x + position, y + value.ln()));
        let (x, y) = (x / n, y / n);
        for (position, value) in runs {
            let (from_x, from_y) = (position - x, value.ln() - y);
            self.squares.0 += from_x * from_x;
            self.squares.1 += from_y * from_y;
            self.products += from_x * from_y;
        }
        self.degrees += runs.len() - 1;
        Some(y.exp())
    }

    /// The drift; `None` with too few runs, or if a figure is not above 0.
    pub fn drift(&self) -> Option<Drift> {
        let degrees = self.degrees.checked_sub(1)?;
        let (square_x, square_y) = self.squares;
        if degrees < LEAST_DEGREES || square_x <= 0.0 || !self.is_positive {
            return None;
        }
        let slope = self.products / square_x;
        // Only rounding can make the rest negative.
        let rest = (square_y - slope * self.products).max(0.0);
        let error = (rest / degrees as f64 / square_x).sqrt();
        let half = quantile_975(degrees as f64) * error;
        let span = self.positions.high - self.positions.low;
        let over = |slope: f64| (slope * span).exp();
        let (low, high) = (over(slope - half), over(slope + half));
        high.is_finite().then(|| Drift {
            change: over(slope),
            ci95: Interval { low, high },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two configurations in alternation, one twice as slow, on a machine whose times grow by
    /// `growth` from the first run to the last.
    fn runs(growth: f64, noise: impl Fn(usize) -> f64) -> [Vec<(f64, f64)>; 2] {
        let run = |position: usize| {
            let value = [1.0, 2.0][position % 2] * growth.powf(position as f64 / 19.0) * noise(position).exp();
            (position as f64, value)
        };
        [0, 1].map(|first| (first..20).step_by(2).map(run).collect())
    }

    fn trend<'r>(configurations: impl IntoIterator<Item = &'r [(f64, f64)]>) -> Trend {
        let mut trend = Trend::default();
        for runs in configurations {
            trend.add(runs);
        }
        trend
    }

    #[test]
    fn a_machine_that_slows_down_is_found() {
        let runs = runs(1.1, |_| 0.0);
        let found = trend(runs.iter().map(Vec::as_slice)).drift().expect("enough runs");
        assert!((found.change - 1.1).abs() < 1e-9 && found.is_certain(), "{found:?}");
        // The middle of each configuration's runs has the residual 1.
        let first = runs[0][0].1 / Trend::default().add(&runs[0]).expect("ten runs");
        assert!((first - 1.1f64.powf(-9.0 / 19.0)).abs() < 1e-9, "{first}");
    }

    /// A difference between configurations is not drift, and neither is noise.
    #[test]
    fn noise_is_not_drift() {
        let noise = |position: usize| [0.03, -0.01, -0.02, 0.02, -0.02][position % 5];
        let runs = runs(1.0, noise);
        let found = trend(runs.iter().map(Vec::as_slice)).drift().expect("enough runs");
        assert!(!found.is_certain(), "{found:?}");
    }

    /// Positions 0 to 6 and logarithms 0, 1, 2, 4, 4, 5, 6: without the means, x² and xy are 28, so
    /// the slope is 1. y² is 202/7, so the rest is 6/7 with 5 degrees of freedom. t(0.975, 5) is
    /// 2.5706.
    #[test]
    fn the_interval_by_hand() {
        let logs = [0.0, 1.0, 2.0, 4.0, 4.0, 5.0, 6.0_f64];
        let runs: Vec<(f64, f64)> = (0..).map(f64::from).zip(logs.map(f64::exp)).collect();
        let found = trend([&runs[..]]).drift().expect("enough runs");
        assert!((found.change.ln() / 6.0 - 1.0).abs() < 1e-9, "{found:?}");
        let half = 2.570_581_836 * (6.0_f64 / 7.0 / 5.0 / 28.0).sqrt();
        assert!((found.ci95.low.ln() / 6.0 - (1.0 - half)).abs() < 1e-8, "{found:?}");
    }

    /// The change is from the first run to the last, wherever a shard of a plan starts.
    #[test]
    fn a_part_of_a_plan_has_the_drift_of_its_own_runs() {
        let noise = |position: usize| [0.01, -0.02, 0.01][position % 3];
        let early = runs(1.1, noise);
        let late = early.clone().map(|mut of| {
            of.iter_mut().for_each(|(position, _)| *position += 500.0);
            of
        });
        let [first, late] = [early, late].map(|all| trend(all.iter().map(Vec::as_slice)).drift().expect("enough runs"));
        assert!((first.change - late.change).abs() < 1e-9, "{first:?} {late:?}");
        assert!((first.ci95.high - late.ci95.high).abs() < 1e-9, "{first:?} {late:?}");
    }

    #[test]
    fn few_runs_have_no_drift() {
        let [one, other] = runs(1.1, |_| 0.0);
        assert_eq!(trend([&one[..3], &other[..3]]).drift(), None);
        assert_eq!(Trend::default().drift(), None);
        assert_eq!(trend(one.chunks(1)).drift(), None);
        let nothing = [(0.0, 0.0), (1.0, 1.0)];
        assert_eq!(trend([&one[..], &other, &nothing]).drift(), None);
    }
}
