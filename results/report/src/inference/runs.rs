//! How many runs does it take? Estimates from the spread of the runs that are there.
//!
//! Two means differ by a share `d` (0.05 is 5 %). With `n` runs of each, the 95 % interval of their
//! ratio excludes 1 in four of five experiments if (t + z)² v ≤ n ln(1 + d)². There v is the sum of
//! the squared coefficients of variation, t the 97.5 % quantile of Student's t with n - 1 degrees
//! of freedom (as in the intervals of reports), and z = 0.84 the 80 % quantile of the normal
//! distribution. Source: Cohen, "Statistical Power Analysis" (1988), chapter 2, on logarithms. The
//! spread of a few runs is itself uncertain, so the number is an order of size.
//!
//! A mean alone has an interval of a wished width after n ≥ (t s / (d Y))² runs, where t has the
//! degrees of freedom of the pilot: that interval covers as promised even though the number of runs
//! depends on the pilot (Stein, "A two-sample test for a linear hypothesis", 1945).

use crate::inference::distributions::quantile;
use crate::inference::sample::{RUNS_FOR_INTERVAL, Spread};

/// The 80 % quantile of the normal distribution: four of five experiments show the difference.
const POWER_80: f64 = 0.841_621_233_572_914_4;

/// The differences that a number of runs is stated for.
const ROUND: [f64; 7] = [0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0];

/// The least difference that is worth more runs.
pub const LEAST_DIFFERENCE: f64 = 0.05;

/// More runs than this are no advice.
pub const MOST_RUNS: usize = 2000;

/// The variance of the logarithm of one run's figure, by the delta method; `None` with too few
/// runs.
pub fn log_variance(spread: &Spread) -> Option<f64> {
    let deviation = spread.deviation.filter(|_| spread.n >= RUNS_FOR_INTERVAL)?;
    (spread.mean > 0.0).then(|| (deviation / spread.mean).powi(2))
}

/// The number of runs of each of two configurations that would show a difference of the share
/// `difference`; `variance` is the sum of their [`log_variance`]. `None` if it is more than
/// [`MOST_RUNS`].
pub fn runs_for(variance: f64, difference: f64) -> Option<usize> {
    runs_to_see(variance, difference.ln_1p(), 0.95, MOST_RUNS)
}

