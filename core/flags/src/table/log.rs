//! Flags of the event log.

use crate::spec::{FlagSpec, Scope};
use crate::value::{Kind, Value};

/// The flags of this part, in the order of help.
pub(super) const LOG: &[FlagSpec] = &[
    FlagSpec {
        name: "l",
        toml: None,
        kind: Kind::Classes,
        default: "off",
        meaning: "an event log, for `gclab events`, ThreadScope and eventlog2html: s threads, g collections, u messages and markers, a all; -s leaves out; s, g and u are on",
        ghc: Some(
            "n, p and f are accepted, but gclab has neither a nonmoving collector nor sparks; there is no -v yet",
        ),
        scope: Scope::Program,
        optional: false,
        set: |f, v| {
            f.log.classes = if let Value::Classes(classes) = v {
                Some(classes)
            } else {
                None
            }
        },
        get: |f| f.log.classes.map(Value::Classes),
    },
    FlagSpec {
        name: "ol",
        toml: None,
        kind: Kind::File,
        default: "the workload's name and `.eventlog`",
        meaning: "the file of the event log",
        ghc: Some("needs -l"),
        scope: Scope::Program,
        optional: false,
        set: |f, v| f.log.file = if let Value::File(path) = v { Some(path) } else { None },
        get: |f| f.log.file.clone().map(Value::File),
    },
];
