//! Pauses of the mutator: percentiles, and the whole distribution as a chart.
//!
//! The pauses of all good runs of a configuration are pooled: the percentiles are those of the
//! pool, not means of percentiles. A percentile is an observed pause (nearest rank); 90 needs ten
//! pauses, 99 a hundred, 99.9 a thousand. The longest pause is that of the pool, so that no
//! percentile exceeds it. It estimates nothing, so the longest pause of each run is shown with it.
//!
//! The *minimum mutator utilisation* (Cheng and Blelloch, PLDI 2001) says how pauses lie together:
//! the least share of any window of a length in which the mutator could run. Records have it for a
//! few windows.

use crate::analysis::subject::runs_of;
use crate::chart::{Chart, Point, Series};
use crate::format;
use crate::inference::{Interval, Sample, Spread, interval_of_median, interval_of_percentile, nearest_rank};
use crate::metric;
pub(crate) use crate::run::PERCENTILES;
use crate::run::ToldPauses;
use crate::summary::{Group, Summary, WorkloadRuns};

/// The most points of a distribution that are drawn; those left out lie within the line's breadth.
const POINTS: usize = 120;

/// The pauses of one configuration.
#[derive(Debug)]
pub(crate) struct PauseRow<'a> {
    /// The configuration's runs.
    pub(crate) group: &'a Group<'a>,
    /// The number of pauses of all its good runs.
    pub(crate) count: usize,
    /// Their percentiles in nanoseconds, in the order of [`PERCENTILES`].
    pub(crate) percentiles: Vec<Option<u64>>,
    /// The longest pause of each run, in seconds.
    pub(crate) longest_of_runs: Option<Spread>,
    /// The longest pause of all runs, in nanoseconds.
    pub(crate) longest: Option<u64>,
    /// All pauses, sorted, in nanoseconds. Empty if a run had too many to record them singly.
    pub(crate) sorted: Vec<u64>,
}

/// The configurations of a workload that recorded pauses.
pub(crate) fn pause_rows<'a>(work: &'a WorkloadRuns<'a>) -> Vec<PauseRow<'a>> {
    let rows = work.groups.iter().map(|group| {
        if let Some(row) = summarised(group) {
            return row;
        }
        let mut sorted = group.pauses_of_runs().concat();
        sorted.sort_unstable();
        PauseRow {
            group,
            count: sorted.len(),
            percentiles: PERCENTILES.iter().map(|&p| nearest_rank(&sorted, p)).collect(),
            longest_of_runs: group.spread(&metric::MAX_PAUSE),
            longest: sorted.last().copied(),
            sorted,
        }
    });
    rows.filter(|row| row.count > 0).collect()
}

/// The pauses of a configuration of which a run has no single pauses: each percentile is the median
/// of those of the runs. `None` if all runs have single pauses.
fn summarised<'a>(group: &'a Group<'a>) -> Option<PauseRow<'a>> {
    let with_statistics = || group.ok().filter(|run| run.kind().has_phases.is_some());
    with_statistics().find(|run| run.has_only_told_pauses())?;
    let pauses: Vec<ToldPauses> = with_statistics().map(|run| run.told_pauses()).collect::<Option<_>>()?;
    let samples = of_histograms(&pauses);
    Some(PauseRow {
        group,
        count: pauses.iter().map(|pauses| pauses.count as usize).sum(),
        percentiles: samples
            .iter()
            .map(|sample| Some(sample.as_ref()?.spread.median.round() as u64))
            .collect(),
        longest_of_runs: group.spread(&metric::MAX_PAUSE),
        longest: pauses.iter().filter_map(|pauses| pauses.max_ns).max(),
        sorted: Vec::new(),
    })
}

/// Each percentile over the runs, in the order of [`PERCENTILES`].
fn of_histograms(pauses: &[ToldPauses]) -> Vec<Option<Sample>> {
    let sample = |place: usize| {
        let of_runs = pauses.iter().map(|pauses| Some(pauses.percentiles[place]? as f64));
        Sample::of(of_runs.collect::<Option<Vec<f64>>>()?)
    };
    (0..PERCENTILES.len()).map(sample).collect()
}

