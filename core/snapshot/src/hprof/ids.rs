//! From the ids of a dump to ordinals: a hash table of ordinals, with the ids where they are.

use crate::error::Problem;
use crate::memory::reserve;

/// The entry of a free slot.
const NONE: u32 = u32::MAX;

/// Finds nodes by their ids. Takes between 8 and 16 bytes a node.
pub(super) struct Ids {
    /// The ordinals. The number of slots is a power of two, and at least twice the number of nodes.
    slots: Vec<u32>,
    shift: u32,
}

impl Ids {
    /// Makes the table of `ids`, for the nodes from ordinal `start` on.
    ///
    /// If two nodes have one id, the second is not in the table, and its ordinal is returned too.
    ///
    /// # Errors
    /// If there is no memory for the table.
    pub(super) fn of(ids: &[u64], start: u32) -> Result<(Self, Option<u32>), Problem> {
        let size = (ids.len() * 2).next_power_of_two().max(2);
        let mut slots = Vec::new();
        reserve(&mut slots, size)?;
        slots.resize(size, NONE);
        let mut table = Ids {
            slots,
            shift: 64 - size.trailing_zeros(),
        };
        for (ordinal, &id) in (0_u32..).zip(ids).skip(start as usize) {
            let slot = table.slot(ids, id);
            if table.slots[slot] != NONE {
                return Ok((table, Some(ordinal)));
            }
            table.slots[slot] = ordinal;
        }
        Ok((table, None))
    }

    /// The ordinal of the node with this id.
    #[inline]
    pub(super) fn get(&self, ids: &[u64], id: u64) -> Option<u32> {
        Some(self.slots[self.slot(ids, id)]).filter(|&ordinal| ordinal != NONE)
    }

    /// The slot that has the node of this id, or would have it.
    #[inline]
    fn slot(&self, ids: &[u64], id: u64) -> usize {
        // Fibonacci hashing (Knuth 6.4): addresses differ in their low bits, the product in its
        // high ones.
        let mut slot = (id.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize;
        loop {
            match self.slots[slot] {
                NONE => return slot,
                ordinal if ids[ordinal as usize] == id => return slot,
                _ => slot = (slot + 1) & (self.slots.len() - 1),
            }
        }
    }
}
