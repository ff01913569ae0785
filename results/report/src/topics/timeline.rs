//! Memory over time: mapped memory after each collection of one run, and live data after each major
//! collection, without the collection at its end.
//!
//! Each collector has a chart, all at the same setting: the fastest configuration's if most
//! collectors have a successful run there, otherwise the first one at which most have. The chart
//! shows the first successful run: runs of one configuration differ in time, so a mean of their
//! curves would match no run. A value holds until the next collection, so lines are steps. After a
//! minor collection the live data of older generations includes garbage, so these values are not
//! drawn.

use super::common::Context;
use super::common::by_axes;
use crate::chart::{Chart, Point, Series, Subject, linear_ticks};
use crate::document::{Part, Section};
use crate::format;
use crate::metric::Unit;
use crate::summary::{Group, Work};
use gclab_results::{Axis, Collections};

/// Maximum number of points of a line that are drawn. If several share a point, the one with the
/// most memory in use is drawn.
const POINTS: usize = 160;

/// The lines of a chart, in the order of their styles.
const LINES: [&str; 2] = ["in use", "live, after a major collection"];

/// The section, if runs have these figures.
pub(super) fn section(of: &Context<'_>) -> Option<Section> {
    let mut parts = Vec::new();
    for work in &of.summary.works {
        let (setting, charts) = timelines(of, work);
        if !charts.is_empty() {
            let comma = if setting.is_empty() { "" } else { ", " };
            parts.extend([
                Part::Heading(format!("{}{comma}{setting}", work.title)),
                Part::Charts(charts),
            ]);
        }
    }
    (!parts.is_empty()).then(|| {
        let lines = LINES.iter().map(|&name| name.to_owned()).enumerate();
        let note = "One run of each collector at the same setting, where most collectors have a good run: that of the \
             fastest configuration if it is one of these. Lines show the memory as it was after each collection; during a \
             collection a heap may be larger.";
        parts.insert(0, Part::Legend(lines.collect()));
        parts.push(Part::Note(note.to_owned()));
        Section { title: "Memory over time", parts, ..Section::default() }
    })
}

/// The setting of a workload's charts, and the charts; none if no run has these figures.
fn timelines(of: &Context<'_>, work: &Work<'_>) -> (String, Vec<Chart>) {
    let summary = of.summary;
    let axes: Vec<&Axis> = summary.axes.iter().collect();
    let time = summary.time_metric();
    let center = |group: &Group<'_>| group.spread(time).map_or(f64::INFINITY, |spread| spread.center);
    let fastest = work.groups.iter().min_by(|a, b| center(a).total_cmp(&center(b)));
    let mut best = (String::new(), Vec::new(), false);
    for (heading, groups) in by_axes(work, &axes) {
        let is_fastest = groups
            .iter()
            .any(|group| fastest.is_some_and(|fastest| std::ptr::eq(*group, fastest)));
        let charts: Vec<Chart> = groups.into_iter().filter_map(|group| timeline(of, group)).collect();
        if (charts.len(), is_fastest) > (best.1.len(), best.2) {
            best = (heading, charts, is_fastest);
        }
    }
    let (heading, mut charts, _) = best;
    let highest = charts.iter().map(Chart::highest).fold(0.0, f64::max);
    let points = charts
        .iter()
        .flat_map(|chart| &chart.series)
        .flat_map(|series| &series.points);
    let ticks = linear_ticks(points.map(|point| point.x).fold(0.0, f64::max), 5);
    for chart in &mut charts {
        chart.y_max = highest;
        chart.about.clone_from(&work.title);
        chart.x_ticks = ticks.iter().map(|tick| (*tick, format::number(*tick))).collect();
    }
    (heading, charts)
}

fn timeline(of: &Context<'_>, group: &Group<'_>) -> Option<Chart> {
    let run = group.ok().next()?;
    let all = of.collections(&run.id)?;
    // The last one is the collection at the end of the program.
    let drawn: Vec<usize> = (0..all.len().checked_sub(1)?).collect();
    if drawn.len() < 2 {
        return None;
    }
    let seconds = |at: usize| (all.start_ns[at] + all.elapsed_ns[at]) as f64 * 1e-9;
    let point = |at: usize, bytes: u64| Point::at(seconds(at), Unit::Mebibytes.shown(bytes as f64));
    let in_use = Series {
        points: thinned(all, &drawn)
            .into_iter()
            .map(|at| point(at, all.in_use_bytes[at]))
            .collect(),
        joined: true,
        steps: true,
        ..Series::default()
    };
    let majors: Vec<usize> = drawn.iter().copied().filter(|at| all.major[*at] == 1).collect();
    let live = |at: usize| Point {
        tip: format!(
            "live {} after {}",
            format::bytes(all.live_bytes[at]),
            format::time(seconds(at))
        ),
        subject: Subject::Run(run.position),
        ..point(at, all.live_bytes[at])
    };
    let live = Series {
        style: 1,
        points: thinned(all, &majors).into_iter().map(live).collect(),
        marks: true,
        ..Series::default()
    };
    Some(Chart {
        title: format!("{}: memory, MiB", group.name),
        x_label: "seconds since the start".to_owned(),
        series: [in_use, live]
            .into_iter()
            .filter(|series| !series.points.is_empty())
            .collect(),
        ..Chart::default()
    })
}

/// At most [`POINTS`] of these collections, including the last.
fn thinned(all: &Collections, collections: &[usize]) -> Vec<usize> {
    let chunks = collections.chunks(collections.len().div_ceil(POINTS).max(1));
    let mut drawn: Vec<usize> = chunks
        .filter_map(|chunk| chunk.iter().copied().max_by_key(|at| all.in_use_bytes[*at]))
        .collect();
    if let (Some(last), Some(end)) = (drawn.last_mut(), collections.last()) {
        *last = *end;
    }
    drawn
}
