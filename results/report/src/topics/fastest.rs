//! Which setting is fastest, overall and on each workload, and how the settings compare in memory
//! and pauses.
//!
//! Each collector or program is represented by its best setting, under its bare name unless that
//! setting was shown to be better than its others. Memory and pauses are ranked like times: a tie is
//! reported as one. A setting that fails on a workload has no overall figure, since
//! a mean over the others would flatter it. A workload that no setting completes is named and left
//! out.

use super::common::{Context, Places, legend, rank_cell, runs_of};
use super::parallel::SHARING;
use crate::chart::{Chart, Forest, ForestRow, Point};
use crate::document::{Cell, Column, Look, Part, Place, Section, Table};
use crate::format::{self, capital, counted, list};
use crate::metric::{self, Metric};
use crate::ranking::{Contender, NEAR, Ranking, Verdict, contenders, judge_together, settings};
use crate::summary::{HEAP, Summary, Work};
use std::collections::BTreeSet;

/// Maximum number of settings in a chart whose horizontal axis has no numbers; the best ones are
/// drawn.
const MOST_ROWS: usize = 16;

/// Maximum number of workloads with figures in the sentence when nothing is compared.
const FIGURES: usize = 3;

/// The section; `None` if no run succeeded, which [`nothing`] reports.
pub(super) fn section(of: &Context<'_>) -> Option<Section> {
    let summary = of.summary;
    if summary.works.is_empty() || summary.sweeps(HEAP) && super::memory::is_answer(summary) {
        return None;
    }
    let time = summary.time_metric();
    let (works, failed): (Vec<&Work<'_>>, Vec<&Work<'_>>) =
        summary.works.iter().partition(|work| has_time(work, summary));
    let mut text = Vec::new();
    let mut parts = Vec::new();
    let mut rankings = Vec::new();
    let timed: Vec<&Work<'_>> = works.iter().copied().filter(|work| !work.is_open_loop()).collect();
    if summary.is_alone() {
        text.extend(alone(summary, &timed));
    } else {
        let all = settings(summary, &timed);
        let leading = leading(summary);
        let is_answered = leading.is_some() || is_answered(summary);
        text.extend(leading);
        if timed.len() > 1 {
            let overall = Ranking::of(time, &best_of_names(summary, time, &all, &timed), &timed);
            let all_works = all_of(&timed);
            match &overall {
                Some(ranking) if !is_answered => text.push(ranking.sentence("fastest", &format!(" over {all_works}"))),
                Some(_) => {}
                None => text.push(format!("No setting completes {all_works}.")),
            }
            rankings.extend(overall);
        }
        if let Some(ranking) = Ranking::of(time, &all, &timed) {
            parts.extend(chart(summary, &all, &ranking, &timed));
        }
        let mut each: Vec<(&Work<'_>, Option<Ranking>)> = works
            .iter()
            .map(|work| {
                let all = settings(summary, &[work]);
                let best = best_of_names(summary, time, &all, &[work]);
                (
                    *work,
                    Ranking::of(time, &best, &[work]).filter(|_| !work.is_open_loop()),
                )
            })
            .collect();
        judge_together(each.iter_mut().filter_map(|(_, ranking)| ranking.as_mut()));
        if let [(work, Some(ranking))] = &each[..]
            && !is_answered
        {
            let scope = if summary.names.len() > 1 && super::common::kind(summary) == "program" {
                String::new()
            } else {
                format!(" on {}", work.title)
            };
            text.push(ranking.sentence("fastest", &scope));
        }
        parts.push(Part::Table(table(summary, &each)));
        rankings.extend(each.into_iter().filter_map(|(_, ranking)| ranking));
        parts.push(Part::Note(format!(
            "Ratios of geometric means with their 95 % intervals, in pairs of runs of the same round. A setting is called \
             best only if all others were shown to be worse, and leads on several workloads are judged together (Benjamini \
             and Hochberg). {NEAR_NOTE}",
        )));
    }
    text.extend(without_an_answer(&failed));
    (!text.is_empty() || !parts.is_empty()).then_some(Section {
        title: "Which is the fastest?",
        place: Place::Answer,
        text,
        rankings,
        parts,
    })
}

/// Whether a setting completes a workload.
fn has_time(work: &Work<'_>, summary: &Summary<'_>) -> bool {
    let mut groups = work.groups.iter();
    groups.any(|group| is_complete(group, summary.time_metric()))
}

fn all_of(works: &[&Work<'_>]) -> String {
    match works.len() {
        2 => "both workloads".to_owned(),
        n => format!("all {n} workloads"),
    }
}

/// The answer if no setting leads alone, but all leaders have the same value of an axis: `N=4 leads,
/// and A is undecided`. The axes of parallel collection have an answer of their own.
pub(super) fn leading(summary: &Summary<'_>) -> Option<String> {
    if summary.names.len() > 1 || summary.sweeps(HEAP) || super::knee::compares_all(summary) {
        return None;
    }
    let works: Vec<&Work<'_>> = summary.timed_works().filter(|work| has_time(work, summary)).collect();
    let all = settings(summary, &works);
    let ranking = Ranking::of(summary.time_metric(), &all, &works)?;
    let next = ranking.ranks.iter().find(|rank| rank.verdict == Verdict::Worse)?;
    let first = all[ranking.first().place].group();
    let is_shared = |flag: &str| {
        let mut leaders = ranking.leaders();
        leaders.all(|rank| all[rank.place].group().flag(flag) == first.flag(flag))
    };
    let axes = summary.axes.iter().map(|axis| axis.flag.as_str());
    let (decided, mut open): (Vec<&str>, Vec<&str>) = axes.partition(|flag| is_shared(flag));
    if decided.iter().all(|flag| SHARING.contains(flag)) || open.is_empty() {
        return None;
    }
    let decided: Vec<String> = decided
        .iter()
        .map(|flag| format!("{flag}={}", first.flag(flag)))
        .collect();
    let scope = match &works[..] {
        [work] => format!(" on {}", work.title),
        _ => format!(" over {}", all_of(&works)),
    };
    let next = format!("{} {}", next.label, next.takes());
    open.retain(|flag| !(super::parallel::is_answer(summary) && SHARING.contains(flag)));
    let leads = format!("{} leads{scope}", decided.join(" "));
    let (is, do_) = match open.len() {
        1 => ("is", "makes"),
        _ => ("are", "make"),
    };
    let others = ranking.open()?;
    Some(match (&others.effect, list(&open)) {
        (_, open) if open.is_empty() => format!("{leads}: {next}."),
        (_, open) if others.verdict == Verdict::Tied => {
            format!(
                "{leads}, and {open} {do_} no difference (within {}): {next}.",
                format::percent(NEAR)
            )
        }
        (effect, open) => {
            let advice = match effect {
                _ if others.verdict == Verdict::Disturbed => "; stop other programs and repeat".to_owned(),
                Some(effect) => format!("; {}", format::advice(effect, NEAR)),
                None => String::new(),
            };
            format!(
                "{leads}, and {open} {is} undecided: {next}, {} {}{advice}.",
                others.label,
                others.takes()
            )
        }
    })
}

/// What counts as a tie.
const NEAR_NOTE: &str = "Two figures tie if they are the same within 5 % for certain.";

/// Whether the section on a swept flag compares all settings, so that it answers the question
/// instead.
fn is_answered(summary: &Summary<'_>) -> bool {
    summary.names.len() < 2 && super::knee::compares_all(summary) || super::parallel::compares_all(summary)
}

fn is_complete(group: &crate::summary::Group<'_>, metric: &Metric) -> bool {
    group.failures().is_empty() && group.has(metric)
}

/// Each name at its best setting, which the label says only if it was shown to be the best; or all
/// settings if there is only one name.
fn best_of_names<'a>(
    summary: &Summary<'_>,
    metric: &Metric,
    all: &[Contender<'a>],
    works: &[&Work<'_>],
) -> Vec<Contender<'a>> {
    if summary.names.len() < 2 {
        return all.to_vec();
    }
    let best = |name: &String| {
        let mut mine: Vec<Contender<'_>> = all.iter().filter(|one| one.group().name == *name).cloned().collect();
        let Some(ranking) = Ranking::of(metric, &mine, works) else {
            return mine.into_iter().next();
        };
        let mut best = mine.swap_remove(ranking.first().place);
        if ranking.best().is_none() {
            best.label.clone_from(name);
        }
        Some(best)
    };
    summary.names.iter().filter_map(best).collect()
}

/// The sentence when nothing is compared.
fn alone(summary: &Summary<'_>, works: &[&Work<'_>]) -> Option<String> {
    let time = summary.time_metric();
    let figure = |work: &&Work<'_>| {
        let group = work.groups.first()?;
        let spread = group.spread(time)?;
        Some(format!(
            "{} takes {} in {}",
            work.title,
            format::spread(time, &spread),
            counted(spread.n, "run")
        ))
    };
    let figures: Vec<String> = works.iter().filter_map(figure).collect();
    let shown = figures.iter().take(FIGURES).cloned().collect::<Vec<_>>().join("; ");
    let more = match figures.len().saturating_sub(FIGURES) {
        0 => String::new(),
        more => format!("; the tables have {more} more"),
    };
    (!figures.is_empty()).then(|| format!("{shown}{more}. One setting was measured, so nothing is compared."))
}

