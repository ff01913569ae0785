//! What several topics share: the folder, the columns that identify a configuration, legends, and
//! the places of configurations on an axis.

use crate::chart::{Chart, Point, Series, Subject};
use crate::document::{Cell, Column, Part, Tone};
use crate::format;
use crate::metric::Metric;
use crate::ranking::{Rank, Verdict};
use crate::summary::{Group, HEAP, Summary, Work, axis_name, values_of};
use gclab_core::words::size::read_number;
use gclab_results::inference::Effect;
use gclab_results::{Axis, Collections, ResultsDir};
use std::cell::OnceCell;
use std::collections::HashMap;

/// A folder with its configurations.
pub(crate) struct Context<'a> {
    /// The folder.
    pub(crate) dir: &'a ResultsDir,
    /// Its configurations.
    pub(crate) summary: &'a Summary<'a>,
    collections: OnceCell<HashMap<String, Collections>>,
}

impl<'a> Context<'a> {
    pub(super) fn new(dir: &'a ResultsDir, summary: &'a Summary<'a>) -> Context<'a> {
        Context {
            dir,
            summary,
            collections: OnceCell::new(),
        }
    }

    /// The individual collections of a run, if the folder has them. They are read at the first
    /// call. If they cannot be read, the report leaves out their charts.
    pub(super) fn collections(&self, id: &str) -> Option<&Collections> {
        let all = self
            .collections
            .get_or_init(|| self.dir.collections().unwrap_or_default());
        all.get(id)
    }
}

/// Maximum number of rows of charts for a workload; more settings are in the tables.
pub(super) const MOST_PANELS: usize = 6;

/// The columns that identify a configuration: the axes, and the name if there are several.
pub(super) fn word_columns(summary: &Summary<'_>) -> Vec<Column> {
    let mut columns: Vec<Column> = summary.axes.iter().map(|axis| Column::words(&axis.flag)).collect();
    if summary.names.len() > 1 || columns.is_empty() {
        columns.push(Column::words(kind(summary)));
    }
    columns
}

/// The effect and the verdict of a contender as a cell.
pub(super) fn rank_cell(rank: &Rank) -> Cell {
    let text = match (&rank.effect, rank.verdict) {
        (_, Verdict::Fails) => match &rank.failures[..] {
            [(_, why)] => (*why).to_owned(),
            several => format!("fails on {}", several.len()),
        },
        // The first one, or a figure that is 0 everywhere.
        (None, _) => "1".to_owned(),
        (Some(effect), _) => format::effect(effect),
    };
    let more = match rank.verdict {
        Verdict::Unclear | Verdict::Disturbed | Verdict::Tied if rank.effect.is_some() => {
            rank.verdict.word().to_owned()
        }
        Verdict::Fails if rank.failures.len() > 1 => {
            let reasons: Vec<String> = rank
                .failures
                .iter()
                .map(|(work, why)| format!("{why}: {work}"))
                .collect();
            reasons.join("; ")
        }
        _ => String::new(),
    };
    let tone = match rank.verdict {
        Verdict::Best => Tone::Strong,
        Verdict::Fails => Tone::Failed,
        _ => Tone::Plain,
    };
    Cell {
        text,
        more,
        tone,
        value: Some(rank.effect.as_ref().map_or(1.0, Effect::ratio)).filter(|_| rank.verdict != Verdict::Fails),
        ..Cell::default()
    }
}

/// What the names of groups are.
pub(super) fn kind(summary: &Summary<'_>) -> &'static str {
    let is_program = |group: &Group<'_>| group.configuration.workload == group.name;
    if summary.groups().any(is_program) {
        "program"
    } else {
        "collector"
    }
}

/// The cells of [`word_columns`].
pub(super) fn word_cells(summary: &Summary<'_>, group: &Group<'_>) -> Vec<Cell> {
    let mut cells: Vec<Cell> = summary
        .axes
        .iter()
        .map(|axis| Cell::word(group.flag(&axis.flag)))
        .collect();
    if summary.names.len() > 1 || cells.is_empty() {
        cells.push(Cell::word(&group.name));
    }
    cells
}

/// The colours of the names; none if a single name needs no legend.
pub(super) fn legend(summary: &Summary<'_>) -> Option<Part> {
    let names = summary.names.iter().cloned().enumerate();
    (summary.names.len() > 1).then(|| Part::Legend(names.collect()))
}

/// The configurations behind a mark.
pub(super) fn runs_of<'g, 'a: 'g>(groups: impl IntoIterator<Item = &'g Group<'a>>) -> Subject {
    let cells = groups.into_iter().filter_map(|group| group.runs.first());
    Subject::Configurations(cells.map(|run| run.cell.clone()).collect())
}

/// The mark of a figure over the runs of a configuration, with a dot for each run; `scale` turns
/// figures into values. A cross if it has none.
pub(super) fn mark(summary: &Summary<'_>, metric: &Metric, group: &Group<'_>, x: f64, scale: f64) -> Point {
    let label = summary.label(group, &[]);
    let subject = runs_of([group]);
    let values = group.values(metric);
    match gclab_results::inference::Spread::of(values_of(&values)) {
        Some(spread) => Point {
            runs: values_of(&values)
                .filter(|_| values.len() > 1)
                .map(|value| value * scale)
                .collect(),
            tip: format!("{label}: {}", format::spread(metric, &spread)),
            subject,
            ..Point::at(x, spread.center * scale)
        },
        None => Point {
            x,
            tip: format!("{label}: {}", group.failure().unwrap_or("not recorded")),
            subject,
            ..Point::default()
        },
    }
}

/// The horizontal axis, and the others.
pub(super) fn split_axes<'s>(summary: &'s Summary<'_>) -> (Option<&'s Axis>, Vec<&'s Axis>) {
    // Among equal ones, the first in the experiment file.
    let axes = summary.axes.iter().rev();
    let main = axes.max_by_key(|axis| (is_numeric(axis), axis.values.len()));
    let others = summary.axes.iter().filter(|axis| Some(*axis) != main).collect();
    (main, others)
}

