//! Regions: stretches of memory with closures, one behind the other.

use super::run::BlockRun;
use crate::words::Addr;

/// A stretch of memory with closures from `start` to `end`, one behind the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Region {
    /// The block run that contains it.
    pub run: BlockRun,
    /// The address of the first closure.
    pub start: Addr,
    /// The address behind the last closure.
    pub end: Addr,
    /// The step it belongs to.
    pub step: u8,
    /// Whether it holds one large object.
    pub large: bool,
}
