//! Looks at the stopped heap: censuses of a heap profile, checks, inspections.
//!
//! Only gclab's own logs record when they begin and end. They lie between collections, and `-s`
//! counts them neither as mutator time nor as GC. In GHC's logs a census is part of the collection
//! before it, and only the writing of its bands has a beginning and an end.

use super::data::{Interval, LookTimes};
use super::spans::Spans;
use crate::event::Event;
use crate::kind::{CENSUS, CHECK, RETAINERS};
use crate::kinds::number::LOOK_BEGIN;

/// The looks so far.
#[derive(Debug, Default)]
pub(super) struct Looks {
    /// Whether the log is gclab's own, and so records all looks.
    own: bool,
    /// When the current look began.
    began: Option<u64>,
    times: LookTimes,
    spans: Spans,
}

impl Looks {
    /// The name of the runtime.
    pub(super) fn runtime(&mut self, identifier: &str) {
        self.own = identifier.starts_with("gclab-");
    }

    /// Whether the log is gclab's own.
    pub(super) fn own(&self) -> bool {
        self.own
    }

    /// A look begins or ends.
    pub(super) fn event(&mut self, event: &Event<'_>, number: u16, interval: Interval) {
        let time = event.time();
        if number == LOOK_BEGIN {
            self.began = Some(time);
            return;
        }
        let Some(began) = self.began.take() else { return };
        let Some((from, to)) = interval.clip((began, time)) else {
            return;
        };
        let times = &mut self.times;
        let [purpose] = event.numbers();
        let sum = match purpose {
            Some(CENSUS) => &mut times.census_ns,
            Some(RETAINERS) => &mut times.retainers_ns,
            Some(CHECK) => &mut times.check_ns,
            _ => &mut times.inspect_ns,
        };
        *sum = sum.saturating_add(to - from);
        self.spans.add(from, to);
    }

    /// All events have been taken.
    pub(super) fn settle(&mut self) {
        self.spans.settle();
    }

    /// The time in looks within an interval.
    pub(super) fn within(&self, within: Interval) -> u64 {
        if self.own { self.spans.paused(within) } else { 0 }
    }

    /// The times by purpose; `None` if the log does not tell them.
    pub(super) fn times(&self) -> Option<LookTimes> {
        self.own.then_some(self.times)
    }
}
