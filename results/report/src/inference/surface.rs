//! The figures of many settings of one program, where each has few runs: settings that share the
//! value of a flag say something about each other.
//!
//! A setting is a point of a grid: a number of a value for each flag. The logarithm of the figure
//! of a run is
//!
//! > a mean of all settings + one effect of each flag's value + an effect of the setting +
//! > the run's noise
//!
//! The effects are normal with mean 0. Those of two values of one flag are correlated if the values
//! are neighbours in an order (sizes), and independent if they have no order (names). The effect of
//! the setting itself stands for flags that work together; it is correlated as the values of all
//! flags are. Three numbers are not known: the spread of all effects, the share of the single flags
//! in it, and the noise over that spread. The first has a closed form, and the others are averaged
//! over a small grid of values, by how likely each makes the runs (Kennedy and O'Hagan, "Bayesian
//! calibration of computer models", 2001, has the model; Rasmussen and Williams, "Gaussian
//! processes for machine learning", 2006, chapter 2 has the formulas).
//!
//! The estimate of a setting with few runs lies between its own mean and what the flags alone would
//! make: it is *shrunk*. So the best of many such estimates is less of a lucky one. Estimates
//! decide what is worth another run. The answer to a user has runs of its own
//! ([`crate::inference::ratio_of_means`]).

use crate::inference::cholesky::{Cholesky, product};

/// The correlation of the effects of two values that are neighbours in an order.
const NEIGHBOURS: f64 = 0.7;

/// The correlation of a setting's effect with that of one which differs in a flag without an order.
const OTHER_NAME: f64 = 0.4;

/// The shares of single flags in the spread of all effects that are averaged.
const SHARES: [f64; 3] = [0.3, 0.7, 0.95];

/// The least and the most noise, as variance over that of all effects, and the step between them.
const NOISES: (f64, f64, f64) = (1e-6, 10.0, 3.0);

/// The least variance: logarithms that differ by less are equal.
const LEAST_VARIANCE: f64 = 1e-12;

/// A run this many spreads above the median of its setting was disturbed.
const FAR: f64 = 3.0;

/// With fewer runs there is no spread to tell a disturbance from.
const RUNS_FOR_SPREAD: usize = 6;

/// A setting with the logarithms of its runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Runs {
    /// The number of the value of each flag.
    pub point: Vec<usize>,
    /// The logarithms of the figure of each run; at least one.
    pub logs: Vec<f64>,
}

/// Lowers runs that are far above the median of their setting: another program disturbed them, and
/// a single one would spoil the estimates of all settings with its flags.
///
/// A run is lowered to the median and three times the spread of all settings, which is the 60 %
/// quantile of the distances of runs from the medians of their settings. (It is a quantile, so that
/// the disturbances themselves do not widen it.) Settings with one run are left as they are.
pub fn without_disturbances(runs: &mut [Runs]) {
    let mut distances: Vec<f64> = runs
        .iter()
        .filter(|one| one.logs.len() > 1)
        .flat_map(|one| {
            let median = lower_median(&one.logs);
            one.logs.iter().map(move |log| (log - median).abs())
        })
        .collect();
    if distances.len() < RUNS_FOR_SPREAD {
        return;
    }
    distances.sort_by(f64::total_cmp);
    let most = FAR * distances[distances.len() * 3 / 5];
    for one in runs.iter_mut().filter(|one| one.logs.len() > 1) {
        let end = lower_median(&one.logs) + most;
        one.logs.iter_mut().for_each(|log| *log = log.min(end));
    }
}

/// The median, or the lower one of the two in the middle.
fn lower_median(logs: &[f64]) -> f64 {
    let mut sorted = logs.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[(sorted.len() - 1) / 2]
}

/// The estimate for a setting.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The logarithm of the figure.
    pub log: f64,
    /// The standard error of the logarithm.
    pub error: f64,
}

/// The estimates for `settings`, from the runs of some of them or of others. `is_ordered` says of
/// each flag whether its values are in an order. Without runs there is nothing to estimate from,
/// and the estimates are none.
pub fn estimates(is_ordered: &[bool], runs: &[Runs], settings: &[Vec<usize>]) -> Vec<Estimate> {
    if runs.is_empty() {
        return Vec::new();
    }
    let seen = Seen::of(runs);
    let mut fits: Vec<Fit> = Vec::new();
    for share in SHARES {
        let kernel = Kernel { is_ordered, share };
        let mut noise = NOISES.0;
        while noise <= NOISES.1 {
            fits.extend(Fit::of(kernel, noise, &seen));
            noise *= NOISES.2;
        }
    }
    let most = fits
        .iter()
        .map(|fit| fit.log_likelihood)
        .fold(f64::NEG_INFINITY, f64::max);
    // Fits that are a thousand times less likely would change no digit that matters.
    fits.retain(|fit| fit.log_likelihood > most - 7.0);
    let weights: Vec<f64> = fits.iter().map(|fit| (fit.log_likelihood - most).exp()).collect();
    let all: f64 = weights.iter().sum();
    let of_setting = |setting: &Vec<usize>| {
        let each: Vec<(f64, f64)> = fits.iter().map(|fit| fit.at(setting, &seen)).collect();
        let mean = |value: &dyn Fn(&(f64, f64)) -> f64| -> f64 {
            let weighted = each.iter().zip(&weights).map(|(one, weight)| weight * value(one));
            weighted.sum::<f64>() / all
        };
        let log = mean(&|(log, _)| *log);
        let variance = mean(&|(of_fit, variance)| variance + (of_fit - log).powi(2));
        Estimate {
            log,
            error: variance.sqrt(),
        }
    };
    settings.iter().map(of_setting).collect()
}

