//! The section on the environment: the machine and the build, what varied from run to run, and the
//! runs that were disturbed.

use crate::analysis::conditions::{changed, disturbed};
use crate::analysis::facts::environment;
use crate::document::{Cell, Column, Look, Part, Section, Table, Topic};
use crate::folder::Results;
use crate::format::counted;
use crate::inference::Spread;
use crate::metric::{self, Metric};
use crate::run::Run;
use crate::summary::Summary;

/// What varies from run to run, apart from the run itself.
const VARYING: [Metric; 8] = [
    metric::LOAD,
    metric::STEAL,
    metric::OTHERS,
    metric::MEMORY_STALL,
    metric::QUOTA_STALL,
    metric::INVOLUNTARY,
    metric::MAJOR_FAULTS,
    metric::FREQUENCY,
];

/// The most disturbed runs that the table has.
const MOST: usize = 50;

/// The section.
pub(super) fn section(dir: &Results, summary: &Summary<'_>) -> Section {
    let mut parts = vec![Part::Facts(environment(dir))];
    let varied = varied(dir.runs());
    if !varied.rows.is_empty() {
        let note = "Counts of the whole machine, from just before each run to just after it. docs/measures.md has their \
                    sources.";
        parts.push(Part::Details(
            "Differences from run to run",
            vec![Part::Table(varied), Part::Note(note.to_owned())],
        ));
    }
    for line in changed(dir.runs()) {
        parts.push(Part::Paragraph(line));
    }
    let count = disturbed(dir.runs()).count();
    if count > 0 {
        parts.push(Part::Paragraph(format!(
            "{} of {} failed a check while they ran. All statistics contain them.",
            counted(count, "run"),
            dir.runs().len()
        )));
        parts.push(Part::Table(table(disturbed(dir.runs()).take(MOST), summary)));
    }
    Section {
        topic: Topic::Machine,
        text: Vec::new(),
        parts,
    }
}

/// A row for each figure that some run has and that is not 0 in all of them.
fn varied(runs: &[Run]) -> Table {
    let spread = |metric: &Metric| {
        let spread = Spread::of(runs.iter().filter_map(|run| metric.of(run)))?;
        (spread.max > 0.0).then_some(spread)
    };
    let row = |metric: &Metric| {
        let spread = spread(metric)?;
        let value = |value: f64| Cell::number(metric.unit.text(value), value);
        Some(vec![
            Cell::text(metric.heading()),
            value(spread.min),
            value(spread.median),
            value(spread.max),
        ])
    };
    Table {
        look: Look::Fixed,
        columns: std::iter::once(Column::words("during a run"))
            .chain(["least", "median", "greatest"].map(Column::figures))
            .collect(),
        rows: VARYING.iter().filter_map(row).collect(),
    }
}

fn table<'r>(disturbed: impl Iterator<Item = (&'r Run, &'r [String])>, summary: &Summary<'_>) -> Table {
    let row = |(run, names): (&Run, &[String])| {
        vec![
            Cell::word(run.position.to_string()),
            Cell::text(run.configuration.work()),
            Cell::text(crate::summary::Group::empty(run).label(&summary.axes)),
            Cell::text(names.join(", ")),
        ]
    };
    Table {
        look: Look::Sortable,
        columns: ["order", "workload", "configuration", "disturbed by"]
            .map(Column::words)
            .to_vec(),
        rows: disturbed.map(row).collect(),
    }
}
