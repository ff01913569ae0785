//! The states of one capability, from its events in file order.
//!
//! The generation of a collection is known only once its leader has ended, and the other GC threads
//! may end before or after. So the stretches of a collection, and those after it, are *held* until
//! the pause of the program is known.

use super::data::{Piece, Sample, SparkSample, State};
use super::series::Series;
use crate::kinds::number::{GC_DONE, GC_WORK};

/// Limit on stretches held. Beyond that the generation of the collection stays unknown.
const MOST_HELD: usize = 1024;

/// A pause of the program.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stop {
    pub(super) from: u64,
    pub(super) to: u64,
    /// When the leader's GC thread was done.
    pub(super) done: u64,
    pub(super) generation: usize,
}

/// What a capability does in a stretch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Activity {
    Known(State),
    /// In a collection.
    Collecting {
        idle: bool,
    },
}

/// The statistics of a collection.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stats {
    pub(super) generation: usize,
    pub(super) copied: u64,
}

/// A capability.
#[derive(Debug, Default)]
pub(super) struct Cap {
    pub(super) pieces: Series<Piece>,
    pub(super) allocated: Series<Sample>,
    pub(super) sparks: Series<SparkSample>,
    held: Vec<(u64, u64, Activity)>,
    /// The time up to which `pieces` and `held` cover its states.
    at: u64,
    runs: bool,
    requested: bool,
    /// The beginning of its current collection.
    pub(super) started: Option<u64>,
    idle: bool,
    /// When its GC thread was done with the collection.
    done: Option<u64>,
    /// The beginning of the last finished collection.
    pub(super) before: Option<u64>,
    pub(super) stats: Option<Stats>,
    stop: Option<Stop>,
    /// Whether its states are complete.
    pub(super) is_finished: bool,
}

impl Cap {
    /// A thread of the program starts running, or stops.
    pub(super) fn thread(&mut self, runs: bool, time: u64, step: u64) -> usize {
        let more = self.advance(time, step);
        self.runs = runs;
        more
    }

    /// It asks for a collection.
    pub(super) fn request(&mut self, time: u64, step: u64) -> usize {
        let more = self.advance(time, step);
        self.requested = true;
        more
    }

    /// It stops for a collection.
    pub(super) fn start(&mut self, time: u64, step: u64) -> usize {
        let more = self.advance(time, step) + self.release(None, step);
        (self.requested, self.started, self.idle, self.stats) = (false, Some(time), false, None);
        self.done = None;
        more
    }

    /// Its GC thread works, is idle, or is done.
    pub(super) fn work(&mut self, number: u16, time: u64, step: u64) -> usize {
        let more = self.advance(time, step);
        self.idle = number != GC_WORK;
        self.done = (number == GC_DONE).then_some(time);
        more
    }

    /// Its collection ends. If it was the leader, returns the pause of the program and the bytes
    /// copied.
    pub(super) fn end(&mut self, time: u64, step: u64) -> (usize, Option<(Stop, u64)>) {
        let mut more = self.advance(time, step);
        let Some(start) = self.started.take() else {
            return (more, None);
        };
        self.before = Some(start);
        if let Some(stop) = self.stop.filter(|stop| stop.to > start) {
            more += self.release(Some(stop), step);
        }
        let to = time.max(start);
        let led = self.stats.take().map(|stats| {
            let stop = Stop {
                from: start,
                to,
                done: self.done.unwrap_or(to),
                generation: stats.generation,
            };
            (stop, stats.copied)
        });
        (more, led)
    }

    /// The program's pause is known.
    pub(super) fn stop(&mut self, stop: Stop, step: u64) -> usize {
        self.stop = Some(stop);
        let is_its = self.started.is_some() || self.collected_until() > stop.from;
        self.release(is_its.then_some(stop), step)
    }

    /// It has no more events.
    pub(super) fn finish(&mut self, time: u64, step: u64) -> usize {
        self.advance(time, step) + self.release(None, step)
    }

    /// The end of the last held stretch in a collection.
    fn collected_until(&self) -> u64 {
        let is_collecting = |held: &&(u64, u64, Activity)| !matches!(held.2, Activity::Known(_));
        self.held.iter().rev().find(is_collecting).map_or(0, |held| held.1)
    }

    /// Records the state up to a moment. Returns the number of new pieces.
    fn advance(&mut self, time: u64, step: u64) -> usize {
        if time <= self.at {
            return 0;
        }
        let activity = match (self.started, self.requested, self.runs) {
            (Some(_), ..) => Activity::Collecting { idle: self.idle },
            (None, true, _) => Activity::Known(State::Waiting),
            (None, false, true) => Activity::Known(State::Mutator),
            (None, false, false) => Activity::Known(State::Idle),
        };
        let from = std::mem::replace(&mut self.at, time);
        if let (Activity::Known(state), true) = (activity, self.held.is_empty()) {
            return usize::from(self.pieces.push(Piece::pure(state, from, time), step));
        }
        self.held.push((from, time, activity));
        if self.held.len() < MOST_HELD {
            return 0;
        }
        self.release(None, step)
    }

    /// Moves everything held into the lane. Returns the number of new pieces.
    fn release(&mut self, stop: Option<Stop>, step: u64) -> usize {
        let mut more = 0;
        let pieces = &mut self.pieces;
        let mut put = |state, from, to| {
            if from < to {
                more += usize::from(pieces.push(Piece::pure(state, from, to), step));
            }
        };
        for (from, to, activity) in self.held.drain(..) {
            match (activity, stop) {
                (Activity::Known(state), _) => put(state, from, to),
                (Activity::Collecting { .. }, None) => put(State::Unknown, from, to),
                (Activity::Collecting { idle }, Some(stop)) => {
                    let begin = stop.from.clamp(from, to);
                    let end = stop.to.clamp(begin, to);
                    put(State::Waiting, from, begin);
                    if idle {
                        let done = stop.done.clamp(begin, end);
                        put(State::GcIdle, begin, done);
                        put(State::Finishing, done, end);
                    } else {
                        put(State::collecting(stop.generation), begin, end);
                    }
                    put(State::Waiting, end, to);
                }
            }
        }
        more
    }
}