/// What the runs say, setting by setting.
struct Seen<'r> {
    points: Vec<&'r [usize]>,
    counts: Vec<f64>,
    means: Vec<f64>,
    /// The number of all runs.
    runs: f64,
    /// The squares of the deviations from each setting's mean.
    squares: f64,
    /// The mean over the settings, which is taken off for the sake of rounding.
    middle: f64,
}

impl Seen<'_> {
    fn of(runs: &[Runs]) -> Seen<'_> {
        let count = |one: &Runs| one.logs.len() as f64;
        let mean = |one: &Runs| one.logs.iter().sum::<f64>() / count(one);
        let means: Vec<f64> = runs.iter().map(mean).collect();
        let middle = means.iter().sum::<f64>() / means.len() as f64;
        let deviations = runs.iter().zip(&means).flat_map(|(one, mean)| {
            let from_mean = move |log: &f64| (log - mean).powi(2);
            one.logs.iter().map(from_mean)
        });
        Seen {
            points: runs.iter().map(|one| one.point.as_slice()).collect(),
            counts: runs.iter().map(count).collect(),
            runs: runs.iter().map(count).sum(),
            squares: deviations.sum(),
            means: means.iter().map(|mean| mean - middle).collect(),
            middle,
        }
    }
}

/// The covariance of two settings, over the variance of all effects.
#[derive(Clone, Copy)]
struct Kernel<'k> {
    is_ordered: &'k [bool],
    share: f64,
}

impl Kernel<'_> {
    fn of(&self, one: &[usize], other: &[usize]) -> f64 {
        let (mut sum, mut together) = (0.0, 1.0);
        for ((is_ordered, one), other) in self.is_ordered.iter().zip(one).zip(other) {
            let steps = one.abs_diff(*other);
            let alike = NEIGHBOURS.powi(i32::try_from(steps).unwrap_or(i32::MAX));
            match (is_ordered, steps) {
                (true, _) => (sum, together) = (sum + alike, together * alike),
                (false, 0) => sum += 1.0,
                (false, _) => together *= OTHER_NAME,
            }
        }
        let flags = self.is_ordered.len().max(1) as f64;
        self.share * sum / flags + (1.0 - self.share) * together
    }
}

/// The model with one share and one noise.
struct Fit<'k> {
    kernel: Kernel<'k>,
    factor: Cholesky,
    /// Half-solved: the means without the mean of all, and ones.
    rest: Vec<f64>,
    ones: Vec<f64>,
    /// The mean of all settings, by generalised least squares.
    mean: f64,
    /// The variance of all effects.
    variance: f64,
    log_likelihood: f64,
}

