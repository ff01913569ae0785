//! Holes: stretches without marked closures, as the mark bits show them.
//!
//! Memory is looked at in *lines* of 128 bytes: a quarter of an entry of the table of marks. A line
//! in which no marked closure starts may be free, and a hole has room for a line at least. The
//! search reads marks only, an entry at a time. A line without marks is in a *gap* between two
//! marked closures. One header is read for each gap, that of the closure before it: the closure may
//! reach into the gap, or fill it. So a hole is exact: it begins where that closure ends, and ends
//! where the next one starts. There is no table of lines, and marking writes none.

use crate::prefetch::prefetch_line;
use crate::space::MarkBits;
use crate::words::{Addr, Bytes, Words};

/// Words of a line, and bits of it in the table of marks: 8, 16, 32 or 64. (`docs/immix.md`
/// compares them.)
const LINE_WORDS: usize = 16;

/// Lines in an entry of the table of marks.
const LINES: usize = u64::BITS as usize / LINE_WORDS;

/// In an entry, the bits of the first and the last word of each line.
const FIRST_WORDS: u64 = u64::MAX / (u64::MAX >> (u64::BITS as usize - LINE_WORDS));
const LAST_WORDS: u64 = FIRST_WORDS << (LINE_WORDS - 1);

/// A line: the least free memory that counts as a hole.
pub(super) const LINE: Bytes = Bytes(LINE_WORDS * 8);

/// The largest closures that have room in every hole.
pub(super) const SMALL: Words = Words(LINE_WORDS);

/// Free memory from `start` to `end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Hole {
    pub start: Addr,
    pub end: Addr,
}

impl Hole {
    /// Its size.
    pub(super) fn size(self) -> Bytes {
        self.end - self.start
    }
}

/// A stretch that may be a hole: a line without marks, and the marks around it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gap {
    /// The last marked closure before the line; null if there is none.
    last: Addr,
    /// Where the search began.
    from: Addr,
    /// The next marked closure, or the end of the search.
    pub stop: Addr,
}

impl Gap {
    /// Brings the header that [`MarkBits::hole`] reads towards the cache.
    pub(super) fn prefetch(self) {
        prefetch_line(self.last);
    }
}

impl MarkBits {
    /// The first gap from `from` to `end`, by marks alone. `from` lies in no marked closure, and no
    /// marked closure reaches beyond `end`.
    pub(super) fn next_gap(&self, from: Addr, end: Addr) -> Option<Gap> {
        let line = self.next_unmarked_line(from, end)?;
        Some(Gap {
            last: self.last_set(from, line).unwrap_or(Addr::NULL),
            from,
            stop: self.next_set(line, end).unwrap_or(end),
        })
    }

    /// The hole in a gap. (The last closure may fill it.)
    pub(super) fn hole(&self, gap: &Gap) -> Option<Hole> {
        let start = if gap.last.is_null() {
            gap.from
        } else {
            self.closure_end(gap.last, gap.stop)
        };
        let start = mutant!("lines/mark-short", start => Addr(start.0.max(gap.from.0 + 64) - 64));
        let end = mutant!("lines/hole-too-long", gap.stop => gap.stop + Words(8));
        Some(Hole { start, end }).filter(|hole| hole.size() >= LINE)
    }

    /// The first line from `from` to `end` without marks, or the rest of it behind `from`.
    fn next_unmarked_line(&self, from: Addr, end: Addr) -> Option<Addr> {
        if from >= end {
            return None;
        }
        let (first, bit) = self.place(from);
        let lines_before = (1 << (bit / LINE_WORDS * LINE_WORDS)) - 1;
        let mut bits = self.entry(first) & u64::MAX << bit | lines_before;
        let mut at = Addr(from.0 - bit * 8);
        loop {
            // The lowest of these is the top bit of the first line without marks.
            let unmarked = bits.wrapping_sub(FIRST_WORDS) & !bits & LAST_WORDS;
            if unmarked != 0 {
                let line = unmarked.trailing_zeros() as usize / LINE_WORDS;
                let line = (at + Words(line * LINE_WORDS)).max(from);
                return Some(line).filter(|&line| line < end);
            }
            at = at + Words(LINES * LINE_WORDS);
            if at >= end {
                return None;
            }
            bits = self.entry(self.place(at).0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::BlockState;
    use crate::closure::{Header, Kind, TypeInfo};
    use crate::config::Config;
    use crate::heap::Heap;
    use proptest::prelude::*;

    static SIZES: [TypeInfo; 5] = [
        TypeInfo::fixed(Kind::Constr, "One", "test", 0, 0),
        TypeInfo::fixed(Kind::Constr, "Three", "test", 0, 2),
        TypeInfo::fixed(Kind::Constr, "Line", "test", 0, 31),
        TypeInfo::fixed(Kind::Constr, "More", "test", 0, 32),
        TypeInfo::fixed(Kind::Constr, "Lines", "test", 0, 90),
    ];

    /// The holes of a run with closures of these sizes, some of them marked; and the stretches
    /// between the marked ones.
    fn holes_and_gaps(closures: &[(usize, usize)]) -> (Vec<Hole>, Vec<Hole>) {
        let config = Config {
            reserve: Bytes::mib(8),
            ..Config::default()
        };
        let mut heap = Heap::new(&config).expect("a small heap");
        let mut marks = MarkBits::new(&heap).expect("a small table");
        let run = heap.allocate(8, 8, BlockState::AGED).expect("room");
        let mut gaps = vec![Hole {
            start: run.start(),
            end: run.end(),
        }];
        let mut at = run.start();
        for &(size, mark) in closures {
            let info = &SIZES[size];
            let end = at + Words(1 + info.words as usize);
            if end > run.end() {
                break;
            }
            // SAFETY: the word is in a run of this heap.
            unsafe { at.as_mut_ptr::<u64>().write(Header::new(info).0) };
            if mark == 0 {
                marks.set(at);
                gaps.last_mut().expect("there is one").end = at;
                gaps.push(Hole {
                    start: end,
                    end: run.end(),
                });
            }
            at = end;
        }
        let mut from = run.start();
        let next = || {
            let gap = marks.next_gap(from, run.end())?;
            from = gap.stop;
            Some(gap)
        };
        let holes = std::iter::from_fn(next).filter_map(|gap| marks.hole(&gap));
        (holes.collect(), gaps)
    }

    proptest! {
        #[test]
        fn holes_are_the_stretches_between_marked_closures(
            every in 1..12usize,
            closures in proptest::collection::vec((0..SIZES.len(), 0..12usize), 0..1500),
        ) {
            let closures: Vec<_> = closures.into_iter().map(|(size, mark)| (size, mark % every)).collect();
            let (holes, gaps) = holes_and_gaps(&closures);
            prop_assert!(holes.windows(2).all(|pair| pair[0].end <= pair[1].start));
            for hole in &holes {
                prop_assert!(gaps.contains(hole) && hole.size() >= LINE, "{hole:?} of {gaps:?}");
            }
            for gap in gaps.iter().filter(|gap| gap.start.align_up(LINE) + LINE <= gap.end) {
                prop_assert!(holes.contains(gap), "{gap:?} has a line");
            }
        }
    }
}
