//! Budgets: at each one the fastest contender that completes all workloads, and those that fail.

use super::contenders::{contender, contenders, reason};
use crate::format::{self, list, times};
use crate::inference::{Ratio, Sample, geometric_mean_of_ratios};
use crate::metric::Metric;
use crate::summary::{Group, Summary, WorkloadRuns};

/// The answer of a sweep over multiples of the least heap.
#[derive(Debug)]
pub(crate) struct Budgets {
    /// The contenders, in alphabetical order.
    pub(crate) contenders: Vec<String>,
    /// The budgets, in ascending order.
    pub(crate) budgets: Vec<Budget>,
    /// The recommendation in sentences.
    pub(crate) text: Vec<String>,
}

/// One multiple of the least heap.
#[derive(Debug)]
pub(crate) struct Budget {
    /// The multiple of the least heap.
    pub(crate) multiple: f64,
    /// The standings of the contenders, in their order.
    pub(crate) standings: Vec<Standing>,
    /// The index of the fastest contender that completes all workloads.
    pub(crate) best: Option<usize>,
    /// The indexes of contenders that do not differ from the best by more than noise.
    pub(crate) as_good: Vec<usize>,
    /// The fastest of the others, and its time over that of the best.
    pub(crate) next: Option<(usize, Ratio)>,
}

