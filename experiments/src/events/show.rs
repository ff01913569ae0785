//! `gclab events show`: the events of a log as lines.

use std::fs::File;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args as ClapArgs;
use gclab_eventlog::{Filter, Lines, Merged, ShowError, Shown, kinds, show_file};
use gclab_flags::nearest;
use gclab_sweep::suggest::suggest;
use gclab_sweep::tell;

use super::damage::{message, salvaged};
use super::log;
use super::moment::Between;
use crate::common::{fail, refuse};

/// Print the events of a log in time order, one per line
#[derive(Debug, ClapArgs)]
pub(crate) struct Arguments {
    /// The event log of a GHC program (run it with `+RTS -l`); `-` is standard input
    file: PathBuf,
    /// Print one JSON object per line instead of text
    #[arg(long)]
    json: bool,
    /// Print only events of this type: GHC's name without EVENT_, such as GC_START, or its number.
    /// May be repeated
    #[arg(long = "type", value_name = "TYPE", value_parser = event_type)]
    types: Vec<u16>,
    /// Print only events of this capability, or with `global` those that belong to none. May be
    /// repeated
    #[arg(long = "cap", value_name = "N", value_parser = capability)]
    caps: Vec<Cap>,
    #[command(flatten)]
    between: Between,
    /// Skip damaged parts of the log
    #[arg(long)]
    salvage: bool,
}

/// A capability, or the global events.
#[derive(Debug, Clone, Copy)]
struct Cap(Option<u16>);

fn capability(text: &str) -> Result<Cap, String> {
    match text {
        "global" => Ok(Cap(None)),
        _ => {
            let number = text.parse().ok().filter(|number| *number < u16::MAX);
            let expected = "expected the number of a capability, or `global`";
            number
                .map(|number| Cap(Some(number)))
                .ok_or_else(|| expected.to_owned())
        }
    }
}

/// The number of an event type, from its name or its number.
fn event_type(text: &str) -> Result<u16, String> {
    if let Ok(number) = text.parse() {
        return Ok(number);
    }
    let upper = text.to_uppercase();
    let name = upper.strip_prefix("EVENT_").unwrap_or(&upper);
    kinds::named(name).map(|kind| kind.number).ok_or_else(|| {
        let names: Vec<&str> = kinds::ALL.iter().map(|kind| kind.name).collect();
        match nearest(name, names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => suggest(name, "event types", &names),
        }
    })
}

pub(super) fn show(arguments: &Arguments) -> ExitCode {
    let interval = match arguments.between.interval(&arguments.file) {
        Ok(interval) => interval,
        Err(wrong) => return refuse(wrong),
    };
    let wanted = Filter {
        types: arguments.types.clone(),
        caps: arguments.caps.iter().map(|cap| cap.0).collect(),
        interval,
    };
    let lines = if arguments.json { Lines::Json } else { Lines::Text };
    let mut log = match log::merged(&arguments.file, arguments.salvage) {
        Ok(log) => log,
        Err(error) => return refuse(message(&error, &arguments.file)),
    };
    absent(&log, &wanted);
    let shown = match show_file(&mut log, &wanted, lines, &mut std::io::stdout().lock()) {
        Ok(shown) => shown,
        // A reader that closes the pipe early is not an error.
        Err(ShowError::Write(error)) if error.kind() == ErrorKind::BrokenPipe => return ExitCode::SUCCESS,
        Err(ShowError::Write(error)) => return fail(format!("standard output: {error}")),
        Err(ShowError::Log(error)) => return refuse(message(&error, &arguments.file)),
    };
    if let Some(damage) = log.damage() {
        tell!("gclab: {damage}; {}", salvaged("were printed"));
    }
    if let Shown { lines: 0, last_ns } = shown {
        let beyond = arguments.between.beyond(last_ns);
        tell!("gclab: {}", beyond.unwrap_or_else(|| "no event was chosen".to_owned()));
    }
    ExitCode::SUCCESS
}

/// Says which of the wanted types and capabilities the log does not have.
fn absent(log: &Merged<File>, wanted: &Filter) {
    for number in &wanted.types {
        if log.header().numbered(*number).is_none() {
            let name = kinds::numbered(*number).map_or(String::new(), |kind| format!(" ({})", kind.name));
            tell!("gclab: the log declares no event type {number}{name}");
        }
    }
    let known = |cap: &Option<u16>| log.caps().any(|has| has == *cap);
    for cap in wanted.caps.iter().filter(|cap| !known(cap)) {
        let mut caps: Vec<u16> = log.caps().flatten().collect();
        caps.sort_unstable();
        match (cap, &caps[..]) {
            (None, _) => tell!("gclab: the log has no global events"),
            (Some(cap), []) => tell!("gclab: the log has no events of capability {cap}, nor of any other"),
            (Some(cap), [only]) => tell!("gclab: the log has no events of capability {cap}, only of {only}"),
            (Some(cap), [first, .., last]) => {
                tell!("gclab: the log has no events of capability {cap}, only of {first} to {last}");
            }
        }
    }
}
