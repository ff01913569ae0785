//! Latency of requests: its percentiles, and which settings answer within which time.
//!
//! Percentiles of several runs are not pooled: a figure is the median of the runs with the least
//! and the greatest. A setting answers *within* a time if every one of its runs does. The times are
//! round (1, 2 or 5 times a power of ten): the least one that any setting keeps, and the least one
//! that all of them keep.

use crate::analysis::subject::runs_of;
use crate::chart::{Chart, Point, Series};
use crate::format::{self, list, median_and_range};
use crate::inference::{Spread, log_variance, ratio_of_means};
use crate::metric::{self, Metric};
use crate::power;
use crate::summary::{Group, Summary, WorkloadRuns};
use gclab_results::order::Arrange;

/// The percentiles of the table and of the chart.
pub(crate) const PERCENTILES: [(f64, Metric); 5] = [
    (50.0, metric::LATENCY_P50),
    (90.0, metric::LATENCY_P90),
    (99.0, metric::LATENCY_P99),
    (99.9, metric::LATENCY_P99_9),
    (99.99, metric::LATENCY_P99_99),
];

/// The metered latency of closed loops: the window and the percentile, and the figure.
pub(crate) const METERED: [(&str, Metric); 8] = [
    ("1 ms: 99 %", metric::METERED_1_P99),
    ("1 ms: 99.9 %", metric::METERED_1_P99_9),
    ("10 ms: 99 %", metric::METERED_10_P99),
    ("10 ms: 99.9 %", metric::METERED_10_P99_9),
    ("100 ms: 99 %", metric::METERED_100_P99),
    ("100 ms: 99.9 %", metric::METERED_100_P99_9),
    ("whole run: 99 %", metric::METERED_P99),
    ("whole run: 99.9 %", metric::METERED_P99_9),
];

/// The most settings that a sentence names.
const NAMES: usize = 4;

/// The latency of one configuration.
#[derive(Debug)]
pub(crate) struct LatencyRow<'a> {
    /// The configuration's runs.
    pub(crate) group: &'a Group<'a>,
    /// The number of requests of all its good runs.
    pub(crate) requests: u64,
    /// The figures in the order of [`PERCENTILES`]; absent where there were too few requests.
    pub(crate) percentiles: Vec<Option<Spread>>,
    /// The greatest latency of each run.
    pub(crate) longest: Option<Spread>,
    /// The figures in the order of [`METERED`]; absent in an open loop.
    pub(crate) metered: Vec<Option<Spread>>,
}

/// The configurations of a workload that answered requests.
pub(crate) fn rows<'a>(work: &'a WorkloadRuns<'a>) -> Vec<LatencyRow<'a>> {
    let row = |group: &'a Group<'a>| {
        let requests = group.ok().filter_map(|run| run.requests()).sum();
        (requests > 0).then(|| LatencyRow {
            group,
            requests,
            percentiles: PERCENTILES.iter().map(|(_, metric)| group.spread(metric)).collect(),
            longest: group.spread(&metric::LATENCY_MAX),
            metered: METERED.iter().map(|(_, metric)| group.spread(metric)).collect(),
        })
    };
    work.groups.iter().filter_map(row).collect()
}

/// The percentiles of some configurations in one chart, against the share of slower requests;
/// `about` is the workload.
pub(crate) fn chart(about: &str, title: &str, summary: &Summary<'_>, rows: &[&LatencyRow<'_>]) -> Chart {
    let series = rows.iter().map(|row| {
        let label = row.group.label(&summary.axes);
        let points = PERCENTILES
            .iter()
            .zip(&row.percentiles)
            .filter_map(|((percent, metric), spread)| {
                let spread = spread.as_ref().filter(|spread| spread.min > 0.0)?;
                let shown = |value| metric.unit.shown(value);
                let range = median_and_range(metric, spread);
                Some(Point {
                    x: share(*percent),
                    y: Some((shown(spread.median), shown(spread.min), shown(spread.max))),
                    tip: format!("{label}, {percent} %: {range} {}", metric.unit.name()),
                    subject: runs_of([row.group]),
                    ..Point::default()
                })
            });
        Series {
            style: summary.style_of(&row.group.configuration.collector),
            points: points.collect(),
            marks: true,
            joined: true,
            band: true,
            ..Series::default()
        }
    });
    let series: Vec<Series> = series.filter(|series| series.points.len() > 1).collect();
    let known = |percent: f64| {
        let x = share(percent);
        series
            .iter()
            .flat_map(|series| &series.points)
            .any(|point| point.x == x)
    };
    let ticks = PERCENTILES.iter().filter(|(percent, _)| known(*percent));
    Chart {
        title: title.to_owned(),
        about: about.to_owned(),
        x_label: "share of requests answered within this time".to_owned(),
        x_ticks: ticks
            .map(|(percent, _)| (share(*percent), format!("{percent}%")))
            .collect(),
        x_log: true,
        y_log: true,
        series,
        ..Chart::default()
    }
}

