//! Holes: stretches without marked closures, as the mark bits show them.
//!
//! Memory is looked at in *lines* of 256 bytes: half an entry of the table of marks. A line in
//! which no marked closure starts may be free, and a hole has room for a line at least. The search
//! reads marks only, two lines at a time. Where it finds a line without marks, it reads one header,
//! that of the last closure before: the closure may reach into the line, or beyond it. So a hole is
//! exact: it begins where that closure ends, and ends where the next one starts. There is no table
//! of lines, and marking writes none.

use crate::space::MarkBits;
use crate::words::{Addr, Bytes, Words};

/// Words of a line, and bits of it in the table of marks.
const LINE_WORDS: usize = 32;

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

impl MarkBits {
    /// The first hole from `from` to `end`. `from` lies in no marked closure, and no marked closure
    /// reaches beyond `end`.
    pub(super) fn next_hole(&self, mut from: Addr, end: Addr) -> Option<Hole> {
        while let Some(line) = self.next_unmarked_line(from, end) {
            let before = self.last_set(from, line);
            let start = before.map_or(from, |last| self.closure_end(last, end));
            let start = mutant!("lines/mark-short", start => Addr(start.0.max(from.0 + 64) - 64));
            let stop = self.next_set(start.max(line), end).unwrap_or(end);
            if stop - start >= LINE {
                let behind = mutant!("lines/hole-too-long", stop => end.min(stop + LINE));
                return Some(Hole { start, end: behind });
            }
            from = stop;
        }
        None
    }

    /// The first line from `from` to `end` without marks, or the rest of it behind `from`.
    fn next_unmarked_line(&self, from: Addr, end: Addr) -> Option<Addr> {
        if from >= end {
            return None;
        }
        let (first, bit) = self.place(from);
        let behind_low_line = u64::from(bit >= LINE_WORDS);
        let mut bits = self.entry(first) & u64::MAX << bit | behind_low_line;
        let mut at = Addr(from.0 - bit * 8);
        while bits as u32 != 0 && bits >> LINE_WORDS != 0 {
            at = at + LINE + LINE;
            if at >= end {
                return None;
            }
            bits = self.entry(self.place(at).0);
        }
        let line = if bits as u32 == 0 { at } else { at + LINE };
        Some(line.max(from)).filter(|&line| line < end)
    }

    /// The last word from `from` to `to` whose bit is set.
    fn last_set(&self, from: Addr, to: Addr) -> Option<Addr> {
        let (first, _) = self.place(from);
        let (mut entry, bit) = self.place(to);
        let mut bits = self.entry(entry) & !(u64::MAX << bit);
        while bits == 0 && entry > first {
            entry -= 1;
            bits = self.entry(entry);
        }
        let last = self.address(entry, bits.checked_ilog2()?);
        (last >= from).then_some(last)
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
            let hole = marks.next_hole(from, run.end())?;
            from = hole.end;
            Some(hole)
        };
        (std::iter::from_fn(next).collect(), gaps)
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
