//! Advice on the number of runs, in words.

use crate::inference::{LEAST_DIFFERENCE, MOST_RUNS, RUNS_FOR_INTERVAL, Ratio, difference_of, runs_for};

/// `about 12 runs of each would show a difference of 10 %`, or the reason why no number can be
/// said. `runs` is the number of runs that are there.
pub(crate) fn advice(variance: Option<f64>, ratio: f64, runs: usize) -> String {
    let difference = difference_of(ratio);
    let percent = (difference * 100.0).round();
    match variance.map(|variance| runs_for(variance, difference)) {
        None => format!("at least {RUNS_FOR_INTERVAL} runs of each are needed to say more"),
        Some(None) => format!("more than {MOST_RUNS} runs of each would be needed to show a difference of {percent} %"),
        // The runs that are there would show it: it is not there, or chance hides it.
        Some(Some(needed)) if needed <= runs => {
            format!("a difference of {percent} % would probably have been seen with these {runs} runs of each")
        }
        Some(Some(needed)) => format!("about {needed} runs of each would show a difference of {percent} %"),
    }
}

/// Whether the whole interval of a ratio lies within the least difference that matters, 5 %.
pub(crate) fn is_no_difference(ratio: &Ratio) -> bool {
    let near = 1.0 + LEAST_DIFFERENCE;
    ratio.ci95.is_some_and(|ci| ci.low >= 1.0 / near && ci.high <= near)
}

/// `no difference at ±5 %`.
pub(crate) fn no_difference() -> String {
    format!("no difference at ±{:.0} %", LEAST_DIFFERENCE * 100.0)
}

/// The verdict on two times whose ratio may be noise: `no difference at ±5 %` if the whole interval
/// says so, else that these runs cannot tell, with the [`advice`].
pub(crate) fn verdict(variance: Option<f64>, ratio: Option<&Ratio>) -> String {
    match ratio {
        Some(ratio) if is_no_difference(ratio) => no_difference(),
        Some(ratio) => format!("cannot tell; {}", advice(variance, ratio.estimate, ratio.runs)),
        None => "cannot tell".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inference::Interval;

    #[test]
    fn advice_is_for_the_observed_difference_or_five_percent() {
        assert_eq!(advice(None, 1.2, 2), "at least 3 runs of each are needed to say more");
        assert!(advice(Some(0.02), 1.01, 3).starts_with("about 68 runs of each would show a difference of 5 %"));
        let ratio = |low: f64, high: f64| Ratio {
            estimate: 1.0,
            ci95: Some(Interval { low, high }),
            runs: 4,
            chance: None,
        };
        assert_eq!(verdict(Some(0.02), Some(&ratio(0.97, 1.04))), "no difference at ±5 %");
        assert!(verdict(Some(0.02), Some(&ratio(0.97, 1.06))).starts_with("cannot tell; about 68 runs"));
        // As many runs as are needed would have shown it; with one run less they need not.
        assert!(advice(Some(0.02), 1.01, 68).starts_with("a difference of 5 % would probably have been seen"));
        assert!(advice(Some(0.02), 1.01, 67).starts_with("about 68 runs of each"));
        assert!(advice(Some(50.0), 1.01, 9).starts_with("more than 2000 runs of each would be needed"));
        assert!(verdict(Some(0.02), Some(&ratio(0.94, 1.04))).starts_with("cannot tell; about 68 runs"));
        assert!(advice(Some(0.0001), 1.3, 5).starts_with("a difference of 20 % would probably have been seen"));
    }
}
