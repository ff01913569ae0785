//! The effect of a setting on the time: a ratio of times, and what can be said of it.

use crate::inference::{RUNS_FOR_INTERVAL, Ratio};
use crate::power;

/// The effect of a setting on the time, compared with its base.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// The whole interval is below 1.
    Faster,
    /// The whole interval is above 1.
    Slower,
    /// The whole interval lies so near to 1 that no difference remains.
    Same,
    /// The interval contains 1 and reaches far from it, or there is too much noise for one.
    Unclear,
    /// There are too few runs for an interval.
    TooFewRuns,
}

impl Effect {
    /// The effect that a ratio of times shows.
    pub(super) fn of(ratio: &Ratio) -> Effect {
        match ratio.ci95 {
            None if ratio.runs < RUNS_FOR_INTERVAL => Effect::TooFewRuns,
            Some(ci) if ci.high < 1.0 => Effect::Faster,
            Some(ci) if ci.low > 1.0 => Effect::Slower,
            Some(_) if power::is_no_difference(ratio) => Effect::Same,
            _ => Effect::Unclear,
        }
    }
}

/// The time of a setting over that of another one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    /// The ratio of the times.
    pub(crate) ratio: Ratio,
    /// The variance of its logarithm for one run of each configuration; absent with too few runs.
    pub(super) variance: Option<f64>,
}

impl Times {
    /// The effect that the ratio shows.
    pub(crate) fn effect(&self) -> Effect {
        Effect::of(&self.ratio)
    }

    /// The verdict on parallel collection that follows from the ratio to a base without it: `on`,
    /// `off`, `no difference at ±5 %`, or `cannot tell` with the runs that could.
    pub(crate) fn verdict(&self) -> String {
        match self.effect() {
            Effect::Faster => "on".to_owned(),
            Effect::Slower => "off".to_owned(),
            _ => power::verdict(self.variance, Some(&self.ratio)),
        }
    }

    /// The runs that would show the difference.
    pub(super) fn more_runs(&self) -> String {
        power::advice(self.variance, self.ratio.estimate, self.ratio.runs)
    }
}
