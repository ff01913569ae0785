//! The `.hp` file: GHC's format of heap profiles, which `hp2ps`, `hp2pretty` and others draw.
//!
//! A header, a sample for each census, a mark for each marker; an empty sample at the beginning and at the end. The reader takes words apart at white
//! space and knows a few keywords, so names are made such that it finds what was meant: white space becomes `_`, and `_` goes before a quote
//! or a keyword. Times have six decimals and never decrease. Each sample goes to the file whole, as soon as it is there: what a run that is killed has
//! written can be drawn.

use jiff::Zoned;
use std::io::{self, Write};

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

/// Dates as C's `ctime` has them, without the seconds: `Fri Nov  6 23:05 2026`.
const CTIME: &str = "%a %b %e %H:%M %Y";

/// Writes an `.hp` file.
#[derive(Debug)]
pub struct HpWriter<W> {
    to: W,
    last: f64,
}

impl<W: Write> HpWriter<W> {
    /// Begin a file: the command that ran, and the local time at which.
    ///
    /// # Errors
    /// Those of `to`.
    pub fn new(mut to: W, job: &str, at: &Zoned) -> io::Result<Self> {
        let job = job.replace('"', "\"\"").replace(['\n', '\r'], " ");
        writeln!(to, "JOB \"{job}\"\nDATE \"{}\"", at.strftime(CTIME))?;
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
        writeln!(self.to, "END_SAMPLE {at:.6}")?;
        self.to.flush()
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

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn a_file_is_as_the_reader_wants_it() {
        let at = jiff::civil::date(2026, 11, 6)
            .at(23, 5, 59, 0)
            .to_zoned(jiff::tz::TimeZone::UTC)
            .unwrap();
        let mut hp = HpWriter::new(Vec::new(), "say \"hello\"", &at).unwrap();
        let bands =
            |all: &[(&str, u64)]| -> Vec<_> { all.iter().map(|(name, bytes)| ((*name).to_owned(), *bytes)).collect() };
        hp.sample(
            0.5,
            &bands(&[("Tree", 48), ("a b", 16), ("MARK", 8), ("\"q", 24), ("", 8)]),
        )
        .unwrap();
        hp.mark(0.6).unwrap();
        // A clock that goes back does not make the file unreadable.
        hp.sample(0.25, &bands(&[("(2)MutVar,Größe", 8)])).unwrap();
        let text = String::from_utf8(hp.finish(1.0).unwrap()).unwrap();
        insta::assert_snapshot!(text);
    }

    /// A run that was killed left a sample without its end, which `hp2ps` refuses with all that was before it.
    #[test]
    fn a_sample_does_not_wait_for_the_next() {
        let file = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
        let to = io::BufWriter::new(Shared(file.clone()));
        let mut hp = HpWriter::new(to, "killed", &Zoned::now()).unwrap();
        hp.sample(0.5, &[("Tree".to_owned(), 48)]).unwrap();
        let text = String::from_utf8(file.lock().unwrap().clone()).unwrap();
        assert!(text.ends_with("Tree\t48\nEND_SAMPLE 0.500000\n"), "{text}");
    }

    /// What others see of a file while it is written.
    struct Shared(std::sync::Arc<std::sync::Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
}
