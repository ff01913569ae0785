//! The section on drift and on runs that stand apart.

use crate::analysis::steadiness::{Steadiness, Strange, steadiness};
use crate::document::{Cell, Column, Look, Part, Section, Table, Topic};
use crate::format::counted;
use crate::inference::RUNS_FOR_OUTLIERS;
use crate::metric::{self, Metric};
use crate::summary::Summary;

/// The most runs that stand apart that a page lists.
const MOST: usize = 1000;

/// The figures of a run that may explain why it stands apart.
const CLUES: [Metric; 3] = [metric::LOAD, metric::INVOLUNTARY, metric::MAJOR_FAULTS];

/// The section, where there are enough runs for either question.
pub(super) fn section(summary: &Summary<'_>) -> Option<Section> {
    let found = steadiness(summary)?;
    if found.drift.is_none() && summary.most_runs() < RUNS_FOR_OUTLIERS {
        return None;
    }
    let mut parts = vec![Part::Paragraph(in_words(&found))];
    if let Some(chart) = found.chart(summary) {
        parts.push(Part::Charts(vec![chart]));
        parts.push(Part::Note(
            "Each point is a run: its time over the mean of its configuration. Among many runs, a dot is a run, and a mark \
             is the median of neighbouring runs. On a machine that holds still the points scatter evenly around 0."
                .to_owned(),
        ));
    }
    if !found.strange.is_empty() {
        let listed = &found.strange[..found.strange.len().min(MOST)];
        parts.push(Part::Table(table(listed)));
        if listed.len() < found.strange.len() {
            parts.push(Part::Note(format!("The first {MOST} of {} runs.", found.strange.len())));
        }
        parts.push(Part::Note(
            "A run stands apart if its time is 5 % and six standard deviations away from the median of its configuration \
             (the deviation by the median absolute deviation). All statistics contain it."
                .to_owned(),
        ));
    }
    Some(Section {
        topic: Topic::Steadiness,
        text: Vec::new(),
        parts,
    })
}

fn in_words(found: &Steadiness<'_>) -> String {
    let drift = match &found.drift {
        Some(drift) => format!(
            "At the end a run took {} as long as at the beginning, by {} time and whatever its configuration: {}.",
            found.words(drift),
            found.time.title,
            if drift.is_certain() {
                "more than noise"
            } else {
                "this may be noise"
            }
        ),
        None => "The runs are too few to show a drift.".to_owned(),
    };
    let apart = match found.strange.len() {
        0 => format!("None of {} stands apart.", counted(found.looked_at, "run")),
        n => format!(
            "{n} of {} {} apart from the others of {} configuration; {} kept in all statistics.",
            counted(found.looked_at, "run"),
            if n == 1 { "stands" } else { "stand" },
            if n == 1 { "its" } else { "their" },
            if n == 1 { "it is" } else { "they are" },
        ),
    };
    format!("{drift} {apart}")
}

fn table(strange: &[Strange<'_>]) -> Table {
    let mut columns = ["order", "round", "configuration"].map(Column::words).to_vec();
    columns.push(Column::figures("time over the median"));
    columns.extend(CLUES.iter().map(Column::metric));
    let row = |strange: &Strange<'_>| {
        let run = strange.run;
        let mut cells = vec![
            Cell::word(run.position.to_string()),
            Cell::word(run.round.to_string()),
            Cell::text(&strange.label),
            Cell::number(format!("{:.2}×", strange.ratio), strange.ratio),
        ];
        let value = |metric: &Metric| metric.of(run).filter(|value| value.is_finite());
        cells.extend(CLUES.iter().map(|metric| {
            value(metric).map_or_else(Cell::absent, |value| Cell::number(metric.unit.text(value), value))
        }));
        cells
    };
    Table {
        look: Look::Sortable,
        columns,
        rows: strange.iter().map(row).collect(),
    }
}
