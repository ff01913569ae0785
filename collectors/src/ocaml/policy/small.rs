//! Lists of small free blocks: one for each size.

use gclab_core::space::{FreeBlock, FreeMemory, Link};
use gclab_core::words::Words;

/// The size of the largest blocks that have a list, in words: a header and 16 words.
pub(super) const MOST: Words = Words(17);

/// A list for each size from 2 words.
#[derive(Debug, Default)]
pub(super) struct SmallLists {
    /// The first and the last block of each size.
    ends: [Option<(FreeBlock, FreeBlock)>; MOST.0 + 1],
    /// A bit for each size that has a block.
    sizes: u32,
}

impl SmallLists {
    /// The smallest size of at least `words` that has a block.
    #[inline(always)]
    pub(super) fn least(&self, words: Words) -> Option<Words> {
        let sizes = self.sizes >> words.0;
        (sizes != 0).then(|| words + Words(sizes.trailing_zeros() as usize))
    }

    /// The first block of the smallest size of at least `words`.
    #[inline(always)]
    pub(super) fn first(&self, words: Words) -> Option<FreeBlock> {
        if words > MOST {
            return None;
        }
        let size = self.least(words)?;
        self.ends[size.0].map(|(first, _)| first)
    }

    /// Removes the first block of a size, which has one.
    #[inline(always)]
    pub(super) fn pop(&mut self, memory: &FreeMemory, words: Words) -> Option<FreeBlock> {
        let (first, last) = self.ends[words.0]?;
        // The previous link of a first block is meaningless, and not written.
        self.set(words, memory.link(first, Link::Next).map(|next| (next, last)));
        Some(first)
    }

    /// Adds a block in front of its list.
    pub(super) fn push(&mut self, memory: &mut FreeMemory, block: FreeBlock) {
        let words = memory.words(block);
        let ends = self.ends[words.0];
        memory.set_link(block, Link::Next, ends.map(|(first, _)| first));
        if let Some((first, _)) = ends {
            memory.set_link(first, Link::Previous, Some(block));
        }
        self.set(words, Some((block, ends.map_or(block, |(_, last)| last))));
    }

    /// Adds a block at the end of its list, so that swept blocks are in address order.
    pub(super) fn push_back(&mut self, memory: &mut FreeMemory, block: FreeBlock) {
        let words = memory.words(block);
        let ends = self.ends[words.0];
        memory.set_link(block, Link::Next, None);
        memory.set_link(block, Link::Previous, ends.map(|(_, last)| last));
        if let Some((_, last)) = ends {
            memory.set_link(last, Link::Next, Some(block));
        }
        self.set(words, Some((ends.map_or(block, |(first, _)| first), block)));
    }

    /// Removes a block.
    pub(super) fn remove(&mut self, memory: &mut FreeMemory, block: FreeBlock) {
        let words = memory.words(block);
        let Some((first, last)) = self.ends[words.0] else {
            unreachable!("a free block of {words:?} is in the list of its size");
        };
        let next = memory.link(block, Link::Next);
        if block == first {
            self.set(words, next.map(|next| (next, last)));
            return;
        }
        let before = memory.link(block, Link::Previous);
        let before = before.expect("only the first block has none before it");
        memory.set_link(before, Link::Next, next);
        match next {
            Some(next) => memory.set_link(next, Link::Previous, Some(before)),
            None => self.ends[words.0] = Some((first, before)),
        }
    }

    #[inline(always)]
    fn set(&mut self, words: Words, ends: Option<(FreeBlock, FreeBlock)>) {
        self.ends[words.0] = ends;
        let bit = 1 << words.0;
        if ends.is_some() {
            self.sizes |= bit;
        } else {
            self.sizes &= !bit;
        }
    }
}
