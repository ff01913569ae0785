//! The one effect size: the ratio of a figure between two samples of runs, with its interval.
//!
//! Everything is computed on logarithms: figures are positive, their noise is proportional, and a
//! ratio and its inverse weigh the same. The estimate is the ratio of the geometric means, and the
//! geometric mean is the centre of a sample in all tables and charts, so that `base × ratio = new`
//! holds for the figures that a reader sees.
//!
//! If the rounds of both samples were interleaved (*blocks* of the design), runs are compared in
//! pairs: a disturbance of a round affects both and cancels. The interval is Student's t on the
//! differences of the logarithms, with n - 1 degrees of freedom. Other samples have Welch's
//! interval. Noise with a heavy tail or two modes widens both: each sample has the same tail.
//! `results/reference/coverage.md` has the measured coverage.
//!
//! Source: Kalibera and Jones, "Rigorous benchmarking in reasonable time" (ISMM 2013), for ratios
//! as effect sizes.

use crate::inference::distributions::{both_tails, quantile};
use crate::inference::runs::runs_to_see;
use crate::inference::sample::{Interval, RUNS_FOR_INTERVAL, moments};
use serde::Serialize;
use std::collections::BTreeMap;

/// The values of a figure, each with the round of its run.
pub type Rounds = [(u32, f64)];

/// How the runs of two samples were ordered in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// The rounds of both alternated: runs of the same round are a pair.
    Interleaved,
    /// One sample was measured after the other.
    Sequential,
}

/// The ratio of a figure between two samples.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(into = "Figures")]
pub struct Effect {
    /// The geometric mean of the base.
    pub base: f64,
    /// The geometric mean of the new sample.
    pub new: f64,
    /// The number of pairs, or of runs of the smaller sample.
    pub runs: usize,
    /// The standard error of the ratio's logarithm and its degrees of freedom; absent with too few
    /// runs.
    error: Option<(f64, f64)>,
}

/// An effect in JSON.
#[derive(Debug, Serialize)]
struct Figures {
    base: f64,
    new: f64,
    ratio: f64,
    low: Option<f64>,
    high: Option<f64>,
    runs: usize,
}

impl From<Effect> for Figures {
    fn from(effect: Effect) -> Figures {
        let ci = effect.ci95();
        Figures {
            base: effect.base,
            new: effect.new,
            ratio: effect.ratio(),
            low: ci.map(|ci| ci.low),
            high: ci.map(|ci| ci.high),
            runs: effect.runs,
        }
    }
}

/// What would decide an undecided effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Advice {
    /// This many runs of each sample would decide in four of five experiments.
    Runs(usize),
    /// More runs would hardly help: the program must run longer, or the machine be quieter.
    LessNoise,
}

/// More runs than this are not advised: a longer program or a quieter machine helps sooner.
const MOST_RUNS: usize = 60;

/// An interval whose ends differ by more than this factor says nothing about the size of an effect,
/// unless it stays [`FAR`] from 1.
const TOO_NOISY: f64 = 2.0;

/// A wide interval still shows a change if both its ends are at least this factor away from 1.
const FAR: f64 = 1.5;

/// Folders of one build that were measured one after another differ more than the scatter of their
/// runs suggests. Without a history that says how much, the runs' standard error counts this many
/// times. In `results/reference/verdicts.csv`, intervals half as wide contained the true ratio in
/// 98 of 120 comparisons, and intervals from a history, which were twice as wide, in 119.
pub(super) const FOLDERS: f64 = 2.0;

impl Effect {
    /// The ratio `new / base`; `None` if a sample is empty or a value is not above 0.
    pub fn of(base: &Rounds, new: &Rounds, order: Order) -> Option<Effect> {
        let positive =
            |sample: &Rounds| !sample.is_empty() && sample.iter().all(|(_, value)| *value > 0.0 && value.is_finite());
        if !positive(base) || !positive(new) {
            return None;
        }
        let logs = |sample: &Rounds| -> Vec<f64> { sample.iter().map(|(_, value)| value.ln()).collect() };
        let (logs_base, logs_new) = (logs(base), logs(new));
        let pairs =
            Some(differences(base, new)).filter(|pairs| order == Order::Interleaved && is_enough(pairs, base, new));
        let runs = pairs.as_ref().map_or(base.len().min(new.len()), Vec::len);
        let (center_base, center_new) = (moments(&logs_base).0, moments(&logs_new).0);
        let error = (runs >= RUNS_FOR_INTERVAL).then(|| match &pairs {
            Some(pairs) => ((moments(pairs).1 / runs as f64).sqrt(), (runs - 1) as f64),
            None => welch(&logs_base, &logs_new),
        });
        Some(Effect {
            base: center_base.exp(),
            new: center_new.exp(),
            runs,
            error,
        })
    }

