//! `gclab events summary`: the figures of `+RTS -s` from an event log.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args as ClapArgs;
use gclab_eventlog::{Figure, Summary};
use gclab_sweep::tell;
use serde_json::{Map, Value};

use super::damage::message;
use super::moment::Between;
use crate::common::{print, refuse};

/// Print the figures of `+RTS -s` that an event log determines
#[derive(Debug, ClapArgs)]
pub(crate) struct Arguments {
    /// The event log of a GHC program (run it with `+RTS -l`)
    file: PathBuf,
    #[command(flatten)]
    between: Between,
    /// Print one JSON object, with the names of `-s` and of `-t --machine-readable`
    #[arg(long)]
    json: bool,
    /// Use what comes before the damage of a damaged log
    #[arg(long)]
    salvage: bool,
}

pub(super) fn summary(arguments: &Arguments) -> ExitCode {
    let interval = match arguments.between.interval() {
        Ok(interval) => interval,
        Err(wrong) => return refuse(wrong),
    };
    let (summary, damage) = match Summary::of_file(&arguments.file, interval, arguments.salvage) {
        Ok(read) => read,
        Err(error) => return refuse(message(&error)),
    };
    if let Some(damage) = damage {
        tell!("gclab: {damage}; the summary ends there");
    }
    if !arguments.json {
        return print(&summary.text());
    }
    let figures = summary.figures().into_iter();
    let object: Map<String, Value> = figures.map(|(name, figure)| (name, json(figure))).collect();
    print(&format!("{:#}\n", Value::Object(object)))
}

fn json(figure: Figure) -> Value {
    match figure {
        Figure::Integer(number) => number.into(),
        Figure::Decimal(text) | Figure::Text(text) => text.into(),
        Figure::Share(share) => share.into(),
    }
}
