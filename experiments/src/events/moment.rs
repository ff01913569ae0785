//! Moments and intervals on the command line.

use clap::Args as ClapArgs;
use gclab_eventlog::Interval;

/// The part of a log that a command looks at.
#[derive(Debug, Clone, Copy, ClapArgs)]
pub(super) struct Between {
    /// Leave out events before this time of the run: 1.5s, 200ms, 30us or 1000ns [default: the
    /// start]
    #[arg(long, value_name = "TIME", value_parser = moment, allow_hyphen_values = true)]
    from: Option<u64>,
    /// Leave out events from this time of the run onwards [default: the end]
    #[arg(long, value_name = "TIME", value_parser = moment, allow_hyphen_values = true)]
    to: Option<u64>,
}

impl Between {
    /// The interval.
    ///
    /// # Errors
    /// If it ends before it begins.
    pub(super) fn interval(self) -> Result<Interval, String> {
        let from = self.from.unwrap_or(0);
        match self.to {
            Some(to) if to <= from => Err(format!("--to is {to} ns, expected more than --from, {from} ns")),
            to => Ok(Interval { from, to }),
        }
    }

    /// A message if the interval begins after the last event of the log, at `last` ns.
    pub(super) fn beyond(self, last: u64) -> Option<String> {
        let from = self.from.filter(|from| *from > last)?;
        Some(format!(
            "--from is {from} ns, and the last event of the log is at {last} ns"
        ))
    }
}

/// A time with its unit; without one, in seconds.
fn moment(text: &str) -> Result<u64, String> {
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
        Some((number, ns)) if number >= 0.0 && number * ns < u64::MAX as f64 => Ok((number * ns).round() as u64),
        _ => Err("expected a time of the run: 1.5s, 200ms, 30us or 1000ns".to_owned()),
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
            assert_eq!(moment(text), Ok(ns), "{text}");
        }
        for text in ["", "s", "-1s", "1h", "nan", "inf", "1e30"] {
            assert!(moment(text).is_err(), "{text}");
        }
    }
}