    /// The geometric mean of several effects, such as those on several workloads; `None` without
    /// any. The interval says how much the runs scatter, not how other workloads would behave.
    pub fn mean(effects: &[Effect]) -> Option<Effect> {
        let count = effects.len() as f64;
        let center = |of: fn(&Effect) -> f64| (effects.iter().map(|effect| of(effect).ln()).sum::<f64>() / count).exp();
        Some(Effect {
            base: center(|effect| effect.base),
            new: center(|effect| effect.new),
            runs: effects.iter().map(|effect| effect.runs).min()?,
            error: error_of_sum(effects).map(|(error, degrees)| (error / count, degrees)),
        })
    }

    /// This ratio over another one from other runs.
    #[must_use]
    pub fn over(&self, other: &Effect) -> Effect {
        Effect {
            base: other.ratio(),
            new: self.ratio(),
            runs: self.runs.min(other.runs),
            error: error_of_sum(&[*self, *other]),
        }
    }

    /// An effect whose standard error is known from elsewhere, with its degrees of freedom.
    pub fn with_error(base: f64, new: f64, runs: usize, error: Option<(f64, f64)>) -> Effect {
        Effect { base, new, runs, error }
    }

    /// The effect with the scatter of folders: the standard error of the mean of one folder, with
    /// its degrees of freedom. It replaces the error of the runs if it is larger; if it is unknown,
    /// the error of the runs counts twice.
    #[must_use]
    pub fn with_scatter(self, scatter: Option<(f64, f64)>) -> Effect {
        let error = match scatter.map(|(error, degrees)| (error * 2f64.sqrt(), degrees)) {
            None => self.error.map(|(own, degrees)| (own * FOLDERS, degrees)),
            Some(wider) if self.error.is_none_or(|(own, _)| wider.0 > own) => Some(wider),
            Some(_) => self.error,
        };
        Effect { error, ..self }
    }

    /// New over base.
    pub fn ratio(&self) -> f64 {
        self.new / self.base
    }

    /// The 95 % interval of the ratio; `None` with too few runs.
    pub fn ci95(&self) -> Option<Interval> {
        self.interval(0.95)
    }

    /// The interval of the ratio that leaves `1 - confidence` outside, half of it on each side;
    /// `None` with too few runs.
    pub fn interval(&self, confidence: f64) -> Option<Interval> {
        let factor = self.factor(confidence)?;
        Some(Interval {
            low: self.ratio() / factor,
            high: self.ratio() * factor,
        })
    }

    /// Whether the 95 % interval excludes 1, and is not too wide to mean anything; `false` with too
    /// few runs.
    pub fn differs(&self) -> bool {
        !self.is_too_noisy() && self.ci95().is_some_and(|ci| !ci.contains(1.0))
    }

    /// Whether the ratio is within the share `threshold` of 1: the whole 90 % interval is in that
    /// range (two one-sided tests of 5 % each: Schuirmann, 1987).
    pub fn is_within(&self, threshold: f64) -> bool {
        let near = 1.0 + threshold;
        self.interval(0.9)
            .is_some_and(|ci| ci.low >= 1.0 / near && ci.high <= near)
    }

    /// Whether the interval is so wide that the ratio means nothing: its ends differ by more than a
    /// factor of two, and the nearer one is within a factor of 1.5 of 1. This is the only verdict
    /// on such an effect.
    pub fn is_too_noisy(&self) -> bool {
        let is_near = |ci: &Interval| ci.low < FAR && ci.high > FAR.recip();
        self.ci95()
            .is_some_and(|ci| ci.high > TOO_NOISY * ci.low && is_near(&ci))
    }

    /// The end of the interval nearer to 1, if the interval is too wide for the other end to mean
    /// anything, and still shows a change.
    pub fn bound(&self) -> Option<f64> {
        let ci = self.ci95().filter(|ci| ci.high > TOO_NOISY * ci.low)?;
        (!self.is_too_noisy()).then_some(if ci.low > 1.0 { ci.low } else { ci.high })
    }