/// The result of a contender at a budget.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Standing {
    /// It completes all workloads; the ratio is its time over the best time at any budget.
    Completes(Ratio),
    /// It fails on these workloads, each with its title and the reason.
    Fails(Vec<(String, &'static str)>),
    /// Not all of its runs are done.
    Unknown,
}

/// The answer of these runs; `None` when their heaps are not multiples of a least heap, or when
/// they are of programs of which none does the work of another.
pub(crate) fn budgets(summary: &Summary<'_>) -> Option<Budgets> {
    let mut multiples: Vec<f64> = summary.groups().filter_map(|group| group.heap).collect();
    multiples.sort_by(f64::total_cmp);
    multiples.dedup();
    if multiples.is_empty() {
        return None;
    }
    let contenders = contenders(summary);
    // Programs of a file may do works of their own: then nothing contends.
    let has_programs = summary.groups().any(|group| group.configuration.program.is_some());
    if has_programs && !contenders.iter().any(|name| ran_all(summary, name)) {
        return None;
    }
    let time = summary.time_metric();
    let budgets: Vec<Budget> = multiples
        .into_iter()
        .map(|multiple| budget(summary, &contenders, time, multiple))
        .collect();
    let text = text(&contenders, &budgets, summary.works.len());
    Some(Budgets {
        contenders,
        budgets,
        text,
    })
}

/// Whether a contender has runs of all workloads.
fn ran_all(summary: &Summary<'_>, name: &str) -> bool {
    let ran = |work: &WorkloadRuns<'_>| work.groups.iter().any(|group| contender(summary, group) == name);
    summary.works.iter().all(ran)
}

impl Standing {
    /// The result in a few words, e.g. `1.32× (1.28–1.36)`, `fails on 2`, `fails on all`; `works`
    /// is the number of all workloads.
    pub(crate) fn text(&self, works: usize) -> String {
        match self {
            Standing::Completes(ratio) => format::ratio(ratio),
            Standing::Fails(failed) if failed.len() == works => "fails on all".to_owned(),
            Standing::Fails(failed) => format!("fails on {}", failed.len()),
            Standing::Unknown => format::ABSENT.to_owned(),
        }
    }

    /// The reasons of its failures, e.g. `heap exhausted: gcbench, long_list`, without the names
    /// where these are all workloads; empty if it completes.
    pub(crate) fn reasons(&self, works: usize) -> String {
        let Standing::Fails(failed) = self else {
            return String::new();
        };
        let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
        for (work, reason) in failed {
            match reasons.iter_mut().find(|(known, _)| known == reason) {
                Some((_, works)) => works.push(work),
                None => reasons.push((reason, vec![work])),
            }
        }
        let text = |(reason, failed): (&str, Vec<&str>)| match failed.len() == works {
            true => reason.to_owned(),
            false => format!("{reason}: {}", failed.join(", ")),
        };
        reasons.into_iter().map(text).collect::<Vec<_>>().join("; ")
    }
}

/// The least mean time of all configurations that complete a workload. Times are relative to it.
pub(super) fn best_time(work: &WorkloadRuns<'_>, time: &Metric) -> Option<Sample> {
    let complete = work.groups.iter().filter(|group| group.failures().is_empty());
    complete
        .filter_map(|group| group.sample(time))
        .min_by(|a, b| a.spread.mean.total_cmp(&b.spread.mean))
}

fn find<'w, 'a>(summary: &Summary<'_>, work: &'w WorkloadRuns<'a>, name: &str, multiple: f64) -> Option<&'w Group<'a>> {
    let mut groups = work.groups.iter();
    groups.find(|group| group.heap == Some(multiple) && contender(summary, group) == name)
}

/// The times of a contender on all workloads; `None` if one is missing.
fn samples(summary: &Summary<'_>, name: &str, time: &Metric, multiple: f64) -> Option<Vec<Sample>> {
    let of = |work| {
        find(summary, work, name, multiple)
            .filter(|group| group.failures().is_empty())?
            .sample(time)
    };
    summary.works.iter().map(of).collect()
}

fn standing(summary: &Summary<'_>, name: &str, time: &Metric, multiple: f64) -> Standing {
    let fails: Vec<(String, &'static str)> = summary
        .works
        .iter()
        .filter_map(|work| Some((work.title.clone(), reason(find(summary, work, name, multiple)?)?)))
        .collect();
    if !fails.is_empty() {
        return Standing::Fails(fails);
    }
    let best: Option<Vec<Sample>> = summary.works.iter().map(|work| best_time(work, time)).collect();
    let pairs = best.zip(samples(summary, name, time, multiple));
    let ratio = pairs.and_then(|(best, mine)| geometric_mean_of_ratios(&best.iter().zip(&mine).collect::<Vec<_>>()));
    ratio.map_or(Standing::Unknown, Standing::Completes)
}

fn budget(summary: &Summary<'_>, contenders: &[String], time: &Metric, multiple: f64) -> Budget {
    let standings: Vec<Standing> = contenders
        .iter()
        .map(|name| standing(summary, name, time, multiple))
        .collect();
    let time_of = |standing: &Standing| match standing {
        Standing::Completes(ratio) => Some(ratio.estimate),
        _ => None,
    };
    let complete = standings
        .iter()
        .enumerate()
        .filter_map(|(place, standing)| Some((place, time_of(standing)?)));
    let best = complete
        .clone()
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .map(|(place, _)| place);
    let over_best = |place: usize| {
        let of = |place: usize| samples(summary, &contenders[place], time, multiple);
        let (best, other) = best.and_then(of).zip(of(place))?;
        geometric_mean_of_ratios(&best.iter().zip(&other).collect::<Vec<_>>())
    };
    let others: Vec<(usize, Ratio)> = complete
        .map(|(place, _)| place)
        .filter(|place| Some(*place) != best)
        .filter_map(|place| Some((place, over_best(place)?)))
        .collect();
    // Without an interval no difference is more than noise.
    let same = |ratio: &Ratio| ratio.ci95.is_none_or(|ci| ci.contains(1.0));
    let as_good = others
        .iter()
        .filter(|(_, ratio)| same(ratio))
        .map(|(place, _)| *place)
        .collect();
    let next = others
        .into_iter()
        .min_by(|(_, a), (_, b)| a.estimate.total_cmp(&b.estimate));
    Budget {
        multiple,
        standings,
        best,
        as_good,
        next,
    }
}

/// The sentence on one budget, without its end.
fn verdict(contenders: &[String], budget: &Budget, works: usize) -> String {
    let complete = budget
        .standings
        .iter()
        .filter(|s| matches!(s, Standing::Completes(_)))
        .count();
    let all = match works {
        1 => "the workload".to_owned(),
        2 => "both workloads".to_owned(),
        _ => format!("all {works} workloads"),
    };
    let Some(best) = budget.best else {
        let failures = |standing: &Standing| match standing {
            Standing::Fails(works) => Some(works.len()),
            _ => None,
        };
        let counts = budget
            .standings
            .iter()
            .enumerate()
            .filter_map(|(place, s)| Some((failures(s)?, place)));
        return match counts.min() {
            Some((failed, place)) if failed < works => format!(
                "no contender completes {all}; {} completes {} of {works}",
                contenders[place],
                works - failed
            ),
            Some(_) => format!(
                "no contender completes {}",
                if works == 1 { "it" } else { "any of them" }
            ),
            None => "not all runs are done".to_owned(),
        };
    };
    let name = &contenders[best];
    if budget.standings.len() == 1 {
        return format!("{name} completes {all}");
    }
    if complete == 1 {
        return format!("only {name} completes {all}");
    }
    if budget.as_good.is_empty() {
        return format!("{name} is the fastest");
    }
    let others: Vec<&str> = budget.as_good.iter().map(|place| contenders[*place].as_str()).collect();
    format!(
        "{name} is the fastest, but the lead over {} may be noise",
        list(&others)
    )
}

fn text(contenders: &[String], budgets: &[Budget], works: usize) -> Vec<String> {
    let mut ranges: Vec<(f64, f64, String)> = Vec::new();
    let mut leads: Vec<Vec<(f64, String)>> = Vec::new();
    for budget in budgets {
        let said = verdict(contenders, budget, works);
        let lead = budget.next.as_ref();
        let lead = lead.map(|(place, ratio)| {
            let takes = format!("{} takes {} the time", contenders[*place], format::ratio(ratio));
            (budget.multiple, takes)
        });
        match (ranges.last_mut(), leads.last_mut()) {
            (Some((_, to, same)), Some(before)) if *same == said => {
                *to = budget.multiple;
                before.extend(lead);
            }
            _ => {
                ranges.push((budget.multiple, budget.multiple, said));
                leads.push(lead.into_iter().collect());
            }
        }
    }
    let parts: Vec<String> = ranges
        .into_iter()
        .zip(leads)
        .map(|((from, to, said), leads)| {
            let range = if from == to {
                format!("At {}", times(from))
            } else {
                format!("From {} to {}", times(from), times(to))
            };
            let lead = match &leads[..] {
                [] => String::new(),
                [(_, takes)] => format!("; {takes}"),
                several => {
                    let at = several
                        .iter()
                        .map(|(multiple, takes)| format!("{takes} at {}", times(*multiple)));
                    format!("; {}", at.collect::<Vec<_>>().join(", "))
                }
            };
            format!("{range} the least heap: {said}{lead}.")
        })
        .collect();
    let mut text = vec![parts.join(" ")];
    let needs: Vec<String> = contenders
        .iter()
        .enumerate()
        .map(|(place, name)| needs(name, place, budgets))
        .collect();
    if contenders.len() > 1 {
        text.push(format!(
            "The least multiple that was run and completes all workloads: {}.",
            needs.join("; ")
        ));
    }
    text
}

/// The least budget from which on a contender completes all workloads.
fn needs(name: &str, place: usize, budgets: &[Budget]) -> String {
    let completes = |budget: &&Budget| matches!(budget.standings[place], Standing::Completes(_));
    let Some(last) = budgets.iter().rposition(|budget| !completes(&budget)) else {
        return format!("{name} {} or less", times(budgets[0].multiple));
    };
    match budgets.get(last + 1) {
        Some(budget) => format!("{name} {}", times(budget.multiple)),
        None => format!("{name} more than {}", times(budgets[last].multiple)),
    }
}
