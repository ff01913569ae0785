//! Charts of parallel collection: the speed-up of collections and of the whole run over the base,
//! and the work balance.
//!
//! With three or more values of `-N`, the base is one capability and `-N` lies horizontally.
//! Otherwise the base is parallel collection off, and `-qg` lies horizontally. Each setting of the
//! other flags is a line. Bars of a speed-up are Fieller's intervals; those of the balance reach
//! from the least run to the greatest.

use super::families::{is_on, off, one};
use crate::analysis::subject::runs_of;
use crate::chart::{Chart, ChartSet, Point, Series};
use crate::format::{self, median_and_range};
use crate::inference::ratio_of_means;
use crate::metric::{self, Metric};
use crate::summary::{Group, Summary, UNSET, WorkloadRuns};
use gclab_core::words::size::read_number;

/// With at least this many values of `-N`, they lie on the horizontal axis.
const A_CURVE: usize = 3;

/// The style of the line at 1: grey.
const NO_CHANGE: usize = 6;

/// The base of speed-ups in words, and the charts of each workload that has any.
pub(crate) fn charts(summary: &Summary<'_>) -> (&'static str, ChartSet) {
    let plot = Plot::of(summary);
    let time = summary.time_metric();
    let mut works: Vec<(String, Vec<Chart>)> = summary
        .works
        .iter()
        .map(|work| {
            let charts = [
                plot.speed_up(work, "GC speed-up", &metric::GC_ELAPSED),
                plot.speed_up(work, &format!("Speed-up, {} time", time.title), time),
                plot.balance(work),
            ];
            (work.title.clone(), charts.into_iter().flatten().collect())
        })
        .filter(|(_, charts): &(String, Vec<Chart>)| !charts.is_empty())
        .collect();
    // Speed-ups share a scale, so that workloads can be compared by eye.
    let all = works.iter().flat_map(|(_, charts)| charts);
    let highest = all.filter(|c| c.y_max == 0.0).map(Chart::highest).fold(0.0, f64::max);
    for chart in works.iter_mut().flat_map(|(_, charts)| charts) {
        if chart.y_max == 0.0 {
            chart.y_max = highest;
        }
    }
    let base = if plot.flag == "N" && plot.curve {
        "one capability"
    } else {
        "the same setting with parallel collection off (or, where that was not run, with one capability)"
    };
    // A single line needs no legend.
    let several = plot.lines.len() > 1;
    let legend = plot.lines.iter().filter(|_| several).cloned().enumerate().collect();
    (base, ChartSet { legend, works })
}

/// A value and the ends of its interval or range, if they are known.
type Estimate = (f64, Option<(f64, f64)>);

/// The horizontal axis and the lines of the charts.
struct Plot<'s, 'a> {
    summary: &'s Summary<'a>,
    flag: &'static str,
    curve: bool,
    places: Vec<String>,
    lines: Vec<String>,
}

impl<'s, 'a> Plot<'s, 'a> {
    fn of(summary: &'s Summary<'a>) -> Self {
        let values = |flag: &str| {
            summary
                .axes
                .iter()
                .find(|axis| axis.flag == flag)
                .map(|axis| &axis.values)
        };
        let numbers = values("N").map_or(0, |n| n.iter().filter(|v| read_number(v).is_some()).count());
        let curve = numbers >= A_CURVE;
        let flag = if curve || values("qg").is_none() { "N" } else { "qg" };
        let mut plot = Plot {
            summary,
            flag,
            curve,
            places: values(flag).cloned().unwrap_or_default(),
            lines: Vec::new(),
        };
        let shown: Vec<&Group<'_>> = summary.groups().filter(|group| plot.shows(group)).collect();
        plot.places
            .retain(|place| shown.iter().any(|group| group.flag(flag) == place));
        for group in summary.groups().filter(|group| is_on(group)) {
            let line = plot.line(group);
            if !plot.lines.contains(&line) {
                plot.lines.push(line);
            }
        }
        plot
    }

    /// Whether a group has a place on the axis: those that are on, and on a curve all of them. (A
    /// base has the speed-up 1, which is the grey line.)
    fn shows(&self, group: &Group<'_>) -> bool {
        is_on(group) || self.curve
    }

