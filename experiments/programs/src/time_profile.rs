//! The time profile of one run, and the bell.

use std::fs::File;
use std::io::Write as _;
use std::time::Duration;

use gclab_core::config::TimeProfile;
use gclab_core::events::{Event, EventKind, Listener};
use gclab_core::mutator::MutatorKind;
use gclab_core::profile::StackCosts;
use gclab_core::timer::Timer;
use gclab_core::world::World;
use gclab_heap_traverse::profile::{Head, TimeProfiler};
use gclab_hp::DATE_FORMAT;
use jiff::Zoned;

use crate::profile::{job, stem};
use crate::request::Request;

/// The time profile of a running program.
#[derive(Debug)]
pub(crate) struct TimeProfiling {
    profiler: TimeProfiler,
    /// The file of the report.
    name: String,
    job: String,
    verbose: bool,
    tick: Duration,
    capabilities: u32,
}

impl TimeProfiling {
    /// Begins the profile that the flags ask for, if they ask for one. Its file is made now: if it
    /// cannot be written, the run need not start.
    ///
    /// # Errors
    /// A message with the file that cannot be written.
    pub(crate) fn begin(request: &Request<'_>) -> Result<Option<TimeProfiling>, String> {
        let config = &request.flags.config;
        let Some(kind) = config.time_profile else {
            return Ok(None);
        };
        let name = format!("{}.prof", stem(request));
        File::create(&name).map_err(|error| problem(&name, &error))?;
        Ok(Some(TimeProfiling {
            profiler: TimeProfiler::default(),
            name,
            job: job(request),
            verbose: kind == TimeProfile::Figures,
            tick: config.tick().unwrap_or_default(),
            capabilities: config.capabilities,
        }))
    }

    /// Lets `timer` sample the threads of `world`.
    pub(crate) fn sample<'a, M: MutatorKind>(&self, timer: &mut Timer<'a>, world: &'a World<M>) {
        self.profiler.sample(timer, world);
    }

    /// Writes the report after the run. Returns the file that could not be written, and why.
    pub(crate) fn finish(self, costs: Vec<StackCosts>) -> Option<String> {
        let date = Zoned::now().strftime(DATE_FORMAT).to_string();
        let head = Head {
            date: &date,
            job: &self.job,
        };
        let profile = self.profiler.finish(self.tick, self.capabilities, costs);
        let written = std::fs::write(&self.name, profile.report(head, self.verbose));
        written.err().map(|error| problem(&self.name, &error))
    }
}

/// Sounds the bell at each collection (`-B`).
#[derive(Debug)]
pub(crate) struct Bell;

impl Listener for Bell {
    fn looks(&self) -> bool {
        false
    }

    fn event(&mut self, event: &Event<'_>) {
        if let EventKind::Start { .. } = event.kind {
            // A terminal that is gone does not matter.
            let _ = std::io::stderr().write_all(b"\x07");
        }
    }
}

fn problem(file: &str, error: &std::io::Error) -> String {
    format!("time profile {file}: {error}")
}
