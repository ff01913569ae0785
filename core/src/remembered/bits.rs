//! Remembered slots as bits: one for each word of the megablocks that have such slots.

use crate::block::{Charges, MEGABLOCK};
use crate::closure::Slot;
use crate::words::{Addr, Bytes, WORD, Words};

/// Words of a megablock.
const WORDS: usize = MEGABLOCK.0 / WORD;

/// Bits for the words of a megablock: 16 KiB.
type Bits = [u64; WORDS / 64];

/// The memory of the bits of one megablock.
const BITS_BYTES: Bytes = Bytes(size_of::<Bits>());

/// Entries of [`Bits`] in a piece, which covers 128 KiB of the heap: work for one thread.
const PIECE: usize = 256;

/// Fills unwritten buffers.
pub(super) const NO_SLOT: Slot = Slot(std::ptr::null_mut());

/// Slots of a run that [`Piece::for_each_run`] makes.
const RUN: usize = 1024;

/// A set of slots: bits for the megablocks that contain any. The memory counts towards the heap's
/// limit.
#[derive(Debug)]
pub(super) struct SlotBits {
    /// The start of the heap.
    base: Addr,
    /// By the number of the megablock.
    megablocks: Vec<Option<Box<Bits>>>,
    /// The heap's memory account, if there is one to charge.
    charges: Option<Charges>,
}

impl SlotBits {
    /// An empty set of slots from `base` on.
    pub(super) fn new(base: Addr, charges: Option<Charges>) -> Self {
        SlotBits {
            base,
            megablocks: Vec::new(),
            charges,
        }
    }

    /// Adds a slot.
    #[inline]
    pub(super) fn insert(&mut self, slot: Slot) {
        let word = (slot.addr().0 - self.base.0) / WORD;
        let (megablock, word) = (word / WORDS, word % WORDS);
        let bits = match self.megablocks.get_mut(megablock) {
            Some(Some(bits)) => bits,
            _ => self.add(megablock),
        };
        bits[word / 64] |= u64::from(!mutant!("remembered/bit-not-set")) << (word % 64);
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

    /// The pieces that have a slot, by address.
    pub(super) fn pieces(&self) -> impl Iterator<Item = Piece<'_>> {
        let megablocks = self.megablocks.iter().enumerate();
        megablocks
            .filter_map(|(number, bits)| Some((number, bits.as_deref()?)))
            .flat_map(move |(number, bits)| {
                let start = self.base + Words(number * WORDS).to_bytes();
                bits.as_chunks().0.iter().enumerate().map(move |(piece, bits)| Piece {
                    start: start + Words(piece * PIECE * 64).to_bytes(),
                    bits,
                })
            })
            .filter(|piece| piece.bits.iter().any(|&bits| bits != 0))
    }

    /// The number of slots.
    pub(super) fn len(&self) -> usize {
        let bits = self.megablocks.iter().flatten().flat_map(|bits| bits.iter());
        bits.map(|bits| bits.count_ones() as usize).sum()
    }

    /// Memory of the bits.
    pub(super) fn bytes(&self) -> Bytes {
        Bytes(self.megablocks.iter().flatten().count() * BITS_BYTES.0)
    }
}

impl Drop for SlotBits {
    fn drop(&mut self) {
        if let Some(charges) = &self.charges {
            charges.release(self.bytes());
        }
    }
}

/// The slots in 128 KiB of the heap.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece<'b> {
    start: Addr,
    bits: &'b [u64; PIECE],
}

impl Piece<'_> {
    /// Calls `visit` for runs of the slots, by address.
    pub(crate) fn for_each_run(self, mut visit: impl FnMut(&[Slot])) {
        let mut run = [NO_SLOT; RUN];
        let mut length = 0;
        for (entry, &bits) in self.bits.iter().enumerate() {
            let mut left = bits;
            let start = self.start + Words(entry * 64).to_bytes();
            while left != 0 {
                run[length] = Slot((start + Words(left.trailing_zeros() as usize).to_bytes()).as_mut_ptr());
                left &= left - 1;
                length += 1;
                if length == RUN {
                    visit(&run);
                    length = 0;
                }
            }
        }
        visit(&run[..length]);
    }
}
