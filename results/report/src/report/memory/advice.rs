//! The answer in words and as a table: at each budget the fastest contender that completes everything, and who dies where.

use super::super::time_metric;
use super::{contender, contenders, reason, times};
use crate::maths::{Ratio, Spread, geometric_mean_of_ratios};
use crate::metric::Metric;
use crate::summary::{Group, Summary, Work};

/// What a sweep over multiples of the least heap says.
#[derive(Debug)]
pub struct Budgets {
    /// The contenders, in alphabetical order.
    pub contenders: Vec<String>,
    /// Each multiple, in ascending order.
    pub budgets: Vec<Budget>,
    /// The recommendation and what belongs to it, a sentence or two each.
    pub text: Vec<String>,
}

/// One multiple of the least heap.
#[derive(Debug)]
pub struct Budget {
    /// The multiple.
    pub multiple: f64,
    /// How each contender stands, in their order.
    pub standings: Vec<Standing>,
    /// The fastest of those that complete all workloads: its place among the contenders.
    pub best: Option<usize>,
    /// Others that cannot be told from it, by their places.
    pub as_good: Vec<usize>,
}

/// How a contender stands at a budget.
#[derive(Debug, Clone, PartialEq)]
pub enum Standing {
    /// It completes all workloads, at this many times the best time there is at any budget.
    Lives(Ratio),
    /// It dies on these workloads: title and reason.
    Dies(Vec<(String, &'static str)>),
    /// Not all of it has been run.
    Unknown,
}

/// What these runs say; `None` when their heaps are no multiples.
pub fn budgets(summary: &Summary<'_>) -> Option<Budgets> {
    let mut multiples: Vec<f64> = summary.groups().filter_map(|group| group.heap).collect();
    multiples.sort_by(f64::total_cmp);
    multiples.dedup();
    if multiples.is_empty() {
        return None;
    }
    let contenders = contenders(summary);
    let time = time_metric(summary);
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

/// The least mean time on a workload of all configurations that complete: what times are relative to.
pub(super) fn best_time(work: &Work<'_>, time: &Metric) -> Option<Spread> {
    let lives = work.groups.iter().filter(|group| group.failures().is_empty());
    lives
        .filter_map(|group| group.spread(time))
        .min_by(|a, b| a.mean.total_cmp(&b.mean))
}

fn find<'w, 'a>(summary: &Summary<'_>, work: &'w Work<'a>, who: &str, multiple: f64) -> Option<&'w Group<'a>> {
    let mut groups = work.groups.iter();
    groups.find(|group| group.heap == Some(multiple) && contender(summary, group) == who)
}

/// The times of a contender on all workloads, or nothing if one is missing.
fn spreads(summary: &Summary<'_>, who: &str, time: &Metric, multiple: f64) -> Option<Vec<Spread>> {
    let of = |work| {
        find(summary, work, who, multiple)
            .filter(|group| group.failures().is_empty())?
            .spread(time)
    };
    summary.works.iter().map(of).collect()
}

fn standing(summary: &Summary<'_>, who: &str, time: &Metric, multiple: f64) -> Standing {
    let dies: Vec<(String, &'static str)> = summary
        .works
        .iter()
        .filter_map(|work| Some((work.title.clone(), reason(find(summary, work, who, multiple)?)?)))
        .collect();
    if !dies.is_empty() {
        return Standing::Dies(dies);
    }
    let best: Option<Vec<Spread>> = summary.works.iter().map(|work| best_time(work, time)).collect();
    let pairs = best.zip(spreads(summary, who, time, multiple));
    let ratio =
        pairs.and_then(|(best, mine)| geometric_mean_of_ratios(&best.into_iter().zip(mine).collect::<Vec<_>>()));
    ratio.map_or(Standing::Unknown, Standing::Lives)
}

fn budget(summary: &Summary<'_>, contenders: &[String], time: &Metric, multiple: f64) -> Budget {
    let standings: Vec<Standing> = contenders
        .iter()
        .map(|who| standing(summary, who, time, multiple))
        .collect();
    let lives = |standing: &Standing| match standing {
        Standing::Lives(ratio) => Some(ratio.estimate),
        _ => None,
    };
    let alive = standings
        .iter()
        .enumerate()
        .filter_map(|(place, standing)| Some((place, lives(standing)?)));
    let best = alive.clone().min_by(|a, b| a.1.total_cmp(&b.1)).map(|(place, _)| place);
    let same = |place: usize| {
        let of = |place: usize| spreads(summary, &contenders[place], time, multiple);
        let pairs = best.and_then(of).zip(of(place));
        let ratio =
            pairs.and_then(|(best, other)| geometric_mean_of_ratios(&best.into_iter().zip(other).collect::<Vec<_>>()));
        // Without an interval nothing can be told apart.
        ratio.is_some_and(|ratio| ratio.ci95.is_none_or(|ci| ci.contains(1.0)))
    };
    let as_good = alive
        .map(|(place, _)| place)
        .filter(|place| Some(*place) != best && same(*place))
        .collect();
    Budget {
        multiple,
        standings,
        best,
        as_good,
    }
}

/// What is said of one budget.
fn verdict(contenders: &[String], budget: &Budget, works: usize) -> String {
    let alive = budget
        .standings
        .iter()
        .filter(|s| matches!(s, Standing::Lives(_)))
        .count();
    let all = match works {
        1 => "the workload".to_owned(),
        2 => "both workloads".to_owned(),
        _ => format!("all {works} workloads"),
    };
    let Some(best) = budget.best else {
        let deaths = |standing: &Standing| match standing {
            Standing::Dies(dies) => Some(dies.len()),
            _ => None,
        };
        let counts = budget
            .standings
            .iter()
            .enumerate()
            .filter_map(|(place, s)| Some((deaths(s)?, place)));
        return match counts.min() {
            Some((dead, place)) if dead < works => format!(
                "nobody completes {all}; {} completes {} of {works}",
                contenders[place],
                works - dead
            ),
            Some(_) => format!("nobody completes {}", if works == 1 { "it" } else { "any of them" }),
            None => "not all runs are done".to_owned(),
        };
    };
    let name = &contenders[best];
    if budget.standings.len() == 1 {
        return format!("{name} completes {all}");
    }
    if alive == 1 {
        return format!("{name}, which alone completes {all}");
    }
    if budget.as_good.is_empty() {
        return format!("{name} is the fastest");
    }
    let others: Vec<&str> = budget.as_good.iter().map(|place| contenders[*place].as_str()).collect();
    format!("{name} is the fastest, but {} cannot be told from it", join(&others))
}

fn text(contenders: &[String], budgets: &[Budget], works: usize) -> Vec<String> {
    let mut ranges: Vec<(f64, f64, String)> = Vec::new();
    for budget in budgets {
        let said = verdict(contenders, budget, works);
        match ranges.last_mut() {
            Some((_, to, same)) if *same == said => *to = budget.multiple,
            _ => ranges.push((budget.multiple, budget.multiple, said)),
        }
    }
    let parts: Vec<String> = ranges
        .into_iter()
        .map(|(from, to, said)| {
            let range = if from == to {
                format!("At {}", times(from))
            } else {
                format!("From {} to {}", times(from), times(to))
            };
            format!("{range} the least heap: {said}.")
        })
        .collect();
    let mut text = vec![parts.join(" ")];
    let needs: Vec<String> = contenders
        .iter()
        .enumerate()
        .map(|(place, who)| needs(who, place, budgets))
        .collect();
    if contenders.len() > 1 {
        text.push(format!(
            "Of the multiples that were run, to complete everything {}.",
            needs.join("; ")
        ));
    }
    text
}

/// From which budget on a contender lives.
fn needs(who: &str, place: usize, budgets: &[Budget]) -> String {
    let lives = |budget: &&Budget| matches!(budget.standings[place], Standing::Lives(_));
    let Some(last_dead) = budgets.iter().rposition(|budget| !lives(&budget)) else {
        return format!("{who} needs {} at most", times(budgets[0].multiple));
    };
    match budgets.get(last_dead + 1) {
        Some(budget) => format!("{who} needs {}", times(budget.multiple)),
        None => format!("{who} needs more than {}", times(budgets[last_dead].multiple)),
    }
}

/// `a`, `a and b`, `a, b and c`.
fn join(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
