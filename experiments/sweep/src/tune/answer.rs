//! The answer of a search: whether a setting is better than the default, and by how much.

pub use gclab_report::inference::Interval;
use gclab_report::inference::{Change, Ratio, Spread, ratio_of_means};

use super::contestant::{Contestant, Fate};
use super::figures::{Figures, Goal, Limit};
use super::search::Search;

/// The answer of a search.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// A run of the default failed, so there is nothing to compare with.
    DefaultFails(String),
    /// No setting but the default was left at the end of the race.
    NoOther,
    /// A setting was compared with the default.
    Compared(Comparison),
}

/// The comparison of the last runs: those of a setting and of the default.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The number of the setting in the space.
    pub setting: usize,
    /// Its goal over that of the default; `None` if the means have no ratio.
    pub ratio: Option<Ratio>,
    /// The conclusion from the interval.
    pub verdict: Verdict,
}

/// Settings whose figures differ by a smaller share are as good as each other.
pub const EQUAL: f64 = 0.05;

/// The conclusion from the last runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// The setting is better: the interval lies below 1.
    Better,
    /// No difference that matters: the interval contains 1, and lies within [`EQUAL`] on both
    /// sides.
    AsGood,
    /// The interval contains 1 and is wider than that, or there is none. The number of runs of each
    /// that would probably decide, beside those that are there; absent if it cannot be said.
    Unclear(Option<usize>),
    /// The default is better: the interval lies above 1.
    Worse,
    /// The default breaks a limit, and the setting keeps all of them.
    Needed(Limit),
    /// The setting breaks a limit, as all others that are left.
    NoneKeeps(Limit),
}

impl Verdict {
    /// Whether the setting is to be preferred to the default.
    pub fn prefers_the_setting(self) -> bool {
        matches!(self, Verdict::Better | Verdict::Needed(_))
    }

    /// The further runs of each setting that would probably decide what is unclear.
    pub fn more_runs(self) -> Option<usize> {
        match self {
            Verdict::Unclear(more) => more,
            _ => None,
        }
    }
}

/// The answer of a search that is over.
pub fn answer(search: &Search) -> Answer {
    let default = search.space().default_setting();
    let contestants = search.contestants();
    if let Fate::Failed(reason) = &contestants[default].fate {
        return Answer::DefaultFails(reason.clone());
    }
    let Some(setting) = search.finalist() else {
        return Answer::NoOther;
    };
    let goal = search.rules().goal;
    let of = |number: usize| spread(&contestants[number].confirmation, goal);
    let ratio = of(default)
        .zip(of(setting))
        .and_then(|(base, new)| ratio_of_means(&base, &new));
    let broken_by = |number: usize| {
        let mut limits = search.rules().limits.iter();
        limits.find(|limit| !keeps(&contestants[number], limit)).copied()
    };
    let failed = matches!(contestants[setting].fate, Fate::Failed(_));
    let verdict = match (
        broken_by(default),
        broken_by(setting),
        ratio.and_then(|ratio| ratio.ci95),
    ) {
        (_, Some(limit), _) => Verdict::NoneKeeps(limit),
        (Some(limit), None, _) if !failed => Verdict::Needed(limit),
        (None, None, Some(ci)) if ci.high < 1.0 && !failed => Verdict::Better,
        (None, None, Some(ci)) if ci.low > 1.0 => Verdict::Worse,
        (None, None, Some(ci)) if !failed && ci.high <= 1.0 + EQUAL && ci.low >= 1.0 / (1.0 + EQUAL) => Verdict::AsGood,
        _ => Verdict::Unclear(more_runs(&contestants[default], &contestants[setting], goal)),
    };
    Answer::Compared(Comparison {
        setting,
        ratio,
        verdict,
    })
}

/// The number of further runs of each of two settings that would probably show which is better, or
/// that they are as good as each other.
fn more_runs(base: &Contestant, new: &Contestant, goal: Goal) -> Option<usize> {
    // The two ran in turn, so their runs are pairs.
    let rounds = |contestant: &Contestant| -> Vec<(u32, f64)> {
        let runs = (0..).zip(&contestant.confirmation);
        runs.filter_map(|(round, figures)| Some((round, goal.of(figures)?)))
            .collect()
    };
    let change = Change::of(&rounds(base), &rounds(new))?;
    let there = base.confirmation.len().min(new.confirmation.len());
    Some(change.runs_to_decide(EQUAL)?.saturating_sub(there).max(1))
}

/// Whether the mean of the last runs, or else of all, keeps a limit.
pub(super) fn keeps(contestant: &Contestant, limit: &Limit) -> bool {
    let last = spread(&contestant.confirmation, limit.goal);
    let all = || Spread::of(contestant.runs().filter_map(|figures| limit.goal.of(figures)));
    last.or_else(all).is_some_and(|spread| spread.mean <= limit.most)
}

fn spread(runs: &[Figures], goal: Goal) -> Option<Spread> {
    Spread::of(runs.iter().filter_map(|figures| goal.of(figures)))
}

/// The figures of a setting over all its runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Means {
    /// The number of the setting in the space.
    pub setting: usize,
    /// The number of runs.
    pub runs: usize,
    /// The mean time, longest pause and memory, each with the interval of the mean from three runs
    /// on.
    pub figures: [Option<(f64, Option<Interval>)>; 3],
}

/// The figures of a front, in the order of [`Means::figures`].
pub const FRONT: [Goal; 3] = [Goal::Time, Goal::Pause, Goal::Memory];

/// The means of a setting; `None` without runs, or if one of them failed.
pub fn means(search: &Search, setting: usize) -> Option<Means> {
    let contestant = &search.contestants()[setting];
    let runs = contestant.runs().count();
    if runs == 0 || matches!(contestant.fate, Fate::Failed(_)) {
        return None;
    }
    let of = |goal: Goal| {
        let spread = Spread::of(contestant.runs().filter_map(|figures| goal.of(figures)))?;
        Some((spread.mean, spread.ci95))
    };
    Some(Means {
        setting,
        runs,
        figures: FRONT.map(of),
    })
}
