//! Size classes: closures of similar size share cells of one size.
//!
//! Up to [`EXACT`] words each size is its own class, so that the closures that most programs
//! consist of waste nothing. Above, there are eight classes to a doubling: a cell is at most an
//! eighth larger than its closure. The largest class holds the largest closures that are not large
//! objects.
//!
//! The class of a constant size is a constant: a program's allocations of fixed layout contain none
//! of this computation.

use crate::block::{BLOCK, LARGE_OBJECT};
use crate::words::Words;

/// The largest size with its own class, in words.
const EXACT: usize = 1 << EXACT_SHIFT;
const EXACT_SHIFT: usize = 5;

/// log2 of the number of classes in a doubling.
const STEPS_SHIFT: usize = 3;

/// The least number of cells in the smallest segment of a class.
const LEAST_CELLS: usize = 8;

/// The class of a size. Classes are ordered by size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SizeClass(u8);

impl SizeClass {
    /// The number of classes.
    pub(crate) const COUNT: usize = SizeClass::of(Words(LARGE_OBJECT.0 - 1)).index() + 1;

    /// Cells have at most one word of padding for each so many words of closures.
    pub(crate) const WORDS_PER_PADDING: usize = 6;

    /// The class of closures of `words` words, 1 to [`LARGE_OBJECT`] less one.
    #[inline(always)]
    pub const fn of(words: Words) -> SizeClass {
        debug_assert!(words.0 > 0 && words.0 < LARGE_OBJECT.0);
        let last = words.0.wrapping_sub(1);
        if words.0 <= EXACT {
            return SizeClass(last as u8);
        }
        // `last` has `doubling + 1` bits; the three bits after the highest select one of the eight
        // classes.
        let doubling = last.ilog2() as usize;
        let step = last >> (doubling - STEPS_SHIFT);
        SizeClass((EXACT + ((doubling - EXACT_SHIFT) << STEPS_SHIFT) + step - (1 << STEPS_SHIFT)) as u8)
    }

    /// Class number `index`, less than `SizeClass::COUNT`.
    pub const fn nth(index: usize) -> SizeClass {
        debug_assert!(index < SizeClass::COUNT);
        SizeClass(index as u8)
    }

    /// All classes, the smallest first.
    pub fn all() -> impl Iterator<Item = SizeClass> {
        (0..SizeClass::COUNT).map(SizeClass::nth)
    }

    /// The number of the class, from 0.
    #[inline(always)]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The size of a cell of this class.
    #[inline(always)]
    pub const fn cell(self) -> Words {
        let index = self.index();
        if index < EXACT {
            return Words(index + 1);
        }
        let above = index - EXACT;
        let (doubling, step) = (above >> STEPS_SHIFT, above & ((1 << STEPS_SHIFT) - 1));
        let words = ((1 << STEPS_SHIFT) + step + 1) << (EXACT_SHIFT - STEPS_SHIFT + doubling);
        if words < LARGE_OBJECT.0 {
            Words(words)
        } else {
            Words(LARGE_OBJECT.0 - 1)
        }
    }

    /// The blocks of the smallest segments of this class.
    pub(crate) const fn least_blocks(self) -> u32 {
        (self.cell().0 * 8 * LEAST_CELLS).div_ceil(BLOCK.0).next_power_of_two() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::CELL_WORDS;

    #[test]
    fn every_size_has_the_smallest_cell_that_holds_it() {
        for words in 1..LARGE_OBJECT.0 {
            let class = SizeClass::of(Words(words));
            assert!(class.index() < SizeClass::COUNT);
            let cell = class.cell().0;
            assert!(
                cell >= words && (words <= EXACT || cell * 8 <= words * 9 + 8),
                "{words} in {cell}"
            );
            assert!(words > EXACT || cell == words);
            assert!(
                cell <= words + words / SizeClass::WORDS_PER_PADDING,
                "{words} in {cell}"
            );
            let smaller = class.index().checked_sub(1).map(|index| SizeClass::nth(index).cell().0);
            assert!(
                smaller.is_none_or(|smaller| smaller < words),
                "{words} would fit in {smaller:?}"
            );
        }
    }

    #[test]
    fn promises_count_on_what_cells_hold() {
        for (blocks, least) in (1..).zip(CELL_WORDS) {
            let words = blocks * BLOCK.0 / 8;
            let filled = SizeClass::all().map(|class| words / class.cell().0 * class.cell().0);
            assert_eq!(filled.min(), Some(least), "{blocks} blocks");
        }
    }

    #[test]
    fn segments_have_several_cells() {
        for class in SizeClass::all() {
            let blocks = class.least_blocks();
            assert!(blocks <= 8 && blocks as usize * BLOCK.0 >= class.cell().0 * 8 * LEAST_CELLS);
        }
    }
}
