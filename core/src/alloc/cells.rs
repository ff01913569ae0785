//! Allocation by size class: a cursor and a limit for each class.
//!
//! For spaces whose closures stay where they are ([`crate::space::CellSpace`]). A mutator has a
//! *hole* of each class: neighbouring free cells. It allocates in a hole as in a bump region,
//! without reading the cells; there is no list of free cells to follow. The fast path is that of
//! [`super::Bump`], on the cursor of a class, which is a constant for closures of fixed layout.

use super::size_class::SizeClass;
use super::{Alloc, is_range_of_words};
use crate::sync::{AtomicUsize, Ordering::Relaxed};
use crate::words::{Addr, Bytes, Words};
use std::cell::Cell;

/// Free cells from a cursor to a limit.
#[derive(Debug, Default)]
struct Hole {
    cursor: Cell<usize>,
    /// An atomic, read and written without ordering: other threads set it to 0 to have the mutator
    /// stop.
    limit: AtomicUsize,
    /// Where the hole really ends; `limit` is before it while allocation is restricted or
    /// interrupted.
    end: Cell<usize>,
    /// Where counting of allocated bytes goes on.
    counted: Cell<usize>,
}

/// Allocation in holes, one for each size class.
#[derive(Debug)]
pub struct Cells {
    holes: [Hole; SizeClass::COUNT],
    /// Bytes of cells taken in holes that were left.
    left: Cell<usize>,
    /// Bytes of cells taken, since the last count, beyond the closures in them.
    padding: Cell<usize>,
}

impl Default for Cells {
    fn default() -> Self {
        Cells {
            holes: std::array::from_fn(|_| Hole::default()),
            left: Cell::new(0),
            padding: Cell::new(0),
        }
    }
}

impl Cells {
    /// Allocates closures of `class` from `start` to `end` from now on. A mutator's allocator is
    /// shown to its collector alone, and that this memory belongs to the mutator is part of the
    /// collector's promise (the safety of [`Collector`](crate::collector::Collector)).
    ///
    /// # Panics
    /// If the addresses are no ends of a range of whole cells.
    pub fn set_hole(&self, class: SizeClass, start: Addr, end: Addr) {
        assert!(
            is_range_of_words(start, end) && (end - start).0.is_multiple_of(class.cell().to_bytes().0),
            "no range of cells: {start:?} to {end:?}"
        );
        self.leave_hole(class);
        let hole = &self.holes[class.index()];
        hole.cursor.set(start.0);
        hole.counted.set(start.0);
        hole.limit.store(end.0, Relaxed);
        hole.end.set(end.0);
    }

    /// Gives the hole of `class` up and returns the part of it that is still free (from null to
    /// null if there was no hole).
    pub fn leave_hole(&self, class: SizeClass) -> (Addr, Addr) {
        let free = self.free(class);
        let hole = &self.holes[class.index()];
        self.left.set(self.left.get() + free.0.0 - hole.counted.get());
        [&hole.cursor, &hole.end, &hole.counted]
            .iter()
            .for_each(|cell| cell.set(0));
        hole.limit.store(0, Relaxed);
        free
    }

    /// The part of the hole of `class` that is still free.
    pub fn free(&self, class: SizeClass) -> (Addr, Addr) {
        let hole = &self.holes[class.index()];
        (Addr(hole.cursor.get()), Addr(hole.end.get()))
    }
}

// SAFETY: the memory of `set_hole` belongs to the mutator: only its collector sees a mutator's
// allocator, and a collector promises that. No cell between cursor and limit is handed out twice,
// since `commit` moves the cursor behind it.
unsafe impl Alloc for Cells {
    #[inline(always)]
    fn reserve(&self, words: Words) -> Option<Addr> {
        let class = SizeClass::of(words);
        let hole = &self.holes[class.index()];
        let at = hole.cursor.get();
        // No overflow, and an interrupted limit is below every cursor: as in `Bump`.
        (at + class.cell().to_bytes().0 <= hole.limit.load(Relaxed)).then_some(Addr(at))
    }

