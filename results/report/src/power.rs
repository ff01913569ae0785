//! How many runs would it take? An estimate from the spread of the runs that are there.
//!
//! Two means differ by a share `d` (0.05 is 5 %). With `n` runs of each, the 95 % interval of their
//! ratio excludes 1 in four of five experiments if (t + z)² v ≤ n ln(1 + d)². There v is the sum of
//! the squared coefficients of variation, t the 97.5 % quantile of Student's t with n - 1 degrees
//! of freedom (as in the intervals of reports), and z = 0.84 the 80 % quantile of the normal
//! distribution. Source: Cohen, "Statistical Power Analysis" (1988), chapter 2, on logarithms. The
//! spread of a few runs is itself uncertain, so the number is an order of size.

use crate::maths::{RUNS_FOR_INTERVAL, Ratio, Spread};
use crate::student::quantile_975;

/// The 80 % quantile of the normal distribution: four of five experiments show the difference.
const POWER_80: f64 = 0.841_621_233_572_914_4;

/// The differences that a number of runs is stated for.
const ROUND: [f64; 7] = [0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0];

/// The least difference that is worth more runs.
const LEAST: f64 = 0.05;

/// More runs than this are no advice.
const MOST: usize = 2000;

/// The variance of the logarithm of one run's figure, by the delta method; `None` with too few
/// runs.
pub(crate) fn log_variance(spread: &Spread) -> Option<f64> {
    let deviation = spread.deviation.filter(|_| spread.n >= RUNS_FOR_INTERVAL)?;
    (spread.mean > 0.0).then(|| (deviation / spread.mean).powi(2))
}

/// The number of runs of each of two configurations that would show a difference of the share
/// `difference`; `variance` is the sum of their [`log_variance`]. `None` if it is beyond reason.
pub(crate) fn runs_for(variance: f64, difference: f64) -> Option<usize> {
    let goal = difference.ln_1p().powi(2);
    let enough = |n: usize| (quantile_975((n - 1) as f64) + POWER_80).powi(2) * variance <= n as f64 * goal;
    // The condition holds from one number on.
    let (mut low, mut high) = (RUNS_FOR_INTERVAL, MOST);
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
pub(crate) fn difference_of(ratio: f64) -> f64 {
    let observed = ratio.ln().abs().exp_m1();
    let round = ROUND.into_iter().rev().find(|share| *share <= observed);
    round.unwrap_or(LEAST).max(LEAST)
}

/// `about 12 runs of each would show a difference of 10 %`, or the reason why no number can be
/// said. `runs` is the number of runs that are there.
pub(crate) fn advice(variance: Option<f64>, ratio: f64, runs: usize) -> String {
    let difference = difference_of(ratio);
    let percent = (difference * 100.0).round();
    match variance.map(|variance| runs_for(variance, difference)) {
        None => format!("at least {RUNS_FOR_INTERVAL} runs of each are needed to say more"),
        Some(None) => format!("more than {MOST} runs of each would be needed to show a difference of {percent} %"),
        // The runs that are there would show it: it is not there, or chance hides it.
        Some(Some(needed)) if needed <= runs => {
            format!("a difference of {percent} % would probably have been seen with these {runs} runs of each")
        }
        Some(Some(needed)) => format!("about {needed} runs of each would show a difference of {percent} %"),
    }
}

/// The verdict on two times whose ratio may be noise: `the same within 5 %` if the whole interval
/// says so, else that these runs cannot tell, with the [`advice`].
pub(crate) fn verdict(variance: Option<f64>, ratio: Option<&Ratio>) -> String {
    let near = 1.0 + LEAST;
    match ratio {
        Some(Ratio { ci95: Some(ci), .. }) if ci.low >= 1.0 / near && ci.high <= near => {
            format!("the same within {:.0} %", LEAST * 100.0)
        }
        Some(ratio) => format!("cannot tell; {}", advice(variance, ratio.estimate, ratio.runs)),
        None => "cannot tell".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::maths::Interval;

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
        let mut noise = crate::tests::synthetic::Noise::new(8);
        let mut normal = move || (0..12).map(|_| noise.next()).sum::<f64>() - 6.0;
        let n = runs_for(2.0 * 0.06 * 0.06, 0.1).expect("a number");
        let trials = 1000;
        let mut shown = 0;
        for _ in 0..trials {
            let mut sample = |mean: f64| Spread::of((0..n).map(|_| mean * (1.0 + 0.06 * normal()))).expect("runs");
            let (base, new) = (sample(1.0), sample(1.1));
            let ratio = crate::maths::ratio_of_means(&base, &new).expect("a ratio");
            shown += usize::from(ratio.differs() == Some(true));
        }
        let share = shown as f64 / trials as f64;
        assert!((0.75..=0.88).contains(&share), "{share} with {n} runs");
    }

    #[test]
    fn advice_is_for_the_observed_difference_or_five_percent() {
        assert_eq!(difference_of(1.13), 0.1);
        assert_eq!(difference_of(1.0 / 1.13), 0.1);
        assert_eq!(difference_of(1.001), 0.05);
        assert_eq!(advice(None, 1.2, 2), "at least 3 runs of each are needed to say more");
        assert!(advice(Some(0.02), 1.01, 3).starts_with("about 68 runs of each would show a difference of 5 %"));
        let ratio = |low: f64, high: f64| Ratio {
            estimate: 1.0,
            ci95: Some(Interval { low, high }),
            runs: 4,
        };
        assert_eq!(verdict(Some(0.02), Some(&ratio(0.97, 1.04))), "the same within 5 %");
        assert!(verdict(Some(0.02), Some(&ratio(0.97, 1.06))).starts_with("cannot tell; about 68 runs"));
        assert!(advice(Some(0.0001), 1.3, 5).starts_with("a difference of 20 % would probably have been seen"));
    }
}