/// The number of runs with which the interval of a logarithm excludes a point at this distance, in
/// four of five experiments; `variance` is that of one run. `None` if it is more than
/// `most`.
pub(crate) fn runs_to_see(variance: f64, distance: f64, confidence: f64, most: usize) -> Option<usize> {
    let t = |n: usize| quantile(f64::midpoint(1.0, confidence), (n - 1) as f64);
    let enough = |n: usize| (t(n) + POWER_80).powi(2) * variance <= n as f64 * distance.powi(2);
    // The condition holds from one number on.
    let (mut low, mut high) = (RUNS_FOR_INTERVAL, most);
    if !enough(high) {
        return None;
    }
    while low < high {
        let middle = low.midpoint(high);
        if enough(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Some(low)
}

/// The difference to look for: the observed one (a ratio), rounded down to a round share, or 5 % if
/// it is smaller.
pub fn difference_of(ratio: f64) -> f64 {
    let observed = ratio.ln().abs().exp_m1();
    let round = ROUND.into_iter().rev().find(|share| *share <= observed);
    round.unwrap_or(LEAST_DIFFERENCE).max(LEAST_DIFFERENCE)
}

/// The number of runs, those of the pilot among them, after which the interval of the mean reaches
/// at most the share `precision` of the mean to either side; `confidence` is that of the interval,
/// such as 0.95. It is at least the number of runs of the pilot. `None` if these are too few for
/// an interval, or if the mean is not above 0.
///
/// # Panics
/// Panics if `precision` is not above 0, or `confidence` does not lie between 0 and 1.
pub fn runs_needed(pilot: &[f64], precision: f64, confidence: f64) -> Option<usize> {
    assert!(precision > 0.0, "a precision of {precision}");
    assert!(confidence > 0.0 && confidence < 1.0, "a confidence of {confidence}");
    let spread = Spread::of(pilot.iter().copied()).filter(|spread| spread.n >= RUNS_FOR_INTERVAL)?;
    let deviation = spread.deviation.filter(|_| spread.mean > 0.0)?;
    let t = quantile(f64::midpoint(1.0, confidence), (spread.n - 1) as f64);
    // The interval is one of logarithms, so its greater half is the upper one.
    let root = t * deviation / spread.mean / precision.ln_1p();
    Some(spread.n.max((root * root).ceil() as usize))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inference::noise::Noise;
    use crate::inference::ratio::ratio_of_means;

    /// For many runs t is 1.96, and n = 7.85 v / ln(1 + d)². Two samples with a coefficient of
    /// variation of 10 % and a difference of 5 %: 7.849 · 0.02 / 0.00238 = 65.9; t adds two.
    #[test]
    fn the_number_of_runs_by_the_textbook() {
        assert_eq!(runs_for(2.0 * 0.1 * 0.1, 0.05), Some(68));
        assert_eq!(runs_for(2.0 * 0.4 * 0.4, 0.1), Some(279));
        assert_eq!(runs_for(0.0, 0.05), Some(3), "equal runs show everything");
        assert_eq!(runs_for(50.0, 0.02), None);
    }

    /// Experiments with the recommended number of runs show the difference about four times of
    /// five.
    #[test]
    fn the_recommended_runs_show_the_difference() {
        let mut noise = Noise::new(8);
        let n = runs_for(2.0 * 0.06 * 0.06, 0.1).expect("a number");
        let trials = 1000;
        let mut shown = 0;
        for _ in 0..trials {
            let mut sample = |mean: f64| {
                let values: Vec<f64> = (0..n).map(|_| mean * (1.0 + 0.06 * noise.normal())).collect();
                Spread::of(values).expect("runs")
            };
            let (base, new) = (sample(1.0), sample(1.1));
            let ratio = ratio_of_means(&base, &new).expect("a ratio");
            shown += usize::from(ratio.differs() == Some(true));
        }
        let share = shown as f64 / f64::from(trials);
        assert!((0.75..=0.88).contains(&share), "{share} with {n} runs");
    }

    #[test]
    fn differences_to_look_for_are_round() {
        assert_eq!(difference_of(1.13), 0.1);
        assert_eq!(difference_of(1.0 / 1.13), 0.1);
        assert_eq!(difference_of(1.001), 0.05);
    }

    /// Mean 1, deviation 0.1, t(0.975, 2) = 4.303: a width of 10 % takes (4.303 · 0.1 / 0.0953)².
    #[test]
    fn the_runs_for_a_width_by_hand() {
        assert_eq!(runs_needed(&[0.9, 1.0, 1.1], 0.1, 0.95), Some(21));
        assert_eq!(runs_needed(&[0.9, 1.0, 1.1], 9.0, 0.95), Some(3), "the pilot is enough");
        assert_eq!(runs_needed(&[1.0; 4], 0.01, 0.95), Some(4));
        assert_eq!(runs_needed(&[0.9, 1.0], 0.1, 0.95), None);
        assert_eq!(runs_needed(&[0.0; 3], 0.1, 0.95), None);
    }

    /// After the wished number of runs, the interval is as wide as wished or narrower in most
    /// experiments, and contains the mean as often as promised.
    #[test]
    fn the_wished_width_is_reached_and_covers() {
        let mut noise = Noise::new(23);
        let trials = 1000;
        let (mut narrow, mut covered) = (0, 0);
        for _ in 0..trials {
            let mut values: Vec<f64> = (0..5).map(|_| 1.0 + 0.05 * noise.normal()).collect();
            let n = runs_needed(&values, 0.03, 0.95).expect("five runs");
            values.extend((values.len()..n).map(|_| 1.0 + 0.05 * noise.normal()));
            let spread = Spread::of(values).expect("runs");
            let mean = spread.mean;
            covered += usize::from((mean - 1.0).abs() <= 0.03);
            narrow += usize::from(spread.ci95.expect("runs").high / mean <= 1.032);
        }
        assert!(covered > 940 && narrow > 700, "{covered} {narrow} of {trials}");
    }
}
