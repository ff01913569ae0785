//! Pauses of the mutator: percentiles, the whole distribution as a chart, and the minimum mutator
//! utilisation.
//!
//! The pauses of all successful runs of a configuration are pooled: percentiles are taken from the
//! pool, and are not means of percentiles. A percentile is an observed pause (nearest rank); 90
//! needs ten pauses, 99 a hundred, 99.9 a thousand. A run with too many pauses records only
//! percentiles; then a percentile is the centre over the runs.
//!
//! The *minimum mutator utilisation* (Cheng and Blelloch, PLDI 2001) shows how pauses cluster: the
//! smallest share of any window of a given length in which the mutator could run.

use super::common::{Context, MOST_PANELS, by_axes, legend, runs_of, split_axes, word_cells, word_columns};
use crate::chart::{Chart, Point, Series};
use crate::document::{Cell, Column, Part, Section, Table};
use crate::format::{self, counted};
use crate::metric::{self, Metric};
use crate::summary::{Group, Summary, Work};
use gclab_results::inference::{Interval, Spread, interval_of_percentile, nearest_rank, runs_for_percentile};
use gclab_results::{Axis, RunRecord};

/// Maximum number of points of a distribution that are drawn.
const POINTS: usize = 60;

/// The pauses of one configuration.
struct Pauses<'a> {
    group: &'a Group<'a>,
    /// The number of pauses of all its successful runs.
    count: u64,
    /// Their percentiles in nanoseconds, in the order of [`PERCENTILES`].
    percentiles: Vec<Option<u64>>,
    /// The longest pause of all runs, in nanoseconds.
    longest: Option<u64>,
    /// The individual pauses of each run, sorted, in nanoseconds; none if a run lacks them.
    runs: Vec<Vec<u64>>,
    /// All of them, sorted.
    sorted: Vec<u64>,
}

/// The percentiles.
const PERCENTILES: [f64; 4] = [50.0, 90.0, 99.0, 99.9];

/// The pauses of a configuration, if it recorded any.
fn pauses<'a>(of: &Context<'_>, group: &'a Group<'a>) -> Option<Pauses<'a>> {
    let recorded: Vec<(&RunRecord, &gclab_results::Pauses)> = group
        .ok()
        .filter_map(|run| Some((run, run.stats.as_ref()?.pauses.as_ref()?)))
        .collect();
    let single = |(run, pauses): &(&RunRecord, &gclab_results::Pauses)| {
        let measured = &run.stats.as_ref()?.phases.as_ref()?.measured;
        let nanoseconds = |seconds: f64| (seconds * 1e9).round() as u64;
        let from = nanoseconds(measured.start_seconds);
        let mut single: Vec<u64> = match of.collections(&run.id) {
            Some(all) => all
                .pauses(from, from + nanoseconds(measured.total_elapsed_seconds?))
                .collect(),
            None => Vec::new(),
        };
        single.sort_unstable();
        (single.len() as u64 == pauses.count).then_some(single)
    };
    let runs: Vec<Vec<u64>> = recorded.iter().map(single).collect::<Option<_>>().unwrap_or_default();
    let mut sorted = runs.concat();
    sorted.sort_unstable();
    let percentile = |place: usize| {
        if !sorted.is_empty() {
            return nearest_rank(&sorted, PERCENTILES[place]);
        }
        let of_run =
            |pauses: &gclab_results::Pauses| [pauses.p50_ns, pauses.p90_ns, pauses.p99_ns, pauses.p99_9_ns][place];
        let of_runs = recorded.iter().map(|(_, pauses)| Some(of_run(pauses)? as f64));
        Some(Spread::of(of_runs.collect::<Option<Vec<_>>>()?)?.center.round() as u64)
    };
    let count: u64 = recorded.iter().map(|(_, pauses)| pauses.count).sum();
    let percentiles = (0..PERCENTILES.len()).map(percentile).collect();
    (count > 0).then(|| Pauses {
        group,
        count,
        percentiles,
        longest: recorded.iter().filter_map(|(_, pauses)| pauses.max_ns).max(),
        runs,
        sorted,
    })
}

