//! The answer in numbers: the best configuration of each workload, and by how much it is better.
//!
//! The fastest configuration has the least median time. Whether the difference means anything
//! follows from the interval of the ratio of means to each other collector at *its* best setting.
//! Choosing the best of many settings flatters the winner a little; with few runs and many settings
//! the interval is too narrow rather than too wide, which the report says. A configuration with a
//! failed run cannot be best.

use crate::format::counted;
use crate::maths::{Ratio, Spread, ratio_of_means};
use crate::metric::{self, Metric};
use crate::summary::{Group, Summary, Work};
use std::collections::BTreeMap;

/// The best configurations of one workload.
#[derive(Debug)]
pub(crate) struct Answer<'a> {
    /// The workload that is answered for.
    pub(crate) work: &'a Work<'a>,
    /// The configuration with the least median time.
    pub(crate) fastest: Best<'a>,
    /// The other collectors, each at its best setting, in order of time.
    pub(crate) alternatives: Vec<Alternative<'a>>,
    /// The slowest configuration, if it is another one, and its time over that of the fastest.
    pub(crate) slowest: Option<(Best<'a>, f64)>,
    /// The least median of peak memory: the heap's own, or the resident set where no run has it.
    pub(crate) least_memory: Option<Best<'a>>,
    /// The least median of the longest pause.
    pub(crate) lowest_pause: Option<Best<'a>>,
}

/// A configuration that is best by one figure.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Best<'a> {
    /// The configuration's runs.
    pub(crate) group: &'a Group<'a>,
    /// The figure by which it is best.
    pub(crate) metric: &'static Metric,
    /// The figure over its runs.
    pub(crate) spread: Spread,
}

/// Another collector at its best setting.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Alternative<'a> {
    /// Its best configuration.
    pub(crate) best: Best<'a>,
    /// Its mean time over that of the fastest.
    pub(crate) ratio: Option<Ratio>,
}

impl Alternative<'_> {
    /// Whether it differs from the fastest by more than noise; `None` with too few runs to say.
    pub(crate) fn differs(&self) -> Option<bool> {
        Some(!self.ratio?.ci95?.contains(1.0))
    }
}

/// The answers for all workloads that have a configuration without failures.
pub(crate) fn answers<'a>(summary: &'a Summary<'a>) -> Vec<Answer<'a>> {
    summary
        .works
        .iter()
        .filter_map(|work| answer(work, summary.time_metric()))
        .collect()
}

fn answer<'a>(work: &'a Work<'a>, time: &'static Metric) -> Option<Answer<'a>> {
    let all = measured(work, time);
    let fastest = least(all.iter().copied())?;
    let mut by_collector: BTreeMap<&str, Best<'a>> = BTreeMap::new();
    for &best in &all {
        let entry = by_collector.entry(&best.group.configuration.collector).or_insert(best);
        if best.spread.median < entry.spread.median {
            *entry = best;
        }
    }
    by_collector.remove(fastest.group.configuration.collector.as_str());
    let mut alternatives: Vec<Alternative<'a>> = by_collector
        .into_values()
        .map(|best| Alternative {
            best,
            ratio: ratio_of_means(&fastest.spread, &best.spread),
        })
        .collect();
    alternatives.sort_by(|a, b| a.best.spread.median.total_cmp(&b.best.spread.median));
    let slowest = all
        .iter()
        .copied()
        .max_by(|a, b| a.spread.median.total_cmp(&b.spread.median));
    let slowest = slowest
        .filter(|s| s.group.configuration != fastest.group.configuration && fastest.spread.median > 0.0)
        .map(|s| (s, s.spread.median / fastest.spread.median));
    let least_memory = least(measured(work, &metric::PEAK_IN_USE)).or_else(|| least(measured(work, &metric::MAX_RSS)));
    Some(Answer {
        work,
        fastest,
        alternatives,
        slowest,
        least_memory,
        lowest_pause: least(measured(work, &metric::MAX_PAUSE)),
    })
}

fn measured<'a>(work: &'a Work<'a>, metric: &'static Metric) -> Vec<Best<'a>> {
    let groups = work.groups.iter().filter(|group| group.failures().is_empty());
    groups
        .filter_map(|group| {
            Some(Best {
                group,
                metric,
                spread: group.spread(metric)?,
            })
        })
        .collect()
}

/// The one with the least median; of equal ones the first.
fn least<'a>(all: impl IntoIterator<Item = Best<'a>>) -> Option<Best<'a>> {
    all.into_iter()
        .min_by(|a, b| a.spread.median.total_cmp(&b.spread.median))
}

/// The answer over all workloads, in a sentence or two.
pub(crate) fn headline(answers: &[Answer<'_>]) -> String {
    if answers.is_empty() {
        return "No configuration has a run that ended well, so there is no answer yet.".to_owned();
    }
    let mut wins: BTreeMap<&str, usize> = BTreeMap::new();
    for answer in answers {
        *wins.entry(&answer.fastest.group.configuration.collector).or_default() += 1;
    }
    let mut wins: Vec<(&str, usize)> = wins.into_iter().collect();
    wins.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let parts: Vec<String> = wins.iter().map(|(name, n)| format!("{name} on {n}")).collect();
    let workloads = counted(answers.len(), "workload");
    let contested: Vec<&Alternative<'_>> = answers.iter().filter_map(|a| a.alternatives.first()).collect();
    if contested.is_empty() {
        return format!(
            "One collector ran ({}), on {workloads}.",
            parts[0].split(" on ").next().unwrap_or_default()
        );
    }
    let sure = contested
        .iter()
        .filter(|alternative| alternative.differs() == Some(true))
        .count();
    format!(
        "Fastest of {workloads}, each collector at its best setting: {}. The lead over the next collector is more than noise on {sure} of {}.",
        parts.join(", "),
        contested.len()
    )
}