/// Whether all values of an axis are numbers.
pub(super) fn is_numeric(axis: &Axis) -> bool {
    axis.values.iter().all(|value| read_number(value).is_some())
}

/// The values that occur on some axes, in order, with the groups that have them.
pub(super) fn by_axes<'w, 'a>(work: &'w Work<'a>, axes: &[&Axis]) -> Vec<(String, Vec<&'w Group<'a>>)> {
    let mut parts: Vec<(String, Vec<&Group<'a>>)> = Vec::new();
    for group in &work.groups {
        let words: Vec<String> = axes
            .iter()
            .map(|axis| format!("{}={}", axis.flag, group.flag(&axis.flag)))
            .collect();
        let heading = words.join(" ");
        match parts.iter_mut().find(|(other, _)| *other == heading) {
            Some((_, groups)) => groups.push(group),
            None => parts.push((heading, vec![group])),
        }
    }
    parts
}

/// The places of configurations on the horizontal axis: the values of a swept flag, or the names.
#[derive(Debug)]
pub(super) struct Places<'s> {
    axis: Option<&'s Axis>,
    names: &'s [String],
    numeric: bool,
    log: bool,
    label: String,
    ticks: Vec<(f64, String)>,
}

impl<'s> Places<'s> {
    /// An axis is logarithmic if the largest number is at least this many times the smallest.
    const LOG_FROM: f64 = 4.0;

    /// The places on an axis; the names without one.
    pub(super) fn new(summary: &'s Summary<'_>, axis: Option<&'s Axis>) -> Places<'s> {
        let texts = axis.map_or(&summary.names, |axis| &axis.values);
        let numbers: Vec<f64> = texts.iter().filter_map(|text| read_number(text)).collect();
        let least = numbers.iter().copied().fold(f64::INFINITY, f64::min);
        let wide = numbers.iter().copied().fold(0.0, f64::max) >= Self::LOG_FROM * least;
        // A zero among numbers of different magnitudes (`n = ["0", "1m"]`) suits neither kind of
        // scale.
        let numeric = axis.is_some() && numbers.len() == texts.len() && !(least <= 0.0 && wide);
        let mut places = Places {
            axis,
            names: &summary.names,
            numeric,
            log: numeric && wide,
            label: match axis {
                None => kind(summary).to_owned(),
                Some(axis) if axis.flag == HEAP => "heap, in multiples of the least heap".to_owned(),
                Some(axis) => axis_name(&axis.flag),
            },
            ticks: Vec::new(),
        };
        let ticks = texts.iter().map(|text| (places.place(texts, text), text.clone()));
        places.ticks = ticks.collect();
        places
    }

    fn place(&self, texts: &[String], text: &str) -> f64 {
        let index = texts.iter().position(|other| other == text).unwrap_or(0) as f64;
        if self.numeric {
            read_number(text).unwrap_or(index)
        } else {
            index
        }
    }

    /// The place of a configuration.
    pub(super) fn of(&self, group: &Group<'_>) -> f64 {
        match self.axis {
            None => self.place(self.names, &group.name),
            Some(axis) => self.place(&axis.values, group.flag(&axis.flag)),
        }
    }

    /// Whether the places are numbers, so that points can be joined by a line.
    pub(super) fn joined(&self) -> bool {
        self.numeric
    }

    /// A chart over these places with a series for each name; `point` makes a group's mark, if it
    /// has one.
    pub(super) fn chart<'g, 'a: 'g>(
        &self,
        title: String,
        groups: impl Iterator<Item = &'g Group<'a>> + Clone,
        point: impl Fn(&Group<'_>, f64) -> Option<Point>,
    ) -> Chart {
        let series = self.names.iter().enumerate().map(|(style, name)| Series {
            style,
            points: {
                let mine = groups.clone().filter(|group| group.name == *name);
                mine.filter_map(|group| point(group, self.of(group))).collect()
            },
            marks: true,
            joined: self.numeric,
            ..Series::default()
        });
        Chart {
            title,
            x_label: self.label.clone(),
            x_log: self.log,
            x_ticks: self.ticks.clone(),
            series: series.filter(|series| !series.points.is_empty()).collect(),
            ..Chart::default()
        }
    }
}