/// The place of a percentile: one over the share of slower requests, so that each nine has the same
/// room on a logarithmic axis.
fn share(percent: f64) -> f64 {
    100.0 / (100.0 - percent)
}

/// The answer for a workload: the settings that answer within a time, and the best one.
pub(crate) fn sentence(summary: &Summary<'_>, work: &WorkloadRuns<'_>, rows: &[LatencyRow<'_>]) -> Option<String> {
    let rows: Vec<&LatencyRow<'_>> = rows.iter().filter(|row| row.group.failures().is_empty()).collect();
    let place = (0..PERCENTILES.len())
        .rev()
        .find(|&at| !rows.is_empty() && rows.iter().all(|row| row.percentiles[at].is_some()))?;
    let (percent, metric) = &PERCENTILES[place];
    let mut found: Vec<(String, Spread)> = rows
        .iter()
        .filter_map(|row| Some((row.group.label(&summary.axes), row.percentiles[place]?)))
        .collect();
    found.arrange_by(|a, b| a.1.mean.total_cmp(&b.1.mean));
    let slowest = |all: &mut dyn Iterator<Item = f64>| all.fold(0.0, f64::max);
    let first = round_up(found.iter().map(|(_, spread)| spread.max).fold(f64::INFINITY, f64::min));
    let last = round_up(slowest(&mut found.iter().map(|(_, spread)| spread.max)));
    let time = |seconds: f64| format!("{} ms", format::number(metric.unit.shown(seconds)));
    let all = match found.len() {
        1 => found[0].0.clone(),
        2 => "both settings".to_owned(),
        several => format!("all {several} settings"),
    };
    let begin = format!("{}: {percent} % of the requests are answered", work.title);
    let mut text = if first >= last {
        format!("{begin} within {} in every run by {all}.", time(first))
    } else {
        let within: Vec<&str> = found
            .iter()
            .filter(|(_, spread)| spread.max <= first)
            .map(|(label, _)| label.as_str())
            .collect();
        format!(
            "{begin} within {} in every run by {}; within {} by {all}.",
            time(first),
            shortlist(&within),
            time(last)
        )
    };
    if let [best, next, ..] = &found[..] {
        text.push(' ');
        text.push_str(&lead(metric, best, next));
    }
    Some(text)
}

/// The sentence on the best setting, and on its lead over the next one.
fn lead(metric: &Metric, best: &(String, Spread), next: &(String, Spread)) -> String {
    let range = median_and_range(metric, &best.1);
    let said = format!("The least is {range} {} by {}", metric.unit.name(), best.0);
    let Some(ratio) = ratio_of_means(&best.1, &next.1) else {
        return format!("{said}.");
    };
    let against = format!("{} takes {} as long", next.0, format::ratio(&ratio));
    if ratio.differs() == Some(true) {
        return format!("{said}; {against}.");
    }
    let variance = log_variance(&best.1).zip(log_variance(&next.1));
    let verdict = power::verdict(variance.map(|(a, b)| a + b), Some(&ratio));
    format!("{said}; {against}: {verdict}.")
}

fn shortlist(names: &[&str]) -> String {
    if names.len() <= NAMES {
        return list(names);
    }
    format!("{} and {} more", names[..NAMES - 1].join(", "), names.len() + 1 - NAMES)
}

/// The least of 1, 2 and 5 times a power of ten that is not below a time in seconds.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lead_that_may_be_noise_is_told_with_a_verdict() {
        let spread = |name: &str, values: [f64; 4]| (name.to_owned(), Spread::of(values).expect("values"));
        let said = |next| {
            lead(
                &metric::LATENCY_P99,
                &spread("a", [1.0, 1.3, 0.8, 1.1]),
                &spread("b", next),
            )
        };
        let noise = said([1.1, 1.4, 0.7, 1.3]);
        assert!(
            noise.contains("b takes 1.07× (") && noise.contains(" as long: cannot tell; about "),
            "{noise}"
        );
        let certain = said([3.1, 3.4, 2.9, 3.3]);
        assert!(
            certain.contains("b takes 3.02× (") && certain.ends_with(" as long."),
            "{certain}"
        );
    }

    #[test]
    fn times_are_rounded_up() {
        let rounded = [0.0011, 0.002, 0.0049, 0.006, 1.0, 3.0].map(round_up);
        for (rounded, wanted) in rounded.iter().zip([0.002, 0.002, 0.005, 0.01, 1.0, 5.0]) {
            assert!((rounded / wanted - 1.0).abs() < 1e-9, "{rounded} is not {wanted}");
        }
        assert_eq!([0.0, 5e-324, f64::NAN].map(round_up), [0.0, 0.0, 0.0]);
    }
}
