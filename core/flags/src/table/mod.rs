//! The table of flags, which describes each flag once, in parts by subject.

mod common;
mod log;
mod ocaml;
mod other;
mod profiles;
mod sharing;
mod sizes;
mod statistics;
mod time_profile;
mod timer;

use super::spec::FlagSpec;
use log::LOG;
use ocaml::OCAML;
use other::OTHER;
use profiles::PROFILES;
use sharing::SHARING;
use sizes::SIZES;
use statistics::STATISTICS;
use time_profile::TIME_PROFILE;
use timer::TIMER;

/// The number of flags.
const ALL: usize = SIZES.len()
    + SHARING.len()
    + STATISTICS.len()
    + LOG.len()
    + PROFILES.len()
    + TIME_PROFILE.len()
    + TIMER.len()
    + OCAML.len()
    + OTHER.len();

/// Every flag, in the order of help.
pub const FLAGS: &[FlagSpec] = &all([
    SIZES,
    SHARING,
    STATISTICS,
    LOG,
    PROFILES,
    TIME_PROFILE,
    TIMER,
    OCAML,
    OTHER,
]);

/// Joins the parts, in their order.
const fn all(parts: [&[FlagSpec]; 9]) -> [FlagSpec; ALL] {
    let mut all = [SIZES[0]; ALL];
    let (mut part, mut at) = (0, 0);
    while part < parts.len() {
        let mut next = 0;
        while next < parts[part].len() {
            all[at] = parts[part][next];
            (next, at) = (next + 1, at + 1);
        }
        part += 1;
    }
    assert!(at == ALL, "each flag is in one part");
    all
}
