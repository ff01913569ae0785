//! Bounds of values, and conversions between a [`Value`] and the type of a field, for all parts of
//! the table.

use gclab_core::config::{FromGeneration, MAX_GENERATIONS};
use gclab_core::stats::StatsLevel;
use gclab_core::words::Bytes;

use crate::Flags;
use crate::kind::Kind;
use crate::value::Value;

/// A block: 4 KiB.
pub(super) const BLOCK: Bytes = Bytes(4 << 10);
/// The smallest allocation area, and the smallest chunk of one (GHC's).
pub(super) const TWO_BLOCKS: Bytes = Bytes(8 << 10);
pub(super) const MIB: Bytes = Bytes(1 << 20);
/// The largest size: a sixteenth of a process's 47-bit address space, so that sums of a few stay
/// far from overflowing 64 bits.
pub(super) const MOST: Bytes = Bytes(8 << 40);
/// The largest generation number.
pub(super) const OLDEST: u64 = MAX_GENERATIONS as u64 - 1;
/// More capabilities than any machine has processors.
pub(super) const MOST_THREADS: u64 = 4096;

pub(super) const fn size(min: Bytes) -> Kind {
    Kind::Size {
        min,
        max: MOST,
        zero: false,
        bare: false,
    }
}

pub(super) const PERCENT: Kind = Kind::Percent { bare: false };

pub(super) const fn generation(value: &Value) -> FromGeneration {
    match value {
        Value::Count(generation) => FromGeneration::From(*generation as u32),
        _ => FromGeneration::Off,
    }
}

pub(super) const fn generation_value(from: FromGeneration) -> Value {
    match from {
        FromGeneration::Off => Value::Off,
        FromGeneration::From(generation) => Value::Count(generation as u64),
    }
}

pub(super) const fn optional_size(value: &Value) -> Option<Bytes> {
    match value {
        Value::Size(size) => Some(*size),
        _ => None,
    }
}

pub(super) const fn bytes(value: &Value) -> Bytes {
    match value {
        Value::Size(size) => *size,
        _ => Bytes(0),
    }
}

pub(super) const fn number(value: &Value) -> f64 {
    match value {
        Value::Number(number) => *number,
        _ => 0.0,
    }
}

pub(super) const fn count(value: &Value) -> u64 {
    match value {
        Value::Count(count) => *count,
        _ => 0,
    }
}

pub(super) fn switch(on: bool) -> Option<Value> {
    on.then_some(Value::On)
}

pub(super) fn set_stats(flags: &mut Flags, level: StatsLevel, value: Value) {
    flags.stats.level = level;
    flags.stats.file = if let Value::File(path) = value {
        Some(path)
    } else {
        None
    };
}

pub(super) fn get_stats(flags: &Flags, level: StatsLevel) -> Option<Value> {
    (flags.stats.level == level).then(|| flags.stats.file.clone().map_or(Value::On, Value::File))
}
