//! Sets of addresses in one heap: a bit for every word, beside the heap.
//!
//! The bits lie in pages, one for each megablock that has a member: 1/64 of the memory they stand for, whatever the
//! number of members. Emptying the set is O(1): pages carry the epoch they were filled in, and one of an older epoch
//! counts as empty until it is written.

use gclab_core::block::MEGABLOCK;
use gclab_core::words::{Addr, WORD};
use gclab_core::world::prefetch;

/// Words of bits in a page: a bit for each word of a megablock.
const PAGE_WORDS: usize = MEGABLOCK.0 / WORD / 64;

/// A set of word-aligned addresses at and above a base.
#[derive(Debug)]
pub struct AddrSet {
    base: Addr,
    pages: Vec<Page>,
    epoch: u64,
}

#[derive(Debug, Default)]
struct Page {
    epoch: u64,
    /// Empty until the first member.
    bits: Box<[u64]>,
}

/// Where the bit of an address is.
struct Place {
    page: usize,
    word: usize,
    bit: u64,
}

impl AddrSet {
    /// An empty set for the heap whose reservation begins at `base` ([`gclab_core::block::BlockAllocator::base`]).
    pub fn new(base: Addr) -> Self {
        AddrSet {
            base,
            pages: Vec::new(),
            epoch: 1,
        }
    }

    /// Remove all members.
    pub fn clear(&mut self) {
        self.epoch += 1;
    }

    /// Add `address`; says whether it is new.
    ///
    /// # Panics
    /// If it lies below the base or is not word-aligned.
    #[inline(always)]
    pub fn insert(&mut self, address: Addr) -> bool {
        let Place { page, word, bit } = self
            .place(address)
            .unwrap_or_else(|| panic!("{address} is no word of the heap at {}", self.base));
        if page >= self.pages.len() {
            self.pages.resize_with(page + 1, Page::default);
        }
        let page = &mut self.pages[page];
        if page.epoch != self.epoch {
            page.renew(self.epoch);
        }
        let new = page.bits[word] & bit == 0;
        page.bits[word] |= bit;
        new
    }

    /// Whether `address` is a member. Any address may be asked for.
    #[inline]
    pub fn contains(&self, address: Addr) -> bool {
        self.place(address).is_some_and(|Place { page, word, bit }| {
            self.pages
                .get(page)
                .is_some_and(|page| page.epoch == self.epoch && page.bits[word] & bit != 0)
        })
    }

    /// Bring the bit of `address` towards the cache.
    #[inline(always)]
    pub fn prefetch(&self, address: Addr) {
        let word = self
            .place(address)
            .and_then(|at| self.pages.get(at.page)?.bits.get(at.word));
        if let Some(word) = word {
            prefetch(Addr::of(word));
        }
    }

    #[inline(always)]
    fn place(&self, address: Addr) -> Option<Place> {
        let offset = address.0.checked_sub(self.base.0)?;
        let index = offset % MEGABLOCK.0 / WORD;
        offset.is_multiple_of(WORD).then_some(Place {
            page: offset / MEGABLOCK.0,
            word: index / 64,
            bit: 1 << (index % 64),
        })
    }
}

impl Page {
    #[cold]
    fn renew(&mut self, epoch: u64) {
        self.epoch = epoch;
        if self.bits.is_empty() {
            self.bits = vec![0; PAGE_WORDS].into_boxed_slice();
        } else {
            self.bits.fill(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: Addr = Addr(0x4200_0000_0000);

    #[test]
    fn members_are_what_was_inserted_since_the_last_clear() {
        let mut set = AddrSet::new(BASE);
        let members = [0, 8, 504, 512, MEGABLOCK.0 - 8, MEGABLOCK.0, 5 * MEGABLOCK.0 + 16];
        for round in 0..3 {
            for offset in members {
                assert!(!set.contains(Addr(BASE.0 + offset)), "round {round}, {offset:#x}");
                assert!(set.insert(Addr(BASE.0 + offset)));
                assert!(!set.insert(Addr(BASE.0 + offset)));
                assert!(set.contains(Addr(BASE.0 + offset)));
            }
            assert!(!set.contains(Addr(BASE.0 + 16)));
            set.clear();
        }
    }

    #[test]
    fn addresses_that_are_no_words_of_the_heap_are_no_members() {
        let mut set = AddrSet::new(BASE);
        set.insert(BASE);
        for address in [0, 8, BASE.0 - 8, BASE.0 + 1, usize::MAX] {
            assert!(!set.contains(Addr(address)));
        }
    }
}
