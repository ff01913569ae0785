//! The charts of a workload: time in the collector, time in the mutator and peak memory, against
//! the swept flags.
//!
//! The axis with the most values lies horizontally (numbers first). Each combination of values of
//! the other axes has a row of charts (small multiples). Charts in one column share their scale, so
//! that they can be compared by eye. Without a sweep the collectors lie on the horizontal axis.

use crate::chart::{Chart, Point, Series};
use crate::format;
use crate::metric::{self, Metric};
use crate::summary::{Group, HEAP, Summary, Work};
use gclab_results::Axis;
use gclab_words::size::read_number;

/// The most rows of charts for a workload; more settings are in the tables.
pub(crate) const MOST_PANELS: usize = 6;

/// A row of charts, which share the values of all axes but the horizontal one.
pub(crate) struct Panel {
    /// The shared values, e.g. `n=1m`; empty when no other flag was swept.
    pub(crate) heading: String,
    /// The charts, one for each figure.
    pub(crate) charts: Vec<Chart>,
}

const FIGURES: [(&Metric, &str); 3] = [
    (&metric::GC_ELAPSED, "GC time, s"),
    (&metric::MUT_ELAPSED, "Mutator time, s"),
    (&metric::PEAK_IN_USE, "Peak heap, MiB"),
];

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
pub(crate) fn by_other_axes<'w, 'a>(work: &'w Work<'a>, others: &[&Axis]) -> Vec<(String, Vec<&'w Group<'a>>)> {
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
pub(crate) fn panels(summary: &Summary<'_>, work: &Work<'_>) -> (Vec<Panel>, usize) {
    let (main, others) = split_axes(summary);
    let parts = by_other_axes(work, &others);
    let all = parts.len();
    let mut panels: Vec<Panel> = parts
        .into_iter()
        .take(MOST_PANELS)
        .map(|(heading, groups)| {
            let charts = FIGURES
                .iter()
                .map(|(metric, title)| chart(summary, main, metric, title, &groups))
                .collect();
            Panel { heading, charts }
        })
        .collect();
    for figure in 0..FIGURES.len() {
        let highest = panels
            .iter()
            .map(|panel| panel.charts[figure].highest())
            .fold(0.0, f64::max);
        panels.iter_mut().for_each(|panel| panel.charts[figure].y_max = highest);
    }
    for panel in &mut panels {
        panel
            .charts
            .retain(|chart| chart.series.iter().any(|s| s.points.iter().any(|p| p.y.is_some())));
    }
    panels.retain(|panel| !panel.charts.is_empty());
    (panels, all)
}

fn chart(summary: &Summary<'_>, main: Option<&Axis>, metric: &Metric, title: &str, groups: &[&Group<'_>]) -> Chart {
    let places = Places::new(summary, main);
    let series = summary.collectors.iter().enumerate().map(|(style, collector)| {
        let mine = groups
            .iter()
            .filter(|group| group.configuration.collector == *collector);
        let points = mine
            .map(|group| point(summary, metric, group, places.of(group)))
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
        title: title.to_owned(),
        x_label: places.label.clone(),
        x_log: places.log,
        series: series.filter(|s| !s.points.is_empty()).collect(),
        x_ticks: places.ticks,
        ..Chart::default()
    }
}

fn point(summary: &Summary<'_>, metric: &Metric, group: &Group<'_>, x: f64) -> Point {
    let label = group.label(&summary.axes);
    match group.spread(metric) {
        Some(spread) => {
            let shown = |value| metric.unit.shown(value);
            let range = format::median_and_range(metric, &spread);
            Point {
                x,
                y: Some((shown(spread.median), shown(spread.min), shown(spread.max))),
                tip: format!("{label}: {range} {}, {} runs", metric.unit.name(), spread.n),
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
                ..Point::default()
            }
        }
    }
}

/// The places of configurations on the horizontal axis.
struct Places<'s> {
    axis: Option<&'s Axis>,
    collectors: &'s [&'s str],
    numeric: bool,
    log: bool,
    joined: bool,
    label: String,
    ticks: Vec<(f64, String)>,
}

impl<'s> Places<'s> {
    /// At this ratio of the greatest to the least number, or more, an axis is logarithmic.
    const LOG_FROM: f64 = 8.0;

    fn new(summary: &'s Summary<'_>, axis: Option<&'s Axis>) -> Places<'s> {
        let collectors = &summary.collectors;
        let Some(axis) = axis else {
            let ticks = collectors
                .iter()
                .enumerate()
                .map(|(i, name)| (i as f64, (*name).to_owned()))
                .collect();
            let label = "collector".to_owned();
            return Places {
                axis: None,
                collectors,
                numeric: false,
                log: false,
                joined: false,
                label,
                ticks,
            };
        };
        let numbers: Vec<f64> = axis.values.iter().filter_map(|v| read_number(v)).collect();
        let least = numbers.iter().copied().fold(f64::INFINITY, f64::min);
        let greatest = numbers.iter().copied().fold(0.0, f64::max);
        let wide = greatest >= Self::LOG_FROM * least;
        // A zero among numbers of many sizes (`n = ["0", "1m"]`) fits on neither kind of scale.
        let numeric = numbers.len() == axis.values.len() && !(least <= 0.0 && wide);
        let place = |(i, value): (usize, &String)| {
            (
                if numeric {
                    read_number(value).unwrap_or(i as f64)
                } else {
                    i as f64
                },
                value.clone(),
            )
        };
        Places {
            axis: Some(axis),
            collectors,
            numeric,
            log: numeric && wide,
            joined: numeric,
            label: if axis.flag == HEAP {
                "heap, in multiples of the least heap".to_owned()
            } else {
                format!("-{}", axis.flag)
            },
            ticks: axis.values.iter().enumerate().map(place).collect(),
        }
    }

    fn of(&self, group: &Group<'_>) -> f64 {
        let Some(axis) = self.axis else {
            let at = self
                .collectors
                .iter()
                .position(|name| *name == group.configuration.collector);
            return at.unwrap_or(0) as f64;
        };
        let value = group.flag(&axis.flag);
        let index = axis.values.iter().position(|v| v == value).unwrap_or(0) as f64;
        if self.numeric {
            read_number(value).unwrap_or(index)
        } else {
            index
        }
    }
}
