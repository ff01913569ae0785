//! How long the mutator stood still: percentiles, and the whole distribution as a chart.
//!
//! The pauses of all good runs of a configuration are pooled: percentiles of a pool, not means of percentiles. A percentile is an
//! observed pause (nearest rank), 99.9 needs a thousand of them. The longest pause is no estimate of anything, so its range over
//! the runs stands beside it.

use super::figures::style_of;
use crate::chart::{Chart, Point, Series};
use crate::maths::{Spread, nearest_rank};
use crate::metric;
use crate::summary::{Group, Summary, Work};

/// The percentiles of the table.
pub const PERCENTILES: [f64; 4] = [50.0, 90.0, 99.0, 99.9];

/// At most this many points of a distribution are drawn; what is left out is thinner than the line.
const POINTS: usize = 120;

/// The pauses of one configuration.
#[derive(Debug)]
pub struct PauseRow<'a> {
    /// The configuration's runs.
    pub group: &'a Group<'a>,
    /// Number of pauses, over all its good runs.
    pub count: usize,
    /// Their percentiles in nanoseconds, in the order of [`PERCENTILES`].
    pub percentiles: Vec<Option<u64>>,
    /// The longest pause of each run, in seconds.
    pub longest: Option<Spread>,
    /// All pauses, sorted, in nanoseconds.
    pub sorted: Vec<u64>,
}

/// The configurations of a workload that recorded pauses.
pub fn pause_rows<'a>(work: &'a Work<'a>) -> Vec<PauseRow<'a>> {
    let rows = work.groups.iter().map(|group| {
        let sorted = group.pauses();
        let percentiles = PERCENTILES.iter().map(|&p| nearest_rank(&sorted, p)).collect();
        PauseRow {
            group,
            count: sorted.len(),
            percentiles,
            longest: group.spread(&metric::MAX_PAUSE),
            sorted,
        }
    });
    rows.filter(|row| row.count > 0).collect()
}

/// The distributions of some configurations in one chart: the share of pauses that are longer, against their length.
pub(super) fn distribution(title: &str, summary: &Summary<'_>, rows: &[&PauseRow<'_>]) -> Chart {
    let series: Vec<Series> = rows
        .iter()
        .map(|row| Series {
            style: style_of(summary, &row.group.configuration.collector),
            points: tail(&row.sorted),
            marks: false,
            joined: true,
            ..Series::default()
        })
        .collect();
    let most = rows.iter().map(|row| row.count).max().unwrap_or(1);
    let ticks = [
        (2.0, "50%"),
        (10.0, "90%"),
        (100.0, "99%"),
        (1e3, "99.9%"),
        (1e4, "99.99%"),
        (1e5, "99.999%"),
    ];
    let ticks = ticks.into_iter().filter(|(x, _)| *x <= most as f64 + 1.0);
    Chart {
        title: title.to_owned(),
        x_label: "share of pauses at most this long".to_owned(),
        x_ticks: ticks.map(|(x, text)| (x, text.to_owned())).collect(),
        x_log: true,
        y_log: true,
        series,
        ..Chart::default()
    }
}

/// The distribution as points (1 / share of longer pauses, milliseconds): on a logarithmic axis every tenth part of the tail
/// gets the same room. Number i of n stands at i/(n+1), so that the longest has a place as well.
fn tail(sorted: &[u64]) -> Vec<Point> {
    let n = sorted.len() as f64;
    let mut points: Vec<Point> = Vec::new();
    let mut last_drawn = f64::NEG_INFINITY;
    let step = (n + 1.0).ln() / POINTS as f64;
    for (index, &pause) in sorted.iter().enumerate() {
        let x = (n + 1.0) / (n - index as f64);
        if x.ln() - last_drawn >= step || index + 1 == sorted.len() || index == 0 {
            last_drawn = x.ln();
            let y = pause as f64 * 1e-6;
            points.push(Point {
                x,
                y: Some((y, y, y)),
                tip: String::new(),
                ..Point::default()
            });
        }
    }
    points
}
