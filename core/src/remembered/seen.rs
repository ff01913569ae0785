//! The slots that a remembered set has already, as bits.

use crate::block::{Charges, MEGABLOCK};
use crate::closure::Slot;
use crate::words::{Addr, Bytes, WORD};

/// Words of a megablock.
const WORDS: usize = MEGABLOCK.0 / WORD;

/// A bit for each word of a megablock: 16 KiB.
type Bits = [u64; WORDS / 64];

/// The memory of the bits of one megablock.
const BITS_BYTES: Bytes = Bytes(size_of::<Bits>());

/// A set of slots: bits for those megablocks that have one. The memory counts under the limit of
/// the heap.
#[derive(Debug)]
pub(super) struct SeenSlots {
    /// The start of the heap, which no slot lies before.
    base: Addr,
    /// By the number of the megablock.
    megablocks: Vec<Option<Box<Bits>>>,
    /// The account of the heap, if it has a limit to count under.
    charges: Option<Charges>,
}

impl SeenSlots {
    /// An empty set of slots from `base` on.
    pub(super) fn new(base: Addr, charges: Option<Charges>) -> Self {
        SeenSlots {
            base,
            megablocks: Vec::new(),
            charges,
        }
    }

    /// Adds a slot, and returns whether it is new.
    #[inline]
    pub(super) fn insert(&mut self, slot: Slot) -> bool {
        let word = (slot.addr().0 - self.base.0) / WORD;
        let (megablock, word) = (word / WORDS, word % WORDS);
        let bits = match self.megablocks.get_mut(megablock) {
            Some(Some(bits)) => bits,
            _ => self.add(megablock),
        };
        let (bit, bits) = (1 << (word % 64), &mut bits[word / 64]);
        let is_new = *bits & bit == 0;
        *bits |= bit;
        is_new & !mutant!("remembered/new-slot-dropped")
    }

    /// Makes the bits of a megablock. A store cannot be refused, so the limit does not apply.
    #[cold]
    fn add(&mut self, megablock: usize) -> &mut Bits {
        if let Some(charges) = &self.charges {
            charges.charge_anyway(BITS_BYTES);
        }
        let length = self.megablocks.len().max(megablock + 1);
        self.megablocks.resize_with(length, || None);
        self.megablocks[megablock].insert(Box::new([0; WORDS / 64]))
    }

    /// Memory of the bits.
    pub(super) fn bytes(&self) -> Bytes {
        Bytes(self.megablocks.iter().flatten().count() * BITS_BYTES.0)
    }
}

impl Drop for SeenSlots {
    fn drop(&mut self) {
        if let Some(charges) = &self.charges {
            charges.release(self.bytes());
        }
    }
}
