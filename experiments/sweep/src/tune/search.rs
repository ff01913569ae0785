//! The search for a good setting: which runs to do next.
//!
//! It knows nothing of processes and records: it asks for runs of settings by number
//! ([`Search::next_batch`]), and is told their figures ([`Search::tell`]). So an interrupted search
//! resumes by being told the same figures again.
//!
//! The method is successive halving (Jamieson and Talwalkar, 2016) with the eliminations of a race
//! (Maron and Moore, 1997):
//!
//! 1. The *pilot* is some runs of the default.
//! 2. The *first rung* is one run each of some of the settings, such that each value of each flag
//!    occurs about equally often.
//! 3. Each later *rung* looks at the runs so far. A setting is out if the interval of its ratio to
//!    the leader lies above 1, if its whole interval breaks a limit, or if one of its runs failed.
//!    The better half of the others gets the next runs, together with untried settings that differ
//!    from the leaders in one flag.
//! 4. The leader gets *fewer flags* if possible: groups of its flags are left out, then each flag,
//!    as long as no runs show that the shorter line is worse than the leader, until leaving out any
//!    other would make it worse.
//! 5. The *confirmation* is new runs of the resulting setting and of the default, alternating. The
//!    answer rests only on these runs: the leader leads partly by luck.
//!
//! The default is in every rung, and is never out.

use gclab_results::inference::{Effect, Interval, Order};
use rand_pcg::Pcg64;

use super::figures::{Figures, Goal, Limit};
use super::space::Space;
use crate::plan::shuffle;

/// The runs of the pilot.
pub const PILOT: usize = 3;

/// The rungs after the first.
const RUNGS: usize = 4;

/// The first rung's share of the race's runs.
const FIRST_RUNG: f64 = 0.45;

/// The runs that a setting has at the end of the race, at most.
const MOST_OF_RACE: usize = 16;

/// The runs of each finalist in the confirmation, at least and at most.
const CONFIRMATION: (usize, usize) = (5, 10);

/// The runs reserved for dropping flags: this share of the budget, and at most this many.
const SHORTENING: (usize, usize) = (5, 60);

/// The runs of a line with fewer flags, at least and at most.
const RUNS_OF_SHORTER: (usize, usize) = (2, 6);

/// Limit on runs of the leader, with which the shorter lines are compared.
const MOST_OF_LEADER: usize = MOST_OF_RACE + 20;

/// With fewer flags, a setting may look worse by this share, however small the scatter.
const LOOKS_SAME: f64 = 0.05;

/// The most runs of one setting.
pub const MOST_RUNS: usize = MOST_OF_LEADER + CONFIRMATION.1;

/// The fewest runs of a search: the pilot, the confirmation, and a few for each rung.
pub const LEAST_BUDGET: usize = 24;

/// The chance of a false elimination in the whole race. Each comparison gets its share (Bonferroni).
const RISK: f64 = 0.05;

/// The leaders whose neighbours are tried next.
const EXPLORED: usize = 3;

/// What a search should find, and what it may cost.
#[derive(Clone, Debug, PartialEq)]
pub struct Rules {
    /// The figure to minimise.
    pub goal: Goal,
    /// Limits of other figures.
    pub limits: Vec<Limit>,
    /// The most runs.
    pub budget: Budget,
    /// The seed of the order and of the choice of settings.
    pub seed: u64,
}

/// The budget of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Budget {
    /// This many runs.
    Runs(usize),
    /// As many runs as the default completes in this many seconds.
    Seconds(f64),
}

/// What became of a setting.
#[derive(Clone, Debug, PartialEq)]
pub enum Fate {
    /// It had no run.
    Untried,
    /// It was in the race to its end. It may have few runs, if others were more promising.
    Racing,
    /// One of its runs failed, for this reason.
    Failed(String),
    /// Its goal is worse than the leader's.
    Worse {
        /// The interval of its figure over the leader's.
        ratio: Interval,
        /// The number of the rung after which it was found, from 1.
        rung: usize,
    },
    /// It breaks this limit.
    Breaks {
        /// The limit.
        limit: Limit,
        /// The number of the rung after which it was found, from 1.
        rung: usize,
    },
}

