//! `gclab events export`: a log in the format of another tool.

use std::fs::File;
use std::io::{BufWriter, ErrorKind, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args as ClapArgs, ValueEnum};
use gclab_eventlog::{Interval, Merged, ShowError, Timeline, chrome_file};
use gclab_results::{path_name, printable};
use gclab_sweep::tell;

use super::damage::{message, salvaged};
use super::log;
use super::moment::Between;
use super::speedscope::speedscope;
use crate::common::{fail, refuse};
use crate::input::may_write;

/// Write a log in the format of another tool
#[derive(Debug, ClapArgs)]
pub(crate) struct Arguments {
    /// The event log of a GHC program (run it with `+RTS -l`); `-` is standard input
    file: PathBuf,
    /// The format
    #[arg(long, value_enum, default_value_t = Format::Chrome)]
    format: Format,
    /// The file to write [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    between: Between,
    /// Skip damaged parts of the log
    #[arg(long)]
    salvage: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// Trace events in JSON, for ui.perfetto.dev and chrome://tracing
    Chrome,
    /// The states of each capability, for speedscope.app
    Speedscope,
}

pub(super) fn export(arguments: &Arguments) -> ExitCode {
    let interval = match arguments.between.interval(&arguments.file) {
        Ok(interval) => interval,
        Err(wrong) => return refuse(wrong),
    };
    let mut log = match log::merged(&arguments.file, arguments.salvage) {
        Ok(log) => log,
        Err(error) => return refuse(message(&error, &arguments.file)),
    };
    let (name, mut out): (String, Box<dyn Write>) = match &arguments.output {
        None => ("standard output".to_owned(), Box::new(std::io::stdout().lock())),
        Some(path) => {
            let name = path_name(path);
            if let Err(wrong) = may_write(path, "-o", [&arguments.file]) {
                return refuse(wrong);
            }
            match File::create(path) {
                Ok(file) => (name, Box::new(BufWriter::new(file))),
                Err(error) => return refuse(format!("{name}: cannot write: {error}")),
            }
        }
    };
    let written = match arguments.format {
        Format::Chrome => chrome_file(&mut log, interval, &mut out).map(|written| written.last_ns),
        Format::Speedscope => states(&mut log, interval, &log::name(&arguments.file), &mut out),
    };
    let last_ns = match written {
        Ok(last_ns) => last_ns,
        // A reader that closes the pipe early is not an error.
        Err(ShowError::Write(error)) if error.kind() == ErrorKind::BrokenPipe => return ExitCode::SUCCESS,
        Err(ShowError::Write(error)) => {
            let wrong = format!("{name}: cannot write: {error}");
            return if arguments.output.is_some() {
                refuse(wrong)
            } else {
                fail(wrong)
            };
        }
        Err(ShowError::Log(error)) => return refuse(message(&error, &arguments.file)),
    };
    if let Some(damage) = log.damage() {
        tell!("gclab: {damage}; {}", salvaged("were written"));
    }
    if let Some(wrong) = arguments.between.beyond(last_ns) {
        tell!("gclab: {wrong}");
    }
    ExitCode::SUCCESS
}

/// Writes the file of speedscope. Returns the time of the log's last event.
fn states(log: &mut Merged<File>, interval: Interval, name: &str, out: &mut dyn Write) -> Result<u64, ShowError> {
    let timeline = Timeline::of_open_file(log).map_err(ShowError::Log)?;
    writeln!(out, "{}", printable(&speedscope(&timeline, interval, name).to_string()))
        .and_then(|()| out.flush())
        .map_err(ShowError::Write)?;
    Ok(timeline.length.saturating_sub(1))
}
