//! Prints the statistics that a [`StatsOption`] asks for, when and where it asks for them.

use std::io;

use super::super::{Collection, Sink, Statistics, StatsLevel, StatsOption};
use super::{closing_row, command_line, header, machine_readable, one_line, row, summary};

/// Prints the statistics of `-t`, `-s`, `-S` and `--machine-readable`. Clones print to the same
/// place.
#[derive(Clone, Debug)]
pub struct Printer {
    level: StatsLevel,
    machine_readable: bool,
    sink: Sink,
}

impl Printer {
    /// Opens the file that `option` names, or standard error, also named `stderr`. A file begins
    /// with the command line: `program` with its words, and the words of the flags. Under `-S` this
    /// writes the header.
    ///
    /// # Errors
    /// As [`std::fs::File::create`], if the file of `-s<file>` cannot be made.
    pub fn open<S: AsRef<str>>(option: &StatsOption, program: &[S], words: &[S]) -> io::Result<Self> {
        let sink = match &option.file {
            None => Sink::stderr(),
            // The word means the stream, as in GHC.
            Some(path) if path.as_os_str() == "stderr" => Sink::stderr(),
            Some(path) => return Ok(Self::to_file(option, Sink::file(path)?, program, words)),
        };
        Ok(Self::to(option, sink))
    }

    /// Prints to `file`, which begins with the command line.
    pub fn to_file<S: AsRef<str>>(option: &StatsOption, file: Sink, program: &[S], words: &[S]) -> Self {
        file.write(&command_line(program, words));
        Self::to(option, file)
    }

    /// Prints to `sink`.
    pub fn to(option: &StatsOption, sink: Sink) -> Self {
        let printer = Self {
            level: option.level,
            machine_readable: option.machine_readable,
            sink,
        };
        if printer.level == StatsLevel::Each {
            printer.sink.write(&header());
        }
        printer
    }

    /// Whether it prints the summary of `-s` at the end, as under `-S` too.
    pub fn prints_summary(&self) -> bool {
        matches!(self.level, StatsLevel::Summary | StatsLevel::Each)
    }

    /// Prints the row of a collection, under `-S`.
    pub fn collection(&self, collection: &Collection) {
        if self.level == StatsLevel::Each {
            self.sink.write(&row(collection));
        }
    }

    /// Prints the figures of the whole run. `--machine-readable` is for `-t` alone, as in GHC.
    pub fn finish(&self, stats: &Statistics) {
        match self.level {
            StatsLevel::None | StatsLevel::Collect => {}
            StatsLevel::OneLine if self.machine_readable => self.sink.write(&machine_readable(stats)),
            StatsLevel::OneLine => self.sink.write(&one_line(stats)),
            StatsLevel::Summary => self.sink.write(&summary(stats)),
            StatsLevel::Each => self.sink.write(&(closing_row(stats) + &summary(stats))),
        }
    }
}
