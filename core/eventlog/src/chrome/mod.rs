//! Exports a log as trace events in JSON, for Perfetto and Chromium's `chrome://tracing`.
//!
//! A capability is a thread of the trace. Collections, the wait for them and running Haskell
//! threads are complete events (`X`) on it, which nest. Heap sizes are counters (`C`), markers and
//! messages are instants (`i`), and names are metadata (`M`). The log is read in order of time and
//! written as it is read: only open slices are kept.

mod lane;
mod write;

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Seek, Write};

use crate::event::Event;
use crate::kinds::number::*;
use crate::merged::Merged;
use crate::show::{ShowError, Shown};
use crate::summary::Interval;
use crate::value::{Value, texts};
use lane::{Generations, Lane, Names};
use write::{Out, Track};

/// The phases of the nonmoving collector, with the numbers of their first and last events.
const PHASES: [(&str, u16, u16); 3] = [
    ("concurrent mark", CONC_MARK_BEGIN, CONC_MARK_END),
    ("nonmoving sync", CONC_SYNC_BEGIN, CONC_SYNC_END),
    ("concurrent sweep", CONC_SWEEP_BEGIN, CONC_SWEEP_END),
];

/// The state of the export.
#[derive(Debug)]
struct Export<'a> {
    out: Out<'a>,
    interval: Interval,
    /// By capability.
    lanes: Vec<Option<Box<Lane>>>,
    /// The sum of their allocation.
    allocated: u64,
    /// The capabilities with a collection whose generation is not known yet.
    waiting: Vec<u16>,
    generations: Generations,
    names: Names,
    /// When each of the [`PHASES`] began, if it is open.
    phases: [Option<u64>; PHASES.len()],
    /// The latest time of their events. An earlier event is taken to be at this time.
    latest_phase: u64,
    last: u64,
}

/// Writes the events of a log within an interval as one JSON object of trace events. The lines
/// returned are trace events.
///
/// # Errors
/// If the log is damaged and the reader does not salvage (the object is complete even so), or if
/// `out` fails.
pub fn chrome<R: Read + Seek>(
    log: &mut Merged<R>,
    interval: Interval,
    out: &mut dyn Write,
) -> Result<Shown, ShowError> {
    let mut export = Export {
        out: Out::new(out)?,
        interval,
        lanes: Vec::new(),
        allocated: 0,
        waiting: Vec::new(),
        generations: Generations::default(),
        names: Names::new(log.header().has_statuses_of_7_8_2()),
        phases: [None; PHASES.len()],
        latest_phase: 0,
        last: 0,
    };
    let end = loop {
        match log.next_event() {
            Ok(Some(event)) => export.event(&event)?,
            Ok(None) => break Ok(()),
            Err(error) => break Err(ShowError::Log(error)),
        }
    };
    let last_ns = export.last;
    let lost_ends: HashMap<Option<u16>, u64> = log.lost_ends().collect();
    let lines = export.finish(&lost_ends)?;
    end.map(|()| Shown { lines, last_ns })
}

