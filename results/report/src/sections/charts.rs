//! The sections that consist of charts.

use super::answers::collectors;
use super::runs::{word_cells, word_columns};
use super::sharing;
use crate::analysis::panels::{MOST_PANELS, by_other_axes, panels as rows_of_panels, split_axes};
use crate::analysis::parallel::{self, advice};
use crate::analysis::pauses::{PERCENTILES, PauseRow, distribution, pause_rows, utilisation};
use crate::analysis::{memory, timeline};
use crate::chart::{Chart, ChartSet};
use crate::document::{Cell, Column, Look, Part, Section, Table, Text, Topic};
use crate::format;
use crate::inference::{Interval, RUNS_FOR_MEDIAN, runs_for_percentile};
use crate::metric;
use crate::summary::{Group, Summary, WorkloadRuns};
use gclab_results::Axis;

/// A note below charts of which some are left out.
fn left_out(number: usize, place: &str) -> Option<Part> {
    (number > 0).then(|| Part::Note(format!("{number} more settings are in {place}.")))
}

fn chart_set(parts: &mut Vec<Part>, set: ChartSet) {
    if !set.legend.is_empty() {
        parts.push(Part::Legend(set.legend));
    }
    for (title, charts) in set.works {
        parts.extend([Part::Heading(title), Part::Charts(charts)]);
    }
}

/// Speed-ups and the work balance, if the runs say anything on parallel collection.
pub(super) fn parallel(summary: &Summary<'_>) -> Option<Section> {
    advice(summary)?;
    let (base, set) = parallel::charts(summary);
    if set.works.is_empty() {
        return None;
    }
    let note = format!(
        "Speed-up is the time of {base}, over that of the setting: above 1 is faster; the grey line is no change. \
         Bars are 95 % intervals; those of the work balance reach from the least to the greatest run. A balance of \
         0 % means that one thread copied everything, 100 % that all threads copied the same amount."
    );
    let columns = "“Sequential” is the share of the pauses of parallel collections in which one thread worked alone. \
         “Stopping” is the time until all mutators had stopped: of all collections of a run, and the longest. The last \
         columns divide the threads' remaining time into work, waking up after the call, waiting for more work, and \
         waiting for the end.";
    let mut parts = vec![Part::Note(note)];
    chart_set(&mut parts, set);
    parts.push(Part::Details(
        "How the work was shared",
        vec![Part::Table(sharing::table(summary)), Part::Note(columns.to_owned())],
    ));
    Some(Section {
        topic: Topic::Parallel,
        text: Vec::new(),
        parts,
    })
}

/// Curves of time against memory, if the experiment has budgets.
pub(super) fn curves(summary: &Summary<'_>) -> Option<Section> {
    summary.groups().find(|group| group.heap.is_some())?;
    let set = memory::charts(summary);
    if set.works.is_empty() {
        return None;
    }
    let note = "Points are means, bands their 95 % intervals (from three runs on). A cross is a heap with which the \
         collector fails, with the reason. The heap is a multiple of the least heap of the workload.";
    let mut parts = vec![Part::Note(note.to_owned())];
    chart_set(&mut parts, set);
    Some(Section {
        topic: Topic::Curves,
        text: Vec::new(),
        parts,
    })
}

/// Times and memory against the swept flags. The curves say it all where only the heap was swept.
pub(super) fn panels(summary: &Summary<'_>) -> Option<Section> {
    let curves_only = summary.axes.len() <= 1 && summary.groups().any(|group| group.heap.is_some());
    if summary.works.is_empty() || curves_only {
        return None;
    }
    let mut note = "Marks are medians, bars reach from the least to the greatest run. A cross on the axis is a \
         configuration without a good run."
        .to_owned();
    let works: Vec<_> = summary
        .works
        .iter()
        .map(|work| (work, rows_of_panels(summary, work)))
        .collect();
    let most = works.iter().map(|(_, (rows, _))| rows.len()).max().unwrap_or(0);
    if most == 0 && summary.most_runs() > 0 {
        return None;
    }
    note.push_str(match most {
        0 | 1 => " Each chart has a scale of its own.",
        _ => " The charts of one column share their scale within a workload; those side by side do not.",
    });
    let mut parts = vec![collectors(summary), Part::Note(note)];
    for (work, (rows, all)) in works {
        parts.push(Part::Heading(work.title.clone()));
        if rows.is_empty() {
            parts.push(Part::Note("No good run of this workload has times.".to_owned()));
        }
        for row in rows {
            if !row.heading.is_empty() {
                parts.push(Part::Subheading(row.heading));
            }
            parts.push(Part::Charts(row.charts));
        }
        parts.extend(left_out(all.saturating_sub(MOST_PANELS), "the tables"));
    }
    Some(Section {
        topic: Topic::Panels,
        text: Vec::new(),
        parts,
    })
}

