//! The lower bound of the cost of garbage collection (lower-bound overhead, LBO): for each
//! workload, the cost of each configuration over the lowest cost of the program alone that any of
//! them shows.
//!
//! A run has a cost C (elapsed time, CPU time), of which G is known to be spent in collections. The
//! rest, C - G, is at least the cost of the program alone: barriers, allocation and disturbed
//! caches are still in it. The configuration with the least rest is the *baseline*. The overhead of
//! a configuration is the effect of its C against the baseline's rest. More configurations can only
//! lower the baseline, so figures from different sets of configurations cannot be compared.
//! `docs/measures.md` has the blind spots.
//!
//! Source: Cai, Blackburn, Bond and Maas, "Distilling the Real Cost of Production Garbage
//! Collectors" (ISPASS 2022).

use super::common::{Context, Places, legend, runs_of, word_cells, word_columns};
use crate::chart::Point;
use crate::document::{Cell, Column, Part, Section, Table};
use crate::format;
use crate::metric::{self, Metric};
use crate::summary::{Group, Summary, Work, values_of};
use gclab_results::RunRecord;
use gclab_results::inference::{Effect, Order, Spread};

/// The costs: a name, the total, and the part in collections.
const COSTS: [(&str, Metric, Metric); 2] = [
    ("elapsed time", metric::TOTAL_ELAPSED, metric::GC_ELAPSED),
    ("CPU time", metric::TOTAL_CPU, metric::GC_CPU),
];

/// The overheads of the configurations of one workload by one cost.
struct Overheads<'a> {
    baseline: &'a Group<'a>,
    /// The baseline's cost without collections.
    least: f64,
    overheads: Vec<(&'a Group<'a>, Effect)>,
}

impl Overheads<'_> {
    fn of(&self, group: &Group<'_>) -> Option<&Effect> {
        let found = self.overheads.iter().find(|(other, _)| std::ptr::eq(*other, group));
        found.map(|(_, effect)| effect)
    }
}

/// A cost of each run without its part in collections, with the round of the run.
fn rest(group: &Group<'_>, total: &Metric, collections: &Metric) -> Vec<(u32, f64)> {
    let rest = |run: &RunRecord| Some((run.round, total.of(run)? - collections.of(run)?));
    group.ok().filter_map(rest).collect()
}

/// The overheads by a cost; `None` with fewer than two configurations whose runs all have it.
fn overheads<'a>(work: &'a Work<'a>, total: &Metric, collections: &Metric) -> Option<Overheads<'a>> {
    let has_both = |run: &RunRecord| total.of(run).is_some() && collections.of(run).is_some();
    let takes_part =
        |group: &&Group<'_>| group.failures().is_empty() && group.ok().next().is_some() && group.ok().all(has_both);
    let groups: Vec<&Group<'_>> = work.groups.iter().filter(takes_part).collect();
    let least = |group: &Group<'_>| Spread::of(values_of(&rest(group, total, collections))).map(|spread| spread.center);
    let (baseline, least) = groups
        .iter()
        .filter_map(|group| Some((*group, least(group).filter(|rest| *rest > 0.0)?)))
        .min_by(|a, b| a.1.total_cmp(&b.1))?;
    let base = rest(baseline, total, collections);
    let overhead = |group: &&'a Group<'a>| Some((*group, Effect::of(&base, &group.values(total), Order::Interleaved)?));
    let overheads: Vec<_> = groups.iter().filter_map(overhead).collect();
    (overheads.len() > 1).then_some(Overheads {
        baseline,
        least,
        overheads,
    })
}

/// The section, if a workload has two or more configurations.
pub(super) fn section(of: &Context<'_>) -> Option<Section> {
    let summary = of.summary;
    let mut parts = Vec::new();
    for work in summary.timed_works() {
        let found: Vec<(&str, &Metric, Overheads<'_>)> = COSTS
            .iter()
            .filter_map(|(name, total, collections)| Some((*name, total, overheads(work, total, collections)?)))
            .collect();
        if found.is_empty() {
            continue;
        }
        let least = found.iter().map(|(name, total, found)| {
            let cost = total.unit.text_with_unit(found.least);
            format!(
                "{cost} of {name} without collections, by {}",
                summary.label(found.baseline, &[])
            )
        });
        parts.push(Part::Heading(work.title.clone()));
        parts.push(Part::Paragraph(format!(
            "The least costs: {}.",
            least.collect::<Vec<_>>().join("; ")
        )));
        let table = Part::Table(table(summary, work, &found));
        match &summary.axes[..] {
            // With several axes the table is easier to read.
            [axis] => {
                let places = Places::new(summary, Some(axis));
                let charts = found.iter().map(|(name, _, overheads)| {
                    let point = |group: &Group<'_>, x: f64| {
                        let effect = overheads.of(group)?;
                        Some(Point {
                            ends: effect.ci95().map(|ci| (ci.low, ci.high)),
                            tip: format!("{}: {}", summary.label(group, &[]), format::effect(effect)),
                            subject: runs_of([group]),
                            ..Point::at(x, effect.ratio())
                        })
                    };
                    let chart = places.chart(format!("Lower-bound overhead, {name}"), work.groups.iter(), point);
                    crate::chart::Chart {
                        about: work.title.clone(),
                        ..chart
                    }
                });
                parts.extend(legend(summary).filter(|_| parts.len() == 2));
                parts.extend([Part::Charts(charts.collect()), Part::Details("Figures", vec![table])]);
            }
            _ => parts.push(table),
        }
    }
    (!parts.is_empty()).then(|| {
        parts.push(Part::Note(
            "The cost of each configuration over the least cost without collections that any configuration of the \
             workload shows: what collection costs at least. Barriers, allocation and disturbed caches cannot be told from \
             the program, so the true cost is higher. Elapsed time hides work that other threads do; CPU time does not. \
             A configuration with a failed run takes no part, and a runtime that reports only the elapsed time of its \
             collections takes part in that cost alone."
                .to_owned(),
        ));
        Section { title: "Lower bound on the cost of collection", parts, ..Section::default() }
    })
}

fn table(summary: &Summary<'_>, work: &Work<'_>, found: &[(&str, &Metric, Overheads<'_>)]) -> Table {
    let mut columns = word_columns(summary);
    columns.extend(found.iter().map(|(name, ..)| Column::figures(*name)));
    let takes_part = |group: &&Group<'_>| found.iter().any(|(.., overheads)| overheads.of(group).is_some());
    let rows = work.groups.iter().filter(takes_part).map(|group| {
        let mut cells = word_cells(summary, group);
        cells.extend(found.iter().map(|(.., overheads)| Cell::effect(overheads.of(group))));
        cells
    });
    Table {
        rows: rows.collect(),
        columns,
        ..Table::default()
    }
}
