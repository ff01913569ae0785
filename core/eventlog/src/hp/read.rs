//! Reads `.hp` files, GHC's and ours, line by line.
//!
//! A file that ends within a sample or a line comes from a program that was killed: that sample is
//! left out, and [`Profile::cut_off`] is set. Any other violation of the format is an error with
//! its line. Names of bands may contain spaces: the value follows the last white space.

use std::collections::HashMap;
use std::io::{self, BufRead, Read};

/// The longest line read, in bytes. GHC's own reader takes names of 4999 bytes.
const LONGEST_LINE: u64 = 1 << 20;

/// A heap profile, as in its file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Profile {
    /// The command that ran.
    pub job: String,
    /// The local time of its start.
    pub date: String,
    /// The unit of times: `seconds`.
    pub sample_unit: String,
    /// The unit of values: `bytes`.
    pub value_unit: String,
    /// The names of the bands, in order of appearance.
    pub names: Vec<String>,
    /// The samples; their times do not decrease.
    pub samples: Vec<Sample>,
    /// The times that the program marked.
    pub marks: Vec<f64>,
    /// Whether the file ends within a sample, which is then left out.
    pub cut_off: bool,
}

/// A census of the heap.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sample {
    /// The time of the census.
    pub at: f64,
    /// Indices of bands in [`Profile::names`], with their values.
    pub values: Vec<(usize, u64)>,
}

impl Sample {
    /// The sum of the values of all bands.
    pub fn sum(&self) -> u64 {
        self.values.iter().map(|(_, value)| value).sum()
    }
}

/// Why a file is not a heap profile, with the place.
#[derive(Debug, thiserror::Error)]
#[error("{file}: {}{problem}", if *.line > 0 { format!("line {}: ", .line) } else { String::new() })]
pub struct ReadError {
    file: String,
    /// From 1; 0 if the problem concerns the whole file.
    line: u64,
    problem: Problem,
}

impl ReadError {
    /// The problem with the file.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }
}

/// The problem with a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The file cannot be read.
    #[error("cannot read: {0}")]
    Io(io::Error),
    /// The file does not begin like a heap profile.
    #[error("not a heap profile: expected `JOB \"...\"`, found {0}")]
    NoProfile(String),
    /// A line of the head is missing.
    #[error("no {0} line before the first sample")]
    Missing(&'static str),
    /// A line differs from what the format requires.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// The line required by the format.
        expected: &'static str,
        /// The line found, cut if it is long.
        found: String,
    },
    /// A line is longer than any line of a profile.
    #[error("a line of more than {LONGEST_LINE} bytes")]
    LongLine,
    /// A sample's time is before the previous sample's.
    #[error("the sample's time is {at}, before the previous sample's, {last}")]
    Backwards {
        /// The time of the sample.
        at: f64,
        /// The time of the sample before it.
        last: f64,
    },
    /// The sum of a sample's values overflows.
    #[error("the values of the sample add up to 2^64 or more")]
    Sum,
}

impl Profile {
    /// Reads a profile. Errors name the file `file`.
    ///
    /// # Errors
    /// If the file cannot be read, or is not a heap profile.
    pub fn read(reader: impl BufRead, file: &str) -> Result<Self, ReadError> {
        let mut parser = Parser::default();
        let mut reader = reader;
        let mut number = 0;
        let done = loop {
            number += 1;
            match line(&mut reader) {
                Ok(Some((line, ended))) => match parser.line(&line) {
                    Ok(()) => {}
                    // A killed program may leave a partial line.
                    Err(_) if !ended && parser.head().is_ok() => parser.profile.cut_off = true,
                    Err(problem) => break Err(problem),
                },
                Ok(None) => {
                    number = 0;
                    break Ok(());
                }
                Err(problem) => break Err(problem),
            }
        };
        let profile = done.and_then(|()| parser.finish());
        profile.map_err(|problem| ReadError {
            file: file.to_owned(),
            line: number,
            problem,
        })
    }
}

/// The next line without its line end, and whether it had one; `None` at the end of the file.
fn line(reader: &mut impl BufRead) -> Result<Option<(String, bool)>, Problem> {
    let mut bytes = Vec::new();
    let read = reader.take(LONGEST_LINE + 1).read_until(b'\n', &mut bytes);
    match read.map_err(Problem::Io)? as u64 {
        0 => Ok(None),
        length if length > LONGEST_LINE => Err(Problem::LongLine),
        _ => {
            let text = String::from_utf8_lossy(&bytes).trim().to_owned();
            Ok(Some((text, bytes.last() == Some(&b'\n'))))
        }
    }
}

#[derive(Default)]
struct Parser {
    profile: Profile,
    places: HashMap<String, usize>,
    /// The head's lines seen so far, in the order of [`HEAD`].
    seen: [bool; HEAD.len()],
    /// The open sample, with the index of each band among its values, and its sum.
    open: Option<(Sample, HashMap<usize, usize>, u64)>,
    last: f64,
}