impl PauseRow<'_> {
    /// The 95 % interval of each percentile, in nanoseconds: by resamples of whole runs, or that of
    /// the median of the runs' percentiles. Absent with too few runs, and where the percentile is.
    /// It takes some milliseconds.
    pub(crate) fn intervals(&self) -> Vec<Option<Interval>> {
        if self.sorted.is_empty() {
            let pauses: Vec<ToldPauses> = self.group.ok().filter_map(|run| run.told_pauses()).collect();
            let samples = of_histograms(&pauses);
            return samples
                .iter()
                .map(|sample| interval_of_median(&sample.as_ref()?.values))
                .collect();
        }
        let places = 0..PERCENTILES.len();
        let known: Vec<usize> = places.filter(|&place| self.percentiles[place].is_some()).collect();
        let percents: Vec<f64> = known.iter().map(|&place| PERCENTILES[place]).collect();
        let mut intervals = vec![None; PERCENTILES.len()];
        for (place, interval) in known
            .into_iter()
            .zip(interval_of_percentile(&self.group.pauses_of_runs(), &percents))
        {
            intervals[place] = interval;
        }
        intervals
    }
}

/// The distributions of some configurations in one chart: the length of pauses against the share of
/// pauses that are not longer; `about` is the workload.
pub(crate) fn distribution(about: &str, title: &str, summary: &Summary<'_>, rows: &[&PauseRow<'_>]) -> Chart {
    let series: Vec<Series> = rows
        .iter()
        .filter(|row| !row.sorted.is_empty())
        .map(|row| Series {
            style: summary.style_of(&row.group.configuration.collector),
            points: tail(&row.sorted),
            marks: false,
            joined: true,
            subject: runs_of([row.group]),
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
        about: about.to_owned(),
        x_label: "share of pauses at most this long".to_owned(),
        x_ticks: ticks.map(|(x, text)| (x, text.to_owned())).collect(),
        x_log: true,
        y_log: true,
        series,
        ..Chart::default()
    }
}

/// The minimum mutator utilisation of some configurations in one chart, against the length of the
/// window; `about` is the workload.
pub(crate) fn utilisation(about: &str, title: &str, summary: &Summary<'_>, rows: &[&PauseRow<'_>]) -> Chart {
    let point = |group: &Group<'_>, window: f64, metric: &metric::Metric| {
        let spread = group.spread(metric)?;
        let shown = [spread.median, spread.min, spread.max].map(|share| metric.unit.shown(share));
        Some(Point {
            x: window,
            y: Some((shown[0], shown[1], shown[2])),
            tip: format!("{}: {:.1} % in {window} ms", group.configuration.collector, shown[0]),
            subject: runs_of([group]),
            ..Point::default()
        })
    };
    let series = rows.iter().map(|row| Series {
        style: summary.style_of(&row.group.configuration.collector),
        points: metric::UTILISATION
            .iter()
            .filter_map(|(window, metric)| point(row.group, *window, metric))
            .collect(),
        marks: true,
        joined: true,
        ..Series::default()
    });
    Chart {
        title: title.to_owned(),
        about: about.to_owned(),
        x_label: "window, ms".to_owned(),
        x_ticks: metric::UTILISATION
            .iter()
            .map(|(window, _)| (*window, window.to_string()))
            .collect(),
        x_log: true,
        y_max: 100.0,
        series: series.filter(|series| !series.points.is_empty()).collect(),
        ..Chart::default()
    }
}

/// A pause, and the share of pauses that are no longer.
fn tip(pause: u64, share: f64) -> String {
    format!("{:.2} %: {} ms", share * 100.0, format::milliseconds(pause))
}

/// The distribution as points (1 / share of longer pauses, milliseconds). On a logarithmic axis
/// each tenth of the tail gets the same room. Pause i of n stands at i/(n+1), so that the longest
/// pause has a place as well.
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
                tip: tip(pause, 1.0 - 1.0 / x),
                ..Point::default()
            });
        }
    }
    points
}
