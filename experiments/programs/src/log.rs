//! The event log of one run, and its file.
//!
//! The file has the workload's name and is in the working directory, as with GHC, or where `-ol`
//! says. It is opened before the heap is made, so that a run whose log cannot be written does not
//! start. `-v` prints the log as text on standard output whenever the log is written.

use std::io;

use gclab_core::config::{Breakdown, HeapProfile};
use gclab_core::events::{Event, EventKind, Listener, RunInfo};
use gclab_core::mutator::MutatorKind;
use gclab_core::stats::Statistics;
use gclab_core::stats::render::path_name;
use gclab_core::world::World;
use gclab_eventlog::LiveText;
use gclab_eventlog::record::{About, EventLog, ProfileStart};
use gclab_heap_traverse::profile::Census;

use crate::outputs::{Outputs, Purpose, log_path};
use crate::request::Request;

/// The log of a running program.
#[derive(Debug)]
pub(crate) struct Logging {
    log: EventLog,
    /// Its name in messages.
    name: String,
    /// The program must start the record of events.
    is_paused: bool,
}

impl Logging {
    /// Starts the log that the flags ask for, if any.
    ///
    /// # Errors
    /// A message with the file that cannot be written.
    pub(crate) fn begin(request: &Request<'_>, outputs: &mut Outputs) -> Result<Option<Logging>, String> {
        let path = log_path(request)?;
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
            debug: request.flags.debug,
            args: args.collect(),
        };
        let name = path.map_or_else(|| TEXT.to_owned(), |path| format!("event log {}", path_name(path)));
        let output = outputs.file(Purpose::EventLog).unwrap_or_else(|| {
            let text = LiveText::new(io::stdout());
            outputs.add(Purpose::EventLog, TEXT, Box::new(text))
        });
        let log = EventLog::new(Box::new(output), about).map_err(|error| format!("{name}: {error}"))?;
        Ok(Some(Logging {
            log,
            name,
            is_paused: request.flags.log.paused,
        }))
    }

    /// The log itself, for a profiler.
    pub(crate) fn log(&self) -> EventLog {
        self.log.clone()
    }

    /// Lets the log receive the events of `world`.
    pub(crate) fn listen<M: MutatorKind>(&self, world: &mut World<M>) {
        world.listen(Box::new(self.log.clone()));
        if self.is_paused {
            self.log().pause(true);
        }
    }

    /// Starts the heap profile in the log, and returns the function that writes its censuses.
    pub(crate) fn censuses(&self, flags: &HeapProfile) -> Option<impl FnMut(&Census) + Send + use<>> {
        let breakdown = match flags.breakdown? {
            Breakdown::CostCentre => 1,
            Breakdown::Module => 2,
            Breakdown::Description => 3,
            Breakdown::Type => 4,
            // GHC has no number for roots. Readers show bands of retainers by their names.
            Breakdown::Retainer | Breakdown::NamedRoots => 5,
            Breakdown::Biography => 6,
            Breakdown::ClosureType => 7,
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

    /// Ends the log after the run. Returns the problem if it could not be written. It is not a
    /// problem if the reader of the text has gone (`| head`).
    pub(crate) fn finish(self) -> Option<String> {
        let error = self.log.finish().err()?;
        let is_closed = self.name == TEXT && error.kind() == io::ErrorKind::BrokenPipe;
        (!is_closed).then(|| format!("{}: {error}", self.name))
    }
}

/// The name of a log without a file in messages.
const TEXT: &str = "event log as text";