/// Memory over the time of a run, where runs have it.
pub(super) fn timelines(summary: &Summary<'_>) -> Option<Section> {
    let mut charts = Vec::new();
    for work in &summary.works {
        let (setting, timelines) = timeline::timelines(summary, work);
        if !timelines.is_empty() {
            let comma = if setting.is_empty() { "" } else { ", " };
            charts.push(Part::Heading(format!("{}{comma}{setting}", work.title)));
            charts.push(Part::Charts(timelines));
        }
    }
    if charts.is_empty() {
        return None;
    }
    let note = "One run of each collector at the same setting, where most collectors have a good run: that of the \
         fastest configuration if it is one of these. Lines show the memory as it was after each collection; during a \
         collection a heap may be larger. Dots are live data after major collections; after others, live data \
         contain garbage that was not looked for.";
    let lines = timeline::LINES.iter().map(|&name| name.to_owned());
    let mut parts = vec![Part::Note(note.to_owned()), Part::Legend(lines.enumerate().collect())];
    parts.extend(charts);
    Some(Section {
        topic: Topic::Timeline,
        text: Vec::new(),
        parts,
    })
}

/// Why a workload has no distribution of pauses.
fn no_pauses(work: &WorkloadRuns<'_>) -> String {
    let title = &work.title;
    match work
        .groups
        .iter()
        .any(|group| group.spread(&metric::MAX_PAUSE).is_some())
    {
        true => format!(
            "{title}: only the longest pause of each run is known; it is in the tables. The runtime does not say how long \
             the others were."
        ),
        false => format!("{title}: no pause was recorded."),
    }
}

/// The distribution of pauses, and their percentiles.
pub(super) fn pauses(summary: &Summary<'_>) -> Option<Section> {
    if summary.works.is_empty() {
        return None;
    }
    let note = format!(
        "A pause is the time in which the mutator stands still: its threads are stopped and the collection \
         runs. The pauses of all good runs of a configuration are pooled. Percentiles are observed pauses (nearest \
         rank): 90 % needs 10 pauses, 99 % 100, 99.9 % 1000. Their 95 % intervals are by resamples of whole runs: a median \
         has one from {RUNS_FOR_MEDIAN} runs on, the others from {} on, as fewer say too little. “Longest of a run” is the median (least–greatest) of the \
         longest pauses of the runs. A run with too many collections has no single pauses in its record; then a \
         percentile is the median of those of the runs, with the interval of the median.",
        runs_for_percentile(99.0)
    );
    let mut parts = vec![Part::Note(note), collectors(summary)];
    for work in &summary.works {
        let rows = pause_rows(work);
        if rows.is_empty() {
            parts.push(Part::Note(no_pauses(work)));
            continue;
        }
        let (settings, missing) = shown_settings(summary, work, &rows);
        let charts = |draw: fn(&str, &str, &Summary<'_>, &[&PauseRow<'_>]) -> Chart, title: &str| {
            let charts = settings.iter().map(|(heading, rows)| {
                let colon = if heading.is_empty() { "" } else { ": " };
                draw(&work.title, &format!("{title}{colon}{heading}"), summary, rows)
            });
            Part::Charts(charts.filter(|chart| chart.dots() > 1).collect())
        };
        parts.extend([Part::Heading(work.title.clone()), charts(distribution, "Pauses, ms")]);
        parts.extend(left_out(missing, "the table"));
        let table = Part::Table(pause_table(summary, &rows));
        parts.push(Part::Details("Percentiles", vec![table]));
        if let Some(table) = utilisation_table(summary, &rows) {
            let charts = charts(utilisation, "Minimum mutator utilisation, %");
            let note = Part::Note(UTILISATION_NOTE.to_owned());
            parts.push(Part::Details(
                "Minimum mutator utilisation",
                vec![note, charts, Part::Table(table)],
            ));
        }
    }
    Some(Section {
        topic: Topic::Pauses,
        text: Vec::new(),
        parts,
    })
}

/// A setting with the rows of its configurations.
type ShownSetting<'r, 'a> = (String, Vec<&'r PauseRow<'a>>);

