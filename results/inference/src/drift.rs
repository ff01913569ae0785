//! Do figures depend on the time of the run? A machine that gets warm, fills up or is shared drifts
//! while an experiment runs.
//!
//! A *residual* is the logarithm of a run's figure less the mean of its configuration: what is left
//! when the configuration is known. The drift is the slope of a line through the residuals against
//! the runs' positions, with a mean of its own for each configuration (least squares with fixed
//! effects), and its interval is Student's t with N - G - 1 degrees of freedom for N runs of G
//! configurations. In shuffled rounds each configuration has runs early and late, so drift makes
//! intervals wider, but favours none.

use crate::distributions::quantile_975;
use crate::sample::Interval;

/// Fewer degrees of freedom than this say nothing about a line.
const LEAST_DEGREES: usize = 5;

/// A figure of a run with its configuration and its place in the order of runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Placed {
    /// The number of the configuration.
    pub configuration: usize,
    /// The place in the order of runs.
    pub position: f64,
    /// The figure, above 0.
    pub value: f64,
}

/// The dependence of figures on the time of the run.
#[derive(Debug, Clone, PartialEq)]
pub struct Drift {
    /// The ratio of each run's figure to the geometric mean of its configuration, in the order of
    /// the runs that were given. A run without others of its configuration has none.
    pub residuals: Vec<Option<f64>>,
    /// The figure at the last position over that at the first, by the line.
    pub change: f64,
    /// The 95 % interval of the change.
    pub ci95: Interval,
}

impl Drift {
    /// Whether the line is more than noise.
    pub fn is_certain(&self) -> bool {
        !self.ci95.contains(1.0)
    }
}

/// The drift of some runs; `None` with too few runs, or if a figure is not above 0.
pub fn drift(runs: &[Placed]) -> Option<Drift> {
    if runs.iter().any(|run| !(run.value > 0.0 && run.value.is_finite())) {
        return None;
    }
    let configurations = runs.iter().map(|run| run.configuration + 1).max()?;
    let mut sums = vec![(0.0, 0.0, 0usize); configurations];
    for run in runs {
        let (x, y, n) = &mut sums[run.configuration];
        *x += run.position;
        *y += run.value.ln();
        *n += 1;
    }
    let centred = runs.iter().map(|run| {
        let (x, y, n) = sums[run.configuration];
        (n > 1).then(|| (run.position - x / n as f64, run.value.ln() - y / n as f64))
    });
    let centred: Vec<Option<(f64, f64)>> = centred.collect();
    let known = || centred.iter().flatten();
    let groups = sums.iter().filter(|(_, _, n)| *n > 1).count();
    let degrees = known().count().checked_sub(groups + 1)?;
    let square_x: f64 = known().map(|(x, _)| x * x).sum();
    if degrees < LEAST_DEGREES || square_x <= 0.0 {
        return None;
    }
    let slope = known().map(|(x, y)| x * y).sum::<f64>() / square_x;
    let rest: f64 = known().map(|(x, y)| (y - slope * x).powi(2)).sum();
    let error = (rest / degrees as f64 / square_x).sqrt();
    let half = quantile_975(degrees as f64) * error;
    let positions = || runs.iter().map(|run| run.position);
    let span = positions().fold(f64::NEG_INFINITY, f64::max) - positions().fold(f64::INFINITY, f64::min);
    let over = |slope: f64| (slope * span).exp();
    let (low, high) = (over(slope - half), over(slope + half));
    high.is_finite().then(|| Drift {
        residuals: centred.iter().map(|of_run| of_run.map(|(_, y)| y.exp())).collect(),
        change: over(slope),
        ci95: Interval { low, high },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two configurations in alternation, one twice as slow, on a machine whose times grow by
    /// `growth` from the first run to the last.
    fn runs(growth: f64, noise: impl Fn(usize) -> f64) -> Vec<Placed> {
        let run = |position: usize| Placed {
            configuration: position % 2,
            position: position as f64,
            value: [1.0, 2.0][position % 2] * growth.powf(position as f64 / 19.0) * noise(position).exp(),
        };
        (0..20).map(run).collect()
    }

    #[test]
    fn a_machine_that_slows_down_is_found() {
        let found = drift(&runs(1.1, |_| 0.0)).expect("enough runs");
        assert!((found.change - 1.1).abs() < 1e-9 && found.is_certain(), "{found:?}");
        // The middle of each configuration's runs has the residual 1.
        let first = found.residuals[0].expect("a configuration of ten runs");
        assert!((first - 1.1f64.powf(-9.0 / 19.0)).abs() < 1e-9, "{first}");
    }

    /// A difference between configurations is no drift, and noise is none.
    #[test]
    fn noise_is_no_drift() {
        let noise = |position: usize| [0.03, -0.01, -0.02, 0.02, -0.02][position % 5];
        let found = drift(&runs(1.0, noise)).expect("enough runs");
        assert!(!found.is_certain(), "{found:?}");
    }

    #[test]
    fn few_runs_have_no_drift() {
        assert_eq!(drift(&runs(1.1, |_| 0.0)[..6]), None);
        assert_eq!(drift(&[]), None);
        let alone = |position: usize| Placed {
            configuration: position,
            position: position as f64,
            value: 1.0,
        };
        assert_eq!(drift(&(0..20).map(alone).collect::<Vec<_>>()), None);
    }
}