/// The section, if a run recorded pauses.
pub(super) fn section(of: &Context<'_>) -> Option<Section> {
    let summary = of.summary;
    let mut parts = Vec::new();
    for work in &summary.works {
        let rows: Vec<Pauses<'_>> = work.groups.iter().filter_map(|group| pauses(of, group)).collect();
        if rows.is_empty() {
            continue;
        }
        let (settings, missing) = shown_settings(summary, work, &rows);
        let charts = |draw: fn(&Summary<'_>, &[&Pauses<'_>]) -> Chart, title: &str| {
            let charts = settings.iter().map(|(heading, rows)| Chart {
                title: format!("{title}{}{heading}", if heading.is_empty() { "" } else { ": " }),
                about: work.title.clone(),
                ..draw(summary, rows)
            });
            Part::Charts(charts.filter(|chart| chart.dots() > 1).collect())
        };
        parts.extend([Part::Heading(work.title.clone()), charts(distribution, "Pauses, ms")]);
        if missing > 0 {
            parts.push(Part::Note(format!(
                "The table has {}.",
                counted(missing, "more setting")
            )));
        }
        parts.push(Part::Details("Percentiles", vec![Part::Table(table(summary, &rows))]));
        if let Some(table) = utilisation_table(summary, &rows) {
            let charts = charts(utilisation, "Minimum mutator utilisation, %");
            let note = Part::Note(UTILISATION_NOTE.to_owned());
            parts.push(Part::Details(
                "Minimum mutator utilisation",
                vec![charts, Part::Table(table), note],
            ));
        }
    }
    (!parts.is_empty()).then(|| {
        let note = format!(
            "A pause is the time in which the mutator stands still: its threads are stopped and the collection runs. The \
             pauses of all good runs of a configuration are pooled. Percentiles are observed pauses (nearest rank): 90 % \
             needs 10 pauses, 99 % 100, 99.9 % 1000. Their 95 % intervals are by resamples of whole runs, from {} runs for \
             the median and {} for the others.",
            runs_for_percentile(50.0),
            runs_for_percentile(99.0)
        );
        let parts = legend(summary).into_iter().chain(parts).chain([Part::Note(note)]);
        Section { title: "Pauses", parts: parts.collect(), ..Section::default() }
    })
}

/// A setting with the pauses of its configurations.
type Setting<'r, 'a> = (String, Vec<&'r Pauses<'a>>);

/// The settings with charts, evenly spaced over the horizontal axis at the first values of the
/// other axes, and how many settings are left out.
fn shown_settings<'r, 'a>(
    summary: &Summary<'_>,
    work: &Work<'_>,
    rows: &'r [Pauses<'a>],
) -> (Vec<Setting<'r, 'a>>, usize) {
    let axes: Vec<&Axis> = summary.axes.iter().collect();
    let (_, others) = split_axes(summary);
    let is_among = |row: &Pauses<'_>, groups: &[&Group<'_>]| groups.iter().any(|group| std::ptr::eq(*group, row.group));
    let first = by_axes(work, &others)
        .into_iter()
        .next()
        .map_or(Vec::new(), |(_, groups)| groups);
    let settings = by_axes(work, &axes).into_iter().map(|(heading, groups)| {
        let mine: Vec<&Pauses<'_>> = rows.iter().filter(|row| is_among(row, &groups)).collect();
        (heading, mine)
    });
    let mut settings: Vec<Setting<'_, '_>> = settings.filter(|(_, rows)| !rows.is_empty()).collect();
    let all = settings.len();
    settings.retain(|(_, rows)| rows.iter().any(|row| is_among(row, &first)));
    let shown = settings.len().min(MOST_PANELS);
    let place = |index: usize| {
        if shown > 1 {
            index * (settings.len() - 1) / (shown - 1)
        } else {
            0
        }
    };
    (
        (0..shown).map(|index| settings[place(index)].clone()).collect(),
        all - shown,
    )
}

/// The distribution: the length of pauses against the share of pauses that are not longer. Each
/// tenth of the tail gets the same room. Pause i of n is placed at i/(n+1), so that the longest
/// pause has a place, too.
fn distribution(summary: &Summary<'_>, rows: &[&Pauses<'_>]) -> Chart {
    let points = |row: &Pauses<'_>| {
        let n = row.sorted.len() as f64;
        let step = (n + 1.0).ln() / POINTS as f64;
        let mut last = f64::NEG_INFINITY;
        let places = row
            .sorted
            .iter()
            .enumerate()
            .map(|(index, pause)| ((n + 1.0) / (n - index as f64), *pause));
        let mut points: Vec<Point> = Vec::new();
        for (x, pause) in places {
            if x.ln() - last >= step || x == n + 1.0 {
                last = x.ln();
                points.push(Point {
                    tip: format!(
                        "{}, {:.2} %: {} ms",
                        row.group.name,
                        100.0 - 100.0 / x,
                        format::milliseconds(pause)
                    ),
                    ..Point::at((x * 1e3).round() / 1e3, pause as f64 * 1e-6)
                });
            }
        }
        points
    };
    let series = rows.iter().filter(|row| !row.sorted.is_empty()).map(|row| Series {
        style: summary.style_of(&row.group.name),
        points: points(row),
        joined: true,
        ..Series::default()
    });
    let most = rows.iter().map(|row| row.count).max().unwrap_or(1);
    let ticks = [
        (2.0, "50%"),
        (10.0, "90%"),
        (100.0, "99%"),
        (1e3, "99.9%"),
        (1e4, "99.99%"),
        (1e5, "99.999%"),
    ];
    Chart {
        x_label: "share of pauses at most this long".to_owned(),
        x_ticks: ticks
            .iter()
            .filter(|(x, _)| *x <= most as f64 + 1.0)
            .map(|(x, text)| (*x, (*text).to_owned()))
            .collect(),
        x_log: true,
        y_log: true,
        series: series.collect(),
        ..Chart::default()
    }
}