impl<'k> Fit<'k> {
    fn of(kernel: Kernel<'k>, noise: f64, seen: &Seen<'_>) -> Option<Fit<'k>> {
        let size = seen.points.len();
        let factor = Cholesky::of(size, |i, j| {
            let own = if i == j { noise / seen.counts[i] } else { 0.0 };
            kernel.of(seen.points[i], seen.points[j]) + own
        })?;
        let ones = factor.half_solve(&vec![1.0; size]);
        let solved = factor.half_solve(&seen.means);
        let mean = product(&ones, &solved) / product(&ones, &ones);
        let rest: Vec<f64> = solved
            .iter()
            .zip(&ones)
            .map(|(value, one)| value - mean * one)
            .collect();
        let beyond_first = seen.runs - size as f64;
        let variance = ((product(&rest, &rest) + seen.squares / noise) / seen.runs).max(LEAST_VARIANCE);
        let log_likelihood = -0.5 * (factor.log_determinant() + beyond_first * noise.ln() + seen.runs * variance.ln());
        Some(Fit {
            kernel,
            factor,
            rest,
            ones,
            mean,
            variance,
            log_likelihood,
        })
    }

    /// The logarithm for a setting, and its variance.
    fn at(&self, setting: &[usize], seen: &Seen<'_>) -> (f64, f64) {
        let near: Vec<f64> = seen.points.iter().map(|point| self.kernel.of(point, setting)).collect();
        let near = self.factor.half_solve(&near);
        let log = self.mean + product(&near, &self.rest) + seen.middle;
        let unknown_mean = (1.0 - product(&near, &self.ones)).powi(2) / product(&self.ones, &self.ones);
        let unknown = self.kernel.of(setting, setting) - product(&near, &near) + unknown_mean;
        (log, self.variance * unknown.max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inference::noise::Noise;

    /// A grid of five sizes and two names, where the size alone matters, with one run of each
    /// setting: the estimates are nearer to the truth than the runs are.
    #[test]
    fn settings_with_a_flag_in_common_help_each_other() {
        let mut noise = Noise::new(3);
        let truth = |point: &[usize]| 0.1 * point[0] as f64;
        let (mut of_runs, mut of_estimates) = (0.0, 0.0);
        for _ in 0..50 {
            let settings: Vec<Vec<usize>> = (0..10).map(|at| vec![at / 2, at % 2]).collect();
            let run = |point: &Vec<usize>| Runs {
                point: point.clone(),
                logs: vec![truth(point) + 0.1 * noise.normal()],
            };
            let runs: Vec<Runs> = settings.iter().map(run).collect();
            let found = estimates(&[true, false], &runs, &settings);
            for ((point, run), estimate) in settings.iter().zip(&runs).zip(&found) {
                of_runs += (run.logs[0] - truth(point)).powi(2);
                of_estimates += (estimate.log - truth(point)).powi(2);
            }
        }
        assert!(
            of_estimates < 0.75 * of_runs,
            "{of_estimates} with the model, {of_runs} without"
        );
    }

    /// The interval of two standard errors around an estimate contains the truth about as often as
    /// it should, also for settings without a run.
    #[test]
    fn errors_are_as_large_as_they_say() {
        let mut noise = Noise::new(11);
        let (mut covered, mut all) = ([0_u32; 2], [0_u32; 2]);
        for _ in 0..200 {
            let effects: Vec<f64> = (0..7).map(|_| 0.2 * noise.normal()).collect();
            let settings: Vec<Vec<usize>> = (0..12).map(|at| vec![at / 3, at % 3]).collect();
            let own: Vec<f64> = (0..12).map(|_| 0.05 * noise.normal()).collect();
            let truth = |at: usize| effects[at / 3] + effects[4 + at % 3] + own[at];
            let runs: Vec<Runs> = (0..12)
                .filter(|at| at % 4 != 3)
                .map(|at| Runs {
                    point: settings[at].clone(),
                    logs: (0..1 + at % 3).map(|_| truth(at) + 0.05 * noise.normal()).collect(),
                })
                .collect();
            for (at, estimate) in estimates(&[false, false], &runs, &settings).iter().enumerate() {
                let untried = usize::from(at % 4 == 3);
                all[untried] += 1;
                covered[untried] += u32::from((estimate.log - truth(at)).abs() <= 2.0 * estimate.error);
            }
        }
        for (covered, all) in covered.iter().zip(all) {
            let share = f64::from(*covered) / f64::from(all);
            assert!((0.90..=0.99).contains(&share), "{covered} of {all}");
        }
    }

    #[test]
    fn a_disturbed_run_is_lowered_and_others_are_left() {
        let runs = |logs: &[f64]| Runs {
            point: vec![0],
            logs: logs.to_vec(),
        };
        let mut all = [runs(&[0.0, 0.1, 3.0]), runs(&[1.0, 1.1, 0.9]), runs(&[9.0])];
        without_disturbances(&mut all);
        // The distances are 0, 0, 0.1, 0.1, 0.1 and 2.9, so the spread is 0.1.
        assert!((all[0].logs[2] - 0.4).abs() < 1e-9, "{:?}", all[0]);
        assert_eq!(
            (&all[0].logs[..2], &all[1], &all[2]),
            (&[0.0, 0.1][..], &runs(&[1.0, 1.1, 0.9]), &runs(&[9.0]))
        );
    }

    /// Without noise a setting with a run has its own figure.
    #[test]
    fn equal_runs_are_believed() {
        let runs: Vec<Runs> = [0.0, 0.5, 0.2, 0.9]
            .iter()
            .enumerate()
            .map(|(at, log)| Runs {
                point: vec![at],
                logs: vec![*log; 2],
            })
            .collect();
        let settings: Vec<Vec<usize>> = (0..4).map(|at| vec![at]).collect();
        for (run, estimate) in runs.iter().zip(estimates(&[true], &runs, &settings)) {
            assert!((estimate.log - run.logs[0]).abs() < 1e-3, "{estimate:?} for {run:?}");
        }
        assert_eq!(estimates(&[true], &[], &settings), []);
    }
}