/// A sentence about the workloads that no setting completes.
fn without_an_answer(failed: &[&Work<'_>]) -> Option<String> {
    let name = |work: &&Work<'_>| {
        let reasons: BTreeSet<&str> = work
            .groups
            .iter()
            .flat_map(|group| group.failures().into_keys())
            .collect();
        let reasons: Vec<&str> = reasons.into_iter().collect();
        (!reasons.is_empty()).then(|| format!("{} ({})", work.title, reasons.join(", ")))
    };
    let names: Vec<String> = failed.iter().filter_map(name).collect();
    (!names.is_empty()).then(|| format!("No setting completes {}.", list(&names)))
}

/// A row for each workload: the fastest, the next one, and the best by memory and by pauses.
fn table(summary: &Summary<'_>, each: &[(&Work<'_>, Option<Ranking>)]) -> Table {
    let by = |metric: &Metric, work: &Work<'_>| {
        let all = contenders(&[work], |group| Some(summary.label(group, &[])));
        Ranking::of(metric, &all, &[work])
    };
    let memory = if summary.has(&metric::PEAK_IN_USE) {
        &metric::PEAK_IN_USE
    } else {
        &metric::MAX_RSS
    };
    let mut columns = vec![Column::words("workload")];
    let is_timed = each.iter().any(|(_, ranking)| ranking.is_some());
    if is_timed {
        columns.extend(["fastest", "the next takes"].map(Column::words));
    }
    let others: Vec<(&str, &Metric)> = [("least memory", memory), ("shortest max pause", &metric::MAX_PAUSE)]
        .into_iter()
        .filter(|(_, metric)| summary.has(metric))
        .collect();
    columns.extend(others.iter().map(|(title, _)| Column::words(*title)));
    let rows = each.iter().map(|(work, ranking)| {
        let mut row = vec![Cell::strong(&work.title)];
        if is_timed {
            row.extend(match ranking {
                Some(ranking) => fastest(ranking),
                None => [Cell::absent(), Cell::absent()],
            });
        }
        let words = |metric: &Metric| by(metric, work).map_or_else(Cell::absent, |ranking| Cell::text(ranking.words()));
        row.extend(others.iter().map(|(_, metric)| words(metric)));
        row
    });
    Table {
        rows: rows.collect(),
        columns,
        look: Look::Answers,
        runs: None,
    }
}

