//! The free groups, by size: a list for each of 1 to 255 blocks, and a bitmap of the lists that are
//! not empty.
//!
//! GHC keeps eight lists (sizes 2^i to 2^(i+1)−1), begins its search at ceil(log2 n), and so
//! overlooks groups in list floor(log2 n) that would fit. With a list for each size, the fit is
//! exact or the least that is larger, and four words of bitmap are enough to find it: no list is
//! ever walked.
//!
//! Lists are LIFO, linked through the descriptors: the group that was freed last is handed out
//! first, because the caches still hold it.
//!
//! Invariants: group `g` is in list `descriptor[g].blocks()` and in no other; links of neighbours
//! agree; the first group has no previous one; bit `n` is set where list `n` is not empty.
//! `BlockAllocator::check` checks them.

use super::BLOCKS_PER_MEGABLOCK;
use super::descriptor::{Descriptor, NONE};

/// Lists 0 to 255; list 0 is always empty.
const LISTS: usize = BLOCKS_PER_MEGABLOCK as usize;

/// The lists of free groups. See the module.
#[derive(Debug)]
pub(super) struct FreeLists {
    heads: [u32; LISTS],
    filled: [u64; LISTS / 64],
    /// Number of groups in each list.
    counts: [u32; LISTS],
}

impl FreeLists {
    pub(super) fn new() -> FreeLists {
        FreeLists {
            heads: [NONE; LISTS],
            filled: [0; LISTS / 64],
            counts: [0; LISTS],
        }
    }

    /// Puts a group, described already, at the head of its list.
    pub(super) fn push(&mut self, descriptors: &mut [Descriptor], group: u32) {
        let size = descriptors[group as usize].blocks() as usize;
        let next = self.heads[size];
        descriptors[group as usize].next = next;
        descriptors[group as usize].previous = NONE;
        if next != NONE {
            descriptors[next as usize].previous = group;
        }
        self.heads[size] = group;
        self.counts[size] += 1;
        self.filled[size / 64] |= 1 << (size % 64);
    }

    /// Takes a group out of its list, at any position.
    pub(super) fn remove(&mut self, descriptors: &mut [Descriptor], group: u32) {
        let Descriptor { next, previous, .. } = descriptors[group as usize];
        let size = descriptors[group as usize].blocks() as usize;
        self.counts[size] -= 1;
        if next != NONE {
            descriptors[next as usize].previous = previous;
        }
        if previous != NONE {
            descriptors[previous as usize].next = next;
        } else {
            self.heads[size] = next;
            if next == NONE {
                self.filled[size / 64] &= !(1 << (size % 64));
            }
        }
    }

    /// The most recently freed of the smallest groups with at least `blocks` blocks (1 or more).
    pub(super) fn smallest_from(&self, blocks: u32) -> Option<u32> {
        let blocks = blocks as usize;
        let mut word = blocks / 64;
        let mut bits = self.filled.get(word)? & (u64::MAX << (blocks % 64));
        while bits == 0 {
            word += 1;
            bits = *self.filled.get(word)?;
        }
        Some(self.heads[word * 64 + bits.trailing_zeros() as usize])
    }

    /// The most recently freed of the largest groups with `least` to `most` blocks.
    pub(super) fn largest_between(&self, least: u32, most: u32) -> Option<u32> {
        let most = (most as usize).min(LISTS - 1);
        let mut word = most / 64;
        let mut bits = self.filled[word] & (u64::MAX >> (63 - most % 64));
        while bits == 0 {
            word = word.checked_sub(1)?;
            bits = self.filled[word];
        }
        let size = word * 64 + 63 - bits.leading_zeros() as usize;
        (size >= least as usize).then(|| self.heads[size])
    }

    /// The number of runs of `blocks` blocks (1 or more) that can be cut from all groups, and the
    /// sum of `worth(length)` over the shorter runs that are left over.
    pub(super) fn runs_of(&self, blocks: u32, worth: impl Fn(usize) -> usize) -> (usize, usize) {
        let whole = blocks as usize;
        let (mut runs, mut shorter) = (0, 0);
        for (word, &filled) in self.filled.iter().enumerate() {
            let mut bits = filled;
            while bits != 0 {
                let size = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let count = self.counts[size] as usize;
                runs += count * (size / whole);
                shorter += count
                    * if size.is_multiple_of(whole) {
                        0
                    } else {
                        worth(size % whole)
                    };
            }
        }
        (runs, shorter)
    }

    /// The number of groups of a size, for the checker.
    pub(super) fn count(&self, size: u32) -> u32 {
        self.counts[size as usize]
    }

    /// The first group of list `size` and whether its bit is set, for the checker.
    pub(super) fn list(&self, size: u32) -> (u32, bool) {
        let size = size as usize;
        (self.heads[size], self.filled[size / 64] & (1 << (size % 64)) != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::descriptor::describe_group;
    use super::*;

    fn lists(groups: &[(u32, u32)]) -> (FreeLists, Vec<Descriptor>) {
        let mut descriptors = vec![Descriptor::STALE; 2048];
        let mut lists = FreeLists::new();
        for &(first, blocks) in groups {
            describe_group(&mut descriptors, first, blocks);
            lists.push(&mut descriptors, first);
        }
        (lists, descriptors)
    }

    #[test]
    fn a_group_of_seven_serves_a_request_for_six() {
        let (lists, _) = lists(&[(0, 7)]);
        assert_eq!(lists.smallest_from(6), Some(0)); // GHC's ceil(log2 6) = 3 looks at 8 and more only
        assert_eq!(lists.smallest_from(8), None);
    }

    #[test]
    fn the_best_fit_is_found_across_words_and_the_latest_first() {
        let (mut lists, mut descriptors) = lists(&[(0, 63), (256, 64), (512, 200), (768, 200), (1024, 255)]);
        let found = [1, 63, 64, 65, 200, 201, 255].map(|n| lists.smallest_from(n));
        assert_eq!(
            found,
            [
                Some(0),
                Some(0),
                Some(256),
                Some(768),
                Some(768),
                Some(1024),
                Some(1024)
            ]
        );
        lists.remove(&mut descriptors, 768);
        assert_eq!(lists.smallest_from(65), Some(512));
        lists.remove(&mut descriptors, 512);
        assert_eq!(lists.smallest_from(65), Some(1024));
    }

    #[test]
    fn the_largest_within_bounds_is_found() {
        let (lists, _) = lists(&[(0, 63), (256, 64), (512, 200)]);
        let found = [(1, 62), (1, 63), (1, 100), (65, 199), (65, 1000), (201, 255)];
        assert_eq!(
            found.map(|(least, most)| lists.largest_between(least, most)),
            [None, Some(0), Some(256), None, Some(512), None]
        );
    }
}