/// A setting with its runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The runs of the race.
    pub race: Vec<Figures>,
    /// The runs of the confirmation.
    pub confirmation: Vec<Figures>,
    /// What became of it.
    pub fate: Fate,
    /// The number of its runs requested so far.
    pub(super) asked: usize,
}

impl Candidate {
    /// All its runs: the race's, then the confirmation's.
    pub fn runs(&self) -> impl Iterator<Item = &Figures> {
        self.race.iter().chain(&self.confirmation)
    }

    fn race_of(&self, goal: Goal) -> Vec<(u32, f64)> {
        let values = self.race.iter().filter_map(|figures| goal.of(figures));
        (0..).zip(values).collect()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Pilot,
    Rung(usize),
    Shortening,
    Confirmation,
    Done,
}

/// A search. See the module's text.
#[derive(Debug)]
pub struct Search {
    space: Space,
    rules: Rules,
    candidates: Vec<Candidate>,
    stage: Stage,
    random: Pcg64,
    /// The most runs; known after the pilot.
    budget: usize,
    finalists: Vec<usize>,
    /// The leader, whose flags are dropped.
    leader: Option<usize>,
    /// Its flags, those first that seem to matter least.
    flags: Vec<usize>,
    /// What is left of the leader: the line with the fewest flags that will do, so far.
    shortest: Option<usize>,
    /// The runs that each line with fewer flags gets.
    runs_of_shorter: usize,
    /// A figure that the default does not report.
    missing: Option<Goal>,
}

impl Search {
    /// The search in `space` by `rules`.
    pub fn new(space: Space, rules: Rules) -> Search {
        let fresh = Candidate {
            race: Vec::new(),
            confirmation: Vec::new(),
            fate: Fate::Untried,
            asked: 0,
        };
        Search {
            candidates: vec![fresh; space.len()],
            random: Pcg64::new(u128::from(rules.seed), 0),
            stage: Stage::Pilot,
            budget: 0,
            finalists: Vec::new(),
            leader: None,
            flags: Vec::new(),
            shortest: None,
            runs_of_shorter: 0,
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
    pub fn candidates(&self) -> &[Candidate] {
        &self.candidates
    }

    /// The number of runs requested so far.
    pub fn asked(&self) -> usize {
        self.candidates.iter().map(|candidate| candidate.asked).sum()
    }

    /// The figure of the goal or of a limit that the runs of the default do not report.
    pub fn missing(&self) -> Option<Goal> {
        self.missing
    }

    /// Whether a run of the default failed, which ends the search.
    pub fn default_failed(&self) -> bool {
        matches!(self.candidates[self.default()].fate, Fate::Failed(_))
    }

    /// The setting that was confirmed against the default; `None` before the end of the race, or if
    /// no other setting is left.
    pub fn finalist(&self) -> Option<usize> {
        let default = self.default();
        self.finalists.iter().copied().find(|setting| *setting != default)
    }

    /// The leader of the race, if the setting that was confirmed has fewer flags.
    pub fn longer(&self) -> Option<usize> {
        self.leader
            .filter(|leader| self.finalist().is_some_and(|finalist| finalist != *leader))
    }

    fn default(&self) -> usize {
        self.space.default_setting()
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
                    let batch = if rung == 0 { self.first_rung() } else { self.rung(rung) };
                    self.stage = match rung {
                        RUNGS => Stage::Shortening,
                        rung => Stage::Rung(rung + 1),
                    };
                    batch
                }
                Stage::Shortening => {
                    let batch = self.shortening();
                    if batch.is_empty() {
                        self.stage = Stage::Confirmation;
                    }
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
            Stage::Shortening if self.leader.is_none() => format!("rung {}", RUNGS + 1),
            Stage::Shortening | Stage::Confirmation => "the leader with fewer flags".to_owned(),
            Stage::Done => "confirmation".to_owned(),
        }
    }

    /// The number of the next run of a setting, from 0; `None` if a run of it failed, so that
    /// another is of no use.
    pub fn next_run(&self, setting: usize) -> Option<usize> {
        let candidate = &self.candidates[setting];
        (!matches!(candidate.fate, Fate::Failed(_))).then_some(candidate.asked)
    }

    /// Tells the search the figures of the next run of `setting`, or why it failed.
    pub fn tell(&mut self, setting: usize, measured: Result<Figures, String>) {
        let limits = self.rules.limits.iter().map(|limit| limit.goal);
        let mut needed = std::iter::once(self.rules.goal).chain(limits);
        let is_confirmation = self.stage == Stage::Done;
        let candidate = &mut self.candidates[setting];
        candidate.asked += 1;
        match measured {
            Err(reason) => candidate.fate = Fate::Failed(reason),
            Ok(figures) => match needed.find(|goal| goal.of(&figures).is_none()) {
                Some(missing) => {
                    candidate.fate = Fate::Failed(format!("its runs do not report the {}", missing.words()));
                    if setting == self.space.default_setting() {
                        self.missing = Some(missing);
                    }
                }
                None if is_confirmation => candidate.confirmation.push(figures),
                None => {
                    candidate.race.push(figures);
                    if candidate.fate == Fate::Untried {
                        candidate.fate = Fate::Racing;
                    }
                }
            },
        }
    }

    fn set_budget(&mut self) {
        self.budget = match self.rules.budget {
            Budget::Runs(runs) => runs,
            Budget::Seconds(seconds) => {
                let times = self.candidates[self.default()].race_of(Goal::Time);
                let mean = times.iter().map(|(_, time)| time).sum::<f64>() / times.len().max(1) as f64;
                (seconds / mean.max(1e-4)) as usize
            }
        }
        .max(LEAST_BUDGET);
    }

    /// The runs of each finalist in the confirmation.
    fn confirming(&self) -> usize {
        (self.budget / 10).clamp(CONFIRMATION.0, CONFIRMATION.1)
    }

    /// The runs that are left for the race and for dropping flags.
    fn left_in_all(&self) -> usize {
        self.budget.saturating_sub(2 * self.confirming() + self.asked())
    }

    /// The runs of the race that are left.
    fn left(&self) -> usize {
        let kept = (self.budget / SHORTENING.0).min(SHORTENING.1);
        self.left_in_all().saturating_sub(kept)
    }

    fn is_racing(&self, setting: usize) -> bool {
        let candidate = &self.candidates[setting];
        candidate.fate == Fate::Racing && !candidate.race.is_empty()
    }

    /// The settings in the race by their geometric means, the best first. Those that seem to break
    /// a limit are last.
    fn leaders(&self) -> Vec<usize> {
        let mean = |setting: usize, goal: Goal| {
            let logs = self.candidates[setting]
                .race_of(goal)
                .into_iter()
                .map(|(_, value)| value.ln());
            logs.clone().sum::<f64>() / logs.count().max(1) as f64
        };
        let key = |setting: usize| {
            let mut limits = self.rules.limits.iter();
            let breaks = limits.any(|limit| mean(setting, limit.goal) > limit.most.ln());
            (breaks, mean(setting, self.rules.goal))
        };
        let mut settings: Vec<usize> = (0..self.space.len())
            .filter(|setting| self.is_racing(*setting))
            .collect();
        settings.sort_by(|one, other| {
            let ((breaks, one), (also, other)) = (key(*one), key(*other));
            breaks.cmp(&also).then(one.total_cmp(&other))
        });
        settings
    }

    /// Eliminates settings whose intervals show that they are worse than the leader, or break a
    /// limit.
    fn eliminate(&mut self, rung: usize) {
        let leaders = self.leaders();
        let Some(leader) = leaders.first().copied() else { return };
        let comparisons = leaders.len() * (1 + self.rules.limits.len()) * (RUNGS + 1);
        let confidence = 1.0 - RISK / comparisons as f64;
        let best = self.candidates[leader].race_of(self.rules.goal);
        for setting in leaders
            .into_iter()
            .skip(1)
            .filter(|setting| *setting != self.space.default_setting())
        {
            let broken = self.rules.limits.iter().find(|limit| {
                let values = self.candidates[setting].race_of(limit.goal);
                // Against the limit itself: a sample that does not scatter.
                let bound: Vec<(u32, f64)> = values.iter().map(|(run, _)| (*run, limit.most)).collect();
                let over = Effect::of(&bound, &values, Order::Sequential);
                over.and_then(|over| over.interval(confidence))
                    .is_some_and(|ratio| ratio.low > 1.0)
            });
            let own = self.candidates[setting].race_of(self.rules.goal);
            let over = Effect::of(&best, &own, Order::Sequential).and_then(|over| over.interval(confidence));
            let fate = match (broken, over) {
                (Some(limit), _) => Fate::Breaks { limit: *limit, rung },
                (None, Some(ratio)) if ratio.low > 1.0 => Fate::Worse { ratio, rung },
                _ => continue,
            };
            self.candidates[setting].fate = fate;
        }
    }

    /// One run of each setting of a part of the space, and of the default.
    fn first_rung(&mut self) -> Vec<usize> {
        self.set_budget();
        let wanted = ((self.left() as f64 * FIRST_RUNG) as usize).max(1);
        let mut batch = balanced(&self.space, wanted, &mut self.random);
        batch.push(self.default());
        shuffle(&mut batch, &mut self.random);
        batch
    }

    /// A later rung: eliminations, then runs of the better half and of neighbours of the leaders.
    fn rung(&mut self, rung: usize) -> Vec<usize> {
        self.eliminate(rung);
        let default = self.default();
        let mut kept = self.leaders();
        kept.truncate(kept.len().div_ceil(2).max(2));
        let mut going: Vec<usize> = self.neighbours(&kept[..kept.len().min(EXPLORED)]);
        going.truncate(kept.len());
        going.extend(kept.iter().filter(|setting| **setting != default));
        let allowance = self.left() / (RUNGS + 1 - rung);
        let runs = |setting: usize| self.candidates[setting].race.len();
        let mut batch = levelled(&going, runs, allowance.saturating_sub(1), MOST_OF_RACE);
        if runs(default) < MOST_OF_RACE {
            batch.push(default);
        }
        // The runs of a setting are not done one after another.
        shuffle(&mut batch, &mut self.random);
        batch
    }

    /// The settings without a run that differ in one flag from one of `settings`.
    fn neighbours(&self, settings: &[usize]) -> Vec<usize> {
        let differ = |one: usize, other: usize| {
            let pairs = self.space.point(one).iter().zip(self.space.point(other));
            pairs.filter(|(one, other)| one != other).count()
        };
        let untried = (0..self.space.len()).filter(|setting| self.candidates[*setting].fate == Fate::Untried);
        untried
            .filter(|setting| settings.iter().any(|near| differ(*near, *setting) == 1))
            .collect()
    }

    /// The best setting other than the default.
    fn rival(&self) -> Option<usize> {
        let default = self.default();
        self.leaders().into_iter().find(|setting| *setting != default)
    }

    /// The positions of the flags that `setting` gives.
    fn given(&self, setting: usize) -> Vec<usize> {
        let (point, default) = (self.space.point(setting), self.space.point(self.default()));
        (0..point.len()).filter(|at| point[*at] != default[*at]).collect()
    }

    /// The line with the most flags of `line` and none at these positions.
    fn without(&self, line: usize, flags: &[usize]) -> Option<usize> {
        let (point, default) = (self.space.point(line), self.space.point(self.default()));
        let is_part = |setting: &usize| {
            let part = self.space.point(*setting);
            (0..part.len()).all(|at| part[at] == default[at] || part[at] == point[at] && !flags.contains(&at))
        };
        let parts = (0..self.space.len()).filter(is_part);
        parts.max_by_key(|setting| self.given(*setting).len())
    }

    /// The lines with fewer flags than `line`, in the order to try them: without all flags but one,
    /// without groups, at last without each.
    fn shorter(&self, line: usize) -> Vec<usize> {
        let given = self.given(line);
        let flags: Vec<usize> = self.flags.iter().copied().filter(|at| given.contains(at)).collect();
        let mut size = flags.len() - 1;
        let mut lines = Vec::new();
        while size > 0 {
            lines.extend(flags.chunks_exact(size).filter_map(|group| self.without(line, group)));
            size = if size == 1 { 0 } else { (flags.len() / 2).min(size / 2) };
        }
        lines.retain(|shorter| *shorter != self.default());
        lines
    }

    /// The next runs of a line with fewer flags, and of the leader to compare it with; none if no
    /// flag can go.
    fn shortening(&mut self) -> Vec<usize> {
        if self.leader.is_none() {
            self.eliminate(RUNGS + 1);
            self.leader = self.rival();
            self.shortest = self.leader;
            let Some(leader) = self.leader else { return Vec::new() };
            self.flags = self.given(leader);
            let gain: Vec<f64> = (0..self.space.axes().len()).map(|at| self.gain(leader, at)).collect();
            self.flags.sort_by(|one, other| gain[*one].total_cmp(&gain[*other]));
            // About two lines a flag are tried.
            let (least, most) = RUNS_OF_SHORTER;
            self.runs_of_shorter = (self.left_in_all() / (4 * self.flags.len())).clamp(least, most);
        }
        let Some(leader) = self.leader else { return Vec::new() };
        while let Some(line) = self.shortest {
            let mut will_do = None;
            for shorter in self.shorter(line) {
                let runs = self.candidates[shorter].race.len();
                let is_open = matches!(self.candidates[shorter].fate, Fate::Untried | Fate::Racing);
                if !is_open || runs >= RUNS_OF_SHORTER.0 && !self.will_do(leader, shorter) {
                    continue;
                }
                let wanted = self.runs_of_shorter.saturating_sub(runs);
                if wanted == 0 {
                    will_do = Some(shorter);
                    break;
                }
                if self.left_in_all() < 2 * wanted {
                    return Vec::new();
                }
                let of_leader = MOST_OF_LEADER.saturating_sub(self.candidates[leader].asked);
                let mut batch = vec![shorter; wanted];
                batch.extend(vec![leader; wanted.min(of_leader)]);
                shuffle(&mut batch, &mut self.random);
                return batch;
            }
            if will_do.is_none() {
                break;
            }
            self.shortest = will_do;
        }
        Vec::new()
    }

    /// How much the flag of the leader at this position seems to save: the difference of the mean
    /// logarithms of the goal of the settings without it and with it.
    fn gain(&self, leader: usize, at: usize) -> f64 {
        let mean = |value: usize| {
            let with = (0..self.space.len()).filter(|setting| self.space.point(*setting)[at] == value);
            let logs: Vec<f64> = with
                .filter_map(|setting| {
                    let race = self.candidates[setting].race_of(self.rules.goal);
                    let sum: f64 = race.iter().map(|(_, value)| value.ln()).sum();
                    (!race.is_empty()).then(|| sum / race.len() as f64)
                })
                .collect();
            logs.iter().sum::<f64>() / logs.len().max(1) as f64
        };
        mean(self.space.point(self.default())[at]) - mean(self.space.point(leader)[at])
    }

    /// The goal of a setting over the leader's.
    fn over(&self, leader: usize, setting: usize) -> Option<Effect> {
        let race = |setting: usize| self.candidates[setting].race_of(self.rules.goal);
        Effect::of(&race(leader), &race(setting), Order::Sequential)
    }

    /// Whether a setting with fewer flags may stand for the leader: none of its runs failed, it
    /// keeps the limits, and no interval shows that it is worse.
    fn will_do(&self, leader: usize, setting: usize) -> bool {
        let candidate = &self.candidates[setting];
        let breaks = self.rules.limits.iter().any(|limit| {
            let values = candidate.race_of(limit.goal);
            values.iter().map(|(_, value)| value).sum::<f64>() > limit.most * values.len() as f64
        });
        let Some(over) = self.over(leader, setting) else {
            return false;
        };
        // One or two runs have no scatter of their own; a disturbed run shows only in that.
        let runs = [leader, setting].map(|of| self.candidates[of].race.len() as f64);
        let error = self
            .scatter()
            .map(|(deviation, degrees)| (deviation * (1.0 / runs[0] + 1.0 / runs[1]).sqrt(), degrees));
        let by_all = Effect::with_error(over.base, over.new, over.runs, error);
        let is_worse = over.ratio() > 1.0 + LOOKS_SAME && by_all.differs() && (over.ci95().is_none() || over.differs());
        !(breaks || is_worse || matches!(candidate.fate, Fate::Failed(_)))
    }

    /// The standard deviation of the logarithm of the goal among the runs of one setting, with its
    /// degrees of freedom: pooled over the settings in the race. `None` if each has one run.
    fn scatter(&self) -> Option<(f64, f64)> {
        let (mut squares, mut degrees) = (0.0, 0.0);
        for setting in (0..self.space.len()).filter(|setting| self.is_racing(*setting)) {
            let runs = self.candidates[setting].race_of(self.rules.goal);
            let mean = runs.iter().map(|(_, value)| value.ln()).sum::<f64>() / runs.len() as f64;
            squares += runs.iter().map(|(_, value)| (value.ln() - mean).powi(2)).sum::<f64>();
            degrees += runs.len() as f64 - 1.0;
        }
        (degrees > 0.0).then(|| ((squares / degrees).sqrt(), degrees))
    }

    fn confirmation(&mut self) -> Vec<usize> {
        let default = self.default();
        let rival = self.shortest;
        self.finalists = std::iter::once(default).chain(rival).collect();
        if rival.is_none() {
            return Vec::new();
        }
        (0..self.confirming())
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

/// `wanted` settings other than the default, or all there are, such that each value of each flag
/// occurs about equally often.
fn balanced(space: &Space, wanted: usize, random: &mut Pcg64) -> Vec<usize> {
    let default = space.default_setting();
    let mut order: Vec<usize> = (0..space.len()).filter(|setting| *setting != default).collect();
    shuffle(&mut order, random);
    let mut used: Vec<Vec<usize>> = space.axes().iter().map(|axis| vec![0; axis.values.len()]).collect();
    let mut chosen = Vec::new();
    while chosen.len() < wanted {
        let crowd = |setting: &usize| -> usize {
            let point = space.point(*setting).iter();
            point.zip(&used).map(|(value, used)| used[*value]).sum()
        };
        // Among equals the first one, in the shuffled order.
        let Some(least) = (0..order.len()).min_by_key(|at| crowd(&order[*at])) else {
            break;
        };
        let next = order.swap_remove(least);
        for (value, used) in space.point(next).iter().zip(&mut used) {
            used[*value] += 1;
        }
        chosen.push(next);
    }
    chosen
}

/// `most` runs for `settings` that have these numbers of runs: each run goes to the setting with
/// the fewest, among equals to the first one. No setting gets more than `limit` in all.
fn levelled(settings: &[usize], runs: impl Fn(usize) -> usize, most: usize, limit: usize) -> Vec<usize> {
    let mut counts: Vec<usize> = settings.iter().map(|setting| runs(*setting)).collect();
    let mut wanted = Vec::new();
    while wanted.len() < most {
        let Some(least) = (0..counts.len()).min_by_key(|at| counts[*at]) else {
            break;
        };
        if counts[least] >= limit {
            break;
        }
        counts[least] += 1;
        wanted.push(settings[least]);
    }
    wanted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tune::answer::{Answer, Comparison, Verdict, answer};
    use crate::tune::space::Axis;
    use rand_pcg::rand_core::Rng;

    /// A space with a flag of each of these numbers of values; the default is the first of all.
    fn space(values: &[usize]) -> Space {
        let axis = |(key, values): (usize, &usize)| Axis {
            key: key.to_string(),
            values: (0..*values)
                .map(|value| (value > 0).then(|| value.to_string()))
                .collect(),
        };
        Space::new(values.iter().enumerate().map(axis).collect(), |_, _| true)
    }

    /// The search, over, of a program with two flags of five values each; the default is the first
    /// of both. `time` is the mean time with these values. The runs lie up to the share `scatter`
    /// below and above it. With the value `failing` of the first flag each run after the third
    /// fails.
    fn searched(time: fn(&[usize]) -> f64, scatter: f64, failing: Option<usize>) -> Search {
        seeded(time, scatter, failing, 1)
    }

    fn seeded(time: fn(&[usize]) -> f64, scatter: f64, failing: Option<usize>, seed: u64) -> Search {
        searched_in(space(&[5, 5]), time, scatter, failing, seed)
    }

    fn searched_in(space: Space, time: fn(&[usize]) -> f64, scatter: f64, failing: Option<usize>, seed: u64) -> Search {
        let rules = Rules {
            goal: Goal::Time,
            limits: Vec::new(),
            budget: Budget::Runs(80),
            seed,
        };
        let mut search = Search::new(space, rules);
        let mut noise = Pcg64::new(u128::from(seed), 1);
        loop {
            let batch = search.next_batch();
            if batch.is_empty() {
                return search;
            }
            for setting in batch {
                let Some(number) = search.next_run(setting) else {
                    continue;
                };
                let point = search.space().point(setting);
                let step = noise.next_u32() % 11;
                let figures = Figures {
                    time: time(point) * (1.0 + scatter * (f64::from(step) - 5.0) / 5.0),
                    ..Figures::default()
                };
                let fails = number > 2 && failing == Some(point[0]);
                let measured = if fails { Err("it fails".to_owned()) } else { Ok(figures) };
                search.tell(setting, measured);
            }
        }
    }

    /// One setting seems better by far, and another cannot be told, but the runs say little.
    #[test]
    fn disturbed_runs_do_not_recommend_a_setting() {
        let quicker = |point: &[usize]| if point[0] == 3 { 0.5 } else { 1.0 };
        let better = (searched(quicker, 0.01, None), Verdict::Better);
        let unclear = (searched(|_| 1.0, 0.3, None), Verdict::Unclear);
        for (mut search, quiet) in [better, unclear] {
            assert_eq!(compared(&search).verdict, quiet);
            let all = search.candidates.iter_mut();
            let runs: Vec<&mut Figures> = all.flat_map(|candidate| &mut candidate.confirmation).collect();
            let all = runs.len();
            runs.into_iter().for_each(|run| run.disturbed = true);
            assert_eq!(compared(&search).verdict, Verdict::Disturbed(all));
        }
    }

    fn compared(search: &Search) -> Comparison {
        match answer(search) {
            Answer::Compared(comparison) => comparison,
            other => panic!("{other:?}"),
        }
    }

    /// Steps of `A` save 5 % each, and `F` does nothing: the best `A` is found although no setting
    /// has more than a few runs.
    #[test]
    fn the_flag_that_matters_is_found() {
        let search = searched(|point| 1.0 - 0.05 * point[0] as f64, 0.03, None);
        let found = compared(&search);
        assert_eq!(found.verdict, Verdict::Better);
        assert_eq!(search.space().point(found.setting)[0], 4);
        assert!(search.asked() <= 80, "{} runs", search.asked());
    }

    /// If `F` does nothing, the answer does not name it, except for one search in ten; if it saves
    /// 10 %, it does.
    #[test]
    fn flags_that_do_nothing_are_dropped() {
        let (mut shortest, mut dropped) = (0, 0);
        for seed in 1..=20 {
            let search = seeded(|point| 1.0 - 0.05 * point[0] as f64, 0.02, None, seed);
            let found = search.space().point(search.finalist().unwrap());
            assert_eq!(found[0], 4, "seed {seed}");
            shortest += usize::from(found[1] == 0);
            assert!(search.asked() <= 80, "{} runs", search.asked());
            if let Some(longer) = search.longer() {
                dropped += 1;
                assert_ne!(search.space().point(longer)[1], 0, "seed {seed}");
            }
        }
        assert!(shortest >= 18, "{shortest} answers without a flag too many");
        assert!(dropped > 5, "{dropped} leaders had one");

        let both = |point: &[usize]| if point[1] > 0 { 0.9 } else { 1.0 } - 0.05 * point[0] as f64;
        for seed in 1..=20 {
            let search = seeded(both, 0.02, None, seed);
            let found = search.space().point(search.finalist().unwrap());
            assert!(found[0] == 4 && found[1] > 0, "seed {seed}: {found:?}");
        }
    }

    /// One flag of seven makes the program three times as fast, or two of them together do: the
    /// answer names no other flag.
    #[test]
    fn only_flags_that_matter_are_left() {
        fn one(point: &[usize]) -> f64 {
            if point[3] > 0 { 1.0 } else { 3.0 }
        }
        fn two(point: &[usize]) -> f64 {
            one(point) * if point[5] > 0 { 0.5 } else { 1.0 }
        }
        type Time = fn(&[usize]) -> f64;
        let times: [(Time, &[usize]); 2] = [(one, &[3]), (two, &[3, 5])];
        for (time, matter) in times {
            for seed in 1..=20 {
                let search = searched_in(space(&[2; 7]), time, 0.02, None, seed);
                let found = search.space().point(search.finalist().unwrap());
                let given: Vec<usize> = (0..7).filter(|at| found[*at] > 0).collect();
                assert_eq!(given, matter, "seed {seed}");
                assert!(search.asked() <= 80, "{} runs", search.asked());
            }
        }
    }

    /// Of flags like those of GHC only two matter, and only together: the second is worse alone.
    #[test]
    fn flags_that_matter_together_are_all_that_is_left() {
        let time = |point: &[usize]| match (point[0] > 1, point[3] > 0) {
            (true, true) => 4.0,
            (true, false) => 7.0,
            (false, true) => 12.0,
            (false, false) => 10.0,
        };
        let mut exact = 0;
        for seed in 1..=30 {
            let search = searched_in(space(&[5, 2, 3, 2, 2, 2, 2]), time, 0.02, None, seed);
            let found = search.space().point(search.finalist().unwrap());
            let given: Vec<usize> = (0..7).filter(|at| found[*at] > 0).collect();
            exact += usize::from(given == [0, 3]);
            assert!(search.asked() <= 80, "{} runs", search.asked());
        }
        assert!(exact >= 28, "{exact} of 30 answers without a flag too many");
    }

    #[test]
    fn a_setting_that_is_far_worse_gets_few_runs_and_the_default_is_never_out() {
        let search = searched(|point| if point[1] == 0 { 1.0 } else { 3.0 }, 0.01, None);
        let default = search.space().default_setting();
        for (setting, candidate) in search.candidates().iter().enumerate() {
            if search.space().point(setting)[1] > 0 {
                assert!(candidate.race.len() <= 3, "{candidate:?}");
            }
        }
        let of_default = &search.candidates()[default];
        assert_eq!(of_default.fate, Fate::Racing);
        assert!(of_default.race.len() > PILOT && of_default.confirmation.len() == 8);
    }

    /// The fastest settings fail in their fourth run: no fifth run is asked for.
    #[test]
    fn a_setting_that_fails_is_not_asked_again() {
        let search = searched(|point| 1.0 - 0.05 * point[0] as f64, 0.01, Some(4));
        let all = search.candidates().iter();
        let failed: Vec<_> = all.filter(|one| matches!(one.fate, Fate::Failed(_))).collect();
        assert!(!failed.is_empty());
        assert!(failed.iter().all(|one| one.asked == 4), "{failed:?}");
    }

    #[test]
    fn an_answer_is_unclear_where_runs_scatter() {
        let steady = compared(&searched(|_| 1.0, 0.01, None));
        assert_eq!(steady.verdict, Verdict::AsGood);
        let scattered = compared(&searched(|_| 1.0, 0.3, None));
        assert_eq!(scattered.verdict, Verdict::Unclear);
    }

    #[test]
    fn each_value_occurs_about_equally_often() {
        let space = space(&[4, 3]);
        let chosen = balanced(&space, 6, &mut Pcg64::new(5, 0));
        assert_eq!(chosen.len(), 6);
        for (flag, least, most) in [(0, 1, 2), (1, 2, 2)] {
            for value in 0..space.axes()[flag].values.len() {
                let with = chosen.iter().filter(|setting| space.point(**setting)[flag] == value);
                let count = with.count();
                assert!((least..=most).contains(&count), "{count} settings with value {value}");
            }
        }
        let all = balanced(&space, 50, &mut Pcg64::new(5, 0));
        assert_eq!(all.len(), 11, "all but the default");
    }

    #[test]
    fn runs_go_to_the_settings_with_the_fewest() {
        let has = |setting: usize| [5, 1, 0, 1][setting];
        assert_eq!(levelled(&[1, 2, 3], has, 4, 9), [2, 1, 2, 3]);
        assert_eq!(levelled(&[0, 2], has, 9, 3), [2, 2, 2]);
        assert!(levelled(&[], has, 9, 3).is_empty());
    }
}
