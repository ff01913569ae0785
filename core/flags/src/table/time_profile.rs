//! Flags for time profiles, the files of all profiles, and the bell.

use super::common::switch;
use crate::Flags;
use crate::kind::Kind;
use crate::spec::{FlagSpec, Scope};
use crate::value::Value;
use gclab_core::config::TimeProfile;

fn set(flags: &mut Flags, profile: TimeProfile, value: &Value) {
    let other = flags.config.time_profile.filter(|chosen| *chosen != profile);
    flags.config.time_profile = if *value == Value::Off { other } else { Some(profile) };
}

/// The flags of this part, in the order of help.
pub(super) const TIME_PROFILE: &[FlagSpec] = &[
    FlagSpec {
        name: "p",
        toml: None,
        kind: Kind::Switch,
        default: "off",
        meaning: "time profile: shares of time and allocation by stack of cost centres, into <workload>.prof",
        ghc: Some("in every build"),
        scope: Scope::Program,
        optional: false,
        set: |f, v| set(f, TimeProfile::Shares, &v),
        get: |f| switch(f.config.time_profile == Some(TimeProfile::Shares)),
    },
    FlagSpec {
        name: "P",
        toml: None,
        kind: Kind::Switch,
        default: "off",
        meaning: "time profile as -p, with ticks and bytes; the last of -p and -P wins",
        ghc: Some("in every build"),
        scope: Scope::Program,
        optional: false,
        set: |f, v| set(f, TimeProfile::Figures, &v),
        get: |f| switch(f.config.time_profile == Some(TimeProfile::Figures)),
    },
    FlagSpec {
        name: "po",
        toml: None,
        kind: Kind::Output,
        default: "the workload's name",
        meaning: "path of the profiles, to which .prof and .hp are added, as --profile",
        ghc: None,
        scope: Scope::Program,
        optional: false,
        set: |f, v| f.profile_stem = if let Value::File(stem) = v { Some(stem) } else { None },
        get: |f| f.profile_stem.clone().map(Value::File),
    },
    FlagSpec {
        name: "B",
        toml: None,
        kind: Kind::Switch,
        default: "off",
        meaning: "ring the terminal's bell (on standard error) at the start of each collection",
        ghc: None,
        scope: Scope::Program,
        optional: false,
        set: |f, v| f.bell = v == Value::On,
        get: |f| switch(f.bell),
    },
];
