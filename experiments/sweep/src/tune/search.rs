//! The search for a good setting: which runs to do next.
//!
//! It knows no processes and no records: it asks for runs of settings by their numbers
//! ([`Search::next_batch`]), and is told their figures ([`Search::tell`]). So a recorded grid can
//! take the place of a program, and an interrupted search goes on by being told the same figures
//! again.
//!
//! The method is successive halving (Jamieson and Talwalkar, 2016) with the eliminations of a race
//! (Maron and Moore, 1997), on a grid whose settings have flags in common:
//!
//! 1. The *pilot* is some runs of the default.
//! 2. The *first rung* is one run of a part of the settings, in which each value of each flag
//!    occurs about equally often.
//! 3. Each later *rung* looks at the runs so far. A setting is out if its interval, relative to the
//!    leader, lies above 1, or if it breaks a limit by its interval, or if it fails. It is set
//!    aside if the interval of its estimate lies above that of the leader's. Half as many settings
//!    as were in the rung before, and are left, get the next runs: those with the best lower ends
//!    of their estimates, also settings without a run. The others *wait*. They are in the race, and
//!    get runs in a later rung if they are among the best then. Runs go to the settings with the
//!    fewest.
//! 4. The *confirmation* is new runs of the leader and of the default, one after the other in turn.
//!    The answer has these runs only. (The leader leads partly by luck, so the runs that made it
//!    the leader flatter it.)
//!
//! The default is in every rung, and is never out.

use rand_pcg::Pcg64;

use super::contestant::{Contestant, Fate, Measured};
use super::figures::Goal;
use super::picks::{balanced, levelled};
use super::race::Race;
use super::rules::{Budget, Rules};
use super::space::Space;
use crate::plan::shuffle;

/// The runs of the pilot.
pub const PILOT: usize = 3;

/// The rungs after the first.
const RUNGS: usize = 4;

/// The part of the race's runs that the first rung has.
const FIRST_RUNG: f64 = 0.45;

/// The runs that a setting has at the end of the race, at most.
const MOST_OF_RACE: usize = 16;

/// The runs of each finalist in the confirmation, at least and at most.
const CONFIRMATION: (usize, usize) = (5, 10);

/// The most runs of one setting.
pub const MOST_RUNS: usize = MOST_OF_RACE + CONFIRMATION.1;

/// The fewest runs of a search: the pilot, the confirmation, and a few for each rung.
pub const LEAST_BUDGET: usize = 24;

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
    race: Race,
    stage: Stage,
    random: Pcg64,
    /// The most runs; known after the pilot.
    budget: usize,
    /// The settings that had runs in the last rung.
    going: Vec<usize>,
    finalists: Vec<usize>,
    exhausted: Vec<bool>,
    /// A figure that the default does not tell.
    missing: Option<Goal>,
}

impl Search {
    /// The search in `space` by `rules`.
    pub fn new(space: Space, rules: Rules) -> Search {
        Search {
            exhausted: vec![false; space.len()],
            random: Pcg64::new(u128::from(rules.seed), 0),
            stage: Stage::Pilot,
            budget: 0,
            going: Vec::new(),
            finalists: Vec::new(),
            missing: None,
            race: Race::new(space, rules),
        }
    }

    /// The settings of the search.
    pub fn space(&self) -> &Space {
        &self.race.space
    }

    /// The rules of the search.
    pub fn rules(&self) -> &Rules {
        &self.race.rules
    }

    /// The settings with their runs, in the order of the space.
    pub fn contestants(&self) -> &[Contestant] {
        &self.race.contestants
    }

    /// The number of runs that were asked for.
    pub fn asked(&self) -> usize {
        self.race.contestants.iter().map(|contestant| contestant.asked).sum()
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
        matches!(self.race.contestants[self.race.default()].fate, Fate::Failed(_))
    }

    /// The setting that was confirmed against the default: the leader; the first after the default
    /// if that leads. `None` before the end of the race, or if no other setting is left.
    pub fn finalist(&self) -> Option<usize> {
        self.finalists
            .iter()
            .copied()
            .find(|setting| *setting != self.race.default())
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
                    vec![self.race.default(); PILOT]
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
        self.race.contestants[setting].asked
    }

    /// Whether a run of this setting is of no more use: one of its runs failed, or there are none.
    pub fn is_useless(&self, setting: usize) -> bool {
        self.exhausted[setting] || matches!(self.race.contestants[setting].fate, Fate::Failed(_))
    }

    /// Tells the search the result of the next run of `setting`.
    pub fn tell(&mut self, setting: usize, measured: Measured) {
        let goal = self.race.rules.goal;
        let limits = self.race.rules.limits.iter().map(|limit| limit.goal);
        let needed: Vec<Goal> = std::iter::once(goal).chain(limits).collect();
        let is_confirmation = self.stage == Stage::Done;
        let contestant = &mut self.race.contestants[setting];
        if measured == Measured::NoMore {
            self.exhausted[setting] = true;
            return;
        }
        contestant.asked += 1;
        match measured {
            Measured::Ran(figures) => match needed.into_iter().find(|goal| goal.of(&figures).is_none()) {
                Some(missing) => {
                    contestant.fate = Fate::Failed(format!("its runs do not tell the {}", missing.words()));
                    if setting == self.race.default() {
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

    /// The runs of each finalist in the confirmation.
    fn confirming(&self) -> usize {
        (self.budget / 10).clamp(CONFIRMATION.0, CONFIRMATION.1)
    }

    fn set_budget(&mut self) {
        self.budget = match self.race.rules.budget {
            Budget::Runs(runs) => runs,
            Budget::Seconds(seconds) => {
                let times = self.race.contestants[self.race.default()].race_of(Goal::Time);
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
        let wanted = ((self.left() as f64 * FIRST_RUNG) as usize).max(1);
        let mut batch = balanced(&self.race.space, wanted, &mut self.random);
        batch.push(self.race.default());
        self.going.clone_from(&batch);
        shuffle(&mut batch, &mut self.random);
        batch
    }

    /// A later rung: eliminations, then runs of the settings that go on.
    fn rung(&mut self, rung: usize) -> Vec<usize> {
        self.race.eliminate(rung, RUNGS + 1);
        let default = self.race.default();
        self.race.set_aside(rung);
        if self.race.leaders().iter().all(|setting| *setting == default) && rung > 1 {
            return Vec::new();
        }
        let left = self
            .going
            .iter()
            .filter(|setting| self.race.is_racing(**setting))
            .count();
        let mut kept = self.race.promising();
        kept.truncate(left.div_ceil(2).max(2));
        self.going.clone_from(&kept);
        kept.retain(|setting| *setting != default);
        let allowance = self.left() / (RUNGS + 1 - rung);
        let runs = |setting: usize| self.race.contestants[setting].race.len();
        let mut batch = levelled(&kept, runs, allowance.saturating_sub(1), MOST_OF_RACE);
        if runs(default) < MOST_OF_RACE {
            batch.push(default);
        }
        // The runs of a setting do not stand together.
        shuffle(&mut batch, &mut self.random);
        batch
    }

    fn confirmation(&mut self) -> Vec<usize> {
        self.race.eliminate(RUNGS + 1, RUNGS + 1);
        let default = self.race.default();
        let leaders = self.race.leaders();
        let rival = leaders.into_iter().find(|setting| *setting != default);
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
}
