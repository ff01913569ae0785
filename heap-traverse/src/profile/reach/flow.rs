//! Regions as nodes of a graph whose edges are flows, and how far ahead their entries are fetched.

use super::super::sets::Set;
use crate::fetch::fetch;
use crate::rows::Rows;

/// The number of a region: a part of the heap whose closures have one set. 0 is not a region.
pub(in crate::profile) type Region = u32;

/// How many entries ahead memory is fetched: about the time of a memory access.
pub(super) const AHEAD: usize = 32;

/// How many regions ahead memory is fetched: each region needs several entries.
pub(super) const REGIONS_AHEAD: usize = 8;

/// How many targets of one region are fetched. More would evict each other before they are used.
pub(super) const SIBLINGS: usize = 8;

/// A region as a node.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Node {
    /// The number of flows into the region that have not passed on their set yet.
    pub waiting: u32,
    /// The set so far.
    pub set: Set,
}

/// Fetches memory for the regions that come next in `queue` after place `at`: their rows, and the
/// entries of `table` for their targets.
#[inline(always)]
pub(super) fn expect<T>(rows: &Rows, queue: &[u32], at: usize, table: &[T]) {
    let ahead = |regions: usize| queue.get(at + regions).copied();
    if let Some(number) = ahead(3 * REGIONS_AHEAD) {
        rows.fetch_start(number);
    }
    if let Some(number) = ahead(2 * REGIONS_AHEAD) {
        rows.fetch_row(number);
    }
    if let Some(number) = ahead(REGIONS_AHEAD) {
        for &target in rows.row(number).iter().take(SIBLINGS) {
            fetch(table, target);
        }
    }
}
