//! The sections that answer the experiment's question.

use crate::analysis::answers::{Answer, Best, SENTENCES, answers, headline, knees, overall as over_all_workloads};
use crate::analysis::facts::is_failure;
use crate::analysis::memory::{self, Budget, Budgets, Standing};
use crate::analysis::panels::split_axes;
use crate::analysis::parallel::{Case, SHARING_FLAGS, advice};
use crate::document::{Cell, Column, Look, Part, Section, Table, Text, Topic};
use crate::folder::Results;
use crate::format::{self, list, mean_and_interval, median_and_range, times};
use crate::summary::{HEAP, Summary};
use gclab_results::Manifest;

/// The fastest collectors at each budget, if the experiment has any.
pub(super) fn budgets(summary: &Summary<'_>) -> Option<Section> {
    let found = memory::budgets(summary)?;
    let note = format!(
        "Each workload's heap is a multiple of its least heap, the least one with which any of these collectors \
         completes it: the same bytes for all collectors. Figures are the {} time over the best time of any collector \
         at any budget: the geometric mean over all workloads, with its 95 % interval. A collector that fails on a \
         workload has no figure. Figures in bold are the fastest, or differ from it by no more than noise.",
        summary.time_metric().title
    );
    let chart = (found.budgets.len() > 1).then(|| memory::overall_chart(summary, &found));
    let legend = Part::Legend(found.contenders.iter().cloned().enumerate().collect());
    let works = summary.works.len();
    let mut columns = vec![Column::words("Heap, in multiples of the least")];
    columns.extend(found.contenders.iter().map(Column::figures));
    let rows = found.budgets.iter().map(|budget| budget_row(budget, works)).collect();
    let Budgets { text, .. } = found;
    let table = Table {
        look: Look::Answers,
        columns,
        rows,
    };
    let mut parts = Vec::new();
    if let Some(chart) = chart {
        parts.extend([legend, Part::Charts(vec![chart])]);
    }
    parts.extend([Part::Table(table), Part::Note(note)]);
    Some(Section {
        topic: Topic::Budgets,
        text,
        parts,
    })
}

fn budget_row(budget: &Budget, works: usize) -> Vec<Cell> {
    let standings = budget.standings.iter().enumerate().map(|(place, standing)| {
        Cell::Text(Text {
            text: standing.text(works),
            more: standing.reasons(works),
            strong: budget.best == Some(place) || budget.as_good.contains(&place),
            failed: matches!(standing, Standing::Fails(_)),
            sort: None,
        })
    });
    let mut row = vec![Cell::strong(times(budget.multiple))];
    row.extend(standings);
    row
}

/// The least heaps, if the experiment has budgets.
pub(super) fn least_heaps(summary: &Summary<'_>, manifest: &Manifest) -> Option<Section> {
    summary.groups().find(|group| group.heap.is_some())?;
    let (contenders, minima) = memory::minima(manifest);
    let mut columns = vec![Column::words("Workload")];
    columns.extend(contenders.into_iter().map(Column::figures));
    let mut notes = Vec::new();
    let mut rows = Vec::new();
    for work in minima {
        let mut row = vec![Cell::strong(work.work)];
        row.extend(work.cells.into_iter().map(Cell::text));
        rows.push(row);
        notes.extend(work.notes.into_iter().map(Part::Paragraph));
    }
    let table = Table {
        look: Look::Answers,
        columns,
        rows,
    };
    let mut parts = vec![Part::Table(table)];
    parts.extend(notes);
    Some(Section {
        topic: Topic::LeastHeaps,
        text: Vec::new(),
        parts,
    })
}

