//! A timeline as a file of speedscope: a profile for each capability, with its states as stacks.
//!
//! Speedscope also opens the trace events of Chrome's format. But it adds up their beginnings and
//! lengths as binary fractions of microseconds, so a slice that begins where another one ends often
//! seems to lie within it. Here every length is a whole number of nanoseconds.

use gclab_eventlog::{Interval, STATES, Timeline};
use serde_json::{Value, json};

/// The frames. A collection has what its GC thread does within it.
const FRAMES: [&str; 10] = [
    "idle",
    "mutator",
    "waiting for the other capabilities",
    "GC",
    "without work",
    "generation 0",
    "generation 1",
    "generation 2 and older",
    "generation not in the log",
    "after the GC threads",
];

/// The stack of each [`State`](gclab_eventlog::State), as places in [`FRAMES`].
const STACKS: [&[usize]; STATES] = [&[0], &[1], &[2], &[3, 4], &[3, 5], &[3, 6], &[3, 7], &[3, 8], &[3, 9]];

/// The states of the capabilities in an interval. A piece of several states belongs to it if it
/// begins in it.
pub(super) fn speedscope(timeline: &Timeline, interval: Interval, name: &str) -> Value {
    let profiles = timeline.lanes.iter().map(|lane| {
        let (mut samples, mut weights) = (Vec::new(), Vec::new());
        for piece in &lane.pieces {
            let part = interval.clip((piece.from, piece.to));
            for (state, time) in piece.times.iter().enumerate() {
                let time = match (piece.state(), part) {
                    (Some(_), part) => part.map_or(0, |(from, to)| to - from).min(*time),
                    (None, _) if interval.contains(piece.from) => *time,
                    (None, _) => 0,
                };
                if time > 0 {
                    samples.push(STACKS[state]);
                    weights.push(time);
                }
            }
        }
        json!({
            "type": "sampled",
            "name": format!("cap {}", lane.cap),
            "unit": "nanoseconds",
            "startValue": 0,
            "endValue": weights.iter().sum::<u64>(),
            "samples": samples,
            "weights": weights,
        })
    });
    json!({
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "exporter": concat!("gclab ", env!("CARGO_PKG_VERSION")),
        "name": name,
        "shared": { "frames": FRAMES.map(|name| json!({ "name": name })) },
        "profiles": profiles.collect::<Vec<_>>(),
    })
}
