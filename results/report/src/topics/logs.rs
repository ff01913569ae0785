//! Event logs: the pauses, the utilisation and the allocation of each logged run.
//!
//! A logged run is a separate run, and a report shows the figures of its log beside those of the
//! timed runs, never among them. A log is read twice from front to back, in bounded memory: once
//! for its sums ([`gclab_eventlog::Summary`]) and once for its course over time
//! ([`gclab_eventlog::History`]). A truncated log is read up to the damage.

use super::common::Context;
use super::profiles::setting;
use crate::chart::{Chart, Point, Series, linear_ticks, log_ticks};
use crate::document::{Cell, Column, Part, Place, Section, Table};
use crate::format::{self, counted};
use crate::metric::Unit;
use crate::summary::axes;
use gclab_core::stats::{Pauses, Utilisation};
use gclab_eventlog::{Error, History, Interval, Summary as LogSummary};
use gclab_results::{EVENT_LOGS, RunRecord};
use std::path::PathBuf;

/// Windows per decade of length.
const PER_DECADE: i32 = 16;
/// Maximum number of points in a line of allocation.
const POINTS: usize = 160;
/// Nanoseconds in a millisecond.
const MS: f64 = 1e6;
/// Maximum number of configurations with charts: two charts take some twenty kilobytes.
const DRAWN: usize = 60;

/// The lines of a utilisation chart, in the order of their styles.
const LINES: [&str; 3] = [
    "least of any window (MMU)",
    "least of any window that is as long or longer (BMU)",
    "MMU of the capability that has the least",
];

/// The columns of percentiles: all but one in this many pauses are at most this long.
const PERCENTILES: [(&str, u64); 4] = [("median ms", 2), ("90% ms", 10), ("99% ms", 100), ("99.9% ms", 1000)];

const NOTE: &str = "Each event log has a run of its own, which enters no figure of the other sections. A pause of the \
     program begins when all capabilities have stopped, and ends with the collection; GHC's -s counts these. A pause \
     of a capability begins when it stops, and ends when it is resumed, so it includes waiting for the other ones; \
     ThreadScope draws these. MMU is the share of the worst window of each length in which the program could run, BMU \
     the worst window of this length or of any greater one. gclab events summary prints all figures of a log.";

/// A run that was done for its event log.
struct Logged<'a> {
    run: &'a RunRecord,
    /// The workload.
    work: String,
    /// The collector and the axes, e.g. `copying A=1m`.
    label: String,
    /// The name of the log, within the results folder.
    file: String,
    path: PathBuf,
}

/// The figures of a log.
struct Log {
    /// The program's pauses: from the moment when all capabilities have stopped to the end of the
    /// collection.
    pauses: Pauses,
    /// The stops of capabilities until they resume.
    cap_pauses: Pauses,
    /// Remarks on the log, such as where it was cut short.
    remarks: Vec<String>,
    total_ns: u64,
    utilisation: Option<Utilisation>,
    of_caps: Vec<Utilisation>,
    allocated: Vec<(u64, u64)>,
}

/// The logged runs of a folder, in the order of the plan.
fn logged<'a>(of: &Context<'a>) -> Vec<Logged<'a>> {
    // A shard of a sweep may have only logged runs.
    let own = axes(of.dir.logged(), &of.dir.manifest().sweep);
    let axes = if of.dir.runs().is_empty() {
        &own
    } else {
        &of.summary.axes
    };
    let mut runs: Vec<&RunRecord> = of.dir.logged().iter().collect();
    runs.sort_by_key(|run| run.position);
    let logged = |run: &'a RunRecord| {
        let stem = run.file_stem();
        Logged {
            run,
            work: run.configuration.work(),
            label: setting(run, axes),
            file: format!("{EVENT_LOGS}/{stem}.eventlog"),
            path: of.dir.event_log(&stem),
        }
    };
    runs.into_iter().map(logged).collect()
}

/// The section, if the folder has event logs.
pub(super) fn section(of: &Context<'_>) -> Option<Section> {
    let all = logged(of);
    if all.is_empty() {
        return None;
    }
    let lines = LINES.iter().map(|&name| name.to_owned()).enumerate();
    let mut parts = vec![Part::Legend(lines.collect())];
    for (drawn, logged) in all.iter().enumerate() {
        if drawn == 0 || all[drawn - 1].work != logged.work {
            parts.push(Part::Heading(logged.work.clone()));
        }
        // Only one log is in memory at a time.
        let log = logged.read();
        if let Ok(log) = &log {
            let charts = [log.utilisation(&logged.label), log.allocation(&logged.label)];
            let about = |chart: Chart| Chart {
                about: logged.work.clone(),
                ..chart
            };
            let charts: Vec<Chart> = charts
                .into_iter()
                .flatten()
                .map(about)
                .filter(|_| drawn < DRAWN)
                .collect();
            if !charts.is_empty() {
                parts.push(Part::Charts(charts));
            }
            let rows = pause_rows(logged, log);
            if !rows.is_empty() {
                parts.push(Part::Table(pause_table(rows)));
            }
        }
        parts.push(Part::Paragraph(remarks(logged, log.as_ref())));
    }
    if let Some(hidden @ 1..) = all.len().checked_sub(DRAWN) {
        parts.push(Part::Note(format!(
            "Without charts here: {}.",
            counted(hidden, "more log")
        )));
    }
    parts.push(Part::Note(NOTE.to_owned()));
    Some(Section {
        title: "Event logs",
        place: Place::Detail,
        parts,
        ..Section::default()
    })
}

