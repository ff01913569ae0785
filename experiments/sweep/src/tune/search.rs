//! The search for a good setting: which runs to do next, and which settings to give up.
//!
//! It knows no processes and no records: it asks for runs of settings by their numbers
//! ([`Search::next_batch`]), and is told their figures ([`Search::tell`]). So a recorded grid can
//! take the place of a program, and an interrupted search goes on by being told the same figures
//! again.
//!
//! The method is successive halving (Jamieson and Talwalkar, 2016) with the eliminations of a race
//! (Maron and Moore, 1997), on a grid whose neighbours are alike:
//!
//! 1. The *pilot* is some runs of the default.
//! 2. The *first rung* is one run of a part of the settings, in which each value of each flag
//!    occurs about equally often.
//! 3. Each later *rung* looks at the runs so far. A setting is out if its interval, relative to the
//!    leader, lies above 1, or if it breaks a limit by its interval, or if it fails. Of those that
//!    remain, the half with the best lower ends goes on; the others are set aside, which says only
//!    that there are better places for the next runs. Those that go on get more runs, and untried
//!    neighbours of the first among them get one.
//! 4. The *confirmation* is new runs of the leader and of the default, one after the other in turn.
//!    The answer has these runs only. (The leader leads partly by luck, so the runs that made it
//!    the leader flatter it.)
//!
//! Intervals of the race have the spread that all settings share ([`Pooled`]), and the chance of a
//! false elimination in the whole race is at most one in twenty (Bonferroni: the 5 % are divided by
//! the number of comparisons and of rungs). The default is in every rung, and is never out.

use gclab_inference::{Interval, Pooled};
use rand_pcg::Pcg64;

use super::figures::{Figures, Goal, Limit};
use super::space::Space;
use crate::plan::{below, shuffle};

/// The runs of the pilot.
pub const PILOT: usize = 3;

/// The rungs after the first.
const RUNGS: usize = 3;

/// The part of the race's runs that the first rung has.
const FIRST_RUNG: f64 = 0.45;

/// The part of a rung's runs that goes to untried neighbours, by the number of the rung.
const NEIGHBOURS: [f64; RUNGS] = [0.5, 0.4, 0.0];

/// The runs that a setting has at the end of a rung, at most.
const TARGETS: [usize; RUNGS] = [2, 4, 8];

/// The runs of each finalist in the confirmation, at least and at most.
const CONFIRMATION: (usize, usize) = (5, 10);

/// The most runs of one setting: the default's in the pilot, in each rung, and in the confirmation.
pub const MOST_RUNS: usize = {
    let of_default = PILOT + 1 + RUNGS + CONFIRMATION.1;
    let of_others = TARGETS[RUNGS - 1] + CONFIRMATION.1;
    if of_default > of_others { of_default } else { of_others }
};

/// The fewest runs of a search: the pilot, the confirmation, and a few for each rung.
pub const LEAST_BUDGET: usize = 24;

/// The chance of a false elimination in the whole race.
const RISK: f64 = 0.05;

/// What a search is to find.
#[derive(Clone, Debug, PartialEq)]
pub struct Rules {
    /// The figure to make small.
    pub goal: Goal,
    /// Limits of other figures.
    pub limits: Vec<Limit>,
    /// The most runs.
    pub budget: Budget,
    /// The seed of the order and of the choice of settings.
    pub seed: u64,
}

/// The most that a search may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Budget {
    /// This many runs.
    Runs(usize),
    /// As many runs as the default would do in these seconds.
    Seconds(f64),
}

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
    /// It was in the race to its end.
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
    /// Others were more promising in this rung, so it got no further runs.
    SetAside {
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
    asked: usize,
}

impl Contestant {
    /// All its runs: the race's, then the confirmation's.
    pub fn runs(&self) -> impl Iterator<Item = &Figures> {
        self.race.iter().chain(&self.confirmation)
    }