/// The fastest with its time, and the runner-up with its extra time.
fn fastest(ranking: &Ranking) -> [Cell; 2] {
    let first = ranking.first();
    let time = first
        .spread
        .map(|spread| ranking.metric.unit.text_with_unit(spread.center));
    let next = ranking.ranks.get(1);
    let next = next.map_or_else(Cell::absent, |next| {
        let cell = rank_cell(next);
        Cell::text(format!("{}: {}", next.label, cell.line()))
    });
    let name = match first.verdict {
        Verdict::Best => Cell::strong(format!("{} {}", first.label, time.unwrap_or_default()).trim_end()),
        _ if ranking.tied().len() > 1 => Cell::text(ranking.words()),
        verdict => Cell::text(match verdict {
            Verdict::Disturbed | Verdict::TooNoisy => verdict.word().to_owned(),
            _ => "not decided".to_owned(),
        }),
    };
    [name, next]
}

/// The time of each setting over the best, as a curve or with a row for each.
fn chart(summary: &Summary<'_>, all: &[Contender<'_>], ranking: &Ranking, works: &[&Work<'_>]) -> Vec<Part> {
    let title = format!(
        "{} time over {}, relative to {}",
        capital(ranking.metric.title),
        counted(works.len(), "workload"),
        ranking.first().label
    );
    if let [axis] = &summary.axes[..] {
        let places = Places::new(summary, Some(axis));
        if places.joined() {
            let groups = all.iter().map(Contender::group);
            let point = |group: &crate::summary::Group<'_>, x: f64| {
                let place = all.iter().position(|one| std::ptr::eq(one.group(), group))?;
                Some(effect_point(ranking, &all[place], place, x))
            };
            let chart = Chart {
                wide: true,
                ..places.chart(title, groups, point)
            };
            return legend(summary).into_iter().chain([Part::Charts(vec![chart])]).collect();
        }
    }
    let rows = ranking.ranks.iter().take(MOST_ROWS).map(|rank| ForestRow {
        style: summary.style_of(&all[rank.place].group().name),
        label: rank.label.clone(),
        value: match (&rank.effect, rank.verdict) {
            (_, Verdict::Fails) => None,
            (Some(effect), _) => Some((effect.ratio(), effect.ci95().map(|ci| (ci.low, ci.high)))),
            (None, _) => Some((1.0, Some((1.0, 1.0)))),
        },
        text: rank_cell(rank).text,
    });
    let more = match ranking.ranks.len().saturating_sub(MOST_ROWS) {
        0 => String::new(),
        more => format!(" (the tables have {more} more)"),
    };
    vec![Part::Forest(Forest {
        title: format!("{title}{more}"),
        rows: rows.collect(),
    })]
}

/// The point of a contender's effect against the best of a ranking.
pub(super) fn effect_point(ranking: &Ranking, contender: &Contender<'_>, place: usize, x: f64) -> Point {
    let subject = runs_of(contender.groups());
    let Some(rank) = ranking.of_place(place).filter(|one| one.verdict != Verdict::Fails) else {
        return Point {
            x,
            tip: format!("{}: fails", contender.label),
            subject,
            ..Point::default()
        };
    };
    let effect = rank.effect.as_ref();
    let ends = effect.and_then(|effect| effect.ci95()).map(|ci| (ci.low, ci.high));
    Point {
        ends,
        hollow: effect.is_some() && ends.is_none(),
        tip: format!(
            "{}: {}",
            contender.label,
            effect.map_or_else(|| "the best".to_owned(), format::effect)
        ),
        subject,
        ..Point::at(x, effect.map_or(1.0, |effect| effect.ratio()))
    }
}
