//! Allocation by size class: a cursor and a limit for each class.
//!
//! For spaces whose closures stay where they are ([`crate::space::CellSpace`]). A mutator has
//! *holes* of each class: neighbouring free cells. It allocates in a hole as in a bump region,
//! without reading the cells, since it follows no free list. The fast path is
//! the same as [`super::Bump`]'s, on the cursor of a class, which is a constant for closures of fixed
//! layout.

use super::Alloc;
use super::hole::Hole;
use super::sampler::{Sampler, Sampling};
use super::size_class::SizeClass;
use crate::words::{Addr, Bytes, Words};
use std::cell::Cell;

/// Allocation in holes, some for each size class.
#[derive(Debug)]
pub struct Cells {
    holes: [Hole; SizeClass::COUNT],
    /// Bytes of cells taken in holes that were left.
    left: Cell<usize>,
    /// Bytes of cells taken, since the last count, beyond the closures in them.
    padding: Cell<usize>,
    sampler: Sampler,
}

impl Default for Cells {
    fn default() -> Self {
        Cells {
            holes: std::array::from_fn(|_| Hole::default()),
            left: Cell::new(0),
            padding: Cell::new(0),
            sampler: Sampler::default(),
        }
    }
}

impl Cells {
    /// Allocates closures of `class` in `hole` from now on, and then in each of `more` in turn. A
    /// mutator's allocator is shown to its collector alone, and that this memory belongs to the
    /// mutator is part of the collector's promise (the safety of
    /// [`Collector`](crate::collector::Collector)). Until a hole is used, its first word belongs to
    /// the allocator.
    ///
    /// # Panics
    /// If one of them is not a range of whole cells, or one of `more` is empty.
    pub fn set_holes(&self, class: SizeClass, hole: (Addr, Addr), more: &[(Addr, Addr)]) {
        for (start, end) in std::iter::once(&hole).chain(more) {
            assert!(
                start <= end && (end.0 - start.0).is_multiple_of(class.cell().to_bytes().0),
                "no range of cells: {start:?} to {end:?}"
            );
        }
        self.leave_holes(class);
        self.holes[class.index()].set(hole, more);
    }

    /// Gives the holes of `class` up.
    pub fn leave_holes(&self, class: SizeClass) {
        self.left.set(self.left.get() + self.holes[class.index()].leave());
    }

    /// The free parts of the holes of `class`.
    pub fn free(&self, class: SizeClass) -> impl Iterator<Item = (Addr, Addr)> {
        let hole = &self.holes[class.index()];
        std::iter::once(hole.rest()).chain(hole.waiting())
    }
}

impl AsRef<Cells> for Cells {
    #[inline(always)]
    fn as_ref(&self) -> &Cells {
        self
    }
}

// SAFETY: the memory of `set_holes` belongs to the mutator: only its collector sees a mutator's
// allocator, and a collector promises that. No cell between cursor and limit is handed out twice,
// since `commit` moves the cursor past it.
unsafe impl Alloc for Cells {
    #[inline(always)]
    fn reserve(&self, words: Words) -> Option<Addr> {
        let class = SizeClass::of(words);
        self.holes[class.index()].reserve(class.cell().to_bytes())
    }

    fn reserve_elsewhere(&self, words: Words) -> Option<Addr> {
        let class = SizeClass::of(words);
        let (hole, cell) = (&self.holes[class.index()], class.cell().to_bytes());
        let own = mutant!("memprof/padding-sampled", words => class.cell());
        if let Some(at) = hole.reserve_sampled(cell, own, &self.sampler) {
            return Some(at);
        }
        let (running, at) = hole.next(cell)?;
        self.left.set(self.left.get() + running);
        hole.pass(cell, own, &self.sampler);
        Some(at)
    }

    #[inline(always)]
    fn commit(&self, at: Addr, words: Words) {
        let class = SizeClass::of(words);
        self.holes[class.index()].commit(at, class.cell().to_bytes());
        if class.cell() != words && !mutant!("cells/padding-counted") {
            self.padding.set(self.padding.get() + (class.cell().0 - words.0) * 8);
        }
    }

    fn restrict(&self, words: Option<Words>) {
        for class in SizeClass::all() {
            let room = words.map(|words| {
                let fits = SizeClass::of(words) == class;
                if fits { class.cell().to_bytes() } else { Bytes::ZERO }
            });
            self.holes[class.index()].restrict(room);
        }
    }

    fn interrupt(&self) {
        self.holes.iter().for_each(Hole::interrupt);
    }

    fn sample(&self, sampling: Option<Sampling>) {
        self.sampler.set(sampling);
        self.holes.iter().for_each(|hole| hole.sample(&self.sampler));
    }

    #[inline(always)]
    fn take_samples(&self) -> u32 {
        self.sampler.take()
    }

    fn sample_large(&self, words: Words) -> u32 {
        self.sampler.pass_large(words)
    }

    fn is_free(&self, at: Addr, words: Words) -> bool {
        self.holes[SizeClass::of(words).index()].cursor() == at
    }

