//! What a comparison needs of a log besides its summary: the number of events of each type, what
//! threads did, and the settings of the run.

use std::collections::BTreeMap;

use crate::event::Event;
use crate::kind::{breakdown_text, status_text, status_text_of_7_8_2};
use crate::kinds::{self, number::*};
use crate::summary::Interval;

/// The counts of a log, or of an interval of it.
#[derive(Debug, Default)]
pub(super) struct Contents {
    interval: Interval,
    old_statuses: bool,
    /// Whether the log has any events of class s.
    pub(super) has_threads: bool,
    /// By type number.
    counts: Vec<u64>,
    /// Stops by reason.
    pub(super) stops: BTreeMap<u64, u64>,
    /// The time during which threads ran.
    pub(super) ran_ns: u64,
    /// By capability: when the running thread started.
    running: Vec<Option<u64>>,
    /// Generations, maximum heap, and the sizes of an allocation area, a megablock and a block, in
    /// bytes.
    pub(super) heap: Option<[u64; 5]>,
    pub(super) breakdown: Option<u64>,
    /// Descriptions of types that are not in the table.
    unknown: BTreeMap<u16, String>,
}

impl Contents {
    pub(super) fn new(interval: Interval, old_statuses: bool) -> Self {
        Contents {
            interval,
            old_statuses,
            ..Contents::default()
        }
    }

    #[inline]
    pub(super) fn event(&mut self, event: &Event<'_>) {
        let number = event.declared().number;
        if number == BLOCK_MARKER {
            return;
        }
        let time = event.time();
        match event.known() {
            CREATE_THREAD => self.has_threads = true,
            RUN_THREAD => {
                self.has_threads = true;
                *self.running(event) = Some(time);
            }
            STOP_THREAD => {
                let from = self.running(event).take();
                if let Some((from, to)) = from.and_then(|from| self.interval.clip((from, time))) {
                    self.ran_ns = self.ran_ns.saturating_add(to - from);
                }
                let [_, status] = event.numbers();
                if let Some(status) = status.filter(|_| self.interval.contains(time)) {
                    *self.stops.entry(status).or_default() += 1;
                }
            }
            HEAP_INFO_GHC => {
                let [_, rest @ ..] = event.numbers::<6>();
                self.heap = rest
                    .iter()
                    .copied()
                    .collect::<Option<Vec<_>>>()
                    .and_then(|all| all.try_into().ok());
            }
            HEAP_PROF_BEGIN => [_, _, self.breakdown] = event.numbers(),
            u16::MAX => {
                let text = || event.declared().description.clone();
                self.unknown.entry(number).or_insert_with(text);
            }
            _ => {}
        }
        if self.interval.contains(time) {
            let place = usize::from(number);
            if self.counts.len() <= place {
                self.counts.resize(place + 1, 0);
            }
            self.counts[place] += 1;
        }
    }

    /// When the running thread started on the event's capability.
    fn running(&mut self, event: &Event<'_>) -> &mut Option<u64> {
        let place = event.cap().map_or(0, |cap| usize::from(cap) + 1);
        if self.running.len() <= place {
            self.running.resize(place + 1, None);
        }
        &mut self.running[place]
    }

    pub(super) fn count(&self, number: u16) -> u64 {
        self.counts.get(usize::from(number)).copied().unwrap_or(0)
    }

    /// The number of all events.
    pub(super) fn events(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The types that occur, by number and name.
    pub(super) fn types(&self) -> impl Iterator<Item = (u16, String)> {
        let all = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        all.map(|(number, _)| (number as u16, self.name(number as u16)))
    }

    fn name(&self, number: u16) -> String {
        match (self.unknown.get(&number), kinds::numbered(number)) {
            (None, Some(kind)) => kind.name.to_owned(),
            (Some(text), _) => format!("type {number} ({text})"),
            (None, None) => format!("type {number}"),
        }
    }

    /// The name of a stop reason.
    pub(super) fn stop(&self, status: u64) -> String {
        let text = if self.old_statuses {
            status_text_of_7_8_2(status)
        } else {
            status_text(status)
        };
        text.map_or_else(|| format!("reason {status}"), str::to_owned)
    }

    pub(super) fn breakdown(&self) -> Option<String> {
        let number = self.breakdown?;
        Some(breakdown_text(number).map_or_else(|| number.to_string(), str::to_owned))
    }
}
