//! Charts of what parallel collection gives: speed-up of collections and of the whole run over the base, and the work balance.
//!
//! Over three and more values of `-N`, the base is one capability and `-N` lies horizontally; else the base is parallel collection off, and `-qg` lies
//! there. Lines are the settings of everything else. Bars of a speed-up are Fieller's interval, those of the balance reach from the least run to the greatest.

use super::super::{time_metric, with_range};
use super::{is_on, off, one};
use crate::chart::{Chart, Point, Series};
use crate::maths::ratio_of_means;
use crate::metric::{self, Metric};
use crate::summary::{Group, Summary, UNSET, Work, number};

/// From this many numbers of capabilities on they are what the charts are about.
const A_CURVE: usize = 3;

/// The style of the line at 1: grey.
const NO_CHANGE: usize = 6;

/// All charts of a sweep.
pub(in crate::report) struct Charts {
    /// What the lines are, with their styles; empty for one line.
    pub legend: Vec<(usize, String)>,
    /// What a speed-up is over, in words.
    pub base: &'static str,
    /// The charts of each workload that has any.
    pub works: Vec<(String, Vec<Chart>)>,
}

/// The charts; without any where nothing was on.
pub(in crate::report) fn charts(summary: &Summary<'_>) -> Charts {
    let plot = Plot::of(summary);
    let time = time_metric(summary);
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
    // Speed-ups of all workloads can be compared by eye.
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
        "the same with parallel collection off (or, where that was not run, one capability)"
    };
    Charts {
        legend: if plot.lines.len() > 1 {
            plot.lines.iter().cloned().enumerate().collect()
        } else {
            Vec::new()
        },
        base,
        works,
    }
}

/// What lies horizontally, and what the lines are.
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
        let numbers = values("N").map_or(0, |n| n.iter().filter(|v| number(v).is_some()).count());
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

    /// What has a place on the axis: what is on, and where a curve begins. (A base has the speed-up 1, which is the grey line.)
    fn shows(&self, group: &Group<'_>) -> bool {
        is_on(group) || self.curve
    }

    /// The other flags that are given, and the collector if there are several.
    fn line(&self, group: &Group<'_>) -> String {
        let axes = self.summary.axes.iter().map(|axis| axis.flag.as_str());
        let given = axes.filter(|flag| *flag != self.flag && group.flag(flag) != UNSET);
        let several = self.summary.collectors.len() > 1;
        let mut words: Vec<String> = several
            .then(|| group.configuration.collector.clone())
            .into_iter()
            .collect();
        words.extend(given.map(|flag| format!("{flag}={}", group.flag(flag))));
        words.join(" ")
    }

    fn base<'w>(&self, work: &'w Work<'a>, group: &Group<'_>) -> Option<&'w Group<'a>> {
        if self.curve {
            one(work, group).or_else(|| off(work, group))
        } else {
            off(work, group).or_else(|| one(work, group))
        }
    }

    fn place(&self, group: &Group<'_>) -> Option<f64> {
        let value = group.flag(self.flag);
        if self.curve {
            return number(value).or((value == UNSET).then_some(1.0));
        }
        self.places.iter().position(|place| place == value).map(|at| at as f64)
    }

    fn speed_up(&self, work: &Work<'a>, title: &str, metric: &Metric) -> Option<Chart> {
        let point = |group: &Group<'_>| {
            let base = self.base(work, group)?;
            let ratio = ratio_of_means(&group.spread(metric)?, &base.spread(metric)?)?;
            let (low, high) = ratio
                .ci95
                .map_or((ratio.estimate, ratio.estimate), |ci| (ci.low, ci.high));
            let over = format!("{:.2} ({low:.2}–{high:.2})", ratio.estimate);
            Some(((ratio.estimate, low, high), over))
        };
        let mut chart = self.chart(work, title, point)?;
        let ends = [chart.x_ticks.first()?.0, chart.x_ticks.last()?.0];
        chart.series.push(Series {
            style: NO_CHANGE,
            points: ends
                .map(|x| Point {
                    x,
                    y: Some((1.0, 1.0, 1.0)),
                    tip: String::new(),
                    ..Point::default()
                })
                .to_vec(),
            marks: false,
            joined: true,
            ..Series::default()
        });
        Some(chart)
    }

    fn balance(&self, work: &Work<'a>) -> Option<Chart> {
        let metric = &metric::WORK_BALANCE;
        let point = |group: &Group<'_>| {
            let spread = group.spread(metric)?;
            let shown = |value| metric.unit.shown(value);
            let text = format!("{} {}", with_range(metric, &spread), metric.unit.name());
            Some(((shown(spread.median), shown(spread.min), shown(spread.max)), text))
        };
        let chart = self.chart(work, "Work balance, %", point)?;
        Some(Chart { y_max: 100.0, ..chart })
    }

    /// A chart of those that are on; `None` if none of them has a point.
    fn chart(
        &self,
        work: &Work<'a>,
        title: &str,
        of: impl Fn(&Group<'_>) -> Option<((f64, f64, f64), String)>,
    ) -> Option<Chart> {
        let point = |group: &Group<'_>| {
            let label = group.label(&self.summary.axes);
            let x = self.place(group)?;
            Some(match of(group) {
                Some((y, text)) => Point {
                    x,
                    y: Some(y),
                    tip: format!("{label}: {text}"),
                    ..Point::default()
                },
                None => {
                    let why = group.failures_text();
                    let why = if why.is_empty() { "none" } else { &why };
                    Point {
                        x,
                        y: None,
                        tip: format!("{label}: {why}"),
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
                number(value).unwrap_or(1.0)
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