    #[inline(always)]
    fn commit(&self, at: Addr, words: Words) {
        let class = SizeClass::of(words);
        self.holes[class.index()].cursor.set(at.0 + class.cell().to_bytes().0);
        if class.cell() != words && !mutant!("cells/padding-counted") {
            self.padding.set(self.padding.get() + (class.cell().0 - words.0) * 8);
        }
    }

    fn restrict(&self, words: Option<Words>) {
        for class in SizeClass::all() {
            let hole = &self.holes[class.index()];
            let room = match words {
                None => usize::MAX,
                Some(words) if SizeClass::of(words) == class => class.cell().to_bytes().0,
                Some(_) => 0,
            };
            let limit = hole.end.get().min(hole.cursor.get().saturating_add(room));
            hole.limit.store(limit, Relaxed);
        }
    }

    fn interrupt(&self) {
        self.holes.iter().for_each(|hole| hole.limit.store(0, Relaxed));
    }

    fn allocated(&self) -> Bytes {
        let running: usize = self
            .holes
            .iter()
            .map(|hole| hole.cursor.get() - hole.counted.get())
            .sum();
        Bytes(self.left.get() + running - self.padding.get())
    }

    fn take_allocated(&self) -> Bytes {
        let allocated = self.allocated();
        self.left.set(0);
        self.padding.set(0);
        self.holes.iter().for_each(|hole| hole.counted.set(hole.cursor.get()));
        allocated
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "no range of cells")]
    fn a_hole_with_a_part_of_a_cell_is_refused() {
        let class = SizeClass::of(Words(3));
        Cells::default().set_hole(class, Addr(0x1000), Addr(0x1000) + class.cell() + Words(1));
    }

    #[test]
    fn counts_closures_not_cells() {
        let cells = Cells::default();
        let words = [Words(3), Words(37)];
        for words in words {
            let class = SizeClass::of(words);
            let start = 0x1000 * (1 + class.index());
            cells.set_hole(class, Addr(start), Addr(start + 4 * class.cell().0 * 8));
            for _ in 0..3 {
                let at = cells.reserve(words).expect("room");
                cells.commit(at, words);
            }
        }
        assert_eq!(cells.allocated(), Bytes(3 * (3 + 37) * 8));
        cells.leave_hole(SizeClass::of(words[0]));
        assert_eq!(cells.take_allocated(), Bytes(3 * (3 + 37) * 8));
        assert_eq!(cells.allocated(), Bytes(0));
    }

    #[test]
    fn interrupted_it_gives_nothing_until_the_limit_is_back() {
        let cells = Cells::default();
        let (three, five) = (Words(3), Words(5));
        cells.set_hole(SizeClass::of(three), Addr(0x1000), Addr(0x1000 + 240));
        cells.set_hole(SizeClass::of(five), Addr(0x2000), Addr(0x2000 + 240));
        cells.interrupt();
        assert_eq!((cells.reserve(three), cells.reserve(five)), (None, None));
        cells.restrict(None);
        assert_eq!(
            (cells.reserve(three), cells.reserve(five)),
            (Some(Addr(0x1000)), Some(Addr(0x2000)))
        );
    }

    #[test]
    fn restricted_it_has_room_for_one() {
        let cells = Cells::default();
        let (three, five) = (Words(3), Words(5));
        cells.set_hole(SizeClass::of(three), Addr(0x1000), Addr(0x1000 + 240));
        cells.set_hole(SizeClass::of(five), Addr(0x2000), Addr(0x2000 + 240));
        cells.restrict(Some(three));
        assert_eq!((cells.reserve(three), cells.reserve(five)), (Some(Addr(0x1000)), None));
        cells.commit(Addr(0x1000), three);
        assert_eq!(cells.reserve(three), None);
        cells.restrict(None);
        assert_eq!(
            (cells.reserve(three), cells.reserve(five)),
            (Some(Addr(0x1018)), Some(Addr(0x2000)))
        );
    }
}
