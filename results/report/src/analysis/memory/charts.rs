//! Curves of time against memory. Each workload has three: the total time over the best time, the
//! time in collections, and the peak of memory in use, each against the multiple of the least heap.
//! Points are means, bands their 95 % intervals (Student's t). A cross is where a contender fails,
//! with the reason.

use super::budgets::{Budgets, Standing, best_time};
use super::contenders::{contender, contenders, reason};
use crate::analysis::subject::runs_of;
use crate::chart::{Chart, ChartSet, Point, Series};
use crate::format::{self, capital, counted, times};
use crate::metric::{self, Metric};
use crate::summary::{Group, Summary, WorkloadRuns};
use gclab_results::order::Arrange;

/// At this ratio of the greatest to the least value, or more, an axis is logarithmic.
const LOG_FROM: f64 = 8.0;

/// The label of the horizontal axis.
const HEAPS: &str = "heap, in multiples of the least heap, logarithmic";

/// The curve over all workloads: the geometric means of the answer, with their intervals.
pub(crate) fn overall(summary: &Summary<'_>, budgets: &Budgets) -> Chart {
    let place = |(style, name): (usize, &String)| Series {
        style,
        points: budgets
            .budgets
            .iter()
            .filter_map(|budget| {
                let at = |group: &&Group<'_>| group.heap == Some(budget.multiple) && contender(summary, group) == *name;
                let subject = runs_of(summary.groups().filter(at));
                let point = overall_point(name, budget.multiple, &budget.standings[style])?;
                Some(Point { subject, ..point })
            })
            .collect(),
        marks: true,
        joined: true,
        band: true,
        ..Series::default()
    };
    let multiples = budgets.budgets.iter().map(|budget| budget.multiple);
    Chart {
        title: format!(
            "{} time over {}, relative to the best of each",
            capital(summary.time_metric().title),
            counted(summary.works.len(), "workload")
        ),
        x_label: HEAPS.to_owned(),
        x_ticks: multiples.map(|multiple| (multiple, times(multiple))).collect(),
        x_log: true,
        series: budgets.contenders.iter().enumerate().map(place).collect(),
        ..Chart::default()
    }
}

fn overall_point(name: &str, multiple: f64, standing: &Standing) -> Option<Point> {
    let tip = |text: String| format!("{name} at {}: {text}", times(multiple));
    match standing {
        Standing::Completes(ratio) => Some(Point {
            tip: tip(format::ratio(ratio)),
            ..Point::estimate(multiple, ratio.estimate, ratio.ends())
        }),
        Standing::Fails(works) => Some(Point {
            x: multiple,
            tip: tip(format!("fails on {}", works.len())),
            why: "fails".to_owned(),
            ..Point::default()
        }),
        Standing::Unknown => None,
    }
}

/// The curves of a sweep over multiples of the least heap.
pub(crate) fn charts(summary: &Summary<'_>) -> ChartSet {
    let contenders = contenders(summary);
    let time = summary.time_metric();
    let work = |work: &WorkloadRuns<'_>| {
        let best = best_time(work, time)
            .map(|best| best.spread.mean)
            .filter(|mean| *mean > 0.0);
        let title = format!("{} time, over the best", capital(time.title));
        let charts = [
            best.and_then(|best| curve(summary, work, &contenders, time, &title, Some(best))),
            curve(summary, work, &contenders, &metric::GC_ELAPSED, "GC time, s", None),
            curve(summary, work, &contenders, &metric::PEAK_IN_USE, "Peak heap, MiB", None),
        ];
        (work.title.clone(), charts.into_iter().flatten().collect::<Vec<Chart>>())
    };
    let works = summary
        .works
        .iter()
        .map(work)
        .filter(|(_, charts)| !charts.is_empty())
        .collect();
    ChartSet {
        legend: contenders.into_iter().enumerate().collect(),
        works,
    }
}

fn curve(
    summary: &Summary<'_>,
    work: &WorkloadRuns<'_>,
    contenders: &[String],
    metric: &Metric,
    title: &str,
    over: Option<f64>,
) -> Option<Chart> {
    let series: Vec<Series> = contenders
        .iter()
        .enumerate()
        .map(|(style, name)| {
            let mine = work.groups.iter().filter(|group| contender(summary, group) == *name);
            let mut points: Vec<Point> = mine.filter_map(|group| point(name, metric, group, over)).collect();
            points.arrange_by(|a, b| a.x.total_cmp(&b.x));
            Series {
                style,
                points,
                marks: true,
                joined: true,
                band: true,
                ..Series::default()
            }
        })
        .filter(|series| !series.points.is_empty())
        .collect();
    let values = || {
        series
            .iter()
            .flat_map(|s| &s.points)
            .filter_map(|p| p.y.map(|(y, ..)| y))
    };
    let (least, most) = values().fold((f64::INFINITY, 0.0), |(low, high), y| {
        (f64::min(low, y), f64::max(high, y))
    });
    if !least.is_finite() {
        return None;
    }
    let mut multiples: Vec<f64> = work.groups.iter().filter_map(|group| group.heap).collect();
    multiples.sort_by(f64::total_cmp);
    multiples.dedup();
    Some(Chart {
        title: title.to_owned(),
        about: work.title.clone(),
        x_label: HEAPS.to_owned(),
        x_ticks: multiples
            .into_iter()
            .map(|multiple| (multiple, times(multiple)))
            .collect(),
        x_log: true,
        y_log: least > 0.0 && most >= LOG_FROM * least,
        series,
        ..Chart::default()
    })
}

fn point(name: &str, metric: &Metric, group: &Group<'_>, over: Option<f64>) -> Option<Point> {
    let x = group.heap?;
    let spread = group.spread(metric).filter(|_| group.failures().is_empty());
    let Some(spread) = spread else {
        let reason = reason(group)?;
        return Some(Point {
            x,
            y: None,
            tip: format!("{name} at {}: {}", times(x), group.failures_text()),
            why: reason.to_owned(),
            subject: runs_of([group]),
            ..Point::default()
        });
    };
    let shown = |value: f64| over.map_or_else(|| metric.unit.shown(value), |best| value / best);
    let ends = spread.ci95.map(|ci| (shown(ci.low).max(0.0), shown(ci.high)));
    let few = if ends.is_none() {
        ", too few for an interval"
    } else {
        ""
    };
    let relative = over.map_or_else(String::new, |best| format!("{:.2}× the best, ", spread.mean / best));
    Some(Point {
        tip: format!(
            "{name} at {}: {relative}{} {}, {}{few}",
            times(x),
            format::median_and_range(metric, &spread),
            metric.unit.name(),
            counted(spread.n, "run")
        ),
        subject: runs_of([group]),
        ..Point::estimate(x, shown(spread.mean), ends)
    })
}
