//! The answer: per family, the best setting that shares collections beside its base; and one recommendation for all.
//!
//! "Best" is by median of the total time, as everywhere in reports. Whether it differs from the base is said by Fieller's interval. The recommendation
//! compares one setting of the sharing flags over all families that have it: the geometric mean of its ratios of mean times.

use super::super::{ratio_text, time_metric};
use super::{concerns, decisions, is_on, off, one, shared_any, sharing_words};
use crate::maths::{Ratio, Spread, geometric_mean_of_ratios, ratio_of_means};
use crate::metric::{self, Metric};
use crate::summary::{Group, Summary, UNSET, Work};
use std::collections::BTreeMap;

/// What a sweep says of parallel collection.
#[derive(Debug)]
pub struct Advice<'a> {
    /// One for each family, in the order of workloads.
    pub cases: Vec<Case<'a>>,
    /// The settings that can be recommended for all, the best first.
    pub candidates: Vec<Candidate>,
    /// The recommendation and what belongs to it, a sentence or two each.
    pub text: Vec<String>,
}

/// What is called of a setting beside its base.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    /// Faster, and more than chance.
    On,
    /// Slower, and more than chance.
    Off,
    /// It cannot be told from noise.
    Same,
    /// There is no interval.
    TooFew,
}

impl Call {
    fn of(ratio: Option<Ratio>) -> Call {
        match ratio.and_then(|ratio| ratio.ci95) {
            None => Call::TooFew,
            Some(ci) if ci.high < 1.0 => Call::On,
            Some(ci) if ci.low > 1.0 => Call::Off,
            Some(_) => Call::Same,
        }
    }

    /// In words.
    pub fn text(self) -> &'static str {
        match self {
            Call::On => "on",
            Call::Off => "off",
            Call::Same => "no difference",
            Call::TooFew => "too few runs",
        }
    }
}

/// A family: the best of its settings that are on beside its base.
#[derive(Debug)]
pub struct Case<'a> {
    /// The workload.
    pub work: &'a Work<'a>,
    /// The swept flags that the family has in common, e.g. `N=2 A=4m`.
    pub setting: String,
    /// With parallel collection off, or one capability.
    pub base: &'a Group<'a>,
    /// All that are on and have no failure, the best first; at least one.
    pub on: Vec<&'a Group<'a>>,
    /// Of the best: its time over the base's.
    pub time: Option<Ratio>,
    /// Of the best: its time in collections over the base's.
    pub gc: Option<Ratio>,
    /// Of the best: its CPU time over the base's.
    pub cpu: Option<Ratio>,
    /// What follows.
    pub call: Call,
}

impl Case<'_> {
    /// The sharing flags of the best setting.
    pub fn best(&self) -> String {
        sharing_words(self.on[0])
    }

    /// Workload and setting.
    pub fn name(&self) -> String {
        format!("{} {}", self.work.title, self.setting).trim_end().to_owned()
    }
}

/// A setting of the sharing flags over all families that have it.
#[derive(Debug)]
pub struct Candidate {
    /// The flags as words.
    pub words: String,
    /// Families that have it.
    pub cases: usize,
    /// Its time over the bases': the geometric mean.
    pub time: Ratio,
    /// Its CPU time over the bases'.
    pub cpu: Option<Ratio>,
    /// Its time over that of the best candidate; `None` for that one.
    pub to_best: Option<Ratio>,
}

/// What these runs say; `None` when they are not about it.
pub fn advice<'a>(summary: &'a Summary<'a>) -> Option<Advice<'a>> {
    if !concerns(summary) {
        return None;
    }
    let time = time_metric(summary);
    let works = summary.works.iter();
    let cases: Vec<Case<'a>> = works.flat_map(|work| cases(summary, work, time)).collect();
    if cases.is_empty() {
        return None;
    }
    let candidates = candidates(&cases, time);
    let text = text(&cases, &candidates, time);
    Some(Advice {
        cases,
        candidates,
        text,
    })
}

fn cases<'a>(summary: &Summary<'_>, work: &'a Work<'a>, time: &Metric) -> Vec<Case<'a>> {
    // Bases are compared by address: each is one group of the work.
    let mut families: Vec<(&'a Group<'a>, String, Vec<&'a Group<'a>>)> = Vec::new();
    for group in work.groups.iter().filter(|group| is_on(group)) {
        let Some(base) = off(work, group).or_else(|| one(work, group)) else {
            continue;
        };
        let setting = setting(summary, group);
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
            call: Call::of(time),
        })
    };
    families.into_iter().filter_map(case).collect()
}

