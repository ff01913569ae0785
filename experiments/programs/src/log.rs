//! The event log of one run, and its file.
//!
//! The file has the workload's name and is in the working directory, as with GHC, or where `-ol`
//! says. It is made before the heap, so that a run whose log cannot be written does not start.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use gclab_core::config::{Breakdown, HeapProfile};
use gclab_core::events::{Event, EventKind, Listener, RunInfo};
use gclab_core::mutator::MutatorKind;
use gclab_core::world::World;
use gclab_eventlog::{Lines, Merged, ShowError, Wanted, show_file};
use gclab_heap_traverse::profile::Census;
use gclab_log::{About, EventLog, ProfileStart};
use gclab_stats::Statistics;

use crate::request::Request;

/// The log of a running program.
#[derive(Debug)]
pub(crate) struct Logging {
    log: EventLog,
    to: To,
}

/// Where a log goes.
#[derive(Debug)]
enum To {
    /// To the file at this path.
    Path(PathBuf),
    /// To standard output as text, when the run is over. Until then it is in this file, which has
    /// no name any more.
    Text(File),
}

impl Logging {
    /// Begins the log that the flags ask for, if they ask for one.
    ///
    /// # Errors
    /// A message with the file that cannot be written.
    pub(crate) fn begin(request: &Request<'_>) -> Result<Option<Logging>, String> {
        let path = path(request)?;
        let Some(classes) = request.flags.log.classes else {
            return Ok(None);
        };
        let words = || request.words.iter().cloned();
        let args = request
            .program
            .iter()
            .cloned()
            .chain(["+RTS".to_owned()])
            .chain(words());
        let about = About {
            classes,
            args: args.collect(),
        };
        let Some(path) = path else {
            let text = |error| format!("event log as text: {error}");
            let file = nameless()?;
            let log = file.try_clone().and_then(|file| EventLog::new(Box::new(file), about));
            return Ok(Some(Logging {
                log: log.map_err(text)?,
                to: To::Text(file),
            }));
        };
        let log = EventLog::create(&path, about).map_err(|error| problem(&path, &error))?;
        Ok(Some(Logging {
            log,
            to: To::Path(path),
        }))
    }

    /// Lets the log receive the events of `world`.
    pub(crate) fn listen<M: MutatorKind>(&self, world: &mut World<M>) {
        world.listen(Box::new(self.log.clone()));
    }

    /// Begins the heap profile in the log, and returns the function that writes its censuses.
    /// `None` for a breakdown that GHC does not have (`-ho`).
    pub(crate) fn censuses(&self, flags: &HeapProfile) -> Option<impl FnMut(&Census) + Send + use<>> {
        let breakdown = match flags.breakdown? {
            Breakdown::CostCentre => 1,
            Breakdown::Module => 2,
            Breakdown::Description => 3,
            Breakdown::Type => 4,
            Breakdown::Retainer => 5,
            Breakdown::Biography => 6,
            Breakdown::ClosureType => 7,
            Breakdown::NamedRoots => return None,
        };
        let only = &flags.only;
        let filters = [
            &only.modules,
            &only.descriptions,
            &only.types,
            &only.cost_centres,
            &only.cost_centre_stacks,
            &only.retainers,
            &only.biographies,
        ];
        let start = ProfileStart {
            period_ns: (flags.interval * 1e9) as u64,
            breakdown,
            filters: filters.map(|names| names.join(",")),
        };
        let (log, late, mut number) = (self.log.clone(), flags.follows_uses(), 0);
        log.profile_start(0, &start);
        Some(move |census: &Census| {
            let bands = census.bands.iter().map(|(label, bytes)| (label.as_str(), *bytes));
            if late {
                // All of them come at the end of the run.
                log.biography_sample(0, census.time_ns, number, bands);
            } else if breakdown == 1 {
                log.sample_of_stacks(census.time_ns, number, &census.stacks);
            } else {
                log.sample(census.time_ns, number, bands);
            }
            number += 1;
        })
    }

    /// Ends the log of a run whose heap could not be made: it describes the process. Returns the
    /// problem if it could not be written.
    pub(crate) fn finish_without_heap(mut self, run: &RunInfo, statistics: &Statistics) -> Option<String> {
        let end = EventKind::RunEnd {
            statistics,
            allocated: &[],
        };
        for kind in [EventKind::RunStart(run), end] {
            self.log.event(&Event {
                time_ns: 0,
                capability: None,
                kind,
            });
        }
        self.finish()
    }

    /// Ends the log after the run. Returns the problem if it could not be written.
    pub(crate) fn finish(self) -> Option<String> {
        let ended = self.log.finish();
        match self.to {
            To::Path(path) => ended.err().map(|error| problem(&path, &error)),
            To::Text(file) => {
                let shown = ended.map_err(ShowError::Write).and_then(|()| {
                    let mut log = Merged::new(file, "event log", false)?;
                    show_file(&mut log, &Wanted::default(), Lines::Text, &mut io::stdout().lock())
                });
                shown.err().map(|error| format!("event log as text: {error}"))
            }
        }
    }
}

/// The file of the event log that the flags ask for; `None` for none, and for a log as text.
///
/// # Errors
/// A message if the flags name a file for a log that has none.
pub(crate) fn path(request: &Request<'_>) -> Result<Option<PathBuf>, String> {
    let option = &request.flags.log;
    if option.text || option.classes.is_none() {
        return option.file.as_ref().map_or(Ok(None), |file| {
            let file = file.display();
            Err(format!("-ol{file} is for the file of an event log: -l asks for one"))
        });
    }
    let path = option.file.clone();
    Ok(Some(
        path.unwrap_or_else(|| format!("{}.eventlog", request.workload).into()),
    ))
}

/// How many names are tried for a file that is to have none.
const NAMES: u32 = 100;

/// A file that has no name, and is gone when the process ends. Another process may have left a file
/// of its first name, so there are others.
fn nameless() -> Result<File, String> {
    let mut number = 0;
    loop {
        let path = std::env::temp_dir().join(format!("gclab-{}-{number}.eventlog", std::process::id()));
        let file = File::options().read(true).write(true).create_new(true).open(&path);
        number += 1;
        let opened = match file {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < NAMES => continue,
            file => file.and_then(|file| std::fs::remove_file(&path).map(|()| file)),
        };
        return opened.map_err(|error| format!("event log as text, on its way in {}: {error}", path.display()));
    }
}

fn problem(file: &Path, error: &io::Error) -> String {
    format!("event log {}: {error}", file.display())
}