/// Advice on parallel collection, if the runs say anything on it.
pub(super) fn sharing(summary: &Summary<'_>) -> Option<Section> {
    let advice = advice(summary)?;
    let time = summary.time_metric().title;
    let titles = [
        "Workload",
        "Setting",
        "Best with parallel collection",
        &format!("Its {time} time, over that without"),
        "GC time",
        "CPU time",
        "Verdict",
    ];
    let row = |case: &Case<'_>| {
        vec![
            Cell::strong(&case.work.title),
            Cell::text(if case.setting.is_empty() {
                format::ABSENT
            } else {
                &case.setting
            }),
            Cell::text(case.best()),
            Cell::ratio(case.time.as_ref().map(|time| &time.ratio)),
            Cell::ratio(case.gc.as_ref()),
            Cell::ratio(case.cpu.as_ref()),
            Cell::text(case.verdict()),
        ]
    };
    let table = Table {
        look: Look::Answers,
        columns: titles.map(Column::words).to_vec(),
        rows: advice.cases.iter().map(row).collect(),
    };
    let note = format!(
        "Ratios of means with their 95 % intervals; below 1 is less. The verdict is “on” or “off” only where the \
         interval of the {time} time lies on one side of 1, and “no difference” only where it lies within 5 % of 1. Each \
         row stands by itself: one in twenty intervals misses by design."
    );
    Some(Section {
        topic: Topic::Sharing,
        text: advice.text(),
        parts: vec![Part::Table(table), Part::Note(note)],
    })
}

/// One figure over all workloads, if there are several of them.
pub(super) fn overall(summary: &Summary<'_>) -> Option<Section> {
    // With multiples of the least heap, the budgets are the figure over all workloads.
    if summary.sweeps(HEAP) {
        return None;
    }
    let found = over_all_workloads(summary)?;
    let mut parts = match found.curve(summary) {
        Some(chart) => vec![collectors(summary), Part::Charts(vec![chart])],
        None => vec![Part::Forest(found.forest(summary))],
    };
    let note = "Geometric means of ratios of mean times, with 95 % intervals: below 1 is faster. The base is the best of \
         all settings, so it looks a little better than it is. A setting that fails on a workload has no figure, and \
         is shown as failing.";
    parts.push(Part::Note(note.to_owned()));
    Some(Section {
        topic: Topic::Overall,
        text: found.sentences(summary),
        parts,
    })
}

/// The colours of the collectors.
pub(super) fn collectors(summary: &Summary<'_>) -> Part {
    let names = summary.collectors.iter().map(|name| (*name).to_owned());
    Part::Legend(names.enumerate().collect())
}

/// The value from which on a swept flag does not matter, if a flag with numbers was swept.
pub(super) fn knee(summary: &Summary<'_>) -> Option<Section> {
    let axis = split_axes(summary).0?;
    // The section on parallel collection answers for its flags.
    let of_sharing = axis.flag == "N" || SHARING_FLAGS.contains(&axis.flag.as_str());
    if of_sharing && advice(summary).is_some() {
        return None;
    }
    let knees = knees(summary)?;
    let mut parts = Vec::new();
    // A few contenders on one workload are told in sentences.
    if knees.works.len() > 1 || knees.contenders.len() > SENTENCES {
        let mut columns = vec![Column::words("Workload")];
        columns.extend(knees.contenders.iter().map(Column::words));
        let row = |(work, cells): &(String, Vec<String>)| {
            let mut row = vec![Cell::strong(work)];
            row.extend(cells.iter().map(Cell::text));
            row
        };
        parts.push(Part::Table(Table {
            look: Look::Answers,
            columns,
            rows: knees.works.iter().map(row).collect(),
        }));
    }
    let note = format!(
        "The values of {} whose {} time is not worse than the best one, and the time that others take, over that of the \
         best value (ratios with 95 % intervals). A value is worse if it takes 5 % more and its whole interval lies above \
         1. It is as good only if its whole interval lies within 5 %; otherwise these runs cannot tell.",
        knees.flag,
        summary.time_metric().title
    );
    parts.push(Part::Note(note));
    Some(Section {
        topic: Topic::Knee,
        text: knees.sentences,
        parts,
    })
}

