//! Regions: where closures lie, one behind the other.

use super::run::BlockRun;
use crate::words::Addr;

/// A run of memory with closures from `start` to `end`, one behind the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Region {
    /// The block run that it lies in.
    pub run: BlockRun,
    /// The first closure.
    pub start: Addr,
    /// Behind the last closure.
    pub end: Addr,
    /// The step it belongs to.
    pub step: u8,
    /// Whether it holds one large object.
    pub large: bool,
}
