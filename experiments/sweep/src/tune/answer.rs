//! The answer of a search: whether a setting is better than the default, and by how much.

use gclab_results::inference::{Effect, Order};

use super::figures::{Goal, Limit};
use super::search::{Candidate, Fate, Search};

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

/// The comparison of the last runs of a setting with the default's.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The number of the setting in the space.
    pub setting: usize,
    /// Its goal over the default's; `None` without runs of both.
    pub effect: Option<Effect>,
    /// The conclusion.
    pub verdict: Verdict,
}

/// Settings whose figures differ by a smaller share are equally good.
pub const EQUAL: f64 = 0.05;

/// The conclusion from the last runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// The setting is better: the interval lies below 1 and is not too noisy.
    Better,
    /// No difference that matters: the ratio lies within [`EQUAL`] of 1.
    AsGood,
    /// These runs cannot tell.
    Unclear,
    /// The setting seems better, but other programs disturbed this many of the runs, more than a third.
    Disturbed(usize),
    /// The default is better: the same above 1.
    Worse,
    /// The default breaks a limit, and the setting keeps all of them.
    Needed(Limit),
    /// The setting breaks a limit, like all remaining ones.
    NoneKeeps(Limit),
}

/// The answer of a search that is over.
pub fn answer(search: &Search) -> Answer {
    let default = search.space().default_setting();
    let candidates = search.candidates();
    if let Fate::Failed(reason) = &candidates[default].fate {
        return Answer::DefaultFails(reason.clone());
    }
    let Some(setting) = search.finalist() else {
        return Answer::NoOther;
    };
    let (base, new) = (&candidates[default], &candidates[setting]);
    let goal = search.rules().goal;
    // The two alternated, so their runs are pairs.
    let rounds = |candidate: &Candidate| -> Vec<(u32, f64)> {
        let runs = (0..).zip(&candidate.confirmation);
        runs.filter_map(|(round, figures)| Some((round, goal.of(figures)?)))
            .collect()
    };
    let effect = Effect::of(&rounds(base), &rounds(new), Order::Interleaved);
    let broken_by = |candidate: &Candidate| {
        let mut limits = search.rules().limits.iter();
        limits.find(|limit| !keeps(candidate, limit)).copied()
    };
    let failed = matches!(new.fate, Fate::Failed(_));
    let verdict = match (broken_by(base), broken_by(new), effect) {
        (_, Some(limit), _) => Verdict::NoneKeeps(limit),
        _ if failed => Verdict::Unclear,
        (Some(limit), None, _) => Verdict::Needed(limit),
        (None, None, Some(effect)) => match (judged(&effect), disturbed(base, new)) {
            (Verdict::Better | Verdict::Unclear, Some(runs)) if goal != Goal::Memory => Verdict::Disturbed(runs),
            (verdict, _) => verdict,
        },
        (None, None, None) => Verdict::Unclear,
    };
    Answer::Compared(Comparison {
        setting,
        effect,
        verdict,
    })
}

/// How many of the last runs were disturbed, if it is more than a third.
fn disturbed(base: &Candidate, new: &Candidate) -> Option<usize> {
    let last = || base.confirmation.iter().chain(&new.confirmation);
    let disturbed = last().filter(|run| run.disturbed).count();
    (3 * disturbed > last().count()).then_some(disturbed)
}

/// The verdict by the goal alone.
fn judged(effect: &Effect) -> Verdict {
    match effect.differs() {
        true if effect.ratio() < 1.0 => Verdict::Better,
        true => Verdict::Worse,
        false if effect.is_within(EQUAL) => Verdict::AsGood,
        false => Verdict::Unclear,
    }
}

/// Whether the mean of the last runs, or else of all runs, keeps within a limit.
fn keeps(candidate: &Candidate, limit: &Limit) -> bool {
    let mean = |values: Vec<f64>| (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
    let last = mean(
        candidate
            .confirmation
            .iter()
            .filter_map(|run| limit.goal.of(run))
            .collect(),
    );
    let all = || mean(candidate.runs().filter_map(|run| limit.goal.of(run)).collect());
    last.or_else(all).is_some_and(|mean| mean <= limit.most)
}

/// The medians of a setting over all its runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Medians {
    /// The number of the setting in the space.
    pub setting: usize,
    /// The number of runs.
    pub runs: usize,
    /// The median of each of [`Goal::ALL`].
    pub figures: [Option<f64>; 3],
}

/// The medians of a setting; `None` without runs, or if one of them failed.
pub fn medians(search: &Search, setting: usize) -> Option<Medians> {
    let candidate = &search.candidates()[setting];
    let runs = candidate.runs().count();
    if runs == 0 || matches!(candidate.fate, Fate::Failed(_)) {
        return None;
    }
    let median = |goal: Goal| {
        let mut values: Vec<f64> = candidate.runs().filter_map(|figures| goal.of(figures)).collect();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied()
    };
    Some(Medians {
        setting,
        runs,
        figures: Goal::ALL.map(median),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An interval by five pairs, whose standard error is given: t(0.975, 4) = 2.776.
    #[test]
    fn a_wide_interval_decides_only_if_it_is_far_from_1() {
        for (ratio, error, verdict, is_too_noisy) in [
            (0.0056, 0.34, Verdict::Better, false), // 0.0022 to 0.0144
            (1.08, 0.18, Verdict::Unclear, true),   // 0.66 to 1.79
            (0.68, 0.13, Verdict::Unclear, true),   // 0.47 to 0.98
            (0.9, 0.02, Verdict::Better, false),    // 0.85 to 0.95
            (0.95, 0.03, Verdict::Unclear, false),  // 0.87 to 1.03
            (1.0, 0.01, Verdict::AsGood, false),
            (9.0, 0.34, Verdict::Worse, false), // 3.5 to 23
        ] {
            let effect = Effect::with_error(1.0, ratio, 5, Some((error, 4.0)));
            let found = (judged(&effect), effect.is_too_noisy());
            assert_eq!(found, (verdict, is_too_noisy), "{ratio}");
        }
    }
}