/// The settings that have charts: each value of the horizontal axis, at the first values of the
/// others; and the number of settings that are left out.
fn shown_settings<'r, 'a>(
    summary: &Summary<'_>,
    work: &WorkloadRuns<'_>,
    rows: &'r [PauseRow<'a>],
) -> (Vec<ShownSetting<'r, 'a>>, usize) {
    let axes: Vec<&Axis> = summary.axes.iter().collect();
    let (_, others) = split_axes(summary);
    let first = by_other_axes(work, &others).into_iter().next();
    let first = first.map_or(Vec::new(), |(_, groups)| groups);
    let is_among =
        |row: &PauseRow<'_>, groups: &[&Group<'_>]| groups.iter().any(|group| std::ptr::eq(*group, row.group));
    let mut settings: Vec<ShownSetting<'_, '_>> = Vec::new();
    for (heading, groups) in by_other_axes(work, &axes) {
        let of_setting: Vec<_> = rows.iter().filter(|row| is_among(row, &groups)).collect();
        if !of_setting.is_empty() {
            settings.push((heading, of_setting));
        }
    }
    let all = settings.len();
    settings.retain(|(_, rows)| rows.iter().any(|row| is_among(row, &first)));
    // Evenly over the sweep, with its ends.
    let shown = settings.len().min(MOST_PANELS);
    let setting = |index: usize| {
        let place = if shown > 1 {
            index * (settings.len() - 1) / (shown - 1)
        } else {
            0
        };
        settings[place].clone()
    };
    ((0..shown).map(setting).collect(), all - shown)
}

/// The explanation of the minimum mutator utilisation.
const UTILISATION_NOTE: &str = "The mutator could run in this share of the worst window of each length, within the \
     measured phase. Pauses that follow closely on each other lower the share, though each may be short. 0 % means that \
     collections filled a whole window. “Or more” is the bounded utilisation: the worst window of this length or any \
     greater one, so that a longer window never looks worse. Figures are medians (least–greatest) of the runs. A window that \
     is longer than the measured phase has no figure.";

/// The minimum mutator utilisation of the configurations; `None` if no record has it.
fn utilisation_table(summary: &Summary<'_>, rows: &[PauseRow<'_>]) -> Option<Table> {
    let known = |all: &'static [(f64, metric::Metric)]| {
        let is_known = |metric: &metric::Metric| rows.iter().any(|row| row.group.spread(metric).is_some());
        all.iter()
            .filter(move |(_, metric)| is_known(metric))
            .collect::<Vec<_>>()
    };
    let (least, bounded) = (known(metric::UTILISATION), known(metric::BOUNDED_UTILISATION));
    if least.is_empty() {
        return None;
    }
    let mut columns = word_columns(summary);
    columns.extend(
        least
            .iter()
            .map(|(window, _)| Column::figures(format!("% in {window} ms"))),
    );
    columns.extend(
        bounded
            .iter()
            .map(|(window, _)| Column::figures(format!("% in {window} ms or more"))),
    );
    let known: Vec<_> = [least, bounded].concat();
    let row = |row: &PauseRow<'_>| {
        let mut cells = word_cells(summary, row.group);
        cells.extend(
            known
                .iter()
                .map(|(_, metric)| Cell::Figure(*metric, row.group.spread(metric))),
        );
        cells
    };
    Some(Table {
        look: Look::Sortable,
        columns,
        rows: rows.iter().map(row).collect(),
    })
}

/// A percentile in milliseconds with its interval.
fn percentile(nanoseconds: u64, ci: Option<&Interval>) -> Cell {
    let shown = |nanoseconds: f64| format::milliseconds(nanoseconds.round() as u64);
    Cell::Text(Text {
        text: format::milliseconds(nanoseconds),
        more: ci.map_or(String::new(), |ci| format!("({}–{})", shown(ci.low), shown(ci.high))),
        sort: Some(nanoseconds as f64),
        ..Text::default()
    })
}

fn pause_table(summary: &Summary<'_>, rows: &[PauseRow<'_>]) -> Table {
    let mut columns = word_columns(summary);
    columns.push(Column::figures("pauses"));
    columns.extend(PERCENTILES.iter().map(|p| {
        let title = if *p == 50.0 {
            "median".to_owned()
        } else {
            format!("{p}%")
        };
        Column::figures(format!("{title} ms"))
    }));
    columns.extend(["longest ms", "longest of a run ms"].map(Column::figures));
    let row = |row: &PauseRow<'_>| {
        let mut cells = word_cells(summary, row.group);
        cells.push(Cell::number(row.count.to_string(), row.count as f64));
        let intervals = row.intervals();
        let percentiles = row.percentiles.iter().zip(&intervals);
        cells.extend(percentiles.map(|(p, ci)| p.map_or_else(Cell::absent, |p| percentile(p, ci.as_ref()))));
        cells.push(row.longest.map_or_else(Cell::absent, Cell::milliseconds));
        cells.push(Cell::Figure(metric::MAX_PAUSE, row.longest_of_runs));
        cells
    };
    Table {
        look: Look::Sortable,
        columns,
        rows: rows.iter().map(row).collect(),
    }
}
