//! The charts of a workload: total time, time in the collector, time in the mutator and peak
//! memory, against the swept flags.
//!
//! The axis with the most values lies horizontally (numbers first). Each combination of values of
//! the other axes has a row of charts (small multiples). Charts in one column share their scale, so
//! that they can be compared by eye. Without a sweep the collectors lie on the horizontal axis. A
//! chart with a single dot says no more than the table, so it is not drawn.

use crate::analysis::places::Places;
use crate::analysis::subject::runs_of;
use crate::chart::{Chart, Point, Series};
use crate::format::{self, SHORT, capital};
use crate::metric::{self, Metric, Unit};
use crate::summary::{Group, Summary, WorkloadRuns};
use gclab_core::words::size::read_number;
use gclab_results::Axis;

/// The most rows of charts for a workload; more settings are in the tables.
pub(crate) const MOST_PANELS: usize = 6;

/// A row of charts, which share the values of all axes but the horizontal one.
pub(crate) struct Panel {
    /// The shared values, e.g. `n=1m`; empty when no other flag was swept.
    pub(crate) heading: String,
    /// The charts, one for each figure.
    pub(crate) charts: Vec<Chart>,
}

/// The figures of the charts, each with the name of its chart.
fn figures(summary: &Summary<'_>) -> [(&'static Metric, String); 4] {
    let time = summary.time_metric();
    [
        (time, format!("{} time", capital(time.title))),
        (&metric::GC_ELAPSED, "GC time".to_owned()),
        (&metric::MUT_ELAPSED, "Mutator time".to_owned()),
        (&metric::PEAK_IN_USE, "Peak heap".to_owned()),
    ]
}

/// The axis that lies horizontally, and the others.
pub(crate) fn split_axes<'s>(summary: &'s Summary<'_>) -> (Option<&'s Axis>, Vec<&'s Axis>) {
    let numeric = |axis: &Axis| axis.values.iter().all(|v| read_number(v).is_some());
    // Of equal axes, the first one in the experiment file.
    let main = summary
        .axes
        .iter()
        .rev()
        .max_by_key(|axis| (numeric(axis), axis.values.len()));
    let others = summary.axes.iter().filter(|axis| Some(*axis) != main).collect();
    (main, others)
}

/// The values of the other axes that occur, in order, with the groups that have them.
pub(crate) fn by_other_axes<'w, 'a>(work: &'w WorkloadRuns<'a>, others: &[&Axis]) -> Vec<(String, Vec<&'w Group<'a>>)> {
    let mut parts: Vec<(String, Vec<&Group<'a>>)> = Vec::new();
    for group in &work.groups {
        let words: Vec<String> = others
            .iter()
            .map(|a| format!("{}={}", a.flag, group.flag(&a.flag)))
            .collect();
        let heading = words.join(" ");
        match parts.iter_mut().find(|(h, _)| *h == heading) {
            Some((_, groups)) => groups.push(group),
            None => parts.push((heading, vec![group])),
        }
    }
    parts
}

/// The charts of a workload in at most [`MOST_PANELS`] rows, and the number of all rows.
pub(crate) fn panels(summary: &Summary<'_>, work: &WorkloadRuns<'_>) -> (Vec<Panel>, usize) {
    let (main, others) = split_axes(summary);
    let parts = by_other_axes(work, &others);
    let all = parts.len();
    let figures = figures(summary);
    let units: Vec<(f64, &str)> = figures.iter().map(|(metric, _)| unit(work, metric)).collect();
    let mut panels: Vec<Panel> = parts
        .into_iter()
        .take(MOST_PANELS)
        .map(|(heading, groups)| {
            let charts = figures.iter().zip(&units).map(|((metric, name), unit)| Chart {
                title: format!("{name}, {}", unit.1),
                about: format!("{} {heading}", work.title).trim_end().to_owned(),
                ..chart(summary, main, metric, unit.0, &groups)
            });
            Panel {
                charts: charts.collect(),
                heading,
            }
        })
        .collect();
    for figure in 0..figures.len() {
        let highest = panels
            .iter()
            .map(|panel| panel.charts[figure].highest())
            .fold(0.0, f64::max);
        panels.iter_mut().for_each(|panel| panel.charts[figure].y_max = highest);
    }
    for panel in &mut panels {
        panel.charts.retain(|chart| chart.dots() > 1);
    }
    panels.retain(|panel| !panel.charts.is_empty());
    (panels, all)
}

/// The factor and the name of the unit in which a figure of a workload is drawn: short times are in
/// milliseconds.
fn unit(work: &WorkloadRuns<'_>, metric: &Metric) -> (f64, &'static str) {
    let most = work
        .groups
        .iter()
        .filter_map(|group| group.spread(metric))
        .map(|spread| spread.max);
    match metric.unit {
        Unit::Seconds if most.fold(0.0, f64::max) < SHORT => (1e3, "ms"),
        unit => (unit.shown(1.0), unit.name()),
    }
}

fn chart(summary: &Summary<'_>, main: Option<&Axis>, metric: &Metric, unit: f64, groups: &[&Group<'_>]) -> Chart {
    let places = Places::new(summary, main);
    let series = summary.collectors.iter().enumerate().map(|(style, collector)| {
        let mine = groups
            .iter()
            .filter(|group| group.configuration.collector == *collector);
        let points = mine
            .map(|group| point(summary, metric, unit, group, places.of(group)))
            .collect();
        Series {
            style,
            points,
            marks: true,
            joined: places.joined,
            ..Series::default()
        }
    });
    Chart {
        x_label: places.label.clone(),
        x_log: places.log,
        series: series.filter(|s| !s.points.is_empty()).collect(),
        x_ticks: places.ticks,
        ..Chart::default()
    }
}

fn point(summary: &Summary<'_>, metric: &Metric, unit: f64, group: &Group<'_>, x: f64) -> Point {
    let label = group.label(&summary.axes);
    match group.spread(metric) {
        Some(spread) => {
            let shown = |value: f64| value * unit;
            let range = format::median_and_range(metric, &spread);
            Point {
                x,
                y: Some((shown(spread.median), shown(spread.min), shown(spread.max))),
                tip: format!("{label}: {range} {}, {} runs", metric.unit.name(), spread.n),
                subject: runs_of([group]),
                ..Point::default()
            }
        }
        None => {
            let failures = group.failures_text();
            let reason = if failures.is_empty() { "not recorded" } else { &failures };
            Point {
                x,
                y: None,
                tip: format!("{label}: {reason}"),
                subject: runs_of([group]),
                ..Point::default()
            }
        }
    }
}
