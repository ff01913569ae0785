//! Sets of addresses in one heap: a bit for every word, outside the heap.
//!
//! The bits lie in pages, one for each megablock with a member: 1/64 of the memory they cover,
//! however many members there are. Emptying the set is O(1): pages carry the epoch in which they
//! were filled, and a page of an older epoch counts as empty until it is written.

use gclab_core::block::MEGABLOCK;
use gclab_core::prefetch::prefetch_line;
use gclab_core::words::{Addr, WORD};

/// Words of bits in a page: a bit for each word of a megablock.
const PAGE_WORDS: usize = MEGABLOCK.0 / WORD / 64;

/// A set of word-aligned addresses at and above a base.
#[derive(Debug)]
pub struct AddrSet {
    base: Addr,
    pages: Vec<Page>,
    epoch: u64,
}

/// The bits of one megablock.
type Bits = [u64; PAGE_WORDS];

#[derive(Debug, Default)]
struct Page {
    epoch: u64,
    /// None until the first member.
    bits: Option<Box<Bits>>,
}

/// The place of an address's bit.
struct Place {
    page: usize,
    word: usize,
    bit: u64,
}

impl AddrSet {
    /// An empty set for the heap whose reservation begins at `base`
    /// ([`gclab_core::block::BlockAllocator::base`]).
    pub fn new(base: Addr) -> Self {
        AddrSet {
            base,
            pages: Vec::new(),
            epoch: 1,
        }
    }

    /// Removes all members.
    pub fn clear(&mut self) {
        self.epoch += 1;
    }

    /// Makes this set equal to `other`, a set for the same heap.
    pub fn copy(&mut self, other: &AddrSet) {
        self.clear();
        self.pages.resize_with(other.pages.len(), Page::default);
        for (page, other) in self
            .pages
            .iter_mut()
            .zip(&other.pages)
            .filter(|(_, page)| page.epoch == other.epoch)
        {
            page.epoch = self.epoch;
            page.bits.clone_from(&other.bits);
        }
    }

    /// Adds `address`, a word of the heap. Returns whether it is new.
    ///
    /// # Panics
    /// If it lies below the base.
    #[inline(always)]
    pub fn insert(&mut self, address: Addr) -> bool {
        debug_assert!(address.0.is_multiple_of(WORD), "{address} is not a word");
        let Place { page, word, bit } = self.place(address);
        let bits = match self.pages.get_mut(page) {
            Some(Page {
                epoch,
                bits: Some(bits),
            }) if *epoch == self.epoch => bits,
            _ => self.renew(page, address),
        };
        let old = bits[word];
        bits[word] = old | bit;
        old & bit == 0
    }

    /// Whether `address` is a member. Any address is allowed.
    #[inline(always)]
    pub fn contains(&self, address: Addr) -> bool {
        let Place { page, word, bit } = self.place(address);
        match self.pages.get(page) {
            Some(Page {
                epoch,
                bits: Some(bits),
            }) if *epoch == self.epoch => bits[word] & bit != 0 && address.0.is_multiple_of(WORD),
            _ => false,
        }
    }

    /// Prefetches the bit of `address`.
    #[inline(always)]
    pub fn prefetch(&self, address: Addr) {
        let Place { page, word, .. } = self.place(address);
        if let Some(Page { bits: Some(bits), .. }) = self.pages.get(page) {
            prefetch_line(Addr::of(&raw const bits[word]));
        }
    }

    /// The bits of each page, from the base on; `None` for a page without members.
    pub(crate) fn pages(&self) -> impl Iterator<Item = Option<&[u64]>> {
        self.pages.iter().map(|page| {
            let bits = page.bits.as_deref().filter(|_| page.epoch == self.epoch);
            bits.map(|bits| &bits[..])
        })
    }

