//! Moments and intervals on the command line.

use std::path::Path;

use clap::Args as ClapArgs;
use gclab_eventlog::Interval;
use gclab_eventlog::kinds::number;

use super::damage::message;
use super::log;
use crate::input::{is_standard_input, name};

/// The part of a log that a command looks at.
#[derive(Debug, Clone, ClapArgs)]
pub(super) struct Between {
    /// Leave out events before this time of the run: 1.5s, 200ms, 30us or 1000ns, or the text of a
    /// marker [default: the start]
    #[arg(long, value_name = "TIME", value_parser = moment, allow_hyphen_values = true)]
    from: Option<Moment>,
    /// Leave out events from this time or marker onwards [default: the end]
    #[arg(long, value_name = "TIME", value_parser = moment, allow_hyphen_values = true)]
    to: Option<Moment>,
}

/// A moment of a run.
#[derive(Debug, Clone, PartialEq)]
enum Moment {
    /// Nanoseconds since its start.
    At(u64),
    /// The first marker with this text.
    Marker(String),
}

impl Between {
    /// The interval in a log.
    ///
    /// # Errors
    /// If it ends before it begins, or if the log has no such marker.
    pub(super) fn interval(&self, path: &Path) -> Result<Interval, String> {
        let find = |flag, moment: &Option<Moment>| moment.as_ref().map(|moment| moment.in_log(flag, path)).transpose();
        let from = find("--from", &self.from)?.unwrap_or(0);
        match find("--to", &self.to)? {
            Some(to) if to <= from => Err(format!("--to is {to} ns, expected more than --from, {from} ns")),
            to => Ok(Interval { from, to }),
        }
    }

    /// A message if the interval begins after the last event of the log, at `last` ns.
    pub(super) fn beyond(&self, last: u64) -> Option<String> {
        match self.from {
            Some(Moment::At(from)) if from > last => Some(format!(
                "--from is {from} ns, and the last event of the log is at {last} ns"
            )),
            _ => None,
        }
    }
}

impl Moment {
    /// Its time, in nanoseconds since the start of the run; `flag` is for messages.
    fn in_log(&self, flag: &str, path: &Path) -> Result<u64, String> {
        let text = match self {
            Moment::At(ns) => return Ok(*ns),
            Moment::Marker(text) => text,
        };
        if is_standard_input(path) {
            return Err(format!(
                "{flag} {text:?}: standard input cannot be searched for a marker"
            ));
        }
        let read = || {
            let mut log = log::reader(path, true)?;
            while let Some(event) = log.next_event()? {
                if event.known() == number::USER_MARKER && event.payload() == text.as_bytes() {
                    return Ok(Some(event.time()));
                }
            }
            Ok(None)
        };
        let found = read().map_err(|error| message(&error, path))?;
        found.ok_or_else(|| {
            format!(
                "{flag} {text:?}: neither a time of the run (1.5s, 200ms, 30us, 1000ns) nor a marker of {}",
                name(path)
            )
        })
    }
}

/// A time with its unit, without one in seconds; or else a marker.
fn moment(text: &str) -> Result<Moment, String> {
    let units = [
        ("ns", 1.0),
        ("us", 1e3),
        ("µs", 1e3),
        ("ms", 1e6),
        ("s", 1e9),
        ("", 1e9),
    ];
    let found = units
        .into_iter()
        .find_map(|(unit, ns)| Some((text.strip_suffix(unit)?, ns)));
    let number = found.and_then(|(number, ns)| Some((number.trim().parse::<f64>().ok()?, ns)));
    match number {
        Some((number, ns)) if number >= 0.0 && number * ns < u64::MAX as f64 => {
            Ok(Moment::At((number * ns).round() as u64))
        }
        None if !text.is_empty() => Ok(Moment::Marker(text.to_owned())),
        _ => Err("expected a time of the run, 1.5s, 200ms, 30us or 1000ns, or the text of a marker".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units_and_are_seconds_without() {
        let cases = [
            ("1.5s", 1_500_000_000),
            ("2", 2_000_000_000),
            ("200ms", 200_000_000),
            ("30us", 30_000),
            ("30µs", 30_000),
            ("1000ns", 1000),
            ("0", 0),
        ];
        for (text, ns) in cases {
            assert_eq!(moment(text), Ok(Moment::At(ns)), "{text}");
        }
        for text in ["", "-1s", "nan", "inf", "1e30"] {
            assert!(moment(text).is_err(), "{text}");
        }
        assert_eq!(moment("phase one"), Ok(Moment::Marker("phase one".to_owned())));
    }
}
