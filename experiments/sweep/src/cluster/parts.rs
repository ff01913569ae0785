//! The parts of a plan, as `merge` reads them: the plan of each folder, and the place of each
//! record in its file. No record stays in memory.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use gclab_results::reading::{each_run, other_figures, read_plan};
use gclab_results::{Manifest, ResultsDir, ResultsError, TornLine};

use crate::plan::Shard;
use crate::runner::precision;

/// The place of a record in `runs.jsonl`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// The bytes before it.
    pub(super) start: u64,
    /// Its bytes, without the end of the line.
    pub(super) bytes: usize,
    /// The number of its line, from 1.
    pub(super) line: usize,
}

/// The folder of a shard.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) path: PathBuf,
    pub(super) manifest: Manifest,
    /// The records by their ids.
    pub(super) runs: HashMap<String, Place>,
    /// The last line, if it was not written completely.
    pub(super) torn: Option<TornLine>,
    /// Whether the timed runs that are missing were left out, because the times are as precise as
    /// the plan asks for.
    pub(super) is_precise: bool,
}

impl Part {
    /// Reads a folder.
    ///
    /// # Errors
    /// If it holds no plan, or a line that is no record, or two different records of one run.
    pub(super) fn read(path: &Path) -> Result<Part, ResultsError> {
        let manifest = read_plan(path)?;
        let mut runs: HashMap<String, Place> = HashMap::new();
        let ending = each_run(path, |line| {
            let place = Place {
                start: line.start,
                bytes: line.text.len(),
                line: line.number,
            };
            match runs.get(&line.run.id) {
                None => {
                    runs.insert(line.run.id, place);
                }
                // The line was copied.
                Some(earlier) if text_at(path, *earlier).is_ok_and(|text| text == line.text.as_bytes()) => {}
                Some(earlier) => return Err(other_figures(path, line.number, &line.run.id, earlier.line)),
            }
            Ok(())
        })?;
        let is_precise = manifest.precision.is_some() && precision::is_reached(&ResultsDir::open_totals(path)?);
        Ok(Part {
            path: path.to_owned(),
            manifest,
            runs,
            torn: ending.torn,
            is_precise,
        })
    }

    /// The part that the folder holds; the whole plan is `1/1`.
    pub(super) fn shard(&self) -> Option<Shard> {
        let shard = self.manifest.shard.as_deref();
        shard.map_or(Some(Shard::default()), |text| text.parse().ok())
    }

    /// The text of a record.
    pub(super) fn text(&self, place: Place) -> io::Result<Vec<u8>> {
        text_at(&self.path, place)
    }
}

/// The bytes of `runs.jsonl` at a place.
fn text_at(folder: &Path, place: Place) -> io::Result<Vec<u8>> {
    read_at(&mut File::open(folder.join("runs.jsonl"))?, place)
}

/// The bytes of an open `runs.jsonl` at a place.
pub(super) fn read_at(file: &mut File, place: Place) -> io::Result<Vec<u8>> {
    let mut text = vec![0; place.bytes];
    file.seek(SeekFrom::Start(place.start))?;
    file.read_exact(&mut text)?;
    Ok(text)
}
