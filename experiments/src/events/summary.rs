//! `gclab events summary`: the figures of `+RTS -s` from an event log.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args as ClapArgs;
use gclab_eventlog::{Error, Figure, Interval, Summary};
use gclab_report::wrapped;
use gclab_sweep::tell;

use super::damage::{message, salvaged};
use super::log;
use super::moment::Between;
use crate::common::{print, refuse};

/// Print the figures of `+RTS -s` that an event log determines
#[derive(Debug, ClapArgs)]
pub(crate) struct Arguments {
    /// The event log of a GHC program (run it with `+RTS -l`); `-` is standard input
    file: PathBuf,
    #[command(flatten)]
    between: Between,
    /// Print one JSON object, with the names of `-s` and of `-t --machine-readable`
    #[arg(long)]
    json: bool,
    /// Skip damaged parts of the log
    #[arg(long)]
    salvage: bool,
}

pub(super) fn summary(arguments: &Arguments) -> ExitCode {
    let interval = match arguments.between.interval(&arguments.file) {
        Ok(interval) => interval,
        Err(wrong) => return refuse(wrong),
    };
    let (summary, damage) = match read(&arguments.file, interval, arguments.salvage) {
        Ok(read) => read,
        Err(error) => return refuse(message(&error, &arguments.file)),
    };
    // Figures of no event would be zeros.
    if let Some(wrong) = arguments.between.beyond(summary.last_ns) {
        return refuse(wrong);
    }
    if let Some(damage) = damage {
        let read = salvaged("were read");
        tell!("gclab: {damage}; {read}, and their sums are lower bounds");
    }
    if !arguments.json {
        let sentences = summary.sentences();
        let sentences: Vec<String> = sentences.iter().map(|sentence| wrapped(sentence)).collect();
        return print(&format!("{}\n\n{}", sentences.join("\n"), summary.text()));
    }
    print(&json(&summary.figures()))
}

/// The figures, and the first damage of a salvaged log. Each capability is then read up to its own
/// damage, as in a timeline.
fn read(path: &Path, interval: Interval, salvage: bool) -> Result<(Summary, Option<Error>), Error> {
    if !salvage {
        let mut reader = log::reader(path, salvage)?;
        return Ok((Summary::of_open_file(&mut reader, interval)?, None));
    }
    let mut merged = log::merged(path, salvage)?;
    let summary = Summary::of_merged_file(&mut merged, interval)?;
    Ok((summary, merged.into_damage()))
}

/// One object, one figure per line. Decimals stay as GHC prints them, which a binary number could
/// not.
fn json(figures: &[(String, Figure)]) -> String {
    let lines = figures
        .iter()
        .map(|(name, figure)| format!("  {}: {}", quoted(name), value(figure)));
    format!("{{\n{}\n}}\n", lines.collect::<Vec<_>>().join(",\n"))
}

/// A figure as JSON.
pub(super) fn value(figure: &Figure) -> String {
    match figure {
        Figure::Integer(number) => number.to_string(),
        Figure::Decimal(text) => text.clone(),
        Figure::Share(share) => share.to_string(),
        Figure::Text(text) => quoted(text),
        Figure::Flag(is) => is.to_string(),
    }
}

/// A text as JSON.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
