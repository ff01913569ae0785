//! The list of held-back blocks.

use super::BlockRun;
use super::fault::FreedMemory;
use crate::words::Bytes;
use std::collections::VecDeque;

/// The freed memory that is held back ([`super::protect`]).
#[derive(Debug)]
pub(super) struct Held {
    /// The runs, the oldest first.
    pub(super) runs: VecDeque<BlockRun>,
    pub(super) bytes: Bytes,
    pub(super) memory: FreedMemory,
    /// Collections that are over.
    pub(super) collections: u64,
    pub(super) is_collecting: bool,
}
