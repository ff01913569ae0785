//! Curves of time and space: for each workload the total time over the best there is, the time in collections, and the most memory in use, against the
//! multiple of the least heap. Points are means, bands their 95 % intervals (Student's t); a cross is where a contender dies, with its reason.

use super::super::{time_metric, with_range};
use super::advice::best_time;
use super::{contender, contenders, reason, times};
use crate::chart::{Chart, Point, Series};
use crate::metric::{self, Metric};
use crate::summary::{Group, Summary, Work};

/// From this ratio of the greatest to the least value on, an axis is logarithmic.
const LOG_FROM: f64 = 8.0;

/// All curves.
pub(in crate::report) struct Charts {
    /// The contenders with their styles.
    pub legend: Vec<(usize, String)>,
    /// The charts of each workload.
    pub works: Vec<(String, Vec<Chart>)>,
}

/// The curves of a sweep over multiples of the least heap.
pub(in crate::report) fn charts(summary: &Summary<'_>) -> Charts {
    let contenders = contenders(summary);
    let time = time_metric(summary);
    let work = |work: &Work<'_>| {
        let best = best_time(work, time).map(|best| best.mean).filter(|mean| *mean > 0.0);
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
    Charts {
        legend: contenders.into_iter().enumerate().collect(),
        works,
    }
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn curve(
    summary: &Summary<'_>,
    work: &Work<'_>,
    contenders: &[String],
    metric: &Metric,
    title: &str,
    over: Option<f64>,
) -> Option<Chart> {
    let series: Vec<Series> = contenders
        .iter()
        .enumerate()
        .map(|(style, who)| {
            let mine = work.groups.iter().filter(|group| contender(summary, group) == *who);
            let mut points: Vec<Point> = mine.filter_map(|group| point(who, metric, group, over)).collect();
            points.sort_by(|a, b| a.x.total_cmp(&b.x));
            Series {
                style,
                points,
                marks: true,
                joined: true,
                band: true,
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
        x_label: "heap, over the least of the workload".to_owned(),
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

fn point(who: &str, metric: &Metric, group: &Group<'_>, over: Option<f64>) -> Option<Point> {
    let x = group.heap?;
    let spread = group.spread(metric).filter(|_| group.failures().is_empty());
    let Some(spread) = spread else {
        let why = reason(group)?;
        return Some(Point {
            x,
            y: None,
            tip: format!("{who} at {}: {}", times(x), group.failures_text()),
            why: why.to_owned(),
        });
    };
    let shown = |value: f64| over.map_or_else(|| metric.unit.shown(value), |best| value / best);
    let (low, high) = spread.ci95.map_or((spread.mean, spread.mean), |ci| (ci.low, ci.high));
    let relative = over.map_or_else(String::new, |best| format!("{:.2}× the best, ", spread.mean / best));
    Some(Point {
        x,
        y: Some((shown(spread.mean), shown(low).max(0.0), shown(high))),
        tip: format!(
            "{who} at {}: {relative}{} {}, {} runs",
            times(x),
            with_range(metric, &spread),
            metric.unit.name(),
            spread.n
        ),
        why: String::new(),
    })
}
