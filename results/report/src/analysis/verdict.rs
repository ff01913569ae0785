//! Better, worse, the same or unclear: the judgement on the change of a figure.
//!
//! Memory in use is counted in megablocks. So a change of the peak must also exceed one of them.

use crate::inference::Change;
use crate::metric::{Metric, PEAK_IN_USE};
use std::fmt;

/// A change of the peak up to this many bytes does not count: one megablock, and a byte for
/// rounding.
const PEAK_SLACK: f64 = 1_048_577.0;

/// The judgement on a figure or a configuration, in the order of interest to a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    /// Larger by the threshold or more, and the interval excludes 1; or more runs fail than before,
    /// or the checksum changed.
    Worse,
    /// Smaller by the threshold or more, and the interval excludes 1.
    Better,
    /// None of the other verdicts: too few runs or too much noise.
    Unclear,
    /// The interval of 90 % lies within the threshold on both sides of 1.
    Same,
    /// Both folders hold the same runs.
    Identical,
}

impl Verdict {
    /// The word for the verdict.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Verdict::Worse => "worse",
            Verdict::Better => "better",
            Verdict::Unclear => "unclear",
            Verdict::Same => "same",
            Verdict::Identical => "identical runs",
        }
    }

    /// Whether it is a change for certain.
    pub(crate) fn is_change(self) -> bool {
        matches!(self, Verdict::Worse | Verdict::Better)
    }

    /// The verdict on several figures together: worse if one is, better if one is and none is
    /// worse, the same if all are.
    pub(crate) fn of_all(verdicts: impl IntoIterator<Item = Verdict>) -> Verdict {
        verdicts.into_iter().min().unwrap_or(Verdict::Unclear)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// The verdict on a change where less is better.
pub(crate) fn judge(change: &Change, threshold: f64) -> Verdict {
    let (ratio, within) = (change.ratio(), 1.0 - threshold..=1.0 + threshold);
    match (change.interval(0.95), change.interval(0.9)) {
        (Some(ci), _) if ci.low > 1.0 && ratio >= 1.0 + threshold => Verdict::Worse,
        (Some(ci), _) if ci.high < 1.0 && ratio <= 1.0 - threshold => Verdict::Better,
        (_, Some(ci)) if within.contains(&ci.low) && within.contains(&ci.high) => Verdict::Same,
        _ => Verdict::Unclear,
    }
}

/// The verdict on the change of a figure, with a reason that the interval does not show.
pub(crate) fn judge_figure(metric: &Metric, change: &Change, threshold: f64) -> (Verdict, Option<String>) {
    match judge(change, threshold) {
        verdict if verdict.is_change() && is_within_a_megablock(metric, change) => {
            (Verdict::Same, Some("one megablock".to_owned()))
        }
        verdict => (verdict, None),
    }
}

/// Whether a change of the peak is no more than the unit in which it is counted.
pub(crate) fn is_within_a_megablock(metric: &Metric, change: &Change) -> bool {
    *metric == PEAK_IN_USE && (change.new - change.base).abs() <= PEAK_SLACK
}
