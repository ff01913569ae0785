//! Memory over time: mapped memory after each collection of one run, and live data after each major
//! collection, without the collection at its end.
//!
//! Each collector has a chart, all at the same setting: that of the fastest configuration if most
//! collectors have a good run there, else the first one at which most have. The run is the first
//! good one. Runs of one configuration differ in time, so a mean of their curves would be the curve
//! of no run. A value holds until the next collection, so lines have steps. After a minor
//! collection the live data of older generations contain garbage, so these values are not drawn.

use crate::analysis::answers::answers;
use crate::analysis::panels::by_other_axes;
use crate::chart::{Chart, Point, Series, Subject, linear_ticks};
use crate::format;
use crate::metric::Unit;
use crate::summary::{Group, Summary, WorkloadRuns};
use gclab_results::{Axis, CollectionRecord};

/// The most points of a line that are drawn. Of several points that share one, the point with the
/// most memory in use is drawn.
const POINTS: usize = 160;

/// The lines of a chart, in the order of their styles.
pub(crate) const LINES: [&str; 2] = ["in use", "live, after a major collection"];

/// The setting of the charts of a workload, and the charts; none where no run has these figures.
pub(crate) fn timelines(summary: &Summary<'_>, work: &WorkloadRuns<'_>) -> (String, Vec<Chart>) {
    let axes: Vec<&Axis> = summary.axes.iter().collect();
    let answers = answers(summary);
    let answer = answers.iter().find(|answer| std::ptr::eq(answer.work, work));
    let fastest = answer.and_then(|answer| answer.fastest.as_ref());
    let settings = by_other_axes(work, &axes).into_iter().map(|(heading, groups)| {
        let is_best = fastest.is_some_and(|best| groups.iter().any(|group| std::ptr::eq(*group, best.group)));
        let charts: Vec<Chart> = groups.into_iter().filter_map(timeline).collect();
        (heading, charts, is_best)
    });
    let mut best = (String::new(), Vec::new(), false);
    for setting in settings {
        if (setting.1.len(), setting.2) > (best.1.len(), best.2) {
            best = setting;
        }
    }
    let (heading, mut charts, _) = best;
    let highest = charts.iter().map(Chart::highest).fold(0.0, f64::max);
    let last = charts
        .iter()
        .flat_map(|chart| &chart.series)
        .flat_map(|series| &series.points);
    let ticks = linear_ticks(last.map(|point| point.x).fold(0.0, f64::max), 5);
    for chart in &mut charts {
        chart.y_max = highest;
        chart.about.clone_from(&work.title);
        chart.x_ticks = ticks.iter().map(|tick| (*tick, format::number(*tick))).collect();
    }
    (heading, charts)
}

fn timeline(group: &Group<'_>) -> Option<Chart> {
    let run = group.ok().next()?;
    // No chart is better than none of the report, if the record cannot be read again.
    let stats = run.record().ok()?.stats?;
    let pauses: Vec<&CollectionRecord> = stats
        .collections
        .iter()
        .filter(|pause| pause.in_use_bytes.is_some() && pause.cause.as_deref() != Some("final"))
        .collect();
    if pauses.len() < 2 {
        return None;
    }
    let drawn = thinned(&pauses);
    let in_use = Series {
        points: drawn
            .iter()
            .filter_map(|pause| point(pause, pause.in_use_bytes?))
            .collect(),
        joined: true,
        steps: true,
        subject: Subject::Run(run.position),
        ..Series::default()
    };
    let majors: Vec<&CollectionRecord> = pauses.iter().copied().filter(|pause| pause.major).collect();
    let live = Series {
        style: 1,
        points: thinned(&majors)
            .iter()
            .filter_map(|pause| {
                let point = point(pause, pause.live_bytes?)?;
                let tip = format!(
                    "live {} after {}",
                    format::bytes(pause.live_bytes?),
                    format::time(seconds(pause))
                );
                Some(Point {
                    tip,
                    subject: Subject::Run(run.position),
                    ..point
                })
            })
            .collect(),
        marks: true,
        ..Series::default()
    };
    Some(Chart {
        title: format!("{}: memory, MiB", group.configuration.collector),
        x_label: "seconds since the start".to_owned(),
        series: [in_use, live]
            .into_iter()
            .filter(|series| !series.points.is_empty())
            .collect(),
        ..Chart::default()
    })
}

/// The end of a collection, in seconds since the start.
fn seconds(pause: &CollectionRecord) -> f64 {
    (pause.start_ns + pause.elapsed_ns) as f64 * 1e-9
}

fn point(pause: &CollectionRecord, bytes: u64) -> Option<Point> {
    let y = Unit::Mebibytes.shown(bytes as f64);
    Some(Point {
        x: seconds(pause),
        y: Some((y, y, y)),
        ..Point::default()
    })
}

/// At most [`POINTS`] of the pauses; the last one is among them.
fn thinned<'p>(pauses: &[&'p CollectionRecord]) -> Vec<&'p CollectionRecord> {
    let bucket = pauses.len().div_ceil(POINTS).max(1);
    let mut drawn: Vec<&CollectionRecord> = pauses
        .chunks(bucket)
        .filter_map(|chunk| chunk.iter().copied().max_by_key(|pause| pause.in_use_bytes))
        .collect();
    if let (Some(last), Some(end)) = (drawn.last_mut(), pauses.last()) {
        *last = end;
    }
    drawn
}