/// The swept flags that are given here, but for the sharing ones; the collector, if there are several.
fn setting(summary: &Summary<'_>, group: &Group<'_>) -> String {
    let several = summary.collectors.len() > 1;
    let mut words: Vec<String> = several
        .then(|| group.configuration.collector.clone())
        .into_iter()
        .collect();
    let axes = summary.axes.iter().map(|axis| axis.flag.as_str());
    let axes = axes.filter(|flag| !super::SHARING_FLAGS.contains(flag) && group.flag(flag) != UNSET);
    words.extend(axes.map(|flag| format!("{flag}={}", group.flag(flag))));
    words.join(" ")
}

fn ratio(metric: &Metric, base: &Group<'_>, group: &Group<'_>) -> Option<Ratio> {
    ratio_of_means(&base.spread(metric)?, &group.spread(metric)?)
}

/// The settings that the most families have, the best first.
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
        let spreads: Option<Vec<(Spread, Spread)>> = pairs
            .iter()
            .map(|(base, group)| base.spread(metric).zip(group.spread(metric)))
            .collect();
        geometric_mean_of_ratios(&spreads?)
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
            // The same families in the same order, if all of them have both.
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
    let call = Call::of(Some(best.time));
    let mut text = vec![recommendation(best, call, cases, time)];
    text.extend(candidates[1..].iter().map(|other| beside_the_best(other, best)));
    text.extend(exceptions(cases, best, call, time));
    text
}

fn recommendation(best: &Candidate, call: Call, cases: &[Case<'_>], time: &Metric) -> String {
    let words = &best.words;
    let cpu = best
        .cpu
        .map_or(String::new(), |cpu| format!(", the CPU time {}", ratio_text(&cpu)));
    let all_off = cases.iter().all(|case| super::is_off(case.base));
    let figures = format!(
        "the {} time is {} of that {}{cpu} (geometric mean over {} settings of workloads)",
        time.title,
        ratio_text(&best.time),
        if all_off { "without" } else { "of the base" },
        best.cases
    );
    match call {
        Call::On => format!("Yes, with {words}: {figures}."),
        Call::Off => format!("No, leave it off: even with {words}, the best setting, {figures}."),
        Call::TooFew => format!("Too few runs to say: with {words} {figures}."),
        Call::Same => {
            let costs = best.cpu.and_then(|cpu| cpu.ci95).is_some_and(|ci| ci.low > 1.0);
            let so = if costs {
                "It costs CPU time, so leave it off unless single workloads or pauses (below) speak for it"
            } else {
                "It may be on or off"
            };
            format!("It makes no difference that can be told from noise: with {words} {figures}. {so}.")
        }
    }
}

fn beside_the_best(other: &Candidate, best: &Candidate) -> String {
    let beside = match other.to_best {
        Some(ratio) => match Call::of(Some(ratio)) {
            Call::Off => format!("slower than {} by {}", best.words, ratio_text(&ratio)),
            Call::TooFew => format!("{} beside {}", ratio_text(&ratio), best.words),
            Call::On | Call::Same => format!("cannot be told from {}: {}", best.words, ratio_text(&ratio)),
        },
        None => "measured on other workloads".to_owned(),
    };
    format!("{}: {} of the base; {beside}.", other.words, ratio_text(&other.time))
}

/// The families that disagree with the recommendation.
fn exceptions(cases: &[Case<'_>], best: &Candidate, call: Call, time: &Metric) -> Option<String> {
    let (what, wanted) = match call {
        Call::On => ("Slower with it", Call::Off),
        _ => ("Faster all the same", Call::On),
    };
    let of_case = |case: &Case<'_>| {
        // Against a recommendation speaks what it does here; for another setting, what the best one here does.
        let group = case
            .on
            .iter()
            .find(|group| call != Call::On || sharing_words(group) == best.words)?;
        let ratio = ratio(time, case.base, group)?;
        let words = sharing_words(group);
        let words = if words == best.words {
            String::new()
        } else {
            format!(" with {words}")
        };
        (Call::of(Some(ratio)) == wanted).then(|| format!("{}{words} {}", case.name(), ratio_text(&ratio)))
    };
    let found: Vec<String> = cases.iter().filter_map(of_case).collect();
    (!found.is_empty()).then(|| format!("{what}: {}.", found.join("; ")))
}
