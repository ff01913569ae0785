//! Flags for the timer and what it triggers.

use super::common::number;
use crate::kind::Kind;
use crate::spec::{FlagSpec, Scope};
use crate::value::Value;

/// A day, in seconds.
pub(super) const SECONDS: Kind = Kind::Number { min: 0.0, max: 86400.0 };

const fn optional(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => Some(*number),
        _ => None,
    }
}

/// The flags of this part, in the order of help.
pub(super) const TIMER: &[FlagSpec] = &[
    FlagSpec {
        name: "V",
        toml: Some("V"),
        kind: SECONDS,
        default: "0.01, but 0.001 with -p",
        meaning: "seconds between timer ticks, at most the shorter of -i and -I, which are rounded down to whole ticks; 0: no timer: no idle collections, no samples for -p, and -i acts as -i0",
        ghc: Some("a thread instead of a signal, started only if an interval needs it; GHC takes a bare -V"),
        scope: Scope::Heap,
        optional: true,
        set: |f, v| f.config.timer.tick = optional(&v),
        get: |f| f.config.timer.tick.map(Value::Number),
    },
    FlagSpec {
        name: "I",
        toml: Some("I"),
        kind: SECONDS,
        default: "0.3, but 0 with one capability",
        meaning: "do a major collection when no thread has run in the heap for this many seconds, once until one runs again; 0: never",
        ghc: Some("with -N1 GHC's threaded runtime has 0.3, too; GHC takes a bare -I"),
        scope: Scope::Heap,
        optional: true,
        set: |f, v| f.config.timer.idle = optional(&v),
        get: |f| f.config.timer.idle.map(Value::Number),
    },
    FlagSpec {
        name: "Iw",
        toml: Some("Iw"),
        kind: SECONDS,
        default: "0",
        meaning: "minimum number of seconds between idle collections",
        ghc: None,
        scope: Scope::Heap,
        optional: false,
        set: |f, v| f.config.timer.idle_wait = number(&v),
        get: |f| Some(Value::Number(f.config.timer.idle_wait)),
    },
];
