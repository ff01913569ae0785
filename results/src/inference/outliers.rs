//! Outliers among the runs of a configuration.
//!
//! A run is an outlier if the logarithm of its figure is more than [`APART`] standard deviations
//! from the median of its configuration. The deviation is estimated by the median of the absolute
//! deviations (MAD), times 1.4826, which one strange run cannot inflate. Source: Iglewicz and
//! Hoaglin, "How to detect and handle outliers" (1993); the limit is wider than their 3.5, because
//! few runs may have a small MAD by chance. Outliers are not excluded from any statistic, only
//! named, so that a reader can look at them.

use crate::inference::order::quantile;

/// With fewer runs the median of the deviations says little.
pub const RUNS_FOR_OUTLIERS: usize = 5;

/// The minimum distance of an outlier from the median, in standard deviations.
const APART: f64 = 6.0;

/// The minimum distance worth mentioning, as a share of the figure.
const LEAST: f64 = 0.05;

/// The standard deviation of a normal distribution over its median absolute deviation.
const NORMAL: f64 = 1.482_602_218_505_602;

/// The indexes of the outliers, each with its ratio to the median. None with fewer than
/// [`RUNS_FOR_OUTLIERS`] values, or if one is not above 0.
pub fn outliers(mut values: Vec<f64>) -> Vec<(usize, f64)> {
    if values.len() < RUNS_FOR_OUTLIERS || values.iter().any(|value| *value <= 0.0 || !value.is_finite()) {
        return Vec::new();
    }
    values.iter_mut().for_each(|value| *value = value.ln());
    let logs = values;
    let median = median_of(logs.clone());
    let deviation = NORMAL * median_of(logs.iter().map(|log| (log - median).abs()).collect());
    let limit = f64::max(APART * deviation, LEAST.ln_1p());
    let apart = logs.iter().enumerate().filter(|(_, log)| (*log - median).abs() > limit);
    apart.map(|(index, log)| (index, (log - median).exp())).collect()
}

fn median_of(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    quantile(&values, 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_stands_apart_is_found_in_either_direction() {
        let mut values = vec![1.0, 1.01, 0.99, 1.005, 0.995, 1.002];
        assert_eq!(outliers(values.clone()), []);
        values.extend([1.5, 0.6]);
        let found = outliers(values.clone());
        assert_eq!(found.iter().map(|(index, _)| *index).collect::<Vec<_>>(), [6, 7]);
        assert!((found[0].1 - 1.5).abs() < 0.02, "{found:?}");
    }

    /// Several strange runs do not hide each other, as they would with a standard deviation.
    #[test]
    fn strange_runs_do_not_hide_each_other() {
        let values = [1.0, 1.01, 0.99, 1.005, 0.995, 1.002, 2.0, 2.1, 2.05];
        assert_eq!(outliers(values.to_vec()).len(), 3);
    }

    /// Equal runs with one that differs by less than 5 % have no outliers; neither do few runs, or
    /// figures of 0.
    #[test]
    fn small_differences_and_few_runs_are_not_outliers() {
        assert_eq!(outliers(vec![1.0, 1.0, 1.0, 1.0, 1.0, 1.04]), []);
        assert_eq!(outliers(vec![1.0, 1.0, 1.0, 1.0, 1.0, 1.06]).len(), 1);
        assert_eq!(outliers(vec![1.0, 1.0, 1.0, 9.0]), []);
        assert_eq!(outliers(vec![0.0, 1.0, 1.0, 1.0, 9.0]), []);
    }
}
