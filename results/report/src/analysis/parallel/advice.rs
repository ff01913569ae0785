//! The advice: the best setting that is on of each family, compared with its base, and one
//! recommendation for all families.
//!
//! The best setting has the least median of the total time, as everywhere in reports. Fieller's
//! interval says whether it differs from the base. The recommendation compares one setting of the
//! sharing flags over all families that have it: the geometric mean of its ratios of mean times.

use super::effect::{Effect, Times};
use super::families::{SHARING_FLAGS, concerns, decisions, is_off, is_on, off, one, shared_any, sharing_words};
use crate::format;
use crate::inference::{Ratio, Sample, findings, geometric_mean_of_ratios, log_variance, ratio_of_means};
use crate::metric::{self, Metric};
use crate::power;
use crate::summary::{Group, Summary, WorkloadRuns};
use gclab_results::order::Arrange;
use std::collections::BTreeMap;

/// The advice of a sweep on parallel collection.
#[derive(Debug)]
pub(crate) struct Advice<'a> {
    /// The families, in the order of workloads.
    pub(crate) cases: Vec<Case<'a>>,
    /// The settings that can be recommended for all families, the best first.
    pub(crate) candidates: Vec<Candidate>,
    /// The time that settings are judged by.
    time: &'static Metric,
}

/// A family: its base, and its settings that are on.
#[derive(Debug)]
pub(crate) struct Case<'a> {
    /// The workload of the family.
    pub(crate) work: &'a WorkloadRuns<'a>,
    /// The swept flags that its configurations share, e.g. `N=2 A=4m`.
    pub(crate) setting: String,
    /// The configuration with parallel collection off, or with one capability.
    pub(crate) base: &'a Group<'a>,
    /// The configurations that are on and have no failure, the best first; at least one.
    pub(crate) on: Vec<&'a Group<'a>>,
    /// The time of the best over that of the base.
    pub(crate) time: Option<Times>,
    /// The time in collections of the best over that of the base.
    pub(crate) gc: Option<Ratio>,
    /// The CPU time of the best over that of the base.
    pub(crate) cpu: Option<Ratio>,
}

impl Case<'_> {
    /// The sharing flags of the best setting.
    pub(crate) fn best(&self) -> String {
        sharing_words(self.on[0])
    }

    /// The verdict on the best setting.
    pub(crate) fn verdict(&self) -> String {
        self.time
            .map_or_else(|| power::verdict(None, None), |time| time.verdict())
    }

    /// The workload and the setting.
    pub(crate) fn name(&self) -> String {
        format!("{} {}", self.work.title, self.setting).trim_end().to_owned()
    }
}

/// A setting of the sharing flags, over all families that have it.
#[derive(Debug)]
pub(crate) struct Candidate {
    /// The flags as words of a command line.
    pub(crate) words: String,
    /// The number of families that have it.
    pub(crate) cases: usize,
    /// Its time over that of the bases: the geometric mean.
    pub(crate) time: Times,
    /// Its CPU time over that of the bases.
    pub(crate) cpu: Option<Ratio>,
    /// Its time over that of the best candidate; `None` for the best itself.
    pub(crate) to_best: Option<Times>,
}

impl Advice<'_> {
    /// The recommendation, its alternatives and its exceptions, in sentences.
    pub(crate) fn text(&self) -> Vec<String> {
        text(&self.cases, &self.candidates, self.time)
    }
}

/// The advice of these runs; `None` when they say nothing on parallel collection.
pub(crate) fn advice<'a>(summary: &'a Summary<'a>) -> Option<Advice<'a>> {
    if !concerns(summary) {
        return None;
    }
    let time = summary.time_metric();
    let works = summary.works.iter();
    let cases: Vec<Case<'a>> = works.flat_map(|work| cases(summary, work, time)).collect();
    if cases.is_empty() {
        return None;
    }
    let candidates = candidates(&cases, time);
    Some(Advice {
        cases,
        candidates,
        time,
    })
}

fn cases<'a>(summary: &Summary<'_>, work: &'a WorkloadRuns<'a>, time: &Metric) -> Vec<Case<'a>> {
    // Bases are compared by address: each is one group of the work.
    let mut families: Vec<(&'a Group<'a>, String, Vec<&'a Group<'a>>)> = Vec::new();
    for group in work.groups.iter().filter(|group| is_on(group)) {
        let Some(base) = off(work, group).or_else(|| one(work, group)) else {
            continue;
        };
        let setting = summary.setting(group, &SHARING_FLAGS);
        match families
            .iter_mut()
            .find(|family| std::ptr::eq(family.0, base) && family.1 == setting)
        {
            Some(family) => family.2.push(group),
            None => families.push((base, setting, vec![group])),
        }
    }
    let case = |(base, setting, mut on): (&'a Group<'a>, String, Vec<&'a Group<'a>>)| {
        let median = |group: &Group<'_>| group.spread(time).map_or(f64::INFINITY, |s| s.median);
        on.retain(|group| group.failures().is_empty() && group.spread(time).is_some());
        on.arrange_by(|a, b| median(a).total_cmp(&median(b)));
        let best = *on.first()?;
        base.spread(time)?;
        Some(Case {
            work,
            setting,
            base,
            on,
            time: times(time, &[(base, best)]),
            gc: ratio(&metric::GC_ELAPSED, base, best),
            cpu: ratio(&metric::TOTAL_CPU, base, best),
        })
    };
    families.into_iter().filter_map(case).collect()
}