/// The keywords of the head.
const HEAD: [&str; 4] = ["JOB", "DATE", "SAMPLE_UNIT", "VALUE_UNIT"];

impl Parser {
    fn line(&mut self, line: &str) -> Result<(), Problem> {
        if line.is_empty() {
            return Ok(());
        }
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        if !self.seen[0] && word != HEAD[0] {
            return Err(Problem::NoProfile(shown(line)));
        }
        if let Some((mut sample, mut places, mut sum)) = self.open.take() {
            if word == "END_SAMPLE" && time(rest).is_some() {
                self.profile.samples.push(sample);
                return Ok(());
            }
            let (place, value) = self.band(line)?;
            sum = u64::checked_add(sum, value).ok_or(Problem::Sum)?;
            match places.get(&place) {
                Some(&at) => sample.values[at].1 += value,
                None => {
                    places.insert(place, sample.values.len());
                    sample.values.push((place, value));
                }
            }
            self.open = Some((sample, places, sum));
            return Ok(());
        }
        if let Some(index) = HEAD.iter().position(|keyword| *keyword == word) {
            self.seen[index] = true;
            let text = quoted(rest).ok_or_else(|| expected("a quoted text after the keyword", line))?;
            let profile = &mut self.profile;
            *[
                &mut profile.job,
                &mut profile.date,
                &mut profile.sample_unit,
                &mut profile.value_unit,
            ][index] = text;
            return Ok(());
        }
        match (word, time(rest)) {
            ("BEGIN_SAMPLE", Some(at)) => self.begin(at),
            ("MARK", Some(at)) => {
                self.profile.marks.push(at);
                Ok(())
            }
            ("BEGIN_SAMPLE" | "MARK", None) => Err(expected("a time, such as 0.500000, after the keyword", line)),
            _ => Err(expected("`BEGIN_SAMPLE` or `MARK` with a time", line)),
        }
    }

    fn begin(&mut self, at: f64) -> Result<(), Problem> {
        self.head()?;
        if at < self.last {
            return Err(Problem::Backwards { at, last: self.last });
        }
        self.last = at;
        let sample = Sample { at, values: Vec::new() };
        self.open = Some((sample, HashMap::new(), 0));
        Ok(())
    }

    /// The index of a band among all names, and its value.
    fn band(&mut self, line: &str) -> Result<(usize, u64), Problem> {
        let wrong = || expected("a name and a whole number, or `END_SAMPLE` with a time", line);
        let (name, value) = line.rsplit_once(char::is_whitespace).ok_or_else(wrong)?;
        let digits = value.bytes().all(|byte| byte.is_ascii_digit());
        let value = value.parse().ok().filter(|_| digits).ok_or_else(wrong)?;
        let name = name.trim_end();
        let next = self.profile.names.len();
        let place = match self.places.get(name) {
            Some(&place) => place,
            None => {
                self.places.insert(name.to_owned(), next);
                self.profile.names.push(name.to_owned());
                next
            }
        };
        Ok((place, value))
    }

    fn head(&self) -> Result<(), Problem> {
        match self.seen.iter().position(|seen| !seen) {
            Some(missing) => Err(Problem::Missing(HEAD[missing])),
            None => Ok(()),
        }
    }

    fn finish(mut self) -> Result<Profile, Problem> {
        if !self.seen[0] {
            return Err(Problem::NoProfile("nothing".to_owned()));
        }
        self.head()?;
        self.profile.cut_off |= self.open.is_some();
        Ok(self.profile)
    }
}

/// A time: finite and not negative.
fn time(text: &str) -> Option<f64> {
    let plain = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || b".eE+-".contains(&byte));
    let time: f64 = text.parse().ok().filter(|_| plain)?;
    (time.is_finite() && time >= 0.0).then_some(time)
}

/// The text between quotes; two quotes within it stand for one.
fn quoted(text: &str) -> Option<String> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    Some(inner.replace("\"\"", "\""))
}

fn expected(expected: &'static str, found: &str) -> Problem {
    Problem::Expected {
        expected,
        found: shown(found),
    }
}

/// A line for messages.
fn shown(line: &str) -> String {
    /// Characters shown of a line.
    const LETTERS: usize = 60;
    let mut cut: String = line.chars().take(LETTERS).collect();
    if cut.len() < line.len() {
        cut.push('…');
    }
    format!("{cut:?}")
}

#[cfg(test)]
mod tests {
    use super::{Problem, Profile};
    use crate::hp::write::HpWriter;
    use proptest::prelude::*;

    const HEAD: &str = "JOB \"p\"\nDATE \"d\"\nSAMPLE_UNIT \"seconds\"\nVALUE_UNIT \"bytes\"\n";

    fn read(text: &str) -> Result<Profile, String> {
        Profile::read(text.as_bytes(), "x.hp").map_err(|error| error.to_string())
    }