    fn race_of(&self, goal: Goal) -> Vec<f64> {
        self.race.iter().filter_map(|figures| goal.of(figures)).collect()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Pilot,
    Rung(usize),
    Confirmation,
    Done,
}

/// A search. See the module's text.
#[derive(Debug)]
pub struct Search {
    space: Space,
    rules: Rules,
    contestants: Vec<Contestant>,
    stage: Stage,
    random: Pcg64,
    /// The most runs; known after the pilot.
    budget: usize,
    finalists: Vec<usize>,
    exhausted: Vec<bool>,
    /// A figure that the default does not tell.
    missing: Option<Goal>,
}

impl Search {
    /// The search in `space` by `rules`.
    pub fn new(space: Space, rules: Rules) -> Search {
        let fresh = Contestant {
            race: Vec::new(),
            confirmation: Vec::new(),
            fate: Fate::Untried,
            asked: 0,
        };
        Search {
            contestants: vec![fresh; space.len()],
            exhausted: vec![false; space.len()],
            random: Pcg64::new(u128::from(rules.seed), 0),
            stage: Stage::Pilot,
            budget: 0,
            finalists: Vec::new(),
            missing: None,
            space,
            rules,
        }
    }

    /// The settings of the search.
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// The rules of the search.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The settings with their runs, in the order of the space.
    pub fn contestants(&self) -> &[Contestant] {
        &self.contestants
    }

    /// The number of runs that were asked for.
    pub fn asked(&self) -> usize {
        self.contestants.iter().map(|contestant| contestant.asked).sum()
    }

    /// The most runs; 0 before the pilot is over.
    pub fn budget(&self) -> usize {
        self.budget
    }

    /// The figure of the goal or of a limit that the runs of the default do not tell.
    pub fn missing(&self) -> Option<Goal> {
        self.missing
    }

    /// Whether a run of the default failed, which ends the search.
    pub fn default_failed(&self) -> bool {
        matches!(self.contestants[self.default()].fate, Fate::Failed(_))
    }

    /// The setting that was confirmed against the default: the leader; the first after the default
    /// if that leads. `None` before the end of the race, or if no other setting is left.
    pub fn finalist(&self) -> Option<usize> {
        self.finalists
            .iter()
            .copied()
            .find(|setting| *setting != self.default())
    }

    /// The runs to do next, in this order; none if the search is over. Each is told by
    /// [`Search::tell`] before the next call.
    pub fn next_batch(&mut self) -> Vec<usize> {
        loop {
            // Without figures of the default there is nothing to compare with.
            if self.default_failed() {
                self.stage = Stage::Done;
            }
            let batch = match self.stage {
                Stage::Pilot => {
                    self.stage = Stage::Rung(0);
                    vec![self.default(); PILOT]
                }
                Stage::Rung(rung) => {
                    if rung == 0 {
                        self.set_budget();
                    }
                    let batch = if rung == 0 { self.first_rung() } else { self.rung(rung) };
                    self.stage = if rung == RUNGS {
                        Stage::Confirmation
                    } else {
                        Stage::Rung(rung + 1)
                    };
                    batch
                }
                Stage::Confirmation => {
                    self.stage = Stage::Done;
                    self.confirmation()
                }
                Stage::Done => return Vec::new(),
            };
            if !batch.is_empty() {
                return batch;
            }
        }
    }

    /// The part of the search that [`Search::next_batch`] returned last, in words.
    pub fn part(&self) -> String {
        match self.stage {
            Stage::Pilot | Stage::Rung(0) => "pilot".to_owned(),
            Stage::Rung(next) => format!("rung {next}"),
            Stage::Confirmation => format!("rung {}", RUNGS + 1),
            Stage::Done => "confirmation".to_owned(),
        }
    }

    /// The number of the next run of a setting, from 0.
    pub fn number_of(&self, setting: usize) -> usize {
        self.contestants[setting].asked
    }

    /// Whether a run of this setting is of no more use: one of its runs failed, or there are none.
    pub fn is_useless(&self, setting: usize) -> bool {
        self.exhausted[setting] || matches!(self.contestants[setting].fate, Fate::Failed(_))
    }

    /// Tells the search the result of the next run of `setting`.
    pub fn tell(&mut self, setting: usize, measured: Measured) {
        let goal = self.rules.goal;
        let limits = self.rules.limits.iter().map(|limit| limit.goal);
        let needed: Vec<Goal> = std::iter::once(goal).chain(limits).collect();
        let is_confirmation = self.stage == Stage::Done;
        let contestant = &mut self.contestants[setting];
        if measured == Measured::NoMore {
            self.exhausted[setting] = true;
            return;
        }
        contestant.asked += 1;
        match measured {
            Measured::Ran(figures) => match needed.into_iter().find(|goal| goal.of(&figures).is_none()) {
                Some(missing) => {
                    contestant.fate = Fate::Failed(format!("its runs do not tell the {}", missing.words()));
                    if setting == self.space.default_setting() {
                        self.missing = Some(missing);
                    }
                }
                None if is_confirmation => contestant.confirmation.push(figures),
                None => {
                    contestant.race.push(figures);
                    if contestant.fate == Fate::Untried {
                        contestant.fate = Fate::Racing;
                    }
                }
            },
            Measured::Failed(reason) => contestant.fate = Fate::Failed(reason),
            Measured::NoMore => {}
        }
    }