    /// The line that a group belongs to: its setting of the other flags.
    fn line(&self, group: &Group<'_>) -> String {
        self.summary.setting(group, &[self.flag])
    }

    fn base<'w>(&self, work: &'w WorkloadRuns<'a>, group: &Group<'_>) -> Option<&'w Group<'a>> {
        if self.curve {
            one(work, group).or_else(|| off(work, group))
        } else {
            off(work, group).or_else(|| one(work, group))
        }
    }

    fn place(&self, group: &Group<'_>) -> Option<f64> {
        let value = group.flag(self.flag);
        if self.curve {
            return read_number(value).or((value == UNSET).then_some(1.0));
        }
        self.places.iter().position(|place| place == value).map(|at| at as f64)
    }

    fn speed_up(&self, work: &WorkloadRuns<'a>, title: &str, metric: &Metric) -> Option<Chart> {
        let point = |group: &Group<'_>| {
            let base = self.base(work, group)?;
            let ratio = ratio_of_means(&group.spread(metric)?, &base.spread(metric)?)?;
            let over = format::ratio(&ratio).replacen('×', "", 1);
            Some(((ratio.estimate, ratio.ends()), over))
        };
        let mut chart = self.chart(work, title, point)?;
        let ends = [chart.x_ticks.first()?.0, chart.x_ticks.last()?.0];
        chart.series.push(Series {
            style: NO_CHANGE,
            points: ends
                .map(|x| Point {
                    x,
                    y: Some((1.0, 1.0, 1.0)),
                    ..Point::default()
                })
                .to_vec(),
            marks: false,
            joined: true,
            ..Series::default()
        });
        Some(chart)
    }

    fn balance(&self, work: &WorkloadRuns<'a>) -> Option<Chart> {
        let metric = &metric::WORK_BALANCE;
        let point = |group: &Group<'_>| {
            let spread = group.spread(metric)?;
            let shown = |value| metric.unit.shown(value);
            let text = format!("{} {}", median_and_range(metric, &spread), metric.unit.name());
            let ends = (shown(spread.min), shown(spread.max));
            Some(((shown(spread.median), Some(ends)), text))
        };
        let chart = self.chart(work, "Work balance, %", point)?;
        Some(Chart { y_max: 100.0, ..chart })
    }

    /// A chart of the groups that are on; `None` if none of them has a point.
    fn chart(
        &self,
        work: &WorkloadRuns<'a>,
        title: &str,
        of: impl Fn(&Group<'_>) -> Option<(Estimate, String)>,
    ) -> Option<Chart> {
        let point = |group: &Group<'_>| {
            let label = group.label(&self.summary.axes);
            let x = self.place(group)?;
            Some(match of(group) {
                Some(((value, ends), text)) => Point {
                    tip: format!("{label}: {text}"),
                    subject: runs_of([group]),
                    ..Point::estimate(x, value, ends)
                },
                None => {
                    let failures = group.failures_text();
                    let reason = if failures.is_empty() { "none" } else { &failures };
                    Point {
                        x,
                        y: None,
                        tip: format!("{label}: {reason}"),
                        subject: runs_of([group]),
                        ..Point::default()
                    }
                }
            })
        };
        let line = |(style, line): (usize, &String)| {
            let groups = work
                .groups
                .iter()
                .filter(|group| is_on(group) && self.line(group) == *line);
            Series {
                style,
                points: groups.filter_map(point).collect(),
                marks: true,
                joined: self.curve,
                ..Series::default()
            }
        };
        let series = self.lines.iter().enumerate().map(line);
        let series: Vec<Series> = series.filter(|s| !s.points.is_empty()).collect();
        series.iter().flat_map(|s| &s.points).find(|p| p.y.is_some())?;
        let tick = |(index, value): (usize, &String)| {
            let shown = match value.as_str() {
                "false" => "off",
                value => value,
            };
            let at = if self.curve {
                read_number(value).unwrap_or(1.0)
            } else {
                index as f64
            };
            (at, shown.to_owned())
        };
        Some(Chart {
            title: title.to_owned(),
            x_label: format!("-{}", self.flag),
            x_ticks: self.places.iter().enumerate().map(tick).collect(),
            x_log: self.curve,
            series,
            ..Chart::default()
        })
    }
}
