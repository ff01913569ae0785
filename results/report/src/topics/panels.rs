//! The charts of a workload: total time, time in the collector, time in the mutator and peak
//! memory, against the swept flags.
//!
//! The axis with the most values is horizontal (numbers first). Each combination of values of the
//! other axes has a row of charts (small multiples). Charts in one column share their scale, so
//! that they can be compared by eye. Without a sweep the names are on the horizontal axis. A chart
//! with a single mark adds nothing to the table, so it is not drawn.

use super::common::{Context, MOST_PANELS, Places, by_axes, legend, mark, split_axes};
use crate::chart::Chart;
use crate::document::{Part, Section};
use crate::format::{SHORT, capital, counted};
use crate::metric::{self, Metric, Unit};
use crate::summary::Work;

/// The section. If only the heap was swept, the curves say everything.
pub(super) fn section(of: &Context<'_>) -> Option<Section> {
    let summary = of.summary;
    if summary.axes.len() < 2 && summary.groups().any(|group| group.heap.is_some()) {
        return None;
    }
    let (main, others) = split_axes(summary);
    let places = Places::new(summary, main);
    let time = summary.time_metric();
    let figures: [(&Metric, String); 4] = [
        (time, format!("{} time", capital(time.title))),
        (&metric::GC_ELAPSED, "GC time".to_owned()),
        (&metric::MUT_ELAPSED, "Mutator time".to_owned()),
        (&metric::PEAK_IN_USE, "Peak heap".to_owned()),
    ];
    let mut parts = Vec::new();
    for work in &summary.works {
        let all = by_axes(work, &others);
        let left_out = all.len().saturating_sub(MOST_PANELS);
        let mut rows: Vec<(String, Vec<Chart>)> = all
            .into_iter()
            .take(MOST_PANELS)
            .map(|(heading, groups)| {
                let charts = figures.iter().map(|(metric, name)| {
                    let (scale, unit) = unit(work, metric);
                    let point = |group: &crate::summary::Group<'_>, x| Some(mark(summary, metric, group, x, scale));
                    Chart {
                        about: format!("{} {heading}", work.title).trim_end().to_owned(),
                        ..places.chart(format!("{name}, {unit}"), groups.iter().copied(), point)
                    }
                });
                let charts = charts.collect();
                (heading, charts)
            })
            .collect();
        for figure in 0..figures.len() {
            let highest = rows
                .iter()
                .map(|(_, charts)| charts[figure].highest())
                .fold(0.0, f64::max);
            rows.iter_mut().for_each(|(_, charts)| charts[figure].y_max = highest);
        }
        rows.iter_mut()
            .for_each(|(_, charts)| charts.retain(|chart| chart.dots() > 1));
        rows.retain(|(_, charts)| !charts.is_empty());
        for (heading, charts) in rows {
            let comma = if heading.is_empty() { "" } else { ", " };
            parts.extend([
                Part::Heading(format!("{}{comma}{heading}", work.title)),
                Part::Charts(charts),
            ]);
        }
        if left_out > 0 {
            parts.push(Part::Note(format!(
                "The tables have {}.",
                counted(left_out, "more setting")
            )));
        }
    }
    (!parts.is_empty()).then(|| {
        let note = "Marks are geometric means and dots single runs; a dot at the upper edge lies above it. A cross is a \
                    configuration without a good run. The charts of one column share their scale within a workload.";
        let parts = legend(summary).into_iter().chain(parts).chain([Part::Note(note.to_owned())]);
        Section { title: "Time and memory", parts: parts.collect(), ..Section::default() }
    })
}

/// The factor and the name of the unit in which a figure of a workload is drawn: short times are in
/// milliseconds.
fn unit(work: &Work<'_>, metric: &Metric) -> (f64, &'static str) {
    let centers = work
        .groups
        .iter()
        .filter_map(|group| group.spread(metric))
        .map(|spread| spread.center);
    match metric.unit {
        Unit::Seconds if centers.fold(0.0, f64::max) < SHORT => (1e3, "ms"),
        unit => (unit.shown(1.0), unit.name()),
    }
}
