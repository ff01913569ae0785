//! The `.hp` file: GHC's format of heap profiles, which `hp2ps`, `hp2pretty` and others draw.
//!
//! A header, a sample for each census, a mark for each marker; an empty sample at the beginning and at the end. The reader takes words apart at white
//! space and knows a few keywords, so names are made such that it finds what was meant: white space becomes `_`, and `_` goes before a quote
//! or a keyword. Times have six decimals and never decrease.

use std::io::{self, Write};
use std::time::{SystemTime, UNIX_EPOCH};

/// What no band may be called.
const KEYWORDS: [&str; 7] = [
    "JOB",
    "DATE",
    "SAMPLE_UNIT",
    "VALUE_UNIT",
    "BEGIN_SAMPLE",
    "END_SAMPLE",
    "MARK",
];

/// The longest name that `hp2ps` takes, in bytes.
const LONGEST_NAME: usize = 4999;

/// Writes an `.hp` file.
#[derive(Debug)]
pub struct HpWriter<W> {
    to: W,
    last: f64,
}

impl<W: Write> HpWriter<W> {
    /// Begin a file: the command that ran, and the time (of day, in UTC) at which.
    ///
    /// # Errors
    /// Those of `to`.
    pub fn new(mut to: W, job: &str, at: SystemTime) -> io::Result<Self> {
        let job = job.replace('"', "\"\"").replace(['\n', '\r'], " ");
        writeln!(to, "JOB \"{job}\"\nDATE \"{}\"", date(at))?;
        writeln!(to, "SAMPLE_UNIT \"seconds\"\nVALUE_UNIT \"bytes\"")?;
        let mut writer = HpWriter { to, last: 0.0 };
        writer.sample(0.0, &[])?;
        Ok(writer)
    }

    /// A census at this time, in seconds, with these bands.
    ///
    /// # Errors
    /// Those of the file.
    pub fn sample(&mut self, seconds: f64, bands: &[(String, u64)]) -> io::Result<()> {
        let at = self.time(seconds);
        writeln!(self.to, "BEGIN_SAMPLE {at:.6}")?;
        for (name, bytes) in bands {
            writeln!(self.to, "{}\t{bytes}", identifier(name))?;
        }
        writeln!(self.to, "END_SAMPLE {at:.6}")
    }

    /// A mark at this time, in seconds.
    ///
    /// # Errors
    /// Those of the file.
    pub fn mark(&mut self, seconds: f64) -> io::Result<()> {
        let at = self.time(seconds);
        writeln!(self.to, "MARK {at:.6}")
    }

    /// The end: one more empty sample.
    ///
    /// # Errors
    /// Those of the file.
    pub fn finish(mut self, seconds: f64) -> io::Result<W> {
        self.sample(seconds, &[])?;
        self.to.flush()?;
        Ok(self.to)
    }

    fn time(&mut self, seconds: f64) -> f64 {
        self.last = seconds.max(self.last);
        self.last
    }
}

/// A name that the reader takes for one.
fn identifier(name: &str) -> String {
    let mut clean: String = name
        .chars()
        .map(|c| if c.is_whitespace() || c.is_control() { '_' } else { c })
        .collect();
    if clean.is_empty() || clean.starts_with('"') || KEYWORDS.contains(&clean.as_str()) {
        clean.insert(0, '_');
    }
    let mut end = LONGEST_NAME.min(clean.len());
    while !clean.is_char_boundary(end) {
        end -= 1;
    }
    clean.truncate(end);
    clean
}

/// As C's `ctime` has it, without the seconds: `Fri Nov  6 23:05 2026`.
fn date(at: SystemTime) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let seconds = at.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (days, minutes) = (seconds / 86_400, seconds / 60 % 1440);
    // Years of 365 days from March on, with the leap day last (Fliegel and Van Flandern's arithmetic).
    let z = days + 719_468;
    let (era, day_of_era) = (z / 146_097, z % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = (march_month + 2) % 12;
    let year = era * 400 + year_of_era + u64::from(month < 2);
    format!(
        "{} {} {day:2} {:02}:{:02} {year}",
        DAYS[(days % 7) as usize],
        MONTHS[month as usize],
        minutes / 60,
        minutes % 60
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn dates_are_those_of_ctime() {
        let cases = [
            (0, "Thu Jan  1 00:00 1970"),
            (951_782_399, "Mon Feb 28 23:59 2000"),
            (951_782_400, "Tue Feb 29 00:00 2000"),
            (951_868_800, "Wed Mar  1 00:00 2000"),
            (1_795_215_900, "Fri Nov 20 23:05 2026"),
            (4_107_542_400, "Mon Mar  1 00:00 2100"),
        ];
        for (seconds, text) in cases {
            assert_eq!(date(UNIX_EPOCH + Duration::from_secs(seconds)), text);
        }
    }

    #[test]
    fn a_file_is_as_the_reader_wants_it() {
        let mut hp = HpWriter::new(Vec::new(), "say \"hello\"", UNIX_EPOCH).unwrap();
        let bands =
            |all: &[(&str, u64)]| -> Vec<_> { all.iter().map(|(name, bytes)| ((*name).to_owned(), *bytes)).collect() };
        hp.sample(
            0.5,
            &bands(&[
                ("Tree", 48),
                ("a b", 16),
                ("none", 0),
                ("MARK", 8),
                ("\"q", 24),
                ("", 8),
            ]),
        )
        .unwrap();
        hp.mark(0.6).unwrap();
        // A clock that goes back does not make the file unreadable.
        hp.sample(0.25, &bands(&[("(2)MutVar,Größe", 8)])).unwrap();
        let text = String::from_utf8(hp.finish(1.0).unwrap()).unwrap();
        insta::assert_snapshot!(text);
    }
}
