//! Flags of the event log.

use crate::Flags;
use crate::kind::Kind;
use crate::spec::{FlagSpec, Scope};
use crate::value::Value;

use super::common::switch;

fn set_classes(flags: &mut Flags, value: Value, text: bool) {
    flags.log.classes = if let Value::Classes(classes) = value {
        Some(classes)
    } else {
        None
    };
    flags.log.text = text;
}

/// The flags of this part, in the order of help.
pub(super) const LOG: &[FlagSpec] = &[
    FlagSpec {
        name: "l",
        toml: None,
        kind: Kind::Classes,
        default: "off",
        meaning: "an event log, for `gclab events`, ThreadScope and eventlog2html: s: threads, g: collections, n: cells, u: messages and markers, a: all; -s leaves s out; sgu by default",
        ghc: Some("p and f are accepted, but gclab has no sparks"),
        scope: Scope::Program,
        optional: false,
        set: |f, v| set_classes(f, v, false),
        get: |f| f.log.classes.filter(|_| !f.log.text).map(Value::Classes),
    },
    FlagSpec {
        name: "v",
        toml: None,
        kind: Kind::Classes,
        default: "off",
        meaning: "the same events as text on standard output, before the checksum; the last of -l and -v wins",
        ghc: Some(
            "printed in order of time, at the end of a collection that follows many events or a second; GHC prints each event at once, on standard error",
        ),
        scope: Scope::Program,
        optional: false,
        set: |f, v| set_classes(f, v, true),
        get: |f| f.log.classes.filter(|_| f.log.text).map(Value::Classes),
    },
    FlagSpec {
        name: "ol",
        toml: None,
        kind: Kind::File,
        default: "the workload's name and `.eventlog`",
        meaning: "the file of the event log",
        ghc: Some("refused on a command line without -l, or with -v; in GCLABRTS it applies to runs with a log"),
        scope: Scope::Program,
        optional: false,
        set: |f, v| f.log.file = if let Value::File(path) = v { Some(path) } else { None },
        get: |f| f.log.file.clone().map(Value::File),
    },
    FlagSpec {
        name: "-eventlog-paused",
        toml: None,
        kind: Kind::Switch,
        default: "off",
        meaning: "begin with the event log paused: a program that calls `Mutator::pause_events(false)` has a log of what follows (OCaml's `OCAML_EVENTLOG_ENABLED=p`)",
        ghc: Some("gclab's own"),
        scope: Scope::Program,
        optional: false,
        set: |f, v| f.log.paused = v == Value::On,
        get: |f| switch(f.log.paused),
    },
];
