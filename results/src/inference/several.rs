//! Which of several findings remain when they are judged together?
//!
//! One in twenty 95 % intervals misses by design: of a hundred unchanged figures, five would be
//! called changed. So findings are judged by their *false discovery rate*: of those that remain, at
//! most [`FALSE_SHARE`] are expected to be chance. If nothing has changed at all, at most one
//! family in twenty has a finding.
//!
//! Source: Benjamini and Hochberg, "Controlling the false discovery rate" (1995). It also holds for
//! figures that move together, as the times of one run do (Benjamini and Yekutieli, 2001). Holm's
//! method is stricter than a laboratory needs: it asks that no finding at all be false.

/// The expected share of chance findings among those that remain.
pub(crate) const FALSE_SHARE: f64 = 0.05;

/// For each probability (of a deviation as large by chance), whether its finding remains when all
/// of them are judged together.
pub fn findings(probabilities: &[f64]) -> Vec<bool> {
    let mut sorted = probabilities.to_vec();
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len() as f64;
    let line = |at: usize| (at + 1) as f64 / count * FALSE_SHARE;
    let last = (0..sorted.len()).rev().find(|&at| sorted[at] <= line(at));
    let limit = last.map_or(-1.0, |at| sorted[at]);
    probabilities.iter().map(|p| *p <= limit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of Benjamini and Hochberg's paper (1995, section 4.1): four of fifteen remain at
    /// 5 %; Bonferroni and Hochberg's other method leave three.
    #[test]
    fn the_example_of_the_paper() {
        let probabilities = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528,
            0.7590, 1.0,
        ];
        let found = findings(&probabilities);
        assert_eq!(found.iter().filter(|remains| **remains).count(), 4);
        let backwards: Vec<f64> = probabilities.into_iter().rev().collect();
        assert_eq!(findings(&backwards)[11..], [true; 4], "the order does not matter");
    }

    /// A step up: a probability above its own line remains if a later one is below its line.
    #[test]
    fn a_later_finding_lifts_earlier_ones() {
        assert_eq!(findings(&[0.03, 0.04]), [true, true]);
        assert_eq!(findings(&[0.03, 0.06]), [false, false]);
        assert_eq!(findings(&[]), Vec::<bool>::new());
        assert_eq!(findings(&[0.05]), [true]);
    }
}