    /// The smallest change that would have been distinguished from noise, as a share: its 95 %
    /// interval would just exclude 1. `None` with too few runs.
    pub fn visible(&self) -> Option<f64> {
        Some(self.factor(0.95)? - 1.0)
    }

    /// The probability of an effect this large by chance, if there is none; `None` with too few
    /// runs. It serves to judge several effects together, and is not for tables.
    pub fn chance(&self) -> Option<f64> {
        let (error, degrees) = self.error?;
        let log = self.ratio().ln();
        Some(if log == 0.0 {
            1.0
        } else {
            both_tails(log / error, degrees)
        })
    }

    /// What would decide whether there is an effect of at least the share `threshold`, judging by
    /// the ratio and spread of the existing runs.
    pub fn advice(&self, threshold: f64) -> Advice {
        let Some((error, _)) = self.error else {
            return Advice::Runs(RUNS_FOR_INTERVAL + 2);
        };
        let (log, edge) = (self.ratio().ln().abs(), threshold.ln_1p());
        let variance = error * error * self.runs as f64;
        // For an effect at or beyond the threshold, the interval must exclude 1 (95 %). For one
        // within it, the interval must be within the threshold on both sides (90 %).
        let runs = if log >= edge {
            runs_to_see(variance, log, 0.95, MOST_RUNS)
        } else {
            runs_to_see(variance, edge - log, 0.9, MOST_RUNS)
        };
        match runs {
            Some(runs) if runs > self.runs => Advice::Runs(runs),
            _ => Advice::LessNoise,
        }
    }

    /// The end of the interval over the estimate.
    fn factor(&self, confidence: f64) -> Option<f64> {
        let (error, degrees) = self.error?;
        let factor = if error > 0.0 {
            (quantile(f64::midpoint(1.0, confidence), degrees) * error).exp()
        } else {
            1.0
        };
        factor.is_finite().then_some(factor)
    }
}

/// The standard error of the sum of the ratios' logarithms and its degrees of freedom, by Welch and
/// Satterthwaite; `None` if one of them has too few runs.
fn error_of_sum(effects: &[Effect]) -> Option<(f64, f64)> {
    let errors: Vec<(f64, f64)> = effects.iter().map(|effect| effect.error).collect::<Option<_>>()?;
    let variance: f64 = errors.iter().map(|(error, _)| error * error).sum();
    let uncertain: f64 = errors.iter().map(|(error, degrees)| error.powi(4) / degrees).sum();
    let degrees = if uncertain > 0.0 {
        variance * variance / uncertain
    } else {
        1.0
    };
    Some((variance.sqrt(), degrees.max(1.0)))
}

/// The differences of the logarithms in rounds that both samples have.
fn differences(base: &Rounds, new: &Rounds) -> Vec<f64> {
    let partners: BTreeMap<u32, f64> = new.iter().copied().collect();
    let pair = |(round, value): &(u32, f64)| Some(partners.get(round)?.ln() - value.ln());
    base.iter().filter_map(pair).collect()
}

/// Whether most runs have a partner. A few failed runs cost their pairs; samples with different
/// rounds are compared without pairs.
fn is_enough(pairs: &[f64], base: &Rounds, new: &Rounds) -> bool {
    pairs.len() >= RUNS_FOR_INTERVAL && 2 * pairs.len() > base.len().max(new.len())
}

