//! Values for closures, kept outside the heap: a place for every word at which a closure may start.
//!
//! The places lie in pages, one for each megablock in which a closure has a value. With values of 4
//! bytes a page is half a megablock, of which only the written parts become resident. Forgetting
//! all values is O(1): pages carry the epoch in which they were filled.

use gclab_core::block::MEGABLOCK;
use gclab_core::prefetch::prefetch_line;
use gclab_core::words::{Addr, WORD};

/// The number of places in a page.
const PLACES: usize = MEGABLOCK.0 / WORD;

/// Values for the closures of one heap. A closure without a value has the default one.
#[derive(Debug)]
pub(crate) struct ClosureMap<T> {
    base: Addr,
    pages: Vec<Page<T>>,
    epoch: u64,
}

#[derive(Debug)]
struct Page<T> {
    epoch: u64,
    /// Empty until the first value.
    places: Box<[T]>,
}

impl<T: Copy + Default> ClosureMap<T> {
    /// No values, for the heap whose reservation begins at `base`
    /// ([`gclab_core::block::BlockAllocator::base`]).
    pub(crate) fn new(base: Addr) -> Self {
        ClosureMap {
            base,
            pages: Vec::new(),
            epoch: 1,
        }
    }

    /// Forgets all values.
    pub(crate) fn clear(&mut self) {
        self.epoch += 1;
    }

    /// The value of the closure at `address`.
    ///
    /// # Panics
    /// If the address lies below the base.
    #[cfg(test)]
    fn get(&self, address: Addr) -> T {
        let (page, place) = self.place(address);
        match self.pages.get(page) {
            Some(page) if page.epoch == self.epoch => page.places[place],
            _ => T::default(),
        }
    }

    /// Prefetches the value of the closure at `address`, if its page has values.
    #[inline(always)]
    pub(crate) fn prefetch(&self, address: Addr) {
        let (page, place) = self.place(address);
        if let Some(value) = self.pages.get(page).and_then(|page| page.places.get(place)) {
            prefetch_line(Addr::of(value));
        }
    }

    /// The place of the value of the closure at `address`.
    ///
    /// # Panics
    /// If the address lies below the base.
    #[inline]
    pub(crate) fn entry(&mut self, address: Addr) -> &mut T {
        let (page, place) = self.place(address);
        if page >= self.pages.len() {
            self.pages.resize_with(page + 1, || Page {
                epoch: 0,
                places: Box::default(),
            });
        }
        let page = &mut self.pages[page];
        if page.epoch != self.epoch {
            page.renew(self.epoch);
        }
        &mut page.places[place]
    }

    #[inline(always)]
    fn place(&self, address: Addr) -> (usize, usize) {
        let offset = (address - self.base).0;
        (offset / MEGABLOCK.0, offset % MEGABLOCK.0 / WORD)
    }
}

impl<T: Copy + Default> Page<T> {
    #[cold]
    fn renew(&mut self, epoch: u64) {
        self.epoch = epoch;
        // Take fresh memory, which is zero already, instead of filling the old: most of it will not
        // be touched.
        self.places = vec![T::default(); PLACES].into_boxed_slice();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_written_since_the_last_clear() {
        let base = Addr(0x4200_0000_0000);
        let mut map = ClosureMap::<u32>::new(base);
        let offsets = [0, 8, 16, MEGABLOCK.0 - 8, MEGABLOCK.0, 7 * MEGABLOCK.0 + 24];
        for round in 1..4 {
            for (value, offset) in (round..).zip(offsets) {
                let at = Addr(base.0 + offset);
                assert_eq!(map.get(at), 0, "round {round}, {offset:#x}");
                *map.entry(at) = value;
                assert_eq!(map.get(at), value);
            }
            assert_eq!(map.get(Addr(base.0 + 24)), 0);
            map.clear();
        }
    }
}