    fn allocated(&self) -> Bytes {
        let running: usize = self.holes.iter().map(Hole::running).sum();
        Bytes(self.left.get() + running - self.padding.get())
    }

    fn take_allocated(&self) -> Bytes {
        let allocated = self.allocated();
        self.left.set(0);
        self.padding.set(0);
        self.holes.iter().for_each(Hole::count);
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
        let hole = (Addr(0x1000), Addr(0x1000) + class.cell() + Words(1));
        Cells::default().set_holes(class, hole, &[]);
    }

    #[test]
    fn counts_closures_not_cells() {
        let cells = Cells::default();
        let words = [Words(3), Words(37)];
        for words in words {
            let class = SizeClass::of(words);
            let start = 0x1000 * (1 + class.index());
            cells.set_holes(class, (Addr(start), Addr(start + 4 * class.cell().0 * 8)), &[]);
            for _ in 0..3 {
                let at = cells.reserve(words).expect("room");
                cells.commit(at, words);
            }
        }
        assert_eq!(cells.allocated(), Bytes(3 * (3 + 37) * 8));
        cells.leave_holes(SizeClass::of(words[0]));
        assert_eq!(cells.take_allocated(), Bytes(3 * (3 + 37) * 8));
        assert_eq!(cells.allocated(), Bytes(0));
    }

    #[test]
    fn when_interrupted_it_gives_nothing_until_the_limit_is_restored() {
        let cells = Cells::default();
        let (three, five) = (Words(3), Words(5));
        cells.set_holes(SizeClass::of(three), (Addr(0x1000), Addr(0x1000 + 240)), &[]);
        cells.set_holes(SizeClass::of(five), (Addr(0x2000), Addr(0x2000 + 240)), &[]);
        cells.interrupt();
        assert_eq!((cells.reserve(three), cells.reserve(five)), (None, None));
        cells.restrict(None);
        assert_eq!(
            (cells.reserve(three), cells.reserve(five)),
            (Some(Addr(0x1000)), Some(Addr(0x2000)))
        );
    }

    #[test]
    fn when_restricted_it_has_room_for_one() {
        let cells = Cells::default();
        let (three, five) = (Words(3), Words(5));
        cells.set_holes(SizeClass::of(three), (Addr(0x1000), Addr(0x1000 + 240)), &[]);
        cells.set_holes(SizeClass::of(five), (Addr(0x2000), Addr(0x2000 + 240)), &[]);
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

    #[test]
    fn from_hole_to_hole_it_needs_no_collector() {
        let mut memory = [0_u64; 60];
        let start = Addr::of(memory.as_mut_ptr());
        let hole = |from: usize, to: usize| (start + Words(from), start + Words(to));
        let (cells, one) = (Cells::default(), SizeClass::of(Words(1)));
        cells.set_holes(one, hole(0, 1), &[hole(2, 3), hole(5, 7)]);
        cells.set_holes(SizeClass::of(Words(3)), hole(10, 13), &[hole(19, 25)]);
        let take = |words: Words| {
            let at = cells.reserve(words).or_else(|| cells.reserve_elsewhere(words))?;
            cells.commit(at, words);
            Some((at - start).0 / 8)
        };
        assert_eq!(
            [(); 5].map(|()| take(Words(1))),
            [Some(0), Some(2), Some(5), Some(6), None]
        );
        cells.interrupt();
        assert_eq!((take(Words(3)), take(Words(3))), (None, None));
        cells.restrict(None);
        assert_eq!([(); 4].map(|()| take(Words(3))), [Some(10), Some(19), Some(22), None]);
        assert_eq!(cells.take_allocated(), Words(4 + 9).to_bytes());
    }
    /// At a rate of 1 every word of a closure is sampled, and none of those after it in its cell.
    #[test]
    fn the_rest_of_a_cell_is_not_sampled() {
        let mut memory = [0_u64; 4 * 40];
        let start = Addr::of(memory.as_mut_ptr());
        let (cells, words) = (Cells::default(), Words(37));
        let class = SizeClass::of(words);
        assert!(class.cell() > words && class.cell() <= Words(40), "{:?}", class.cell());
        let hole = |from: usize, count: usize| {
            let at = start + Words(from * class.cell().0);
            (at, at + Words(count * class.cell().0))
        };
        cells.sample(Some(Sampling { rate: 1.0, seed: 42 }));
        // The second hole is not a neighbour of the first.
        cells.set_holes(class, hole(0, 2), &[hole(3, 1)]);
        for place in [0, 1, 3] {
            assert_eq!(cells.reserve(words), None, "the sampled word is in the way");
            assert_eq!(cells.reserve_elsewhere(words), Some(hole(place, 1).0));
            cells.commit(hole(place, 1).0, words);
            assert_eq!((cells.take_samples(), cells.take_samples()), (37, 0), "in cell {place}");
        }
        assert_eq!(cells.reserve_elsewhere(words), None);
    }
}