    fn default(&self) -> usize {
        self.space.default_setting()
    }

    /// The runs of each finalist in the confirmation.
    fn confirming(&self) -> usize {
        (self.budget / 10).clamp(CONFIRMATION.0, CONFIRMATION.1)
    }

    fn set_budget(&mut self) {
        self.budget = match self.rules.budget {
            Budget::Runs(runs) => runs,
            Budget::Seconds(seconds) => {
                let times = self.contestants[self.default()].race_of(Goal::Time);
                let mean = times.iter().sum::<f64>() / times.len().max(1) as f64;
                (seconds / mean.max(1e-4)) as usize
            }
        }
        .max(LEAST_BUDGET);
    }

    /// The runs of the race that are left.
    fn left(&self) -> usize {
        self.budget.saturating_sub(2 * self.confirming() + self.asked())
    }

    /// One run of each setting of a part of the space, and of the default.
    fn first_rung(&mut self) -> Vec<usize> {
        let default = self.default();
        let wanted = ((self.left() as f64 * FIRST_RUNG) as usize).max(1);
        let mut order: Vec<usize> = (0..self.space.len()).filter(|setting| *setting != default).collect();
        shuffle(&mut order, &mut self.random);
        let mut used: Vec<Vec<usize>> = self
            .space
            .axes()
            .iter()
            .map(|axis| vec![0; axis.values.len()])
            .collect();
        let mut batch = vec![default];
        while batch.len() <= wanted && !order.is_empty() {
            let crowd = |setting: &usize| -> usize {
                let point = self.space.point(*setting).iter();
                point.zip(&used).map(|(value, used)| used[*value]).sum()
            };
            // Of equals the first one, in the shuffled order.
            let least = (0..order.len())
                .min_by_key(|at| crowd(&order[*at]))
                .expect("there is one");
            let chosen = order.swap_remove(least);
            for (value, used) in self.space.point(chosen).iter().zip(&mut used) {
                used[*value] += 1;
            }
            batch.push(chosen);
        }
        shuffle(&mut batch, &mut self.random);
        batch
    }

    /// A later rung: eliminations, then runs of those that go on and of neighbours.
    fn rung(&mut self, rung: usize) -> Vec<usize> {
        self.eliminate(rung);
        let ranked = self.ranked();
        if ranked.iter().all(|setting| *setting == self.default()) && rung > 1 {
            return Vec::new();
        }
        let kept = ranked.len().div_ceil(2).max(2).min(ranked.len());
        let (kept, aside) = ranked.split_at(kept);
        let default = self.default();
        for setting in aside.iter().filter(|setting| **setting != default) {
            self.contestants[*setting].fate = Fate::SetAside { rung };
        }
        let rungs_left = RUNGS + 1 - rung;
        let allowance = self.left() / rungs_left;
        let mut batch = vec![default];
        let for_neighbours = (allowance as f64 * NEIGHBOURS[rung - 1]) as usize;
        let neighbours = self.untried_neighbours(kept, for_neighbours);
        let for_kept = allowance.saturating_sub(1 + neighbours.len());
        let mut wanted: Vec<usize> = Vec::new();
        // The first ones get theirs first; the runs of a setting do not stand together.
        for setting in kept.iter().filter(|setting| **setting != default) {
            let has = self.contestants[*setting].race.len();
            wanted.extend(vec![*setting; TARGETS[rung - 1].saturating_sub(has)]);
        }
        wanted.truncate(for_kept);
        batch.extend(wanted);
        batch.extend(neighbours);
        shuffle(&mut batch, &mut self.random);
        batch
    }

    fn confirmation(&mut self) -> Vec<usize> {
        self.eliminate(RUNGS + 1);
        let default = self.default();
        let leader = self.leader();
        let rival = leader.filter(|leader| *leader != default).or_else(|| {
            let mut others = self.by_upper_end();
            others.retain(|setting| *setting != default);
            others.first().copied()
        });
        self.finalists = std::iter::once(default).chain(rival).collect();
        let rounds = self.confirming();
        (0..rounds)
            .flat_map(|round| {
                let mut pair = self.finalists.clone();
                // In turn, so that neither is always the first.
                if round % 2 == 1 {
                    pair.reverse();
                }
                pair
            })
            .collect()
    }

