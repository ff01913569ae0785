//! Request latency: which setting answers soonest, and within what time.
//!
//! Percentiles of several runs are not pooled: a figure is the centre of the runs, with the
//! smallest and largest. A setting answers *within* a time if each of its runs does. These times
//! are round: 1, 2 or 5 times a power of ten.

use super::common::{Context, MOST_PANELS, by_axes, legend, runs_of, word_cells, word_columns};
use crate::chart::{Chart, Point, Series};
use crate::document::{Cell, Column, Part, Place, Section, Table};
use crate::format::{self, short_list};
use crate::metric::{self, Metric};
use crate::ranking::{Ranking, contenders};
use crate::summary::{Group, Summary, Work};
use gclab_results::Axis;

/// The percentiles of the table and of the chart.
const PERCENTILES: [(f64, Metric); 5] = [
    (50.0, metric::LATENCY_P50),
    (90.0, metric::LATENCY_P90),
    (99.0, metric::LATENCY_P99),
    (99.9, metric::LATENCY_P99_9),
    (99.99, metric::LATENCY_P99_99),
];

/// The metered latency of closed loops: window, percentile and figure.
const METERED: [(&str, Metric); 8] = [
    ("1 ms: 99 %", metric::METERED_1_P99),
    ("1 ms: 99.9 %", metric::METERED_1_P99_9),
    ("10 ms: 99 %", metric::METERED_10_P99),
    ("10 ms: 99.9 %", metric::METERED_10_P99_9),
    ("100 ms: 99 %", metric::METERED_100_P99),
    ("100 ms: 99.9 %", metric::METERED_100_P99_9),
    ("whole run: 99 %", metric::METERED_P99),
    ("whole run: 99.9 %", metric::METERED_P99_9),
];

/// The section, if a workload answers requests.
pub(super) fn section(of: &Context<'_>) -> Option<Section> {
    let summary = of.summary;
    let has = |work: &&Work<'_>| work.groups.iter().any(|group| group.has(&metric::LATENCY_MAX));
    let works: Vec<&Work<'_>> = summary.works.iter().filter(has).collect();
    if works.is_empty() {
        return None;
    }
    let answers: Vec<(String, Option<Ranking>)> = works.iter().filter_map(|work| answer(summary, work)).collect();
    let mut parts: Vec<Part> = legend(summary).into_iter().collect();
    for work in &works {
        parts.extend([Part::Heading(work.title.clone()), Part::Charts(charts(summary, work))]);
        let all: Vec<(String, Metric)> = PERCENTILES
            .iter()
            .map(|(percent, metric)| (format!("{percent} % ms"), *metric))
            .collect();
        parts.push(Part::Table(table(summary, work, &all)));
        let metered: Vec<(String, Metric)> = METERED
            .iter()
            .map(|(title, metric)| ((*title).to_owned(), *metric))
            .collect();
        if work
            .groups
            .iter()
            .any(|group| METERED.iter().any(|(_, metric)| group.has(metric)))
        {
            parts.push(Part::Details(
                "Metered latency of the closed loop, in ms",
                vec![
                    Part::Note(
                        "The latency counts from the start that a request would have had, if the starts in a window \
                            around it were even. The wider the window, the longer the queue behind a pause."
                            .to_owned(),
                    ),
                    Part::Table(table(summary, work, &metered)),
                ],
            ));
        }
    }
    parts.push(Part::Note(
        "A percentile is absent where no request could exceed it because there were too few. In an open loop the latency \
         of a request counts from the time at which it was to start, so a pause delays all requests that fall into it."
            .to_owned(),
    ));
    let (text, rankings): (Vec<String>, Vec<Option<Ranking>>) = answers.into_iter().unzip();
    Some(Section {
        title: "Latency",
        place: Place::Answer,
        text,
        rankings: rankings.into_iter().flatten().collect(),
        parts,
    })
}

/// The answer for a workload: the settings ranked by the highest percentile that all have, and the
/// time within which they answer.
fn answer(summary: &Summary<'_>, work: &Work<'_>) -> Option<(String, Option<Ranking>)> {
    let groups: Vec<&Group<'_>> = work.groups.iter().filter(|group| group.failures().is_empty()).collect();
    let is_common = |(_, metric): &&(f64, Metric)| !groups.is_empty() && groups.iter().all(|group| group.has(metric));
    let (percent, metric) = PERCENTILES.iter().rev().find(is_common)?;
    let worst = |group: &&Group<'_>| group.spread(metric).map_or(f64::INFINITY, |spread| spread.max);
    let first = round_up(groups.iter().map(worst).fold(f64::INFINITY, f64::min));
    let last = round_up(groups.iter().map(worst).fold(0.0, f64::max));
    let within: Vec<String> = groups
        .iter()
        .filter(|group| worst(group) <= first)
        .map(|group| summary.label(group, &[]))
        .collect();
    let time = |seconds: f64| format!("{} ms", format::number(metric.unit.shown(seconds)));
    let by = if within.len() == groups.len() {
        "every setting".to_owned()
    } else {
        short_list(&within, 3)
    };
    let rest = if first < last {
        format!("; within {} by all", time(last))
    } else {
        String::new()
    };
    let within = format!(
        "{}: {percent} % of requests are answered within {} in every run by {by}{rest}.",
        work.title,
        time(first)
    );
    let all = contenders(&[work], |group| Some(summary.label(group, &[])));
    let ranking = Ranking::of(metric, &all, &[work]).filter(|_| groups.len() > 1);
    let text = match &ranking {
        Some(ranking) => format!("{within} {}", ranking.sentence("quickest to answer", "")),
        None => within,
    };
    Some((text, ranking))
}

