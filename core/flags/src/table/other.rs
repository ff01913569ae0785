//! Flags for checks and tests, for the address space, and for the program around the heap.

use super::common::{MIB, bytes, switch};
use crate::kind::Kind;
use crate::spec::{FlagSpec, Scope};
use crate::value::Value;
use gclab_core::block::MAX_RESERVATION;
use gclab_core::config::Parameter;
use gclab_core::words::{Addr, Words};
use gclab_eventlog::DebugMessages;

/// The largest slice of `-DI`.
const MAX_SLICE: u64 = 1 << 40;

/// The flags of this part, in the order of help.
pub(super) const OTHER: &[FlagSpec] = &[
    FlagSpec {
        name: "D",
        toml: None,
        kind: Kind::Debug,
        default: "off",
        meaning: "debug messages, into the event log if there is one, else to standard error: s threads, g collections, b the block allocator, p censuses",
        ghc: Some("in every build, not only a debugging one; GHC has more letters"),
        scope: Scope::Program,
        optional: false,
        set: |f, v| match v {
            Value::Debug(messages) => f.debug.add(messages),
            _ => f.debug = DebugMessages::default(),
        },
        get: |f| f.debug.any().then_some(Value::Debug(f.debug)),
    },
    FlagSpec {
        name: "DS",
        toml: Some("DS"),
        kind: Kind::Switch,
        default: "off",
        meaning: "check the whole heap after each collection",
        ghc: Some("in every build, not only a debugging one"),
        scope: Scope::Heap,
        optional: false,
        set: |f, v| f.sanity = v == Value::On,
        get: |f| switch(f.sanity),
    },
    FlagSpec {
        name: "DT",
        toml: None,
        kind: Kind::Closure,
        default: "off",
        meaning: "trace one closure on standard error (one -DT only), the n-th allocated or the first at an address: where it is allocated, copied to, promoted, marked, counted, and which collection finds it dead",
        ghc: Some("gclab's own"),
        scope: Scope::Program,
        optional: false,
        set: |f, v| {
            f.config.follow_closure = if let Value::Closure(closure) = v {
                Some(closure)
            } else {
                None
            }
        },
        get: |f| f.config.follow_closure.map(Value::Closure),
    },
    FlagSpec {
        name: "DP",
        toml: Some("DP"),
        kind: Kind::Switch,
        default: "off",
        meaning: "make memory inaccessible for a time once a collection has freed it, so that a stale access ends the run with a message",
        ghc: Some("gclab's own"),
        scope: Scope::Heap,
        optional: false,
        set: |f, v| f.config.protect_freed = v == Value::On,
        get: |f| switch(f.config.protect_freed),
    },
    FlagSpec {
        name: "-own",
        toml: Some("own"),
        kind: Kind::Own,
        default: "none",
        meaning: "flags of the collector's own, separated by commas; `gclab list collectors` names them",
        ghc: Some("gclab's own"),
        scope: Scope::Heap,
        optional: true,
        set: |f, v| f.config.own = if let Value::Names(words) = v { words } else { Vec::new() },
        get: |f| (!f.config.own.is_empty()).then(|| Value::Names(f.config.own.clone())),
    },
    FlagSpec {
        name: "DZ",
        toml: Some("DZ"),
        kind: Kind::Count {
            min: 1,
            max: u64::MAX,
            bare: false,
        },
        default: "off",
        meaning: "stress: collect at every n-th allocation",
        ghc: Some("gclab's own: -DZ means something else in GHC"),
        scope: Scope::Heap,
        optional: true,
        set: |f, v| f.config.stress = if let Value::Count(n) = v { Some(n) } else { None },
        get: |f| f.config.stress.map(Value::Count),
    },
    FlagSpec {
        name: "DI",
        toml: Some("DI"),
        kind: Kind::Count {
            min: 1,
            max: MAX_SLICE,
            bare: false,
        },
        default: "off",
        meaning: "for tests: limit a slice of an incremental collector to this many words of work, so that a cycle takes many pauses",
        ghc: Some("gclab's own"),
        scope: Scope::Collector(Parameter::SliceLimit),
        optional: true,
        set: |f, v| {
            f.config.slice_limit = if let Value::Count(n) = v {
                Some(Words(n as usize))
            } else {
                None
            }
        },
        get: |f| f.config.slice_limit.map(|words| Value::Count(words.0 as u64)),
    },
    FlagSpec {
        name: "DF",
        toml: Some("DF"),
        kind: Kind::Count {
            min: 1,
            max: u64::MAX,
            bare: false,
        },
        default: "off",
        meaning: "for tests: refuse the n-th request for memory of any kind",
        ghc: Some("gclab's own"),
        scope: Scope::Heap,
        optional: true,
        set: |f, v| f.config.refuse_request = if let Value::Count(n) = v { Some(n) } else { None },
        get: |f| f.config.refuse_request.map(Value::Count),
    },
    FlagSpec {
        name: "xr",
        toml: Some("xr"),
        kind: Kind::Size {
            min: MIB,
            max: MAX_RESERVATION,
            zero: false,
            bare: false,
        },
        default: "1t",
        meaning: "address space to reserve for the heap; less if the system refuses",
        ghc: None,
        scope: Scope::Heap,
        optional: false,
        set: |f, v| f.config.reserve = bytes(&v),
        get: |f| Some(Value::Size(f.config.reserve)),
    },
    FlagSpec {
        name: "xm",
        toml: Some("xm"),
        kind: Kind::Address,
        default: "the system chooses",
        meaning: "start address of the heap in hexadecimal, rounded down to 2 MiB; refused if the heap cannot start there",
        ghc: Some("in GHC a hint, also for code and static data"),
        scope: Scope::Heap,
        optional: true,
        set: |f, v| {
            f.config.map_near = match v {
                Value::Address(address) => Some(Addr(address as usize)),
                _ => None,
            }
        },
        get: |f| f.config.map_near.map(|at| Value::Address(at.0 as u64)),
    },
    FlagSpec {
        name: "-no-huge-pages",
        toml: Some("huge_pages"),
        kind: Kind::SwitchOff,
        default: "huge pages are asked for",
        meaning: "do not ask the system for huge pages",
        ghc: Some("gclab's own"),
        scope: Scope::Heap,
        optional: false,
        set: |f, v| f.config.huge_pages = v != Value::On,
        get: |f| switch(!f.config.huge_pages),
    },
    FlagSpec {
        name: "-install-signal-handlers",
        toml: None,
        kind: Kind::Choice {
            of: "an answer",
            names: &["yes", "no"],
            list: "yes or no",
        },
        default: "yes",
        meaning: "Ctrl-C and SIGTERM end a run at its next safepoint, so that its statistics, profile and event log are complete; a second signal ends it at once; no: the first one does",
        ghc: Some("SIGTERM too; the process then ends by the signal, as in GHC"),
        scope: Scope::Program,
        optional: false,
        set: |f, v| f.leave_signals = v == Value::Name("no"),
        get: |f| Some(Value::Name(if f.leave_signals { "no" } else { "yes" })),
    },
    FlagSpec {
        name: "-info",
        toml: None,
        kind: Kind::Switch,
        default: "off",
        meaning: "print a description of this program and stop",
        ghc: Some("`GHC RTS` is NO and `GHC version` is none; keys of its own come last"),
        scope: Scope::Program,
        optional: false,
        set: |f, v| f.info = v == Value::On,
        get: |f| switch(f.info),
    },
    FlagSpec {
        name: "?",
        toml: None,
        kind: Kind::Switch,
        default: "off",
        meaning: "print these flags and stop",
        ghc: None,
        scope: Scope::Program,
        optional: false,
        set: |f, v| f.help = v == Value::On,
        get: |f| switch(f.help),
    },
];
