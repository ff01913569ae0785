//! Reads the files of a results folder: `plan.json` as a whole, `runs.jsonl` line by line.
//!
//! Cost: one line of `runs.jsonl` is in memory at a time, whatever the size of the file, and with
//! [`each_planned`] one run of the plan. A reader keeps of each record what it needs. [`record_at`]
//! reads a record again of which it kept the place.

use crate::error::{PLAN_FILE, RUNS_FILE, ResultsError, TornLine, io_error};
use crate::manifest::Manifest;
use crate::plan::PlannedRun;
use crate::record::{RunRecord, SCHEMA};
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, de};
use serde_json::{Map, Value};
use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// A line of `runs.jsonl` that holds a record.
#[derive(Debug)]
pub struct RunLine<'l> {
    /// The line's number, from 1.
    pub number: usize,
    /// The bytes of the file before the line.
    pub start: u64,
    /// The line as it stands in the file, without its end.
    pub text: &'l str,
    /// The record in the line.
    pub run: RunRecord,
}

/// The state of the end of `runs.jsonl`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ending {
    /// The last line, if it was not written completely.
    pub torn: Option<TornLine>,
    /// The number of bytes of the file that hold whole records.
    pub(crate) good_bytes: u64,
    /// Whether the last whole record lacks its line end.
    pub(crate) unterminated: bool,
}

/// The bytes of a file that are read at a time.
const BUFFER: usize = 1 << 16;

/// Reads the plan of a folder.
///
/// # Errors
/// Fails if there is no plan, if it is malformed, or if a newer gclab wrote it.
pub fn read_plan(folder: &Path) -> Result<Manifest, ResultsError> {
    let plan = folder.join(PLAN_FILE);
    let text = match fs::read_to_string(&plan) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            return Err(ResultsError::NoPlan {
                path: folder.to_owned(),
            });
        }
        other => other.map_err(|e| io_error("read", &plan, e))?,
    };
    parse::<Manifest>(&text, &plan, 1)
}

/// Reads the plan of a folder, and passes each of its runs to `take`, in their order. The plan of
/// the manifest that it returns is empty.
///
/// # Errors
/// As [`read_plan`]; `take` may have got some runs then.
pub fn each_planned(folder: &Path, take: &mut dyn FnMut(PlannedRun)) -> Result<Manifest, ResultsError> {
    let plan = folder.join(PLAN_FILE);
    let Ok(file) = File::open(&plan) else {
        return read_plan(folder);
    };
    let mut text = serde_json::Deserializer::from_reader(BufReader::with_capacity(BUFFER, file));
    let read = AllButPlan(take)
        .deserialize(&mut text)
        .and_then(|rest| text.end().map(|()| rest));
    let manifest = read.and_then(|mut rest| {
        rest.insert("plan".to_owned(), Value::Array(Vec::new()));
        serde_json::from_str::<Manifest>(&Value::Object(rest).to_string())
    });
    match manifest {
        Ok(manifest) if manifest.schema <= SCHEMA => Ok(manifest),
        // The whole text tells the line of the fault.
        faulty => {
            read_plan(folder)?;
            let fault = faulty.err().map_or_else(String::new, |error| error.to_string());
            Err(malformed(&plan, 1, fault))
        }
    }
}

/// Reads the object of a plan: all of it apart from the runs, which the function gets.
struct AllButPlan<'t>(&'t mut dyn FnMut(PlannedRun));

impl<'de> DeserializeSeed<'de> for AllButPlan<'_> {
    type Value = Map<String, Value>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for AllButPlan<'_> {
    type Value = Map<String, Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a plan")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut rest = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if key == "plan" {
                entries.next_value_seed(Planned(&mut *self.0))?;
            } else {
                rest.insert(key, entries.next_value()?);
            }
        }
        Ok(rest)
    }
}

/// Reads the list of runs of a plan.
struct Planned<'t>(&'t mut dyn FnMut(PlannedRun));

impl<'de> DeserializeSeed<'de> for Planned<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Planned<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of runs")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut runs: A) -> Result<(), A::Error> {
        while let Some(run) = runs.next_element::<PlannedRun>()? {
            (self.0)(run);
        }
        Ok(())
    }
}

/// The path of `runs.jsonl` of a folder.
pub fn runs_file(folder: &Path) -> PathBuf {
    folder.join(RUNS_FILE)
}