/// The file of a log, and remarks on it.
fn remarks(logged: &Logged<'_>, log: Result<&Log, &String>) -> String {
    let mut remarks = Vec::new();
    if !logged.run.outcome.is_ok() {
        remarks.push(format!("the run ended as {}", logged.run.outcome));
    }
    match log {
        Ok(log) => {
            remarks.extend(log.remarks.iter().cloned());
            remarks.push(format!("the log is {}", logged.file));
        }
        Err(problem) => remarks.push(format!("no figures: {problem}")),
    }
    format!("{}: {}.", logged.label, remarks.join("; "))
}

/// A row for the program's pauses, and one for the capabilities', unless both have the same
/// figures, as with one capability.
fn pause_rows(logged: &Logged<'_>, log: &Log) -> Vec<Vec<Cell>> {
    let row = |of: &str, pauses: &Pauses| {
        let mut cells = vec![
            Cell::word(&logged.label),
            Cell::text(of),
            Cell::number(pauses.count().to_string(), pauses.count() as f64),
            milliseconds(pauses.total_ns()),
        ];
        let percentiles = pauses.exceeded_by_one_in(PERCENTILES.map(|(_, rarer)| rarer));
        cells.extend(
            percentiles
                .into_iter()
                .map(|length| length.map_or_else(Cell::absent, milliseconds)),
        );
        cells.push(milliseconds(pauses.longest_ns()));
        cells
    };
    let both = [("the program", &log.pauses), ("a capability", &log.cap_pauses)];
    let some = both.into_iter().filter(|(_, pauses)| pauses.count() > 0);
    let mut rows: Vec<Vec<Cell>> = some.map(|(of, pauses)| row(of, pauses)).collect();
    rows.dedup_by_key(|row| row[2..].iter().map(|cell| cell.text.clone()).collect::<Vec<_>>());
    rows
}

fn pause_table(rows: Vec<Vec<Cell>>) -> Table {
    let mut columns = ["configuration", "pauses of"].map(Column::words).to_vec();
    columns.extend(["pauses", "in all ms"].map(Column::figures));
    columns.extend(PERCENTILES.map(|(title, _)| Column::figures(title)));
    columns.push(Column::figures("longest ms"));
    Table {
        columns,
        rows,
        ..Table::default()
    }
}

fn milliseconds(nanoseconds: u64) -> Cell {
    Cell::number(format::milliseconds(nanoseconds), nanoseconds as f64)
}

impl Logged<'_> {
    /// Reads the log. The error says why there is none.
    fn read(&self) -> Result<Log, String> {
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
            remarks.push(format!("the figures cover the log up to its damage: {damage}"));
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
    /// without pauses.
    fn utilisation(&self, label: &str) -> Option<Chart> {
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

    /// The bytes allocated up to each moment; `None` if the log does not say.
    fn allocation(&self, label: &str) -> Option<Chart> {
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
/// on a logarithmic axis, including the longest pause and the span.
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

/// A point of a line of utilisation. Points at powers of ten are labelled.
fn point(window: u64, share: f64, line: &str) -> Point {
    let percent = Unit::Percent.shown(share);
    let is_round = window.checked_ilog10().is_some_and(|power| 10_u64.pow(power) == window);
    let ms = window as f64 / MS;
    let tip = is_round.then(|| format!("{line}: {percent:.1} % in {} ms", format::number(ms)));
    Point {
        tip: tip.unwrap_or_default(),
        ..Point::at(ms, percent)
    }
}

fn allocated((moment, bytes): (u64, u64)) -> Point {
    Point::at(moment as f64 * 1e-9, Unit::Mebibytes.shown(bytes as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::synthetic::small_runs;
    use gclab_core::stats::SinglePause;

    #[test]
    fn equal_pauses_of_program_and_capability_have_one_row() {
        let run = &small_runs()[0];
        let logged = Logged {
            run,
            work: "gcbench".to_owned(),
            label: "ghc".to_owned(),
            file: String::new(),
            path: PathBuf::new(),
        };
        let pauses = |lengths: &[u64]| {
            let mut pauses = Pauses::default();
            for (start_ns, &length_ns) in (0..).zip(lengths) {
                pauses.add(SinglePause { start_ns, length_ns });
            }
            pauses
        };
        let rows = |of_cap: &[u64]| {
            let log = Log {
                pauses: pauses(&[1_000_000, 2_000_000]),
                cap_pauses: pauses(of_cap),
                remarks: Vec::new(),
                total_ns: 10_000_000,
                utilisation: None,
                of_caps: Vec::new(),
                allocated: Vec::new(),
            };
            pause_rows(&logged, &log).len()
        };
        assert_eq!((rows(&[1_000_000, 2_000_000]), rows(&[1_000_000, 3_000_000])), (1, 2));
    }
}
