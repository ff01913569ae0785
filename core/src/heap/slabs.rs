//! Large objects, and the free stretches of the slabs that some of them share.

use crate::block::{BlockRun, Region};
use crate::words::{Addr, Bytes, Words};
use std::collections::{BTreeMap, BTreeSet};

/// A large object to be allocated.
#[derive(Clone, Copy, Debug)]
pub struct LargeRequest {
    /// Its size, header included: at least [`LARGE_OBJECT`](crate::block::LARGE_OBJECT).
    pub words: Words,
    /// Whether it has slots.
    pub has_pointers: bool,
}

/// A closure with its own blocks, or in a slab.
#[derive(Debug, Clone, Copy)]
pub struct LargeObject {
    /// The blocks with its state: its run; or in a slab, the block in which it begins and those
    /// after it, without the one in which it ends.
    pub run: BlockRun,
    /// Where it begins.
    pub start: Addr,
    /// The size of the closure.
    pub words: Words,
}

impl LargeObject {
    /// The address after it.
    pub fn end(&self) -> Addr {
        self.start + self.words
    }

    /// The memory that it takes: whole blocks, or in a slab its words.
    pub fn bytes(&self) -> Bytes {
        self.run.end().max(self.end()) - self.start
    }

    /// The region of the object, in step `step`.
    pub fn region(&self, step: u8) -> Region {
        Region {
            run: self.run,
            start: self.start,
            end: self.end(),
            step,
            large: true,
        }
    }
}

/// The free stretches of all slabs, by address and by size.
#[derive(Debug, Default)]
pub(super) struct Slabs {
    /// Start to end.
    by_address: BTreeMap<Addr, Addr>,
    /// Pairs of size and start.
    by_size: BTreeSet<(Bytes, Addr)>,
}

impl Slabs {
    /// Takes the low `bytes` of the smallest stretch that has as many.
    pub(super) fn take(&mut self, bytes: Bytes) -> Option<Addr> {
        let &(size, start) = self.by_size.range((bytes, Addr::NULL)..).next()?;
        self.remove(start, start + size);
        self.insert(start + bytes, start + size);
        Some(start)
    }

    /// Adds the stretch from `start` to `end` of `slab`, and joins it to those beside it. Returns
    /// the resulting stretch.
    pub(super) fn free(&mut self, slab: BlockRun, mut start: Addr, mut end: Addr) -> (Addr, Addr) {
        if let Some((&before, &to)) = self.by_address.range(slab.start()..start).next_back()
            && to == start
        {
            self.remove(before, start);
            start = before;
        }
        if end < slab.end()
            && let Some(&after) = self.by_address.get(&end)
        {
            self.remove(end, after);
            end = after;
        }
        self.insert(start, end);
        (start, end)
    }

    /// Adds a stretch, unless it is empty.
    pub(super) fn insert(&mut self, start: Addr, end: Addr) {
        if start < end {
            self.by_address.insert(start, end);
            self.by_size.insert((end - start, start));
        }
    }

    pub(super) fn remove(&mut self, start: Addr, end: Addr) {
        self.by_address.remove(&start);
        self.by_size.remove(&(end - start, start));
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.by_address.is_empty() && self.by_size.is_empty()
    }
}
