//! Flags of the statistics that a run prints.

use super::common::{get_stats, set_stats, switch};
use crate::kind::Kind;
use crate::spec::{FlagSpec, Scope};
use crate::value::Value;
use gclab_core::stats::StatsLevel;

/// The flags of this part, in the order of help.
pub(super) const STATISTICS: &[FlagSpec] = &[
    FlagSpec {
        name: "T",
        toml: None,
        kind: Kind::Switch,
        default: "off",
        meaning: "let the program read its statistics (`Mutator::rts_stats`) without printing them; the last of -T, -t, -s and -S wins",
        ghc: Some(
            "statistics are kept in every run, but a program can read them only with one of these flags, as in GHC",
        ),
        scope: Scope::Program,
        optional: false,
        set: |f, v| set_stats(f, StatsLevel::Collect, v),
        get: |f| get_stats(f, StatsLevel::Collect),
    },
    FlagSpec {
        name: "t",
        toml: None,
        kind: Kind::Output,
        default: "off",
        meaning: "one line of statistics at the end, to the file or standard error",
        ghc: None,
        scope: Scope::Program,
        optional: false,
        set: |f, v| set_stats(f, StatsLevel::OneLine, v),
        get: |f| get_stats(f, StatsLevel::OneLine),
    },
    FlagSpec {
        name: "s",
        toml: None,
        kind: Kind::Output,
        default: "off",
        meaning: "a summary of statistics at the end",
        ghc: Some(
            "has lines of its own: `Heap memory`, `Measured phase`, `GC sharing`, `GC sync`, `Slices`, `Refills`, `Figures`, CHECK and INSPECT; the time of censuses (RP, PROF) does not count as productive",
        ),
        scope: Scope::Program,
        optional: false,
        set: |f, v| set_stats(f, StatsLevel::Summary, v),
        get: |f| get_stats(f, StatsLevel::Summary),
    },
    FlagSpec {
        name: "S",
        toml: None,
        kind: Kind::Output,
        default: "off",
        meaning: "a row of statistics for each collection, and the summary",
        ghc: None,
        scope: Scope::Program,
        optional: false,
        set: |f, v| set_stats(f, StatsLevel::Each, v),
        get: |f| get_stats(f, StatsLevel::Each),
    },
    FlagSpec {
        name: "-machine-readable",
        toml: None,
        kind: Kind::Switch,
        default: "off",
        meaning: "-t prints its figures as a list of keys and values",
        ghc: Some("the keys of GHC 9.0.2 and of its older guide, without locks; keys of its own come last"),
        scope: Scope::Program,
        optional: false,
        set: |f, v| f.stats.machine_readable = v == Value::On,
        get: |f| switch(f.stats.machine_readable),
    },
];