/// The best configurations. Nothing with one configuration of each workload, unless no run ended
/// well.
pub(super) fn best(summary: &Summary<'_>, dir: &Results) -> Option<Section> {
    let answers = answers(summary);
    let alone = summary.axes.is_empty() && summary.collectors.len() < 2;
    let answered = alone && !dir.profiled().is_empty()
        || summary.sweeps(HEAP) && memory::budgets(summary).is_some()
        || summary.collectors.len() < 2 && knees(summary).is_some();
    // A part of a sweep may have no timed run: the bands of profiles are its answer.
    let untimed = dir.runs().is_empty() && dir.untimed().next().is_some();
    let text = if untimed || answered && !answers.is_empty() {
        Vec::new()
    } else {
        headline(summary, &answers)
    };
    let mut parts = Vec::new();
    if !answers.is_empty() && !alone {
        let mut note = if answers.iter().any(|answer| answer.fastest.is_some()) {
            "Times are means with their 95 % intervals, and ratios are over the fastest mean (intervals by Fieller). Where \
             an interval contains 1, the lead may be noise. One in twenty intervals misses by design; the sentence above \
             judges all leads together (Benjamini and Hochberg). Memory and pauses are medians (least–greatest run). The best of \
             many settings looks a little better than it is."
        } else {
            "Memory and pauses are medians (least–greatest run)."
        }
        .to_owned();
        if dir.all_runs().any(is_failure) {
            note.push_str(" Configurations with a failed run take no part.");
        }
        parts = vec![Part::Table(best_table(summary, &answers)), Part::Note(note)];
    }
    (!text.is_empty() || !parts.is_empty()).then_some(Section {
        topic: Topic::Best,
        text,
        parts,
    })
}

fn best_table(summary: &Summary<'_>, answers: &[Answer<'_>]) -> Table {
    let is_timed = answers.iter().any(|answer| answer.fastest.is_some());
    let fastest = format!(
        "Fastest ({} time), and the others at their best",
        summary.time_metric().title
    );
    let titles = ["Workload", &fastest, "Least memory", "Smallest max pause"];
    let label = |best: &Best<'_>| best.group.label(&summary.axes);
    let row = |answer: &Answer<'_>| {
        [
            Cell::strong(&answer.work.title),
            Cell::Pairs(times_of(answer, label)),
            Cell::Pairs(tied(&answer.least_memory, label)),
            Cell::Pairs(tied(&answer.smallest_pause, label)),
        ]
    };
    // In an open loop no time depends on the collector.
    let shown = |place: &usize| is_timed || *place != 1;
    let keep = |row: [Cell; 4]| {
        row.into_iter()
            .enumerate()
            .filter(|(place, _)| shown(place))
            .map(|(_, cell)| cell)
            .collect()
    };
    Table {
        look: Look::Answers,
        columns: (0..titles.len())
            .filter(shown)
            .map(|place| Column::words(titles[place]))
            .collect(),
        rows: answers.iter().map(row).map(keep).collect(),
    }
}

/// The fastest configuration, the other collectors at their best, and the slowest one, each with
/// its time or its ratio.
fn times_of(answer: &Answer<'_>, label: impl Fn(&Best<'_>) -> String) -> Vec<(String, String)> {
    let fastest = answer
        .fastest
        .iter()
        .map(|best| (label(best), mean_and_interval(best.metric, &best.spread)));
    let others = answer
        .alternatives
        .iter()
        .map(|other| (label(&other.best), other.text()));
    let slowest = answer
        .slowest
        .iter()
        .map(|slowest| (format!("slowest: {}", label(&slowest.best)), slowest.text()));
    fastest.chain(others).chain(slowest).collect()
}

/// The configurations that share a figure, and the figure.
fn tied(best: &[Best<'_>], label: impl Fn(&Best<'_>) -> String) -> Vec<(String, String)> {
    let Some(first) = best.first() else { return Vec::new() };
    let names: Vec<String> = best.iter().map(label).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let value = format!(
        "{} {}",
        median_and_range(first.metric, &first.spread),
        first.metric.unit.name()
    );
    vec![(list(&names), value)]
}
