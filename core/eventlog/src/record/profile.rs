//! Events of heap profiles and of time profiles. They are global, and in order of time.

use crate::{Value, kinds};
use gclab_core::clock::Clock;
use gclab_core::profile::CostCentre;

use super::log::{EventLog, Log};
use super::output::{Output, fitting};

/// The number of the only profile of a run.
const PROFILE: u64 = 0;

/// Longest text, in bytes: an event holds 65535, and has up to seven texts.
const MOST: usize = 9_000;

/// The facts about a heap profile at the start of its events.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProfileStart {
    /// Nanoseconds between samples; 0 for a sample at each collection.
    pub period_ns: u64,
    /// GHC's number for the breakdown (`crate::breakdown_text`).
    pub breakdown: u32,
    /// The restrictions: module, closure description, type description, cost centre, stack of cost
    /// centres, retainer, biography; empty if there is none.
    pub filters: [String; 7],
}

impl EventLog {
    /// A heap profile begins.
    pub fn profile_start(&self, time_ns: u64, profile: &ProfileStart) {
        let filters = profile.filters.each_ref().map(|filter| fitting(filter, MOST));
        let mut values = vec![
            PROFILE.into(),
            profile.period_ns.into(),
            u64::from(profile.breakdown).into(),
        ];
        values.extend(filters.iter().map(|filter| Value::from(filter.as_str())));
        self.lock().output.put_global(&kinds::HEAP_PROF_BEGIN, time_ns, &values);
    }

    /// A time profile begins, with a tick every `tick_ns` nanoseconds.
    pub fn time_profile_start(&self, time_ns: u64, tick_ns: u64) {
        let output = &mut self.lock().output;
        output.put_global(&kinds::PROF_BEGIN, time_ns, &[tick_ns.into()]);
    }

    /// A sample of a time profile: at this tick a capability's thread has this stack of cost
    /// centres, the innermost first.
    ///
    /// `clock` is the run's. It is read while no other event can be added to the log, so the sample
    /// is later than all events already in order.
    pub fn time_sample(&self, clock: Clock, capability: usize, tick: u64, stack: &[CostCentre]) {
        let log = &mut *self.lock();
        let time_ns = clock.elapsed_ns();
        let ids = log.centres.ids(time_ns, stack, &mut log.output);
        let values = [(capability as u64).into(), tick.into(), Value::Ids(&ids)];
        log.output
            .put_waiting(&kinds::PROF_SAMPLE_COST_CENTRE, time_ns, &values);
    }

    /// A sample of bytes by label, within a look at the stopped heap that began at `time_ns`. The
    /// sample ends with the look.
    pub fn sample<'a>(&self, time_ns: u64, number: u64, bands: impl IntoIterator<Item = (&'a str, u64)>) {
        let log = &mut *self.lock();
        log.begin_sample(time_ns, number);
        write_bands(time_ns, bands, &mut log.output);
    }

    /// The same by stack of cost centres, the innermost first.
    pub fn sample_of_stacks(&self, time_ns: u64, number: u64, stacks: &[(Vec<CostCentre>, u64)]) {
        let log = &mut *self.lock();
        let (centres, output) = (&mut log.centres, &mut log.output);
        let ids = |(stack, bytes): &(Vec<CostCentre>, u64)| (centres.ids(time_ns, stack, output), *bytes);
        let stacks: Vec<_> = stacks.iter().map(ids).collect();
        log.begin_sample(time_ns, number);
        let output = &mut log.output;
        for (ids, bytes) in &stacks {
            let values = [PROFILE.into(), (*bytes).into(), Value::Ids(ids)];
            output.put_global(&kinds::HEAP_PROF_SAMPLE_COST_CENTRE, time_ns, &values);
        }
    }

    /// A sample of a biographical profile, taken at `taken_ns` but known only now.
    pub fn biography_sample<'a>(
        &self,
        time_ns: u64,
        taken_ns: u64,
        number: u64,
        bands: impl IntoIterator<Item = (&'a str, u64)>,
    ) {
        let output = &mut self.lock().output;
        let begin = [number.into(), taken_ns.into()];
        output.put_global(&kinds::HEAP_BIO_PROF_SAMPLE_BEGIN, time_ns, &begin);
        write_bands(time_ns, bands, output);
        output.put_global(&kinds::HEAP_PROF_SAMPLE_END, time_ns, &[number.into()]);
    }
}

impl Log {
    /// A sample begins.
    fn begin_sample(&mut self, time_ns: u64, number: u64) {
        self.end_sample(time_ns);
        let values = [number.into()];
        self.output.put_global(&kinds::HEAP_PROF_SAMPLE_BEGIN, time_ns, &values);
        self.open_sample = Some(number);
    }

    /// The open sample ends, if there is one.
    pub(crate) fn end_sample(&mut self, time_ns: u64) {
        if let Some(number) = self.open_sample.take() {
            let values = [number.into()];
            self.output.put_global(&kinds::HEAP_PROF_SAMPLE_END, time_ns, &values);
        }
    }
}

/// Writes the bands of a sample.
fn write_bands<'a>(time_ns: u64, bands: impl IntoIterator<Item = (&'a str, u64)>, output: &mut Output) {
    for (label, bytes) in bands {
        let label = fitting(label, MOST);
        let values = [PROFILE.into(), bytes.into(), label.as_str().into()];
        output.put_global(&kinds::HEAP_PROF_SAMPLE_STRING, time_ns, &values);
    }
}
