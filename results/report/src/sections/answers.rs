//! The sections that answer the experiment's question.

use crate::analysis::answer::{Answer, Best, answers, headline};
use crate::analysis::facts::is_failure;
use crate::analysis::memory::{self, Budget, Budgets, Standing};
use crate::analysis::parallel::{Case, advice};
use crate::document::{Cell, Column, Look, Part, Section, Table, Text, Topic};
use crate::format::{self, median_and_range, times};
use crate::summary::Summary;
use gclab_results::{Manifest, ResultsDir};

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
    Some(Section {
        topic: Topic::Budgets,
        text,
        parts: vec![Part::Table(table), Part::Note(note)],
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
            Cell::ratio(case.time.as_ref()),
            Cell::ratio(case.gc.as_ref()),
            Cell::ratio(case.cpu.as_ref()),
            Cell::text(case.effect.verdict()),
        ]
    };
    let table = Table {
        look: Look::Answers,
        columns: titles.map(Column::words).to_vec(),
        rows: advice.cases.iter().map(row).collect(),
    };
    let note = format!(
        "Ratios of means with their 95 % intervals; below 1 is less. The verdict is “on” or “off” only where the \
         interval of the {time} time lies on one side of 1."
    );
    Some(Section {
        topic: Topic::Sharing,
        text: advice.text(),
        parts: vec![Part::Table(table), Part::Note(note)],
    })
}

/// The best configurations.
pub(super) fn best(summary: &Summary<'_>, dir: &ResultsDir) -> Section {
    let answers = answers(summary);
    let mut parts = Vec::new();
    if !answers.is_empty() {
        let mut note = "Values are medians (least–greatest run). Ratios are mean times over that of the fastest \
             configuration, with the 95 % interval by Fieller; a ratio whose interval contains 1 may be noise. \
             The best of many settings looks a little better than it is."
            .to_owned();
        if dir.all_runs().any(is_failure) {
            note.push_str(" Configurations with a failed run take no part.");
        }
        parts = vec![Part::Table(best_table(summary, &answers)), Part::Note(note)];
    }
    Section {
        topic: Topic::Best,
        text: vec![headline(&answers)],
        parts,
    }
}

fn best_table(summary: &Summary<'_>, answers: &[Answer<'_>]) -> Table {
    let several = summary.collectors.len() > 1;
    let mut columns = vec![
        Column::words("Workload"),
        Column::words(format!("Fastest ({})", summary.time_metric().title)),
    ];
    if several {
        columns.push(Column::words("Other collectors at their best"));
    }
    let titles = ["Slowest, over the fastest", "Least memory", "Lowest longest pause"];
    columns.extend(titles.map(Column::words));
    let label = |best: &Best<'_>| best.group.label(&summary.axes);
    let pair = |best: &Best<'_>| {
        let value = median_and_range(best.metric, &best.spread);
        vec![(label(best), format!("{value} {}", best.metric.unit.name()))]
    };
    let row = |answer: &Answer<'_>| {
        let mut row = vec![Cell::strong(&answer.work.title), Cell::Pairs(pair(&answer.fastest))];
        if several {
            let alternatives = answer.alternatives.iter().map(|other| {
                let noise = if other.differs() == Some(false) {
                    ": may be noise"
                } else {
                    ""
                };
                let value = format!("{}{noise}", format::ratio_or_absent(other.ratio.as_ref()));
                (label(&other.best), value)
            });
            row.push(Cell::Pairs(alternatives.collect()));
        }
        let slowest = answer.slowest.as_ref();
        let slowest = slowest.map(|(slowest, times)| vec![(label(slowest), format!("{times:.2}×"))]);
        let others = [
            slowest,
            answer.least_memory.as_ref().map(pair),
            answer.lowest_pause.as_ref().map(pair),
        ];
        row.extend(others.map(|pairs| Cell::Pairs(pairs.unwrap_or_default())));
        row
    };
    Table {
        look: Look::Answers,
        columns,
        rows: answers.iter().map(row).collect(),
    }
}
