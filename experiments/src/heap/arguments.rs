//! Arguments that the commands about heaps share.

use clap::Args as ClapArgs;
use gclab_core::words::Bytes;
use gclab_core::words::size::read_size;

/// How much of an answer is wanted.
#[derive(Debug, Clone, Copy, ClapArgs)]
pub(super) struct Extent {
    /// Number of classes and objects to list
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(super) top: usize,
    /// List nodes that stand for no object, too, such as V8's kinds of roots
    #[arg(long)]
    pub(super) synthetic: bool,
    /// With --objects: only those that retain at least this much
    #[arg(long, value_name = "SIZE", value_parser = limit, requires = "objects")]
    pub(super) above: Option<Bytes>,
}

/// An object's id as the analysis prints it: decimal, or hexadecimal behind `0x`, with or without
/// an `@` before it.
pub(super) fn id(text: &str) -> Result<u64, String> {
    let digits = text.strip_prefix('@').unwrap_or(text);
    let number = match digits.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => digits.parse(),
    };
    number.map_err(|_| "expected the id of an object, as the analysis prints it: 1234 or 0x4d2".to_owned())
}

/// A size as flags have it.
pub(super) fn limit(text: &str) -> Result<Bytes, String> {
    read_size(text).ok_or_else(|| "expected a number with k, m, g or t, as in 8g".to_owned())
}
