//! `gclab events show`: the events of a log as lines.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args as ClapArgs;
use gclab_eventlog::{Lines, Merged, ShowError, Wanted, kinds, show_file};
use gclab_sweep::suggest::suggest;
use gclab_sweep::tell;

use super::damage::message;
use super::moment::Between;
use crate::common::{fail, refuse};

/// Print the events of a log in the order of time, one a line
#[derive(Debug, ClapArgs)]
pub(crate) struct Arguments {
    /// The event log of a GHC program (run it with `+RTS -l`)
    file: PathBuf,
    /// Print a JSON object a line instead of text
    #[arg(long)]
    json: bool,
    /// Print events of this type only: GHC's name without EVENT_, such as GC_START, or its number.
    /// Several --type add up
    #[arg(long = "type", value_name = "TYPE", value_parser = event_type)]
    types: Vec<u16>,
    /// Print events of this capability only; `global` stands for those of none. Several --cap add
    /// up
    #[arg(long = "cap", value_name = "N", value_parser = capability)]
    caps: Vec<Cap>,
    #[command(flatten)]
    between: Between,
    /// Leave out damaged parts of a damaged log
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
        suggest(name, "event types", &names)
    })
}

pub(super) fn show(arguments: &Arguments) -> ExitCode {
    let interval = match arguments.between.interval() {
        Ok(interval) => interval,
        Err(wrong) => return refuse(wrong),
    };
    let wanted = Wanted {
        types: arguments.types.clone(),
        caps: arguments.caps.iter().map(|cap| cap.0).collect(),
        interval,
    };
    let lines = if arguments.json { Lines::Json } else { Lines::Text };
    let mut log = match Merged::open(&arguments.file, arguments.salvage) {
        Ok(log) => log,
        Err(error) => return refuse(message(&error)),
    };
    let shown = show_file(&mut log, &wanted, lines, &mut std::io::stdout().lock());
    match shown {
        Ok(()) => {}
        // A reader that closes the pipe early is no error.
        Err(ShowError::Write(error)) if error.kind() == ErrorKind::BrokenPipe => {}
        Err(ShowError::Write(error)) => return fail(format!("standard output: {error}")),
        Err(ShowError::Log(error)) => return refuse(message(&error)),
    }
    if let Some(damage) = log.damage() {
        tell!("gclab: {damage}; the events before this place were printed");
    }
    ExitCode::SUCCESS
}