    #[test]
    fn every_line_of_the_format_is_read() {
        let profile = read(&format!(
            "JOB \"say \"\"hi\"\" +RTS -hT\"\n{}BEGIN_SAMPLE 0.0\nEND_SAMPLE 0.0\nBEGIN_SAMPLE 1.5\n\
             a b\t12\nc 3\na b\t1\nEND_SAMPLE 1.5\nMARK 1.75\n\nBEGIN_SAMPLE 2.0\nc\t4\n",
            &HEAD[8..]
        ))
        .unwrap();
        assert_eq!(
            (profile.job.as_str(), profile.names.as_slice()),
            ("say \"hi\" +RTS -hT", &["a b".to_owned(), "c".to_owned()][..])
        );
        assert_eq!(profile.samples.len(), 2);
        assert_eq!(
            profile.samples[1].values,
            [(0, 13), (1, 3)],
            "a band that comes twice is added up"
        );
        assert_eq!(
            (profile.marks, profile.cut_off),
            (vec![1.75], true),
            "the last sample has no end"
        );
        let whole = format!("{HEAD}BEGIN_SAMPLE 0.5\nTree\t48\nEND_SAMPLE 0.5\n");
        for length in HEAD.len() + 1..whole.len() {
            let cut = read(&whole[..length]).unwrap();
            // The last number may be complete without its line end.
            assert_eq!(cut.cut_off, cut.samples.is_empty(), "{length}: {cut:?}");
        }
    }

    #[test]
    fn a_wrong_line_is_named() {
        let says = |rest: &str, message: &str| assert_eq!(read(&(HEAD.to_owned() + rest)).unwrap_err(), message);
        says(
            "BEGIN_SAMPLE 0.5\nTree\t4.5\n",
            "x.hp: line 6: expected a name and a whole number, or `END_SAMPLE` with a time, found \"Tree\\t4.5\"",
        );
        says(
            "BEGIN_SAMPLE 0.5\nEND_SAMPLE 0.5\nBEGIN_SAMPLE 0.4\n",
            "x.hp: line 7: the sample's time is 0.4, before the previous sample's, 0.5",
        );
        says(
            "Tree 4\n",
            "x.hp: line 5: expected `BEGIN_SAMPLE` or `MARK` with a time, found \"Tree 4\"",
        );
        says(
            "MARK nan\n",
            "x.hp: line 5: expected a time, such as 0.500000, after the keyword, found \"MARK nan\"",
        );
        says(
            "BEGIN_SAMPLE 0.5\na\t18446744073709551615\nb\t1\n",
            "x.hp: line 7: the values of the sample add up to 2^64 or more",
        );
        assert_eq!(
            read("{}").unwrap_err(),
            "x.hp: line 1: not a heap profile: expected `JOB \"...\"`, found \"{}\""
        );
        assert_eq!(
            read("").unwrap_err(),
            "x.hp: not a heap profile: expected `JOB \"...\"`, found nothing"
        );
        assert_eq!(
            read("JOB \"p\"\nBEGIN_SAMPLE 0.5\n").unwrap_err(),
            "x.hp: line 2: no DATE line before the first sample"
        );
        let long = format!("{HEAD}BEGIN_SAMPLE 0.5\n{}\t1\n", "x".repeat(2 << 20));
        assert!(matches!(
            Profile::read(long.as_bytes(), "x.hp").unwrap_err().problem(),
            Problem::LongLine
        ));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

        #[test]
        fn a_written_profile_is_read_as_it_was(
            samples in prop::collection::vec(prop::collection::btree_map("[a-z(),.:]{1,9}", 0_u64..1 << 40, 0..6), 0..6),
            job in "[ -~]{0,20}",
        ) {
            let mut writer = HpWriter::new(Vec::new(), &job, "today").unwrap();
            for (at, bands) in (1..).zip(&samples) {
                let bands: Vec<(String, u64)> = bands.clone().into_iter().collect();
                writer.sample(f64::from(at), &bands).unwrap();
            }
            let text = writer.finish(100.0).unwrap();
            let profile = Profile::read(&text[..], "x.hp").unwrap();
            prop_assert_eq!(&profile.job, &job);
            prop_assert_eq!(profile.samples.len(), samples.len() + 2);
            for (found, expected) in profile.samples[1..].iter().zip(&samples) {
                let found: std::collections::BTreeMap<String, u64> =
                    found.values.iter().map(|(place, value)| (profile.names[*place].clone(), *value)).collect();
                prop_assert_eq!(&found, expected);
            }
        }

        #[test]
        fn no_text_makes_it_panic(lines in prop::collection::vec("(BEGIN_SAMPLE|END_SAMPLE|MARK|x|JOB)[ \t]?[0-9.\"a]{0,4}", 0..12)) {
            let _ = read(&(HEAD.to_owned() + &lines.join("\n")));
        }
    }
}