impl Export<'_> {
    fn event(&mut self, event: &Event<'_>) -> std::io::Result<()> {
        let (number, time) = (event.known(), event.time());
        if number == BLOCK_MARKER {
            return Ok(());
        }
        self.last = self.last.max(time);
        match (number, event.cap()) {
            (PROGRAM_ARGS, _) => {
                let name = event.fields().find_map(|(_, value)| match value {
                    Value::List(list) => texts(list).next(),
                    _ => None,
                });
                self.out.process(name.unwrap_or_default())
            }
            (THREAD_LABEL, _) => {
                let mut fields = event.fields();
                let label = fields.nth(1);
                let ([Some(thread)], Some((_, Value::Text(text)))) = (event.numbers(), label) else {
                    return Ok(());
                };
                self.names.label(thread, text);
                Ok(())
            }
            (USER_MARKER | USER_MSG | LOG_MSG, cap) if self.interval.contains(time) => {
                let text = event.fields().find_map(|(_, value)| match value {
                    Value::Text(text) => Some(text),
                    _ => None,
                });
                self.out
                    .instant(Track::of(cap), text.unwrap_or_default(), time, number == USER_MARKER)
            }
            (CONC_MARK_BEGIN..=CONC_SWEEP_END, _) => self.concurrent(number, time),
            (HEAP_ALLOCATED | HEAP_SIZE | HEAP_LIVE | BLOCKS_SIZE, cap) => {
                let [_, Some(bytes)] = event.numbers() else {
                    return Ok(());
                };
                let (name, bytes) = match (number, cap) {
                    (HEAP_ALLOCATED, Some(cap)) => {
                        let before = std::mem::replace(&mut lane(&mut self.lanes, cap).allocated, bytes);
                        self.allocated = self.allocated.saturating_sub(before).saturating_add(bytes);
                        ("allocated", self.allocated)
                    }
                    (HEAP_SIZE, _) => ("heap size", bytes),
                    (HEAP_LIVE, _) => ("live data", bytes),
                    _ => ("blocks in use", bytes),
                };
                if self.interval.contains(time) {
                    self.out.counter(name, time, bytes)?;
                }
                Ok(())
            }
            (_, Some(cap)) => self.capability(event, number, cap),
            _ => Ok(()),
        }
    }

    /// An event that begins or ends a slice of a capability.
    fn capability(&mut self, event: &Event<'_>, number: u16, cap: u16) -> std::io::Result<()> {
        if number == GC_STATS_GHC {
            let [_, Some(generation)] = event.numbers() else {
                return Ok(());
            };
            lane(&mut self.lanes, cap).led(generation);
            self.generations.set(generation, event.time());
            // Slices of other capabilities that were waiting for their generation.
            for cap in std::mem::take(&mut self.waiting) {
                if let Some(slice) = lane(&mut self.lanes, cap).waiting() {
                    let slice = slice.of_generation(Some(generation));
                    self.out.slice(Track::cap(cap), &slice, self.interval)?;
                }
            }
            return Ok(());
        }
        let lane = lane(&mut self.lanes, cap);
        for slice in lane.event(event, number, &self.names, &self.generations) {
            self.out.slice(Track::cap(cap), &slice, self.interval)?;
        }
        if lane.is_waiting() && !self.waiting.contains(&cap) {
            self.waiting.push(cap);
        }
        Ok(())
    }

    /// A phase of the nonmoving collector begins or ends. GHC marks again within a sync, and writes
    /// the beginning and the end of a sync twice.
    fn concurrent(&mut self, number: u16, time: u64) -> std::io::Result<()> {
        let time = time.max(self.latest_phase);
        self.latest_phase = time;
        for (place, (_, begin, end)) in PHASES.into_iter().enumerate() {
            if number == begin {
                self.phases[place] = Some(time);
            } else if number == end {
                self.end_phase(place, time)?;
            }
        }
        Ok(())
    }

    /// Writes a phase, if it is open.
    fn end_phase(&mut self, place: usize, time: u64) -> std::io::Result<()> {
        let Some(from) = self.phases[place].take() else {
            return Ok(());
        };
        let to = time.max(from);
        // Slices nest: a phase that began within this one and outlasts it is cut to start at its
        // end.
        for began in self.phases.iter_mut().flatten().filter(|began| **began > from) {
            *began = to.max(*began);
        }
        let slice = lane::Slice::named(PHASES[place].0, from, to);
        self.out.slice(Track::GLOBAL, &slice, self.interval)
    }

    /// Writes the open slices and the end of the object. A slice of a capability whose later events
    /// are lost (`lost_ends`) ends at its last remaining event.
    fn finish(mut self, lost_ends: &HashMap<Option<u16>, u64>) -> std::io::Result<u64> {
        let last = self.last;
        let end_of = |cap: Option<u16>| lost_ends.get(&cap).map_or(last, |end| last.min(*end));
        for cap in 0..self.lanes.len() {
            let Some(mut lane) = self.lanes[cap].take() else {
                continue;
            };
            for slice in lane.end(end_of(Some(cap as u16)), &self.names) {
                self.out.slice(Track::cap(cap as u16), &slice, self.interval)?;
            }
        }
        for place in 0..PHASES.len() {
            self.end_phase(place, self.latest_phase.max(end_of(None)))?;
        }
        self.out.finish()
    }
}

fn lane(lanes: &mut Vec<Option<Box<Lane>>>, cap: u16) -> &mut Lane {
    let place = usize::from(cap);
    if lanes.len() <= place {
        lanes.resize_with(place + 1, || None);
    }
    lanes[place].get_or_insert_default()
}

/// As [`chrome`] for an open file, compiled in this crate.
///
/// # Errors
/// As [`chrome`].
pub fn chrome_file(log: &mut Merged<File>, interval: Interval, out: &mut dyn Write) -> Result<Shown, ShowError> {
    chrome(log, interval, out)
}
