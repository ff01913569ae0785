//! How many runs does it take? Estimates from the spread of the existing runs.
//!
//! The interval of an effect excludes a point at the distance `d` of the logarithms in four of five
//! experiments with `n` runs if (t + z)² v ≤ n d². There v is the variance of one run, t the
//! quantile of Student's t with n - 1 degrees of freedom, and z = 0.84 the 80 % quantile of the
//! normal distribution. Source: Cohen, "Statistical Power Analysis" (1988), chapter 2. The spread
//! of a few runs is itself uncertain, so the number is an order of magnitude.
//!
//! The interval of a single mean has the desired width after n ≥ (t s / d)² runs, where t has the
//! degrees of freedom of the pilot: that interval covers as promised even though the number of runs
//! depends on the pilot (Stein, "A two-sample test for a linear hypothesis", 1945).

use crate::inference::distributions::quantile;
use crate::inference::sample::{RUNS_FOR_INTERVAL, moments};

/// The 80 % quantile of the normal distribution: four of five experiments show the effect.
const POWER_80: f64 = 0.841_621_233_572_914_4;

/// The number of runs with which the interval of a logarithm excludes a point at this distance in
/// four of five experiments; `variance` is the variance of one run. `None` if it is more than
/// `most`.
pub(crate) fn runs_to_see(variance: f64, distance: f64, confidence: f64, most: usize) -> Option<usize> {
    let enough = |n: &usize| {
        let t = quantile(f64::midpoint(1.0, confidence), (n - 1) as f64);
        (t + POWER_80).powi(2) * variance <= *n as f64 * distance.powi(2)
    };
    (RUNS_FOR_INTERVAL..=most).find(enough)
}

/// The number of runs, including the pilot's, after which the interval of the geometric mean
/// extends at most the share `precision` to either side; `confidence` is the interval's, such as
/// 0.95. It is at least the number of runs in the pilot. `None` if these are too few for an
/// interval, or if a value is not above 0.
///
/// # Panics
/// Panics if `precision` is not above 0, or `confidence` is not between 0 and 1.
pub fn runs_needed(pilot: &[f64], precision: f64, confidence: f64) -> Option<usize> {
    assert!(precision > 0.0, "a precision of {precision}");
    assert!(confidence > 0.0 && confidence < 1.0, "a confidence of {confidence}");
    let usable = pilot.len() >= RUNS_FOR_INTERVAL && pilot.iter().all(|value| *value > 0.0 && value.is_finite());
    let logs: Vec<f64> = pilot.iter().filter(|_| usable).map(|value| value.ln()).collect();
    usable.then(|| {
        let (_, variance) = moments(&logs);
        let t = quantile(f64::midpoint(1.0, confidence), (pilot.len() - 1) as f64);
        let root = t * variance.sqrt() / precision.ln_1p();
        pilot.len().max((root * root).ceil() as usize)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inference::noise::Noise;

    /// For many runs t is 1.96, and n = 7.85 v / d²: for v = 0.02 and 5 % this is 65.9; t adds two.
    #[test]
    fn the_number_of_runs_by_the_textbook() {
        assert_eq!(runs_to_see(0.02, 0.05f64.ln_1p(), 0.95, 100), Some(68));
        assert_eq!(runs_to_see(0.02, 0.05f64.ln_1p(), 0.95, 60), None);
        assert_eq!(runs_to_see(0.0, 0.05, 0.95, 60), Some(3), "equal runs show everything");
    }

    /// A deviation of 0.1 and t(0.975, 2) = 4.303: a width of 10 % takes (4.303 · 0.1 / 0.0953)².
    #[test]
    fn the_runs_for_a_width_by_hand() {
        let pilot = [-0.1f64, 0.0, 0.1].map(f64::exp);
        assert_eq!(runs_needed(&pilot, 0.1, 0.95), Some(21));
        assert_eq!(runs_needed(&pilot, 9.0, 0.95), Some(3), "the pilot is enough");
        assert_eq!(runs_needed(&[0.9, 1.0], 0.1, 0.95), None);
        assert_eq!(runs_needed(&[0.0; 3], 0.1, 0.95), None);
    }

    /// After the computed number of runs the mean is as close as requested in as many experiments
    /// as promised.
    #[test]
    fn the_requested_width_covers() {
        let mut noise = Noise::new(23);
        let mut covered = 0;
        for _ in 0..1000 {
            let mut logs: Vec<f64> = (0..5).map(|_| 0.05 * noise.normal()).collect();
            let values: Vec<f64> = logs.iter().map(|log| log.exp()).collect();
            let n = runs_needed(&values, 0.03, 0.95).expect("five runs");
            logs.extend((logs.len()..n).map(|_| 0.05 * noise.normal()));
            covered += usize::from(moments(&logs).0.abs() <= 0.03f64.ln_1p());
        }
        assert!(covered > 940, "{covered} of 1000");
    }
}
