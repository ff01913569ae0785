//! The table of flags: everything that is known of each, once. It is in parts, by what flags are about.

mod other;
mod profiles;
mod sharing;
mod sizes;
mod statistics;

use gclab_core::config::{FromGeneration, MAX_GENERATIONS};
use gclab_core::words::Bytes;
use gclab_stats::StatsLevel;

use super::Flags;
use super::spec::FlagSpec;
use super::value::{Kind, Value};
use other::OTHER;
use profiles::PROFILES;
use sharing::SHARING;
use sizes::SIZES;
use statistics::STATISTICS;

/// A block: 4 KiB.
const BLOCK: Bytes = Bytes(4 << 10);
/// The least allocation area and the least chunk of one (GHC's).
const TWO_BLOCKS: Bytes = Bytes(8 << 10);
const MIB: Bytes = Bytes(1 << 20);
/// The largest size: a sixteenth of the 47 bits of a process's addresses, so that sums of a few do not pass 64 bits by far.
const MOST: Bytes = Bytes(8 << 40);
/// The largest generation number.
const OLDEST: u64 = MAX_GENERATIONS as u64 - 1;
/// More capabilities than any machine has processors.
const MOST_THREADS: u64 = 4096;

const fn size(min: Bytes) -> Kind {
    Kind::Size {
        min,
        max: MOST,
        zero: false,
        bare: false,
    }
}

const PERCENT: Kind = Kind::Percent { bare: false };

const fn generation(value: &Value) -> FromGeneration {
    match value {
        Value::Count(generation) => FromGeneration::From(*generation as u32),
        _ => FromGeneration::Off,
    }
}

const fn generation_value(from: FromGeneration) -> Value {
    match from {
        FromGeneration::Off => Value::Off,
        FromGeneration::From(generation) => Value::Count(generation as u64),
    }
}

const fn optional_size(value: &Value) -> Option<Bytes> {
    match value {
        Value::Size(size) => Some(*size),
        _ => None,
    }
}

const fn bytes(value: &Value) -> Bytes {
    match value {
        Value::Size(size) => *size,
        _ => Bytes(0),
    }
}

const fn number(value: &Value) -> f64 {
    match value {
        Value::Number(number) => *number,
        _ => 0.0,
    }
}

const fn count(value: &Value) -> u64 {
    match value {
        Value::Count(count) => *count,
        _ => 0,
    }
}

fn switch(on: bool) -> Option<Value> {
    on.then_some(Value::On)
}

fn set_stats(flags: &mut Flags, level: StatsLevel, value: Value) {
    flags.stats.level = level;
    flags.stats.file = if let Value::File(path) = value {
        Some(path)
    } else {
        None
    };
}

fn get_stats(flags: &Flags, level: StatsLevel) -> Option<Value> {
    (flags.stats.level == level).then(|| flags.stats.file.clone().map_or(Value::On, Value::File))
}

/// The number of flags.
const ALL: usize = SIZES.len() + SHARING.len() + STATISTICS.len() + PROFILES.len() + OTHER.len();

/// Every flag, in the order of help.
pub const FLAGS: &[FlagSpec] = &all([SIZES, SHARING, STATISTICS, PROFILES, OTHER]);

/// Joins the parts, in their order.
const fn all(parts: [&[FlagSpec]; 5]) -> [FlagSpec; ALL] {
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
