//! All runs as CSV for R, pandas and spreadsheets: a row for each run, a column for each variable,
//! in base units.

use crate::metric::{self, Unit};
use gclab_results::{ResultsDir, RunRecord, Status, printable};
use std::collections::BTreeSet;
use std::io::{self, Write};

/// A figure in its base unit. Times are measured in whole nanoseconds; further digits are rounding
/// noise.
fn number(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Seconds | Unit::Milliseconds => {
            let text = format!("{value:.9}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        // These are integers, or figures with few digits that the system wrote as text.
        _ => value.to_string(),
    }
}

/// The figures of a run that have a name, but not a column in every table.
fn by_name(run: &RunRecord) -> impl Iterator<Item = (&String, f64)> {
    let own = run.stats.iter().filter_map(|stats| stats.figures.as_ref()).flatten();
    let own = own.map(|(name, value)| (name, *value as f64));
    run.figures
        .iter()
        .flatten()
        .map(|(name, value)| (name, *value))
        .chain(own)
}

/// Writes the timed runs of these folders as CSV. Columns: the folder's name, the configuration, a
/// `flag_` column for each flag of any run, a `setting_` column for each other setting, the
/// outcome, each figure under its key, and a `figure_` column for each figure that a program's
/// `stats` names or that only some collectors have. An empty cell means that the run lacks the
/// figure. Unprintable characters are escaped as in JSON.
///
/// # Errors
/// If `to` cannot be written.
pub fn csv(dirs: &[ResultsDir], to: &mut dyn Write) -> io::Result<()> {
    let runs = || dirs.iter().flat_map(|dir| dir.runs().iter().map(move |run| (dir, run)));
    let flags: BTreeSet<&String> = runs().flat_map(|(_, run)| run.flags.keys()).collect();
    let settings: BTreeSet<&String> = runs().flat_map(|(_, run)| run.settings.keys()).collect();
    let figures: BTreeSet<&String> = runs().flat_map(|(_, run)| by_name(run)).map(|(name, _)| name).collect();
    let mut writer = ::csv::Writer::from_writer(to);
    let mut write = |row: &[String]| writer.write_record(row.iter().map(|cell| printable(cell).into_owned()));
    let head = [
        "experiment",
        "id",
        "cell",
        "position",
        "round",
        "workload",
        "args",
        "collector",
        "heap_multiple",
    ];
    let mut row: Vec<String> = head.map(str::to_owned).to_vec();
    row.extend(flags.iter().map(|flag| format!("flag_{flag}")));
    row.extend(settings.iter().map(|name| format!("setting_{name}")));
    row.extend(["started", "outcome", "exit_code", "signal", "checksum"].map(str::to_owned));
    row.extend(metric::ALL.iter().map(|metric| metric.key.to_owned()));
    row.extend(figures.iter().map(|figure| format!("figure_{figure}")));
    write(&row)?;
    for (dir, run) in runs() {
        let (exit_code, signal) = match &run.outcome {
            Status::Crash { exit_code, signal } => (*exit_code, *signal),
            _ => (None, None),
        };
        let or_empty = |number: Option<i32>| number.map_or(String::new(), |n| n.to_string());
        let text = |text: Option<&String>| text.cloned().unwrap_or_default();
        row.clear();
        row.extend([dir.manifest().name.clone(), run.id.clone(), run.cell.clone()]);
        row.extend([run.position.to_string(), run.round.to_string()]);
        row.extend([run.workload.clone(), run.args.join(" "), run.collector.clone()]);
        row.push(run.heap_multiple.map_or(String::new(), |multiple| multiple.to_string()));
        row.extend(flags.iter().map(|flag| text(run.flags.get(*flag))));
        row.extend(settings.iter().map(|name| text(run.settings.get(*name))));
        row.extend([text(run.started.as_ref()), run.outcome.kind().to_owned()]);
        row.extend([or_empty(exit_code), or_empty(signal), text(run.checksum.as_ref())]);
        row.extend(
            metric::ALL
                .iter()
                .map(|metric| metric.of(run).map_or(String::new(), |value| number(metric.unit, value))),
        );
        row.extend(figures.iter().map(|figure| {
            let found = by_name(run).find(|(name, _)| name == figure);
            found.map_or(String::new(), |(_, value)| value.to_string())
        }));
        write(&row)?;
    }
    writer.flush()
}