    /// Untried neighbours of these settings, those of the first ones first.
    fn untried_neighbours(&mut self, of: &[usize], most: usize) -> Vec<usize> {
        let mut found: Vec<usize> = Vec::new();
        for setting in of {
            let mut near = self.space.neighbours(*setting);
            near.retain(|near| self.contestants[*near].fate == Fate::Untried && !found.contains(near));
            shuffle(&mut near, &mut self.random);
            found.extend(near);
            if found.len() >= most {
                break;
            }
        }
        found.truncate(most);
        // If the neighbourhood is known, other places may still be better.
        let mut rest: Vec<usize> = (0..self.space.len())
            .filter(|other| self.contestants[*other].fate == Fate::Untried && !found.contains(other))
            .collect();
        while found.len() < most && !rest.is_empty() {
            let at = below(rest.len() as u64, &mut self.random) as usize;
            found.push(rest.swap_remove(at));
        }
        found
    }

    /// The settings in the race, the default among them.
    fn racing(&self) -> Vec<usize> {
        let in_race = |setting: &usize| {
            let contestant = &self.contestants[*setting];
            contestant.fate == Fate::Racing && !contestant.race.is_empty()
        };
        (0..self.space.len()).filter(in_race).collect()
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

    /// The interval of the goal of a setting, and whether the setting keeps all limits in the mean.
    fn interval(&self, pooled: &Pooled, setting: usize, confidence: f64) -> Interval {
        pooled.mean(&self.contestants[setting].race_of(self.rules.goal), confidence)
    }

    /// Whether the means of a setting keep the limits.
    fn keeps_limits(&self, setting: usize) -> bool {
        self.rules.limits.iter().all(|limit| {
            let sample = self.contestants[setting].race_of(limit.goal);
            !sample.is_empty() && sample.iter().sum::<f64>() / sample.len() as f64 <= limit.most
        })
    }

    /// The racing settings, those with the best lower ends first.
    fn ranked(&self) -> Vec<usize> {
        self.by_end(|interval| interval.low)
    }

    /// The racing settings, those with the best upper ends first.
    fn by_upper_end(&self) -> Vec<usize> {
        self.by_end(|interval| interval.high)
    }

    fn by_end(&self, end: impl Fn(Interval) -> f64) -> Vec<usize> {
        let mut racing = self.racing();
        if let Some(pooled) = self.pooled(self.rules.goal) {
            let key = |setting: &usize| {
                let broken = !self.keeps_limits(*setting);
                (broken, end(self.interval(&pooled, *setting, LEADING)))
            };
            racing.sort_by(|a, b| {
                let ((broken, a), (also, b)) = (key(a), key(b));
                broken.cmp(&also).then(a.total_cmp(&b))
            });
        }
        racing
    }

    /// The leader: the setting whose goal is the least at the upper end of its interval, of those
    /// that keep the limits.
    fn leader(&self) -> Option<usize> {
        self.by_upper_end().first().copied()
    }

    /// Takes settings out of the race that are worse than the leader, or break a limit, by their
    /// intervals.
    fn eliminate(&mut self, rung: usize) {
        let racing = self.racing();
        let comparisons = racing.len().max(1) * (1 + self.rules.limits.len()) * (RUNGS + 1);
        let confidence = 1.0 - RISK / comparisons as f64;
        let default = self.default();
        for limit in self.rules.limits.clone() {
            let Some(pooled) = self.pooled(limit.goal) else {
                continue;
            };
            for setting in racing.iter().copied().filter(|setting| *setting != default) {
                let interval = pooled.mean(&self.contestants[setting].race_of(limit.goal), confidence);
                if interval.low > limit.most {
                    self.contestants[setting].fate = Fate::Breaks { limit, interval, rung };
                }
            }
        }
        let (Some(pooled), Some(leader)) = (self.pooled(self.rules.goal), self.leader()) else {
            return;
        };
        let best = self.contestants[leader].race_of(self.rules.goal);
        for setting in self.racing().into_iter().filter(|setting| *setting != default) {
            let ratio = pooled.ratio(&best, &self.contestants[setting].race_of(self.rules.goal), confidence);
            if ratio.low > 1.0 {
                self.contestants[setting].fate = Fate::Worse { ratio, rung };
            }
        }
    }
}

/// The confidence of the intervals that put settings in an order. They decide about runs, not about
/// answers.
const LEADING: f64 = 0.8;