    /// The members that `other`, a set for the same heap, does not have.
    pub(crate) fn without(&self, other: &AddrSet) -> impl Iterator<Item = Addr> {
        let mut others = other.pages();
        self.pages().enumerate().flat_map(move |(page, bits)| {
            let other = others.next().flatten();
            let words = bits.unwrap_or_default().iter().enumerate();
            words.flat_map(move |(word, bits)| {
                let rest = bits & !other.map_or(0, |other| other[word]);
                let members = (0..64).filter(move |bit| rest >> bit & 1 != 0);
                members.map(move |bit| Addr(self.base.0 + page * MEGABLOCK.0 + (word * 64 + bit) * WORD))
            })
        })
    }

    /// If `address` is a member: its page, its word of bits, and the earlier members in that word.
    pub(crate) fn member(&self, address: Addr) -> Option<(usize, usize, u32)> {
        if !self.contains(address) {
            return None;
        }
        let Place { page, word, bit } = self.place(address);
        let bits = self.pages[page].bits.as_ref()?[word];
        Some((page, word, (bits & (bit - 1)).count_ones()))
    }

    /// The place of an address. For an address below the base the page is beyond all others.
    #[inline(always)]
    fn place(&self, address: Addr) -> Place {
        let offset = address.0.wrapping_sub(self.base.0);
        let index = offset / WORD;
        Place {
            page: offset / MEGABLOCK.0,
            word: index / 64 % PAGE_WORDS,
            bit: 1 << (index % 64),
        }
    }

    /// Makes the bits of a page that has none of this epoch.
    #[cold]
    #[inline(never)]
    fn renew(&mut self, page: usize, address: Addr) -> &mut Bits {
        assert!(
            address >= self.base,
            "{address} is not a word of the heap at {}",
            self.base
        );
        if page >= self.pages.len() {
            self.pages.resize_with(page + 1, Page::default);
        }
        let page = &mut self.pages[page];
        page.epoch = self.epoch;
        match &mut page.bits {
            Some(bits) => bits.fill(0),
            none => *none = Some(Box::new([0; PAGE_WORDS])),
        }
        page.bits.as_mut().expect("they were just made")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: Addr = Addr(0x4200_0000_0000);

    #[test]
    fn members_are_those_inserted_since_the_last_clear() {
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
    fn the_difference_of_two_sets() {
        let (mut set, mut other) = (AddrSet::new(BASE), AddrSet::new(BASE));
        let at = |offset: usize| Addr(BASE.0 + offset);
        for offset in [0, 8, 512, MEGABLOCK.0 + 8, 3 * MEGABLOCK.0 - 8] {
            set.insert(at(offset));
        }
        for offset in [8, 16, MEGABLOCK.0 + 8] {
            other.insert(at(offset));
        }
        let rest: Vec<Addr> = set.without(&other).collect();
        assert_eq!(rest, [at(0), at(512), at(3 * MEGABLOCK.0 - 8)]);
        assert_eq!(other.without(&set).collect::<Vec<_>>(), [at(16)]);
    }

    #[test]
    fn a_copy_has_the_members_of_now() {
        let (mut set, mut copy) = (AddrSet::new(BASE), AddrSet::new(BASE));
        copy.insert(Addr(BASE.0 + 9 * MEGABLOCK.0));
        set.insert(Addr(BASE.0 + MEGABLOCK.0));
        set.clear();
        set.insert(BASE);
        copy.copy(&set);
        let all = [0, MEGABLOCK.0, 9 * MEGABLOCK.0].map(|offset| copy.contains(Addr(BASE.0 + offset)));
        assert_eq!(all, [true, false, false]);
        assert!(copy.insert(Addr(BASE.0 + MEGABLOCK.0)) && !set.contains(Addr(BASE.0 + MEGABLOCK.0)));
    }

    #[test]
    fn addresses_that_are_not_words_of_the_heap_are_not_members() {
        let mut set = AddrSet::new(BASE);
        set.insert(BASE);
        for address in [0, 8, BASE.0 - 8, BASE.0 + 1, usize::MAX] {
            assert!(!set.contains(Addr(address)));
        }
    }
}
