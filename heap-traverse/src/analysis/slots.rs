//! A hash table of numbers whose keys are elsewhere, in eleven bytes an entry at most.

use crate::graph::NONE;
use crate::memory::{OutOfMemory, filled};

/// Finds the number of an entry by its key. The caller keeps the keys, by number.
#[derive(Debug)]
pub(super) struct Slots {
    /// Numbers of entries, or [`NONE`]. Their count is a power of two. At most three quarters are
    /// taken.
    slots: Vec<u32>,
    entries: u32,
}

impl Slots {
    pub(super) fn new() -> Result<Self, OutOfMemory> {
        Ok(Slots {
            slots: filled(NONE, 16)?,
            entries: 0,
        })
    }

    /// The number of the entry with this hash for which `is` returns true. If there is none, the
    /// next number is entered and returned: that of the entries so far. `hash_of` returns the hash
    /// of an entry.
    pub(super) fn find_or_enter(
        &mut self,
        hash: u64,
        is: impl Fn(u32) -> bool,
        hash_of: impl Fn(u32) -> u64,
    ) -> Result<u32, OutOfMemory> {
        let mut at = self.place(hash);
        loop {
            match self.slots[at] {
                NONE => break,
                entry if is(entry) => return Ok(entry),
                _ => at = (at + 1) & (self.slots.len() - 1),
            }
        }
        let entry = self.entries;
        self.slots[at] = entry;
        self.entries += 1;
        if self.entries as usize * 4 > self.slots.len() * 3 {
            self.grow(hash_of)?;
        }
        Ok(entry)
    }

    fn grow(&mut self, hash_of: impl Fn(u32) -> u64) -> Result<(), OutOfMemory> {
        // The old table is dropped first: its entries are all numbers below their count.
        let size = self.slots.len() * 2;
        self.slots = Vec::new();
        self.slots = filled(NONE, size)?;
        for entry in 0..self.entries {
            let mut at = self.place(hash_of(entry));
            while self.slots[at] != NONE {
                at = (at + 1) & (size - 1);
            }
            self.slots[at] = entry;
        }
        Ok(())
    }

    /// The first slot for a hash.
    fn place(&self, hash: u64) -> usize {
        // Fibonacci hashing (Knuth 6.4): the high bits of the product depend on all bits of the
        // hash.
        let bits = self.slots.len().trailing_zeros();
        (hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits)) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::Slots;

    #[test]
    fn equal_keys_have_one_number_and_others_have_others() {
        let mut slots = Slots::new().unwrap();
        let mut keys: Vec<u64> = Vec::new();
        for key in (0..10_000_u64).chain(0..10_000) {
            let key = key / 3;
            // Half of the keys share a hash with another one.
            let entry = slots
                .find_or_enter(
                    key / 2,
                    |entry| keys[entry as usize] == key,
                    |entry| keys.get(entry as usize).copied().unwrap_or(key) / 2,
                )
                .unwrap();
            if entry as usize == keys.len() {
                keys.push(key);
            }
            assert_eq!(u64::from(entry), key);
        }
    }
}
