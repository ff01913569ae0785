//! Prints the statistics that the flags ask for, when and where they ask for them.

use std::io;

use super::super::{Collection, Sink, Statistics};
use super::{HEADER, closing_row, command_line, machine_readable, one_line, row, summary};
use crate::flags::{Flags, StatsLevel};

/// Prints what `-t`, `-s`, `-S` and `--machine-readable` ask for. Clones print to the same place.
#[derive(Clone, Debug)]
pub struct Printer {
    level: StatsLevel,
    machine_readable: bool,
    sink: Sink,
}

impl Printer {
    /// Opens what the flags name. A file begins with the command line: `program` with its words, and the words of the flags. With `-S` the header is written.
    ///
    /// # Errors
    /// As [`std::fs::File::create`], if the file of `-s<file>` cannot be made.
    pub fn open<S: AsRef<str>>(flags: &Flags, program: &[S], words: &[S]) -> io::Result<Self> {
        let sink = match &flags.stats.file {
            None => Sink::stderr(),
            Some(path) => {
                let sink = Sink::file(path)?;
                sink.write(&command_line(program, words));
                sink
            }
        };
        Ok(Self::to(flags, sink))
    }

    /// Prints to `sink`.
    pub fn to(flags: &Flags, sink: Sink) -> Self {
        let printer = Self {
            level: flags.stats.level,
            machine_readable: flags.machine_readable,
            sink,
        };
        if printer.level == StatsLevel::Each {
            printer.sink.write(HEADER);
        }
        printer
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
