//! Event logs: the pauses, the utilisation and the allocation of each logged run.
//!
//! A logged run is a run of its own, and a report has the figures of its log beside those of the
//! timed runs, never among them. A log is read front to back in bounded memory, twice: once for its
//! sums ([`gclab_eventlog::Summary`]) and once for its course ([`gclab_eventlog::History`]). A log
//! that was cut short is read up to its damage.

use crate::chart::{Chart, Point, Series, linear_ticks, log_ticks};
use crate::folder::{Results, Untimed};
use crate::format;
use crate::metric::Unit;
use crate::summary::{Group, Summary, axes};
use gclab_core::stats::{Pauses, Utilisation};
use gclab_eventlog::{Error, History, Interval, Summary as LogSummary};
use gclab_results::order::Arrange;
use gclab_results::{EVENT_LOGS, RunRecord};
use std::path::PathBuf;

/// Windows in each tenfold of length.
const PER_DECADE: i32 = 16;
/// The most points of a line of allocation.
const POINTS: usize = 160;
/// Nanoseconds in a millisecond.
const MS: f64 = 1e6;

/// The lines of a chart of utilisation, in the order of their styles.
pub(crate) const LINES: [&str; 3] = [
    "least of any window (MMU)",
    "least of any window that is as long or longer (BMU)",
    "MMU of the capability that has the least",
];

/// A run that was done for its event log.
#[derive(Debug)]
pub(crate) struct Logged<'a> {
    /// The logged run.
    pub(crate) run: &'a RunRecord,
    /// The collector and the axes, e.g. `copying A=1m`.
    pub(crate) label: String,
    /// The name of the log, within the results folder.
    pub(crate) file: String,
    path: PathBuf,
}

/// The figures of a log.
#[derive(Debug)]
pub(crate) struct Log {
    /// The pauses of the program: from the moment at which all capabilities have stopped to the end
    /// of the collection.
    pub(crate) pauses: Pauses,
    /// The stops of capabilities until each is resumed.
    pub(crate) cap_pauses: Pauses,
    /// Remarks on the log, such as the place at which it was cut short.
    pub(crate) remarks: Vec<String>,
    total_ns: u64,
    utilisation: Option<Utilisation>,
    of_caps: Vec<Utilisation>,
    allocated: Vec<(u64, u64)>,
}

/// The logged runs of a folder by workload, in the order of the plan.
pub(crate) fn logged<'a>(dir: &'a Results, summary: &Summary<'_>) -> Vec<(String, Vec<Logged<'a>>)> {
    // A part of a sweep may have logged runs alone.
    let own = axes(dir.logged().iter().map(|one| &one.run), &dir.manifest().sweep);
    let axes = if dir.runs().is_empty() { &own } else { &summary.axes };
    let mut runs: Vec<&Untimed> = dir.logged().iter().collect();
    runs.arrange_by_key(|one| one.run.position);
    let mut works: Vec<(String, Vec<Logged<'a>>)> = Vec::new();
    for Untimed { run, record } in runs {
        let group = Group::empty(run);
        let stem = record.file_stem();
        let of_run = Logged {
            run: record,
            label: group.label(axes),
            file: format!("{EVENT_LOGS}/{stem}.eventlog"),
            path: dir.event_log(&stem),
        };
        let title = group.configuration.work();
        match works.iter_mut().find(|(work, _)| *work == title) {
            Some((_, runs)) => runs.push(of_run),
            None => works.push((title, vec![of_run])),
        }
    }
    works
}

impl Logged<'_> {
    /// Reads the log. The error says in words why there is none.
    pub(crate) fn read(&self) -> Result<Log, String> {
        if !self.path.exists() {
            return Err(format!("there is no file {}", self.file));
        }
        self.read_file().map_err(|error| error.to_string())
    }

    fn read_file(&self) -> Result<Log, Error> {
        let (summary, damage) = LogSummary::of_file(&self.path, Interval::default(), true)?;
        let history = History::of_file(&self.path)?;
        let total_ns = summary.total_ns.unwrap_or(0);
        let mut remarks = Vec::new();
        if let Some(damage) = damage {
            remarks.push(format!("the figures are those of the log up to its damage: {damage}"));
        }
        let utilisation = summary.pauses.utilisation((0, total_ns));
        match summary.collections {
            None => remarks.push("the log has no figures of collections (class g of -l)".to_owned()),
            Some(0) => remarks.push("there was no collection".to_owned()),
            Some(_) if utilisation.is_none() => remarks.extend(summary.pauses.reason()),
            Some(_) => {}
        }
        if let Some(stops) = &summary.time_to_stop {
            remarks.push(format!(
                "all capabilities had stopped after {} at most",
                format::time(stops.max_ns as f64 * 1e-9)
            ));
        }
        let of_caps = history.utilisations(total_ns);
        if of_caps.is_none() {
            remarks
                .push("the capabilities stopped too often for a line of the one with the least utilisation".to_owned());
        }
        Ok(Log {
            pauses: summary.pauses,
            cap_pauses: summary.cap_pauses,
            remarks,
            total_ns,
            utilisation,
            of_caps: of_caps.unwrap_or_default(),
            allocated: history.allocated,
        })
    }
}

