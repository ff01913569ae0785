//! All runs as CSV for R, pandas and spreadsheets: a row for each run, a column for each variable,
//! in base units.

use super::csv_text::{CsvText, text};
use crate::folder::Results;
use crate::metric::{self, Metric, Unit};
use crate::run::{Run, each_facts};
use gclab_results::Status;
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::sync::Arc;

/// A figure in its base unit. Times are measured in whole nanoseconds; digits beyond these are
/// noise of the arithmetic.
fn number(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Seconds | Unit::Milliseconds => {
            let text = format!("{value:.9}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        // These are whole numbers, or figures of few digits that the system wrote as text.
        Unit::Mebibytes | Unit::MebibytesPerSecond | Unit::MebibyteSeconds | Unit::Count | Unit::Percent => {
            value.to_string()
        }
    }
}

/// The figures of a run that have a name, and no column in every table.
fn by_name(run: &Run) -> impl Iterator<Item = (&Arc<str>, f64)> {
    run.named().chain(run.own())
}

/// The timed runs of these folders as CSV. Columns: the folder's name, the configuration, a `flag_`
/// column for each flag of any run, a `setting_` column for each other setting, the outcome, each
/// figure under its key, and a `figure_` column for each figure that `stats` of a program names or
/// that only some collectors have. An empty cell is a figure that the run does not have.
pub fn csv(dirs: &[Results]) -> String {
    text(|to| write_csv(dirs, to))
}

/// Writes [`csv()`] row by row.
///
/// # Errors
/// If `to` cannot be written.
pub fn write_csv(dirs: &[Results], to: &mut dyn Write) -> io::Result<()> {
    let runs = || dirs.iter().flat_map(|dir| dir.runs().iter().map(move |run| (dir, run)));
    let some = || each_facts(runs().map(|(_, run)| run));
    let configurations = || some().map(|run| &run.configuration);
    let flags: BTreeSet<&String> = configurations().flat_map(|of| of.flags.keys()).collect();
    let settings: BTreeSet<&String> = configurations().flat_map(|of| of.settings.keys()).collect();
    let figures = some().flat_map(by_name).map(|(name, _)| &**name);
    let figures: BTreeSet<&str> = figures.collect();
    let metrics: Vec<Metric> = metric::all().collect();
    let mut text = CsvText::new(to);
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
    row.extend(metric::all().map(|metric| metric.key.to_owned()));
    row.extend(figures.iter().map(|figure| format!("figure_{figure}")));
    text.row(&row)?;
    for (dir, run) in runs() {
        let (exit_code, signal) = match run.outcome() {
            Status::Crash { exit_code, signal } => (*exit_code, *signal),
            _ => (None, None),
        };
        let or_empty = |number: Option<i32>| number.map_or(String::new(), |n| n.to_string());
        row.clear();
        let of = &run.configuration;
        row.extend([
            dir.manifest().name.clone(),
            run.id().map_err(io::Error::other)?,
            run.cell.clone(),
        ]);
        row.extend([run.position.to_string(), run.round.to_string()]);
        row.extend([of.workload.clone(), of.args.join(" "), of.collector.clone()]);
        row.push(run.heap_multiple.map_or(String::new(), |multiple| multiple.to_string()));
        row.extend(
            flags
                .iter()
                .map(|flag| of.flags.get(*flag).cloned().unwrap_or_default()),
        );
        row.extend(
            settings
                .iter()
                .map(|name| of.settings.get(*name).cloned().unwrap_or_default()),
        );
        let started = run.started().map_err(io::Error::other)?;
        row.extend([started.unwrap_or_default(), run.outcome().kind().to_owned()]);
        row.extend([
            or_empty(exit_code),
            or_empty(signal),
            run.checksum().unwrap_or_default().to_owned(),
        ]);
        row.extend(metrics.iter().map(|m| {
            m.of(run)
                .filter(|v| v.is_finite())
                .map_or(String::new(), |v| number(m.unit, v))
        }));
        row.extend(figures.iter().map(|figure| {
            let found = by_name(run).find(|(name, _)| ***name == **figure);
            found.map_or(String::new(), |(_, value)| value.to_string())
        }));
        text.row(&row)?;
    }
    text.finish()
}

#[cfg(test)]
mod tests {
    use super::number;
    use crate::metric::Unit;

    #[test]
    fn times_have_no_digits_beyond_nanoseconds() {
        let times = [
            0.1 + 0.2,
            3.0,
            0.0,
            123_456_789.000_000_001,
            1e-9,
            250_000_007.0 * 1e-9,
            120.0,
        ];
        assert_eq!(
            times.map(|time| number(Unit::Milliseconds, time)),
            ["0.3", "3", "0", "123456789", "0.000000001", "0.250000007", "120"]
        );
        assert_eq!(number(Unit::Seconds, 0.1 + 0.7), "0.8");
        assert_eq!(number(Unit::Mebibytes, 9_007_199_254_740_991.0), "9007199254740991");
        assert_eq!(number(Unit::Count, 0.25), "0.25");
    }
}