/// Passes each record of a folder's `runs.jsonl` to `take`, in the order of the file. A folder
/// without the file has no runs. Two lines of one run are passed twice.
///
/// # Errors
/// Fails if a line other than a torn last one is not a record, if a newer gclab wrote it, or if
/// `take` fails.
pub fn each_run(
    folder: &Path,
    mut take: impl FnMut(RunLine<'_>) -> Result<(), ResultsError>,
) -> Result<Ending, ResultsError> {
    let path = folder.join(RUNS_FILE);
    let file = match File::open(&path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Ending::default()),
        other => other.map_err(|e| io_error("read", &path, e))?,
    };
    let mut file = BufReader::with_capacity(BUFFER, file);
    let mut line = Vec::new();
    let mut ending = Ending::default();
    for number in 1.. {
        line.clear();
        let bytes = file
            .read_until(b'\n', &mut line)
            .map_err(|e| io_error("read", &path, e))?;
        if bytes == 0 {
            break;
        }
        let whole = line.ends_with(b"\n");
        if !(whole && line.trim_ascii().is_empty()) {
            let parsed = std::str::from_utf8(line.trim_ascii_end())
                .map_err(|e| malformed(&path, number, format!("not UTF-8 text: {e}")))
                .and_then(|text| Ok((text, parse::<RunRecord>(text, &path, number)?)));
            match parsed {
                Ok((text, run)) => take(RunLine {
                    number,
                    start: ending.good_bytes,
                    text,
                    run,
                })?,
                Err(ResultsError::Malformed { .. }) if !whole => {
                    ending.torn = Some(TornLine { line: number, bytes });
                    return Ok(ending);
                }
                Err(error) => return Err(error),
            }
        }
        ending.good_bytes += bytes as u64;
        ending.unterminated = !whole;
    }
    Ok(ending)
}

/// The error of a second line of a run, with other figures.
pub fn other_figures(folder: &Path, number: usize, id: &str, earlier: usize) -> ResultsError {
    let problem = format!("run {id} is already on line {earlier}, with other figures");
    malformed(&folder.join(RUNS_FILE), number, problem)
}

/// Reads the record that begins at this byte of a folder's `runs.jsonl`: [`RunLine::start`].
///
/// # Errors
/// Fails if the file cannot be read, or if there is no record at this place any more.
pub fn record_at(folder: &Path, start: u64) -> Result<RunRecord, ResultsError> {
    let path = folder.join(RUNS_FILE);
    let mut line = String::new();
    File::open(&path)
        .and_then(|mut file| {
            file.seek(SeekFrom::Start(start))?;
            BufReader::new(file).read_line(&mut line)
        })
        .map_err(|e| io_error("read", &path, e))?;
    serde_json::from_str(line.trim_end()).map_err(|e| {
        let problem = format!("the file has changed: no record at byte {start}: {e}");
        malformed(&path, 1, problem)
    })
}

/// A text with the version of its schema.
trait Versioned: for<'de> Deserialize<'de> {
    fn schema(&self) -> u32;
}

impl Versioned for Manifest {
    fn schema(&self) -> u32 {
        self.schema
    }
}

impl Versioned for RunRecord {
    fn schema(&self) -> u32 {
        self.schema
    }
}

/// Reads one JSON text. A text of a newer schema is not taken for a broken one.
fn parse<T: Versioned>(text: &str, path: &Path, line: usize) -> Result<T, ResultsError> {
    match serde_json::from_str::<T>(text) {
        Ok(read) if read.schema() <= SCHEMA => Ok(read),
        other => Err(fault(text, path, line, other.err())),
    }
}

/// The reason why a text is not what this gclab writes. `error` is that of the whole text.
#[cold]
fn fault(text: &str, path: &Path, line: usize, error: Option<serde_json::Error>) -> ResultsError {
    #[derive(Deserialize)]
    struct Head {
        schema: u32,
        gclab: Option<String>,
    }
    let head: Result<Head, serde_json::Error> = serde_json::from_str(text);
    let error = match head {
        Ok(head) if head.schema > SCHEMA => {
            return ResultsError::Newer {
                path: path.to_owned(),
                line,
                found: head.schema,
                gclab: head.gclab.unwrap_or_else(|| "(unknown version)".to_owned()),
            };
        }
        Ok(_) => error.unwrap_or_else(|| de::Error::custom("no schema")),
        Err(error) => error,
    };
    // A plan has several lines. A record is one line, whose number in the file counts.
    let line = line + error.line().saturating_sub(1);
    let column = error.column();
    let text = error.to_string();
    let what = text.rsplit_once(" at line ").map_or(&*text, |(what, _)| what);
    malformed(path, line, format!("column {column}: not what gclab writes: {what}"))
}

fn malformed(path: &Path, line: usize, problem: String) -> ResultsError {
    ResultsError::Malformed {
        path: path.to_owned(),
        line,
        problem,
    }
}
