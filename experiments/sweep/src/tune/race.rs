//! The race of the settings: their order by the runs so far, and which of them are out.
//!
//! The order is by estimates that settings with flags in common share ([`estimates`]): it decides
//! which setting gets the next runs, also among those without a run. A setting is out only by
//! intervals of its own runs, relative to the leader's, with the spread that all settings share
//! ([`Pooled`]). The chance of a false elimination in the whole race is at most one in twenty
//! (Bonferroni: the 5 % are divided by the number of comparisons and of rungs).

use gclab_inference::{Estimate, Pooled, Runs, estimates, without_disturbances};

use super::contestant::{Contestant, Fate};
use super::figures::Goal;
use super::rules::Rules;
use super::space::Space;

/// The chance of a false elimination in the whole race.
const RISK: f64 = 0.05;

/// The ends that put settings in an order are this many standard errors from the estimate. They
/// decide about runs, not about answers.
const ENDS: f64 = 1.3;

/// The settings with their runs.
#[derive(Debug)]
pub(super) struct Race {
    pub(super) space: Space,
    pub(super) rules: Rules,
    pub(super) contestants: Vec<Contestant>,
}

/// The settings in an order, the best first. Those that seem to break a limit are last.
struct Order {
    /// Whether a setting seems to break a limit, and its estimate; `None` for those that are out.
    keys: Vec<Option<(bool, Estimate)>>,
}

impl Order {
    fn by(&self, end: f64) -> Vec<usize> {
        let mut settings: Vec<usize> = (0..self.keys.len())
            .filter(|setting| self.keys[*setting].is_some())
            .collect();
        let key = |setting: &usize| {
            let (broken, estimate) = self.keys[*setting].expect("it was kept");
            (broken, estimate.log + end * estimate.error)
        };
        settings.sort_by(|one, other| {
            let ((broken, one), (also, other)) = (key(one), key(other));
            broken.cmp(&also).then(one.total_cmp(&other))
        });
        settings
    }
}

impl Race {
    /// The race of the settings of `space`, before the first run.
    pub(super) fn new(space: Space, rules: Rules) -> Race {
        Race {
            contestants: vec![Contestant::fresh(); space.len()],
            space,
            rules,
        }
    }

    /// The number of the default setting.
    pub(super) fn default(&self) -> usize {
        self.space.default_setting()
    }

    fn is_untried(&self, setting: usize) -> bool {
        self.contestants[setting].fate == Fate::Untried
    }

    /// Whether a setting has runs and is not out.
    fn is_racing(&self, setting: usize) -> bool {
        let contestant = &self.contestants[setting];
        contestant.fate == Fate::Racing && !contestant.race.is_empty()
    }

    /// The settings that could be the best one, with the best lower ends first: those in the race,
    /// and those without a run.
    pub(super) fn promising(&self) -> Vec<usize> {
        self.order(|setting| self.is_racing(setting) || self.is_untried(setting))
            .by(-ENDS)
    }

    /// The settings in the race, those with the best upper ends first.
    pub(super) fn leaders(&self) -> Vec<usize> {
        self.order(|setting| self.is_racing(setting)).by(ENDS)
    }

    /// The estimates of the figure `goal` of all settings; none without runs.
    fn estimates(&self, goal: Goal) -> Vec<Estimate> {
        let is_ordered: Vec<bool> = self.space.axes().iter().map(|axis| axis.ordered).collect();
        let settings: Vec<Vec<usize>> = (0..self.space.len())
            .map(|setting| self.space.point(setting).to_vec())
            .collect();
        let runs = settings.iter().zip(&self.contestants).map(|(point, contestant)| Runs {
            point: point.clone(),
            logs: contestant.race_of(goal).into_iter().map(f64::ln).collect(),
        });
        let mut runs: Vec<Runs> = runs.filter(|runs| !runs.logs.is_empty()).collect();
        without_disturbances(&mut runs);
        estimates(&is_ordered, &runs, &settings)
    }

    fn order(&self, is_in: impl Fn(usize) -> bool) -> Order {
        let goal = self.estimates(self.rules.goal);
        let limits: Vec<(f64, Vec<Estimate>)> = self
            .rules
            .limits
            .iter()
            .map(|limit| (limit.most.ln(), self.estimates(limit.goal)))
            .collect();
        let key = |setting: usize| {
            let estimate = goal.get(setting)?;
            let broken = limits
                .iter()
                .any(|(most, of)| of.get(setting).is_some_and(|estimate| estimate.log > *most));
            is_in(setting).then_some((broken, *estimate))
        };
        Order {
            keys: (0..self.space.len()).map(key).collect(),
        }
    }

    /// The spread that all settings share, in the figure `goal`.
    fn pooled(&self, goal: Goal) -> Option<Pooled> {
        let samples: Vec<Vec<f64>> = self
            .contestants
            .iter()
            .map(|contestant| contestant.race_of(goal))
            .collect();
        Pooled::of(samples.iter().map(Vec::as_slice))
    }

    /// Takes settings out of the race that are worse than the leader, or break a limit, by their
    /// intervals. `looks` is the number of times that this happens in a search.
    pub(super) fn eliminate(&mut self, rung: usize, looks: usize) {
        let others = |race: &Race| -> Vec<usize> {
            let all = 0..race.space.len();
            all.filter(|setting| race.is_racing(*setting) && *setting != race.default())
                .collect()
        };
        let racing = others(self);
        let comparisons = (racing.len() + 1) * (1 + self.rules.limits.len()) * looks;
        let confidence = 1.0 - RISK / comparisons as f64;
        for limit in self.rules.limits.clone() {
            let Some(pooled) = self.pooled(limit.goal) else {
                continue;
            };
            for setting in &racing {
                let interval = pooled.mean(&self.contestants[*setting].race_of(limit.goal), confidence);
                if interval.low > limit.most {
                    self.contestants[*setting].fate = Fate::Breaks { limit, interval, rung };
                }
            }
        }
        let (Some(pooled), Some(leader)) = (self.pooled(self.rules.goal), self.leaders().first().copied()) else {
            return;
        };
        let best = self.contestants[leader].race_of(self.rules.goal);
        for setting in others(self) {
            let ratio = pooled.ratio(&best, &self.contestants[setting].race_of(self.rules.goal), confidence);
            if ratio.low > 1.0 {
                self.contestants[setting].fate = Fate::Worse { ratio, rung };
            }
        }
    }
}