fn ratio(metric: &Metric, base: &Group<'_>, group: &Group<'_>) -> Option<Ratio> {
    ratio_of_means(&base.spread(metric)?, &group.spread(metric)?)
}

/// The geometric mean of the ratios of several pairs of a base and a setting.
fn mean(metric: &Metric, pairs: &[Pair<'_>]) -> Option<Ratio> {
    let samples = pairs
        .iter()
        .map(|(base, group)| base.sample(metric).zip(group.sample(metric)));
    let samples: Vec<(Sample, Sample)> = samples.collect::<Option<_>>()?;
    geometric_mean_of_ratios(&samples.iter().map(|(base, new)| (base, new)).collect::<Vec<_>>())
}

/// The time of a setting over that of its base: by Fieller for one pair, as a geometric mean for
/// several.
fn times(time: &Metric, pairs: &[Pair<'_>]) -> Option<Times> {
    let ratio = match pairs {
        [(base, group)] => ratio(time, base, group)?,
        _ => mean(time, pairs)?,
    };
    let groups = pairs.iter().flat_map(|(base, group)| [base, group]);
    let variances = groups.map(|group| log_variance(&group.spread(time)?));
    let sum = variances.sum::<Option<f64>>();
    Some(Times {
        ratio,
        variance: sum.map(|sum| sum / (pairs.len() as f64).powi(2)),
    })
}

/// A base and a setting.
type Pair<'a> = (&'a Group<'a>, &'a Group<'a>);

/// The settings that most families have, the best first.
fn candidates<'a>(cases: &[Case<'a>], time: &Metric) -> Vec<Candidate> {
    let mut found: BTreeMap<String, Vec<Pair<'a>>> = BTreeMap::new();
    for case in cases {
        for group in &case.on {
            found.entry(sharing_words(group)).or_default().push((case.base, group));
        }
    }
    let most = found.values().map(Vec::len).max().unwrap_or(0);
    found.retain(|_, pairs| pairs.len() == most);
    let mut candidates: Vec<(Candidate, Vec<Pair<'a>>)> = found
        .into_iter()
        .filter_map(|(words, pairs)| {
            let candidate = Candidate {
                words,
                cases: pairs.len(),
                time: times(time, &pairs)?,
                cpu: mean(&metric::TOTAL_CPU, &pairs),
                to_best: None,
            };
            Some((candidate, pairs))
        })
        .collect();
    candidates.arrange_by(|a, b| a.0.time.ratio.estimate.total_cmp(&b.0.time.ratio.estimate));
    if let Some((first, rest)) = candidates.split_first_mut() {
        for (candidate, pairs) in rest {
            // Both have the same families in the same order if all families have both.
            let same = first.1.iter().zip(pairs.iter()).all(|(a, b)| std::ptr::eq(a.0, b.0));
            let to_best: Vec<_> = first.1.iter().zip(pairs.iter()).map(|(a, b)| (a.1, b.1)).collect();
            candidate.to_best = times(time, &to_best).filter(|_| same);
        }
    }
    candidates.into_iter().map(|(candidate, _)| candidate).collect()
}

fn text(cases: &[Case<'_>], candidates: &[Candidate], time: &Metric) -> Vec<String> {
    let shared = cases.iter().flat_map(|case| &case.on).any(|group| shared_any(group));
    let Some(best) = candidates.first() else {
        return Vec::new();
    };
    if !shared {
        let how = cases.iter().find_map(|case| decisions(case.on[0]));
        let how = how.map_or(String::new(), |how| format!(" ({}: {how})", cases[0].name()));
        return vec![format!(
            "No collection was shared among threads{how}: there is nothing to turn on."
        )];
    }
    let effect = best.time.effect();
    let mut text = vec![recommendation(best, effect, cases, time)];
    text.extend(candidates[1..].iter().map(|other| against_best(other, best)));
    text.extend(exceptions(cases, best, effect, time));
    text
}

fn recommendation(best: &Candidate, effect: Effect, cases: &[Case<'_>], time: &Metric) -> String {
    let words = &best.words;
    let cpu = best
        .cpu
        .map_or(String::new(), |cpu| format!(", the CPU time {}", format::ratio(&cpu)));
    let all_off = cases.iter().all(|case| is_off(case.base));
    let figures = format!(
        "the {} time is {} of that {}{cpu} (geometric mean over {} pairs of workload and setting)",
        time.title,
        format::ratio(&best.time.ratio),
        if all_off { "without" } else { "of the base" },
        best.cases
    );
    match effect {
        Effect::Faster => format!("Yes, with {words}: {figures}."),
        Effect::Slower => format!("No, leave it off: even with {words}, the best setting, {figures}."),
        Effect::TooFewRuns => format!("Too few runs to say: with {words} {figures}."),
        Effect::Same => format!(
            "It makes {}: with {words} {figures}. {}",
            power::no_difference(),
            costs(best).unwrap_or("It may be on or off.")
        ),
        Effect::Unclear => format!(
            "These runs cannot tell whether it helps: with {words} {figures}; {}. {}",
            best.time.more_runs(),
            costs(best).unwrap_or_default()
        )
        .trim_end()
        .to_owned(),
    }
}

/// The advice on a setting whose time is not less, if it costs CPU time for certain.
fn costs(best: &Candidate) -> Option<&'static str> {
    let costs = best.cpu.and_then(|cpu| cpu.ci95).is_some_and(|ci| ci.low > 1.0);
    costs.then_some("It costs CPU time, so leave it off unless single workloads or pauses (below) gain by it.")
}

/// The sentence on another candidate than the best.
fn against_best(other: &Candidate, best: &Candidate) -> String {
    let against = match &other.to_best {
        Some(times) => {
            let ratio = format::ratio(&times.ratio);
            match times.effect() {
                Effect::Slower => format!("slower than {}: {ratio}", best.words),
                Effect::Faster => format!("faster than {}: {ratio}", best.words),
                Effect::TooFewRuns => format!("{ratio} of {}", best.words),
                Effect::Same => format!("{} from {}: {ratio}", power::no_difference(), best.words),
                Effect::Unclear => format!(
                    "these runs cannot tell it from {}: {ratio}; {}",
                    best.words,
                    times.more_runs()
                ),
            }
        }
        None => "measured on other workloads".to_owned(),
    };
    format!(
        "{}: {} of the base; {against}.",
        other.words,
        format::ratio(&other.time.ratio)
    )
}

/// The families that disagree with the recommendation. All families are judged together, as one in
/// twenty would disagree by chance.
fn exceptions(cases: &[Case<'_>], best: &Candidate, effect: Effect, time: &Metric) -> Option<String> {
    let (begin, wanted) = match effect {
        Effect::Faster => ("Slower with it", Effect::Slower),
        _ => ("Faster nevertheless", Effect::Faster),
    };
    let of_case = |case: &Case<'_>| {
        // If the recommendation is on, its own setting counts; otherwise the family's best one.
        let group = case
            .on
            .iter()
            .find(|group| effect != Effect::Faster || sharing_words(group) == best.words)?;
        let words = sharing_words(group);
        let words = if words == best.words {
            String::new()
        } else {
            format!(" with {words}")
        };
        Some((format!("{}{words}", case.name()), ratio(time, case.base, group)?))
    };
    let judged: Vec<(String, Ratio)> = cases.iter().filter_map(of_case).collect();
    let found = remaining(&judged, wanted);
    (!found.is_empty()).then(|| format!("{begin}: {}.", found.join("; ")))
}

/// The families with this effect that remain when all of them are judged together, in words.
fn remaining(judged: &[(String, Ratio)], wanted: Effect) -> Vec<String> {
    // A family without an interval is no exception.
    let chances: Vec<f64> = judged.iter().map(|(_, ratio)| ratio.chance.unwrap_or(1.0)).collect();
    findings(&chances)
        .into_iter()
        .zip(judged)
        .filter(|(remains, (_, ratio))| *remains && Effect::of(ratio) == wanted)
        .map(|(_, (name, ratio))| format!("{name} {}", format::ratio(ratio)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inference::Interval;

    /// One family in twenty lies beyond its interval by chance: among several that is no exception.
    #[test]
    fn exceptions_are_judged_together() {
        let ratio = |low: f64, high: f64, chance: f64| Ratio {
            estimate: 1.2,
            ci95: Some(Interval { low, high }),
            runs: 4,
            chance: Some(chance),
        };
        let among = |chance: f64| {
            let mut judged = vec![("one".to_owned(), ratio(1.01, 1.39, chance))];
            judged.extend((0..3).map(|_| ("other".to_owned(), ratio(0.9, 1.5, 0.4))));
            remaining(&judged, Effect::Slower)
        };
        assert_eq!(among(0.04), Vec::<String>::new());
        assert_eq!(among(0.01), ["one 1.20× (1.01–1.39)"]);
        assert_eq!(
            remaining(&[("one".to_owned(), ratio(1.01, 1.39, 0.04))], Effect::Slower).len(),
            1
        );
    }
}
