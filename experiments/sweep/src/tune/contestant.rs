//! The settings of a search with their runs, and what became of them.

use gclab_report::inference::Interval;

use super::figures::{Figures, Goal, Limit};

/// The end of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Measured {
    /// It ended well.
    Ran(Figures),
    /// It failed, for this reason.
    Failed(String),
    /// There is no further run of this setting, as in a recorded grid.
    NoMore,
}

/// What became of a setting.
#[derive(Clone, Debug, PartialEq)]
pub enum Fate {
    /// It had no run.
    Untried,
    /// It was in the race to its end. It may have few runs, if others were more promising.
    Racing,
    /// One of its runs failed.
    Failed(String),
    /// Its goal is worse than the leader's: the interval of its ratio, and the rung.
    Worse {
        /// The interval of its figure over the leader's.
        ratio: Interval,
        /// The number of the rung after which it was found, from 1.
        rung: usize,
    },
    /// It breaks this limit: the interval of the figure, and the rung.
    Breaks {
        /// The limit.
        limit: Limit,
        /// The interval of its figure.
        interval: Interval,
        /// The number of the rung after which it was found, from 1.
        rung: usize,
    },
    /// The interval of its estimate lies above the leader's, so it got no further runs.
    SetAside {
        /// The interval of its estimate over the leader's.
        ratio: Interval,
        /// The number of the rung after which it was decided, from 1.
        rung: usize,
    },
}

/// A setting with its runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Contestant {
    /// The runs of the race.
    pub race: Vec<Figures>,
    /// The runs of the confirmation.
    pub confirmation: Vec<Figures>,
    /// What became of it.
    pub fate: Fate,
    /// The number of its runs that were asked for.
    pub(super) asked: usize,
}

impl Contestant {
    /// A setting without a run.
    pub(super) fn fresh() -> Contestant {
        Contestant {
            race: Vec::new(),
            confirmation: Vec::new(),
            fate: Fate::Untried,
            asked: 0,
        }
    }

    /// All its runs: the race's, then the confirmation's.
    pub fn runs(&self) -> impl Iterator<Item = &Figures> {
        self.race.iter().chain(&self.confirmation)
    }

    /// The figures of its runs in the race.
    pub(super) fn race_of(&self, goal: Goal) -> Vec<f64> {
        self.race.iter().filter_map(|figures| goal.of(figures)).collect()
    }
}