/// The minimum mutator utilisation against the length of the window.
fn utilisation(summary: &Summary<'_>, rows: &[&Pauses<'_>]) -> Chart {
    let point = |group: &Group<'_>, window: f64, metric: &Metric| {
        let percent = metric.unit.shown(group.spread(metric)?.center);
        Some(Point {
            tip: format!("{}: {percent:.1} % in {window} ms", group.name),
            subject: runs_of([group]),
            ..Point::at(window, percent)
        })
    };
    let series = rows.iter().map(|row| Series {
        style: summary.style_of(&row.group.name),
        points: metric::UTILISATION
            .iter()
            .filter_map(|(window, metric)| point(row.group, *window, metric))
            .collect(),
        marks: true,
        joined: true,
        ..Series::default()
    });
    Chart {
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

/// The explanation of the minimum mutator utilisation.
const UTILISATION_NOTE: &str = "The mutator could run in this share of the worst window of each length, within the \
     measured phase. Pauses that follow closely on each other lower the share, though each may be short. “Or more” is the \
     bounded utilisation: the worst window of this length or any greater one, so that a longer window never looks worse. A \
     window that is longer than the measured phase has no figure.";

/// The minimum mutator utilisation of the configurations; `None` if no record has it.
fn utilisation_table(summary: &Summary<'_>, rows: &[Pauses<'_>]) -> Option<Table> {
    let titled = |all: &[(f64, Metric)], end: &str| -> Vec<(String, Metric)> {
        let known = all
            .iter()
            .filter(|(_, metric)| rows.iter().any(|row| row.group.has(metric)));
        known
            .map(|(window, metric)| (format!("% in {window} ms{end}"), *metric))
            .collect()
    };
    let all = [
        titled(metric::UTILISATION, ""),
        titled(metric::BOUNDED_UTILISATION, " or more"),
    ]
    .concat();
    let mut columns = word_columns(summary);
    columns.extend(all.iter().map(|(title, _)| Column::figures(title)));
    let row = |row: &Pauses<'_>| {
        let mut cells = word_cells(summary, row.group);
        cells.extend(
            all.iter()
                .map(|(_, metric)| Cell::spread(metric, row.group.spread(metric))),
        );
        cells
    };
    (!all.is_empty()).then(|| Table {
        rows: rows.iter().map(row).collect(),
        columns,
        ..Table::default()
    })
}

fn table(summary: &Summary<'_>, rows: &[Pauses<'_>]) -> Table {
    let mut columns = word_columns(summary);
    columns.push(Column::figures("pauses"));
    let title = |percent: &f64| {
        if *percent == 50.0 {
            "median ms".to_owned()
        } else {
            format!("{percent}% ms")
        }
    };
    columns.extend(PERCENTILES.iter().map(|percent| Column::figures(title(percent))));
    columns.extend(["longest ms", "longest of a run ms"].map(Column::figures));
    let row = |row: &Pauses<'_>| {
        let mut cells = word_cells(summary, row.group);
        cells.push(Cell::number(row.count.to_string(), row.count as f64));
        let intervals = if row.runs.is_empty() {
            vec![None; PERCENTILES.len()]
        } else {
            interval_of_percentile(&row.runs, &PERCENTILES)
        };
        let percentiles = row.percentiles.iter().zip(&intervals);
        cells.extend(
            percentiles.map(|(length, ci)| length.map_or_else(Cell::absent, |length| percentile(length, ci.as_ref()))),
        );
        let milliseconds = |length: u64| Cell::number(format::milliseconds(length), length as f64);
        cells.push(row.longest.map_or_else(Cell::absent, milliseconds));
        cells.push(Cell::spread(&metric::MAX_PAUSE, row.group.spread(&metric::MAX_PAUSE)));
        cells
    };
    Table {
        rows: rows.iter().map(row).collect(),
        columns,
        ..Table::default()
    }
}

/// A percentile in milliseconds with its interval.
fn percentile(nanoseconds: u64, ci: Option<&Interval>) -> Cell {
    let shown = |nanoseconds: f64| format::milliseconds(nanoseconds.round() as u64);
    Cell {
        more: ci.map_or(String::new(), |ci| format!("({}–{})", shown(ci.low), shown(ci.high))),
        ..Cell::number(format::milliseconds(nanoseconds), nanoseconds as f64)
    }
}
