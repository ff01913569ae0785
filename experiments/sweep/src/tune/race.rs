//! The race of the settings: their order by the runs so far, and which of them are out.
//!
//! The order is by estimates that settings with flags in common share ([`estimates`]): it says
//! which setting gets the next runs, also among those without a run. A setting leaves the race by
//! an interval, in one of two ways:
//!
//! - It is *out* by intervals of its own runs, relative to the leader's, with the spread that all
//!   settings share ([`Pooled`]). The chance of a false elimination in the whole race is at most
//!   one in twenty (Bonferroni: the 5 % are divided by the number of comparisons and of rungs).
//! - It is *set aside* if the interval of its estimate lies above that of the leader's estimate,
//!   each of 99 %. The estimates are the model's, so this says that more runs of it would hardly
//!   find it better. It does not say that its own runs show it to be worse.

use gclab_report::inference::{Estimate, Interval, Pooled, Runs, estimates, without_disturbances};

use super::contestant::{Contestant, Fate};
use super::figures::Goal;
use super::rules::Rules;
use super::space::Space;

/// The chance of a false elimination in the whole race.
const RISK: f64 = 0.05;

/// The leader is the setting with the least upper end, this many standard errors above its
/// estimate.
const ENDS: f64 = 1.3;

/// Among the settings that could get the next runs, those come first whose estimates less this many
/// standard errors are least. More would spend more runs on settings of which little is known.
const HOPE: f64 = 0.7;

/// The interval of 99 % of an estimate reaches this many standard errors to each side.
const APART: f64 = 2.576;

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

    /// The estimate of `setting` over that of `leader`, from the lower end of the one over the
    /// upper end of the other; `None` for settings that are out.
    fn over(&self, leader: usize, setting: usize) -> Option<Interval> {
        let ((_, leader), (_, setting)) = self.keys[leader].zip(self.keys[setting])?;
        let (middle, reach) = (setting.log - leader.log, APART * (setting.error + leader.error));
        Some(Interval {
            low: (middle - reach).exp(),
            high: (middle + reach).exp(),
        })
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
    pub(super) fn is_racing(&self, setting: usize) -> bool {
        let contestant = &self.contestants[setting];
        contestant.fate == Fate::Racing && !contestant.race.is_empty()
    }

    /// The settings that could be the best one, with the best lower ends first: those in the race,
    /// and those without a run.
    pub(super) fn promising(&self) -> Vec<usize> {
        self.order(|setting| self.is_racing(setting) || self.is_untried(setting))
            .by(-HOPE)
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

    /// Sets those settings aside whose estimates lie above the leader's, interval above interval.
    pub(super) fn set_aside(&mut self, rung: usize) {
        let order = self.order(|setting| self.is_racing(setting));
        let Some(leader) = order.by(ENDS).first().copied() else {
            return;
        };
        for setting in (0..self.space.len()).filter(|setting| *setting != self.space.default_setting()) {
            if let Some(ratio) = order.over(leader, setting).filter(|ratio| ratio.low > 1.0) {
                self.contestants[setting].fate = Fate::SetAside { ratio, rung };
            }
        }
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
