//! Regions: stretches of memory with closures, back to back.

use super::run::BlockRun;
use crate::words::{Addr, Bytes};

/// A stretch of memory with closures from `start` to `end`, back to back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Region {
    /// The block run that contains it. Of a large object in a slab, the blocks with its state
    /// ([`LargeObject`](crate::heap::LargeObject)).
    pub run: BlockRun,
    /// The address of the first closure.
    pub start: Addr,
    /// The address after the last closure.
    pub end: Addr,
    /// The step it belongs to.
    pub step: u8,
    /// Whether it holds one large object.
    pub large: bool,
}

/// What [`Units`] that are cells are called.
pub(crate) const CELLS: &str = "cells";

/// The parts of equal size in which a space hands out the memory of a run: lines, or the cells of a
/// size class. The first begins where the run does. For maps of the heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Units {
    /// The run of blocks that has these parts.
    pub run: BlockRun,
    /// The size of each part.
    pub size: Bytes,
    /// What a part is called, in the plural: `lines`, `cells`.
    pub name: &'static str,
}
