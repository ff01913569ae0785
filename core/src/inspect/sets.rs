//! The sets that barriers filled, in a stopped heap.

use super::Stopped;
use crate::words::Addr;

impl<'a> Stopped<'a> {
    /// The slots that are remembered.
    pub fn remembered_slots(&self) -> impl Iterator<Item = Addr> + use<'a> {
        let remembered = self.remembered;
        remembered.iter().flat_map(|set| set.slots()).map(|slot| slot.addr())
    }

    /// Whether a snapshot of the heap is being marked
    /// ([`SnapshotBarrier`](crate::collector::SnapshotBarrier)).
    pub fn marks_snapshot(&self) -> bool {
        self.overwritten.iter().any(|set| set.is_marking())
    }

    /// The values that mutators overwrote since, as far as the marker has not taken them.
    pub fn overwritten(&self) -> impl Iterator<Item = Addr> + use<'a> {
        let overwritten = self.overwritten;
        overwritten.iter().flat_map(|set| set.addresses())
    }
}
