//! Better, worse, the same or unclear: the verdict on the change of a figure between two samples.

use crate::metric::Metric;
use gclab_results::inference::Effect;
use serde::Serialize;

/// The verdict on a figure or a configuration, in order of interest to a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Larger by the threshold or more, and the interval excludes 1 and is not too wide; or more
    /// runs fail than before, or the checksum changed.
    Worse,
    /// Smaller by the threshold or more, and the interval excludes 1 and is not too wide.
    Better,
    /// It is not the same, but other programs disturbed the runs.
    Disturbed,
    /// None of the other verdicts: too few runs or too much noise.
    Unclear,
    /// The interval is so wide that the figure says nothing.
    TooNoisy,
    /// The 90 % interval is within the threshold on both sides of 1.
    Same,
    /// Both folders have the same runs.
    Identical,
}

impl Verdict {
    /// The word for the verdict.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Verdict::Worse => "worse",
            Verdict::Better => "better",
            Verdict::Disturbed => "disturbed",
            Verdict::Unclear => "unclear",
            Verdict::TooNoisy => "too noisy",
            Verdict::Same => "same",
            Verdict::Identical => "identical runs",
        }
    }

    /// Whether it is a definite change.
    pub(crate) fn is_change(self) -> bool {
        matches!(self, Verdict::Worse | Verdict::Better)
    }

    /// The verdict on several figures together: worse if one is, better if one is and none is
    /// worse, the same if all are.
    pub(crate) fn of_all(verdicts: impl IntoIterator<Item = Verdict>) -> Verdict {
        verdicts.into_iter().min().unwrap_or(Verdict::Unclear)
    }
}

/// The verdicts on a figure that grew and on one that fell.
pub(crate) fn more_and_less(metric: &Metric) -> (Verdict, Verdict) {
    match metric.more_is_better {
        false => (Verdict::Worse, Verdict::Better),
        true => (Verdict::Better, Verdict::Worse),
    }
}

/// The verdict on the change of a figure.
///
/// A change counts only if it is large enough (the threshold) *and* the interval of the ratio
/// excludes 1: either condition alone raises false alarms.
pub(crate) fn judge(metric: &Metric, effect: &Effect, threshold: f64) -> Verdict {
    let ratio = effect.ratio();
    let (more, less) = more_and_less(metric);
    if metric.is_same(effect) || effect.is_within(threshold) {
        Verdict::Same
    } else if effect.differs() && ratio >= 1.0 + threshold {
        more
    } else if effect.differs() && ratio <= 1.0 - threshold {
        less
    } else if effect.is_too_noisy() {
        Verdict::TooNoisy
    } else {
        Verdict::Unclear
    }
}
