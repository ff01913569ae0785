//! The time profile of one run, and the bell.

use std::collections::HashMap;
use std::io::Write as _;
use std::time::Duration;

use gclab_core::config::TimeProfile;
use gclab_core::events::{Event, EventKind, Listener, Look, Occasion};
use gclab_core::mutator::MutatorKind;
use gclab_core::profile::{CostCentre, StackCosts, StackId};
use gclab_core::timer::Timer;
use gclab_core::world::World;
use gclab_eventlog::hp::DATE_FORMAT;
use gclab_heap_traverse::profile::{Head, TimeProfiler};
use jiff::Zoned;

use crate::log::Logging;
use crate::outputs::{Output, Outputs, Purpose, stem};
use crate::profile::job;
use crate::request::Request;

/// The time profile of a running program.
#[derive(Debug)]
pub(crate) struct TimeProfiling {
    profiler: TimeProfiler,
    /// The file of the report, and its name.
    file: Output,
    name: String,
    job: String,
    verbose: bool,
    tick: Duration,
    capabilities: u32,
}

impl TimeProfiling {
    /// Starts the profile that the flags ask for, if any.
    pub(crate) fn begin(request: &Request<'_>, outputs: &Outputs) -> Option<TimeProfiling> {
        let config = &request.flags.config;
        let kind = config.time_profile?;
        Some(TimeProfiling {
            profiler: TimeProfiler::default(),
            file: outputs.file(Purpose::Report)?,
            name: format!("{}.prof", stem(request)),
            job: job(request),
            verbose: kind == TimeProfile::Figures,
            tick: config.tick().unwrap_or_default(),
            capabilities: config.capabilities,
        })
    }

    /// Lets the event log of `world` have the samples, too.
    pub(crate) fn log_to<M: MutatorKind>(&self, logging: &Logging, world: &mut World<M>) {
        if self.tick.is_zero() {
            // `-V0`: no timer, no samples.
            return;
        }
        let Some(side_words) = world.side_words() else { return };
        let (log, clock) = (logging.log(), world.clock());
        log.time_profile_start(0, self.tick.as_nanos() as u64);
        let mut stacks: HashMap<StackId, Vec<CostCentre>> = HashMap::new();
        self.profiler.follow(move |sample| {
            let stack = stacks
                .entry(sample.stack)
                .or_insert_with(|| side_words.cost_centres(sample.stack));
            log.time_sample(clock, sample.capability, sample.tick, stack);
        });
    }

    /// Lets `timer` sample the threads of `world`.
    pub(crate) fn sample<'a, M: MutatorKind>(&self, timer: &mut Timer<'a>, world: &'a World<M>) {
        self.profiler.sample(timer, world);
    }

    /// Writes the report after the run. Returns the file that could not be written, and why.
    pub(crate) fn finish(mut self, costs: Vec<StackCosts>) -> Option<String> {
        let date = Zoned::now().strftime(DATE_FORMAT).to_string();
        let head = Head {
            date: &date,
            job: &self.job,
        };
        let profile = self.profiler.finish(self.tick, self.capabilities, costs);
        let report = profile.report(head, self.verbose);
        let written = self.file.write_all(report.as_bytes());
        written.err().map(|error| problem(&self.name, &error))
    }
}

/// Sounds the bell at each collection (`-B`).
#[derive(Debug)]
pub(crate) struct Bell;

impl Listener for Bell {
    fn look(&self, _: Occasion) -> Option<Look> {
        None
    }

    fn event(&mut self, event: &Event<'_>) {
        if let EventKind::Start { .. } = event.kind {
            // It does not matter if the terminal is gone.
            let _ = std::io::stderr().write_all(b"\x07");
        }
    }
}

fn problem(file: &str, error: &std::io::Error) -> String {
    format!("time profile {file}: {error}")
}