/// The standard error of a difference of means and its degrees of freedom, by Welch and
/// Satterthwaite.
fn welch(base: &[f64], new: &[f64]) -> (f64, f64) {
    let of = |sample: &[f64]| (moments(sample).1 / sample.len() as f64, (sample.len() - 1) as f64);
    let ((a, degrees_a), (b, degrees_b)) = (of(base), of(new));
    if a + b == 0.0 {
        return (0.0, degrees_a.min(degrees_b));
    }
    let degrees = (a + b).powi(2) / (a * a / degrees_a + b * b / degrees_b);
    ((a + b).sqrt(), degrees.max(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds(values: &[f64]) -> Vec<(u32, f64)> {
        (0..).zip(values.iter().copied()).collect()
    }

    fn paired(base: &[f64], new: &[f64]) -> Effect {
        Effect::of(&rounds(base), &rounds(new), Order::Interleaved).expect("an effect")
    }

    #[track_caller]
    fn close(a: f64, b: f64) {
        assert!((a / b - 1.0).abs() < 1e-9, "{a} is not {b}");
    }

    /// Each round of the new sample takes 1.1 times as long as the base's. Without pairs the same
    /// figures show nothing.
    #[test]
    fn a_disturbance_of_a_round_cancels_only_in_pairs() {
        let (base, new) = ([1.0, 2.0, 4.0], [1.1, 2.2, 4.4]);
        let ci = paired(&base, &new).ci95().expect("three pairs");
        assert!((ci.low - 1.1).abs() < 1e-6 && (ci.high - 1.1).abs() < 1e-6, "{ci:?}");
        let unpaired = Effect::of(&rounds(&base), &rounds(&new), Order::Sequential).expect("an effect");
        let ci = unpaired.ci95().expect("three runs");
        assert!(ci.low < 0.5 && ci.high > 2.0 && unpaired.is_too_noisy(), "{ci:?}");
    }

    #[test]
    fn pairs_are_found_in_any_order_and_without_failed_runs() {
        let (base, mut new) = (rounds(&[1.0, 2.0, 4.0, 3.0]), rounds(&[1.2, 2.1, 4.5, 3.9]));
        let in_order = Effect::of(&base, &new, Order::Interleaved);
        new.swap(0, 2);
        assert_eq!(Effect::of(&base, &new, Order::Interleaved).map(|one| one.runs), Some(4));
        let error = |effect: Option<Effect>| effect.and_then(|one| one.visible()).expect("an interval");
        close(error(in_order), error(Effect::of(&base, &new, Order::Interleaved)));
        new.remove(1);
        assert_eq!(Effect::of(&base, &new, Order::Interleaved).expect("an effect").runs, 3);
    }

    /// Differences of the logarithms 0, 0.1 and 0.2: mean 0.1, standard error 0.1 / √3, and
    /// t(0.975, 2) = 4.302652729749464.
    #[test]
    fn pairs_by_hand() {
        let new: Vec<f64> = [0.0f64, 0.1, 0.2].iter().map(|log| 5.0 * log.exp()).collect();
        let effect = paired(&[5.0; 3], &new);
        close(effect.ratio(), 0.1f64.exp());
        let half = 4.302_652_729_749_464 * 0.1 / 3f64.sqrt();
        close(effect.ci95().expect("pairs").high, (0.1 + half).exp());
        close(effect.visible().expect("pairs"), half.exp() - 1.0);
    }

    /// Logarithms 0, 1, 2 and 0, 2, 4 by hand: variances 1 and 4, error √(5/3), degrees
    /// (5/3)² / (1/18 + 16/18) = 2.941.
    #[test]
    fn welch_by_hand() {
        let (error, degrees) = welch(&[0.0, 1.0, 2.0], &[0.0, 2.0, 4.0]);
        close(error, (5.0f64 / 3.0).sqrt());
        close(degrees, 25.0 / 9.0 / (17.0 / 18.0));
    }

    #[test]
    fn few_runs_and_zeros_claim_nothing() {
        let two = paired(&[1.0, 1.1], &[2.0, 2.1]);
        assert_eq!((two.ci95(), two.visible(), two.differs()), (None, None, false));
        let none = |base: &[f64], new: &[f64]| Effect::of(&rounds(base), &rounds(new), Order::Interleaved);
        assert_eq!(none(&[0.0, 1.0], &[1.0, 1.0]), None);
        assert_eq!(none(&[], &[1.0]), None);
        assert_eq!(paired(&[19.0; 3], &[20.0; 3]).visible(), Some(0.0));
    }

    /// Two workloads with the ratios 2 and 0.5 and the same error: the mean is 1, the error 1/√2 of
    /// one.
    #[test]
    fn the_mean_of_effects_is_geometric() {
        let noise = [1.0, 1.1, 0.9];
        let scaled = |by: f64| noise.map(|value| value * by);
        let (slow, fast) = (paired(&[1.0; 3], &scaled(2.0)), paired(&[1.0; 3], &scaled(0.5)));
        let mean = Effect::mean(&[slow, fast]).expect("two effects");
        let center = noise.iter().product::<f64>().cbrt();
        close(mean.ratio(), center);
        let ((one, degrees), (both, more)) = (slow.error.expect("runs"), mean.error.expect("runs"));
        close(both, one / 2f64.sqrt());
        close(more, 2.0 * degrees);
        assert_eq!(Effect::mean(&[]), None);
    }

    /// Ratios of 2 and of 1, with the same error.
    #[test]
    fn a_ratio_over_a_ratio_has_the_errors_of_both() {
        let noise = [1.0, 1.1, 0.9];
        let (double, one) = (
            paired(&[1.0; 3], &noise.map(|value| 2.0 * value)),
            paired(&[1.0; 3], &noise),
        );
        let change = double.over(&one);
        close(change.ratio(), 2.0);
        let ((error, degrees), (of_one, few)) = (change.error.expect("runs"), one.error.expect("runs"));
        close(error, of_one * 2f64.sqrt());
        close(degrees, 2.0 * few);
        assert_eq!(paired(&[1.0; 2], &[1.0; 2]).over(&one).ci95(), None);
    }

    #[test]
    fn the_scatter_of_folders_widens_an_effect_but_never_narrows_it() {
        let effect = paired(&[1.0, 1.01, 0.99], &[1.05, 1.06, 1.05]);
        let wide = effect.with_scatter(Some((0.05, 4.0)));
        assert!(effect.differs() && !wide.differs());
        assert_eq!(effect.with_scatter(Some((1e-9, 4.0))), effect);
        let half = |effect: Effect| effect.visible().expect("three pairs").ln_1p();
        close(half(effect.with_scatter(None)), 2.0 * half(effect));
    }

    /// The ends of the first two intervals differ by more than a factor of two: from 1.1 to 3.0, and
    /// from 0.0045 to 0.018, which no noise explains.
    #[test]
    fn an_interval_that_is_too_wide_decides_only_what_is_far_from_1() {
        let of = |ratio: f64, factor: f64| Effect::with_error(1.0, ratio, 5, Some((factor.ln() / 1.96, 1e6)));
        for (effect, differs, is_too_noisy) in [
            (of(1.82, 1.65), false, true),
            (of(0.009, 2.0), true, false),
            (of(2.9, 1.5), true, false),
            (of(1.1, 1.05), true, false),
            (of(1.0, 1.3), false, false),
        ] {
            assert_eq!(
                (effect.differs(), effect.is_too_noisy()),
                (differs, is_too_noisy),
                "{effect:?}"
            );
            assert_eq!(effect.bound().is_some(), differs && effect.ratio() != 1.1, "{effect:?}");
            let inverse = Effect::with_error(effect.ratio(), 1.0, 5, effect.error);
            assert_eq!(
                (inverse.differs(), inverse.is_too_noisy()),
                (differs, is_too_noisy),
                "{inverse:?}"
            );
        }
    }

    /// It advises fewer than a hundred runs; beyond that only less noise helps.
    #[test]
    fn advice_asks_for_few_runs_or_less_noise() {
        let noise = |at: usize, by: f64| if at.is_multiple_of(2) { by } else { -by };
        let of = |log: f64, by: f64| {
            let new: Vec<f64> = (0..10).map(|at| (log + noise(at, by)).exp()).collect();
            paired(&[1.0; 10], &new).advice(0.03)
        };
        // (t + z)² v ≤ n ln(1.05)² with v = 0.08² · 10/9 holds for 26 or more runs.
        assert_eq!(of(0.05f64.ln_1p(), 0.08), Advice::Runs(26));
        assert_eq!(of(-(0.05f64.ln_1p()), 0.08), Advice::Runs(26));
        assert_eq!(of(0.05f64.ln_1p(), 0.3), Advice::LessNoise);
        assert_eq!(paired(&[1.0; 2], &[1.1; 2]).advice(0.03), Advice::Runs(5));
    }

    /// The chance of an effect is 5 % if an end of its interval is 1.
    #[test]
    fn the_chance_agrees_with_the_interval() {
        let new: Vec<f64> = [0.0f64, 0.1, 0.2].iter().map(|log| log.exp()).collect();
        let effect = paired(&[1.0; 3], &new);
        let chance = effect.chance().expect("three pairs");
        let ends = effect.interval(1.0 - chance).expect("three pairs");
        assert!((ends.low - 1.0).abs() < 1e-6, "{ends:?} {chance}");
        assert_eq!(paired(&[1.0; 3], &[1.1; 3]).chance(), Some(0.0));
        assert_eq!(paired(&[1.0; 3], &[1.0; 3]).chance(), Some(1.0));
    }
}