/// The smallest of 1, 2 and 5 times a power of ten that is not below a time in seconds.
fn round_up(seconds: f64) -> f64 {
    if !seconds.is_normal() || seconds < 0.0 {
        return 0.0;
    }
    let power = 10f64.powf(seconds.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
    steps
        .into_iter()
        .find(|step| *step >= seconds * (1.0 - 1e-9))
        .unwrap_or(seconds)
}

/// A chart for each setting, with a line for each collector, against the share of slower requests.
fn charts(summary: &Summary<'_>, work: &Work<'_>) -> Vec<Chart> {
    let axes: Vec<&Axis> = summary.axes.iter().collect();
    let charts = by_axes(work, &axes).into_iter().map(|(heading, groups)| {
        let series = groups.iter().map(|group| Series {
            style: summary.style_of(&group.name),
            points: PERCENTILES
                .iter()
                .filter_map(|(percent, metric)| point(summary, group, *percent, metric))
                .collect(),
            marks: true,
            joined: true,
            ..Series::default()
        });
        let series: Vec<Series> = series.filter(|series| series.points.len() > 1).collect();
        let is_known = |x: f64| {
            series
                .iter()
                .flat_map(|series| &series.points)
                .any(|point| point.x == x)
        };
        let ticks = PERCENTILES
            .iter()
            .map(|(percent, _)| (share(*percent), format!("{percent}%")));
        Chart {
            title: format!("Latency, ms{}{heading}", if heading.is_empty() { "" } else { ": " }),
            about: work.title.clone(),
            x_label: "share of requests answered within this time".to_owned(),
            x_ticks: ticks.filter(|(x, _)| is_known(*x)).collect(),
            x_log: true,
            y_log: true,
            series,
            ..Chart::default()
        }
    });
    let mut charts: Vec<Chart> = charts.filter(|chart| chart.dots() > 1).take(MOST_PANELS).collect();
    // The same scale, so that settings can be compared by eye.
    let highest = charts.iter().map(Chart::highest).fold(0.0, f64::max);
    let lowest = charts.iter().map(Chart::lowest).fold(f64::INFINITY, f64::min);
    for chart in charts.iter_mut().filter(|_| lowest.is_finite()) {
        (chart.y_min, chart.y_max) = (lowest, highest);
    }
    charts
}

fn point(summary: &Summary<'_>, group: &Group<'_>, percent: f64, metric: &Metric) -> Option<Point> {
    let spread = group.spread(metric).filter(|spread| spread.min > 0.0)?;
    Some(Point {
        tip: format!(
            "{}, {percent} %: {}",
            summary.label(group, &[]),
            format::spread(metric, &spread)
        ),
        subject: runs_of([group]),
        ..Point::at(share(percent), metric.unit.shown(spread.center))
    })
}

/// The position of a percentile: one over the share of slower requests, so that each nine gets the
/// same room on a logarithmic axis.
fn share(percent: f64) -> f64 {
    100.0 / (100.0 - percent)
}

fn table(summary: &Summary<'_>, work: &Work<'_>, all: &[(String, Metric)]) -> Table {
    let known: Vec<&(String, Metric)> = all
        .iter()
        .filter(|(_, metric)| work.groups.iter().any(|group| group.has(metric)))
        .collect();
    let mut columns = word_columns(summary);
    columns.push(Column::figures("requests").wide());
    columns.extend(known.iter().map(|(title, _)| Column::figures(title)));
    columns.push(Column::figures("longest ms"));
    let row = |group: &Group<'_>| {
        let requests = group.ok().filter_map(|run| run.latency.as_ref()?.requests);
        let requests = requests.reduce(|one, other| one + other);
        let mut cells = word_cells(summary, group);
        cells.push(requests.map_or_else(Cell::absent, |all| Cell::number(all.to_string(), all as f64)));
        cells.extend(
            known
                .iter()
                .map(|(_, metric)| Cell::spread(metric, group.spread(metric))),
        );
        cells.push(Cell::spread(&metric::LATENCY_MAX, group.spread(&metric::LATENCY_MAX)));
        cells
    };
    Table {
        rows: work.groups.iter().map(row).collect(),
        columns,
        ..Table::default()
    }
}
