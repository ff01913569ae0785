//! Writes `.hp` files that `hp2ps`, `hp2pretty` and other programs draw.
//!
//! A header, a sample for each census, a mark for each marker, and an empty sample at the beginning
//! and the end. `hp2ps` splits lines at white space and knows a few keywords, so names are changed
//! until it reads them as names: white space becomes `_`, and a quote or a keyword at the start
//! gets a `_` before it. Times have six decimals and never decrease. Each sample is written at once
//! and in one piece, so the file of a killed run can be drawn.

use std::io::{self, Write};

/// Words that the reader does not accept as the name of a band.
const KEYWORDS: [&str; 7] = [
    "JOB",
    "DATE",
    "SAMPLE_UNIT",
    "VALUE_UNIT",
    "BEGIN_SAMPLE",
    "END_SAMPLE",
    "MARK",
];

/// The longest name that `hp2ps` accepts, in bytes.
const LONGEST_NAME: usize = 4999;

/// The format of a file's date for `strftime`: as C's `ctime`, without the seconds.
pub const DATE_FORMAT: &str = "%a %b %e %H:%M %Y";

/// Writes an `.hp` file.
#[derive(Debug)]
pub struct HpWriter<W> {
    to: W,
    last: f64,
}

impl<W: Write> HpWriter<W> {
    /// Begins a file. `job` is the command that ran, `date` the local time of its start in
    /// [`DATE_FORMAT`].
    ///
    /// # Errors
    /// If writing to `to` fails.
    pub fn new(mut to: W, job: &str, date: &str) -> io::Result<Self> {
        let job = job.replace('"', "\"\"").replace(['\n', '\r'], " ");
        writeln!(to, "JOB \"{job}\"\nDATE \"{date}\"")?;
        writeln!(to, "SAMPLE_UNIT \"seconds\"\nVALUE_UNIT \"bytes\"")?;
        let mut writer = HpWriter { to, last: 0.0 };
        writer.sample(0.0, &[])?;
        Ok(writer)
    }

    /// Writes a census at this time, in seconds, with these bands.
    ///
    /// # Errors
    /// If writing to the file fails.
    pub fn sample(&mut self, seconds: f64, bands: &[(String, u64)]) -> io::Result<()> {
        let at = self.time(seconds);
        writeln!(self.to, "BEGIN_SAMPLE {at:.6}")?;
        for (name, bytes) in bands {
            writeln!(self.to, "{}\t{bytes}", identifier(name))?;
        }
        writeln!(self.to, "END_SAMPLE {at:.6}")?;
        self.to.flush()
    }

    /// Writes a mark at this time, in seconds.
    ///
    /// # Errors
    /// If writing to the file fails.
    pub fn mark(&mut self, seconds: f64) -> io::Result<()> {
        let at = self.time(seconds);
        writeln!(self.to, "MARK {at:.6}")
    }

    /// Ends the file with one more empty sample.
    ///
    /// # Errors
    /// If writing to the file fails.
    pub fn finish(mut self, seconds: f64) -> io::Result<W> {
        self.sample(seconds, &[])?;
        Ok(self.to)
    }

    fn time(&mut self, seconds: f64) -> f64 {
        self.last = seconds.max(self.last);
        self.last
    }
}

/// Changes a name until the reader accepts it as one.
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
    fn a_file_is_as_its_reader_expects() {
        let mut hp = HpWriter::new(Vec::new(), "say \"hello\"", "Fri Nov  6 23:05 2026").unwrap();
        let bands =
            |all: &[(&str, u64)]| -> Vec<_> { all.iter().map(|(name, bytes)| ((*name).to_owned(), *bytes)).collect() };
        hp.sample(
            0.5,
            &bands(&[("Tree", 48), ("a b", 16), ("MARK", 8), ("\"q", 24), ("", 8)]),
        )
        .unwrap();
        hp.mark(0.6).unwrap();
        // A clock that goes backwards does not make the file unreadable.
        hp.sample(0.25, &bands(&[("(2)MutVar,Größe", 8)])).unwrap();
        let text = String::from_utf8(hp.finish(1.0).unwrap()).unwrap();
        insta::assert_snapshot!(text);
    }

    /// A killed run left a sample without its end, and `hp2ps` refused the whole file.
    #[test]
    fn a_sample_does_not_wait_for_the_next() {
        let file = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
        let to = io::BufWriter::new(Shared(file.clone()));
        let mut hp = HpWriter::new(to, "killed", "today").unwrap();
        hp.sample(0.5, &[("Tree".to_owned(), 48)]).unwrap();
        let text = String::from_utf8(file.lock().unwrap().clone()).unwrap();
        assert!(text.ends_with("Tree\t48\nEND_SAMPLE 0.500000\n"), "{text}");
    }

    /// The part of a file that other processes see while it is written.
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