impl Log {
    /// The minimum mutator utilisation and its bound, against the length of the window; `None`
    /// without a pause.
    pub(crate) fn utilisation(&self, label: &str) -> Option<Chart> {
        let utilisation = self.utilisation.as_ref().filter(|all| all.longest_ns() > 0)?;
        let windows = windows(utilisation);
        let (first, last) = (*windows.first()? as f64 / MS, *windows.last()? as f64 / MS);
        let line = |style: usize, of: &dyn Fn(u64) -> Option<f64>| Series {
            style,
            points: windows
                .iter()
                .filter_map(|&window| Some(point(window, of(window)?, LINES[style])))
                .collect(),
            joined: true,
            ..Series::default()
        };
        let mut series = vec![
            line(0, &|window| utilisation.least(window)),
            line(1, &|window| utilisation.bound(window)),
        ];
        if self.of_caps.len() > 1 {
            let least = |window| self.of_caps.iter().filter_map(|cap| cap.least(window)).reduce(f64::min);
            series.push(line(2, &least));
        }
        let ticks = log_ticks(first, last).into_iter();
        let ticks = ticks.filter(|tick| (first..=last).contains(tick));
        Some(Chart {
            title: format!("{label}: utilisation, %"),
            x_label: "window, ms".to_owned(),
            x_ticks: ticks.map(|tick| (tick, format::number(tick))).collect(),
            x_log: true,
            y_max: 100.0,
            series,
            ..Chart::default()
        })
    }

    /// The bytes that were allocated up to each moment; `None` if the log does not tell.
    pub(crate) fn allocation(&self, label: &str) -> Option<Chart> {
        let (_, all) = *self.allocated.last()?;
        let thinned = self.allocated.chunks(self.allocated.len().div_ceil(POINTS));
        let ends = thinned.filter_map(|chunk| chunk.last().copied());
        let mut points: Vec<Point> = [(0, 0)].into_iter().chain(ends).map(allocated).collect();
        let end = points.last_mut()?;
        end.tip = format!("{} after {}", format::bytes(all), format::time(end.x));
        let ticks = linear_ticks(self.total_ns as f64 * 1e-9, 5);
        Some(Chart {
            title: format!("{label}: allocated, MiB"),
            x_label: "seconds since the start".to_owned(),
            x_ticks: ticks.into_iter().map(|tick| (tick, format::number(tick))).collect(),
            series: vec![Series {
                points,
                joined: true,
                ..Series::default()
            }],
            ..Chart::default()
        })
    }
}

/// The windows of a chart, in nanoseconds: from below the longest pause to the whole span, evenly
/// on a logarithmic axis, with the longest pause and the span.
fn windows(utilisation: &Utilisation) -> Vec<u64> {
    let (longest, span) = (utilisation.longest_ns(), utilisation.span_ns());
    let decade = (longest as f64 / 2.0).max(1.0).log10().floor() as i32;
    let even = (decade * PER_DECADE..).map(|step| 10_f64.powf(f64::from(step) / f64::from(PER_DECADE)).round() as u64);
    let mut windows: Vec<u64> = even
        .take_while(|window| *window < span)
        .chain([longest, span])
        .collect();
    windows.sort_unstable();
    windows.dedup();
    windows
}

/// A point of a line of utilisation. Those at powers of ten say their figures.
fn point(window: u64, share: f64, line: &str) -> Point {
    let percent = Unit::Percent.shown(share);
    let is_round = window.checked_ilog10().is_some_and(|power| 10_u64.pow(power) == window);
    let ms = window as f64 / MS;
    Point {
        x: ms,
        y: Some((percent, percent, percent)),
        tip: if is_round {
            format!("{line}: {percent:.1} % in {} ms", format::number(ms))
        } else {
            String::new()
        },
        ..Point::default()
    }
}

fn allocated((moment, bytes): (u64, u64)) -> Point {
    let y = Unit::Mebibytes.shown(bytes as f64);
    Point {
        x: moment as f64 * 1e-9,
        y: Some((y, y, y)),
        ..Point::default()
    }
}
