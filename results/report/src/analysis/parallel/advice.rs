//! The advice: the best setting that is on of each family, compared with its base, and one
//! recommendation for all families.
//!
//! The best setting has the least median of the total time, as everywhere in reports. Fieller's
//! interval says whether it differs from the base. The recommendation compares one setting of the
//! sharing flags over all families that have it: the geometric mean of its ratios of mean times.

use super::families::{SHARING_FLAGS, concerns, decisions, is_off, is_on, off, one, shared_any, sharing_words};
use crate::format;
use crate::metric::{self, Metric};
use crate::summary::{Group, Summary, WorkloadRuns};
use gclab_inference::{Ratio, Sample, geometric_mean_of_ratios, ratio_of_means};
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

/// The effect of a setting on the time, compared with its base.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// The whole interval is below 1.
    Faster,
    /// The whole interval is above 1.
    Slower,
    /// The interval contains 1, so the difference may be noise.
    Unclear,
    /// There are too few runs for an interval.
    TooFewRuns,
}

impl Effect {
    fn of(ratio: Option<Ratio>) -> Effect {
        match ratio.and_then(|ratio| ratio.ci95) {
            None => Effect::TooFewRuns,
            Some(ci) if ci.high < 1.0 => Effect::Faster,
            Some(ci) if ci.low > 1.0 => Effect::Slower,
            Some(_) => Effect::Unclear,
        }
    }

    /// The verdict on parallel collection that follows.
    pub(crate) fn verdict(self) -> &'static str {
        match self {
            Effect::Faster => "on",
            Effect::Slower => "off",
            Effect::Unclear => "no difference",
            Effect::TooFewRuns => "too few runs",
        }
    }
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
    pub(crate) time: Option<Ratio>,
    /// The time in collections of the best over that of the base.
    pub(crate) gc: Option<Ratio>,
    /// The CPU time of the best over that of the base.
    pub(crate) cpu: Option<Ratio>,
    /// The effect of the best setting.
    pub(crate) effect: Effect,
}

impl Case<'_> {
    /// The sharing flags of the best setting.
    pub(crate) fn best(&self) -> String {
        sharing_words(self.on[0])
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
    pub(crate) time: Ratio,
    /// Its CPU time over that of the bases.
    pub(crate) cpu: Option<Ratio>,
    /// Its time over that of the best candidate; `None` for the best itself.
    pub(crate) to_best: Option<Ratio>,
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
        on.sort_by(|a, b| median(a).total_cmp(&median(b)));
        let best = *on.first()?;
        base.spread(time)?;
        let time = ratio(time, base, best);
        Some(Case {
            work,
            setting,
            base,
            on,
            time,
            gc: ratio(&metric::GC_ELAPSED, base, best),
            cpu: ratio(&metric::TOTAL_CPU, base, best),
            effect: Effect::of(time),
        })
    };
    families.into_iter().filter_map(case).collect()
}

fn ratio(metric: &Metric, base: &Group<'_>, group: &Group<'_>) -> Option<Ratio> {
    ratio_of_means(&base.spread(metric)?, &group.spread(metric)?)
}

/// The settings that most families have, the best first.
fn candidates(cases: &[Case<'_>], time: &Metric) -> Vec<Candidate> {
    let mut found: BTreeMap<String, Vec<(&Group<'_>, &Group<'_>)>> = BTreeMap::new();
    for case in cases {
        for group in &case.on {
            found.entry(sharing_words(group)).or_default().push((case.base, group));
        }
    }
    let most = found.values().map(Vec::len).max().unwrap_or(0);
    found.retain(|_, pairs| pairs.len() == most);
    let mean = |metric: &Metric, pairs: &[(&Group<'_>, &Group<'_>)]| {
        let samples = pairs
            .iter()
            .map(|(base, group)| base.sample(metric).zip(group.sample(metric)));
        let samples: Vec<(Sample, Sample)> = samples.collect::<Option<_>>()?;
        geometric_mean_of_ratios(&samples.iter().map(|(base, new)| (base, new)).collect::<Vec<_>>())
    };
    let mut candidates: Vec<(Candidate, Vec<(&Group<'_>, &Group<'_>)>)> = found
        .into_iter()
        .filter_map(|(words, pairs)| {
            let candidate = Candidate {
                words,
                cases: pairs.len(),
                time: mean(time, &pairs)?,
                cpu: mean(&metric::TOTAL_CPU, &pairs),
                to_best: None,
            };
            Some((candidate, pairs))
        })
        .collect();
    candidates.sort_by(|a, b| a.0.time.estimate.total_cmp(&b.0.time.estimate));
    if let Some((first, rest)) = candidates.split_first_mut() {
        for (candidate, pairs) in rest {
            // Both have the same families in the same order if all families have both.
            let same = first.1.iter().zip(pairs.iter()).all(|(a, b)| std::ptr::eq(a.0, b.0));
            let to_best: Vec<_> = first.1.iter().zip(pairs.iter()).map(|(a, b)| (a.1, b.1)).collect();
            candidate.to_best = mean(time, &to_best).filter(|_| same);
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
    let effect = Effect::of(Some(best.time));
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
        format::ratio(&best.time),
        if all_off { "without" } else { "of the base" },
        best.cases
    );
    match effect {
        Effect::Faster => format!("Yes, with {words}: {figures}."),
        Effect::Slower => format!("No, leave it off: even with {words}, the best setting, {figures}."),
        Effect::TooFewRuns => format!("Too few runs to say: with {words} {figures}."),
        Effect::Unclear => {
            let costs = best.cpu.and_then(|cpu| cpu.ci95).is_some_and(|ci| ci.low > 1.0);
            let so = if costs {
                "It costs CPU time, so leave it off unless single workloads or pauses (below) gain by it"
            } else {
                "It may be on or off"
            };
            format!("It makes no difference beyond noise: with {words} {figures}. {so}.")
        }
    }
}

/// The sentence on another candidate than the best.
fn against_best(other: &Candidate, best: &Candidate) -> String {
    let against = match other.to_best {
        Some(ratio) => match Effect::of(Some(ratio)) {
            Effect::Slower => format!("slower than {}: {}", best.words, format::ratio(&ratio)),
            Effect::TooFewRuns => format!("{} of {}", format::ratio(&ratio), best.words),
            Effect::Faster | Effect::Unclear => format!(
                "no difference from {} beyond noise: {}",
                best.words,
                format::ratio(&ratio)
            ),
        },
        None => "measured on other workloads".to_owned(),
    };
    format!(
        "{}: {} of the base; {against}.",
        other.words,
        format::ratio(&other.time)
    )
}

/// The families that disagree with the recommendation.
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
        let ratio = ratio(time, case.base, group)?;
        let words = sharing_words(group);
        let words = if words == best.words {
            String::new()
        } else {
            format!(" with {words}")
        };
        (Effect::of(Some(ratio)) == wanted).then(|| format!("{}{words} {}", case.name(), format::ratio(&ratio)))
    };
    let found: Vec<String> = cases.iter().filter_map(of_case).collect();
    (!found.is_empty()).then(|| format!("{begin}: {}.", found.join("; ")))
}
