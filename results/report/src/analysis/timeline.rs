//! Memory over time: mapped memory, live data and slop after each collection of one run, without
//! the collection at its end.
//!
//! Each collector has a chart, all at the same setting: the first one at which most collectors have
//! a good run (with `heap`, the least heap at which most collectors complete). The run is the first
//! good one. Runs of one configuration differ in time, so a mean of their curves would be the curve
//! of no run.

use crate::analysis::panels::by_other_axes;
use crate::chart::{Chart, Point, Series};
use crate::metric::Unit;
use crate::summary::{Group, Summary, Work};
use gclab_results::{Axis, Pause};

/// The most points of a line that are drawn. Of several points that share one, the point with the
/// most memory in use is drawn.
const POINTS: usize = 160;

/// The lines of a chart, in the order of their styles.
pub(crate) const LINES: [&str; 3] = ["in use", "live and slop", "live"];

/// The setting of the charts of a workload, and the charts; none where no run has these figures.
pub(crate) fn timelines(summary: &Summary<'_>, work: &Work<'_>) -> (String, Vec<Chart>) {
    let axes: Vec<&Axis> = summary.axes.iter().collect();
    let settings = by_other_axes(work, &axes).into_iter().map(|(heading, groups)| {
        let charts: Vec<Chart> = groups.into_iter().filter_map(timeline).collect();
        (heading, charts)
    });
    let mut best = (String::new(), Vec::new());
    for setting in settings {
        if setting.1.len() > best.1.len() {
            best = setting;
        }
    }
    let highest = best.1.iter().map(Chart::highest).fold(0.0, f64::max);
    best.1.iter_mut().for_each(|chart| chart.y_max = highest);
    best
}

fn timeline(group: &Group<'_>) -> Option<Chart> {
    let run = group.ok().next()?;
    let pauses: Vec<&Pause> = run
        .stats
        .as_ref()?
        .collections
        .iter()
        .filter(|pause| pause.in_use_bytes.is_some() && pause.cause.as_deref() != Some("final"))
        .collect();
    if pauses.len() < 2 {
        return None;
    }
    let drawn = thinned(&pauses);
    let lines: [fn(&Pause) -> Option<u64>; 3] = [
        |pause| pause.in_use_bytes,
        |pause| Some(pause.live_bytes? + pause.slop_bytes?),
        |pause| pause.live_bytes,
    ];
    let series = lines.iter().enumerate().map(|(style, of)| Series {
        style,
        points: drawn.iter().filter_map(|pause| point(pause, of(pause)?)).collect(),
        joined: true,
        ..Series::default()
    });
    let last = drawn.last().map_or(0.0, |pause| seconds(pause));
    let ticks = crate::chart::linear_ticks(last, 5);
    Some(Chart {
        title: format!("{}: memory, MiB", group.configuration.collector),
        x_label: "seconds since the start".to_owned(),
        x_ticks: ticks
            .into_iter()
            .map(|tick| (tick, crate::format::number(tick)))
            .collect(),
        series: series.filter(|series| series.points.len() > 1).collect(),
        ..Chart::default()
    })
}

/// The end of a collection, in seconds since the start.
fn seconds(pause: &Pause) -> f64 {
    (pause.start_ns + pause.elapsed_ns) as f64 * 1e-9
}

fn point(pause: &Pause, bytes: u64) -> Option<Point> {
    let y = Unit::Mebibytes.shown(bytes as f64);
    Some(Point {
        x: seconds(pause),
        y: Some((y, y, y)),
        ..Point::default()
    })
}

/// At most [`POINTS`] of the pauses; the last one is among them.
fn thinned<'p>(pauses: &[&'p Pause]) -> Vec<&'p Pause> {
    let bucket = pauses.len().div_ceil(POINTS);
    let mut drawn: Vec<&Pause> = pauses
        .chunks(bucket)
        .filter_map(|chunk| chunk.iter().copied().max_by_key(|pause| pause.in_use_bytes))
        .collect();
    if let (Some(last), Some(end)) = (drawn.last_mut(), pauses.last()) {
        *last = end;
    }
    drawn
}
