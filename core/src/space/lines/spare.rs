//! Holes that were found and are not in use: those that mutators gave back, and those that were too
//! small for a medium closure.

use super::holes::{Hole, LINE};
use crate::words::Bytes;

/// A class for each power of two from a line up to a block.
const CLASSES: usize = 9;

/// Holes by size. Small closures use the small ones first, so that medium closures find room.
#[derive(Debug, Default)]
pub(super) struct SpareHoles {
    /// Class *n* has holes of at least 2ⁿ lines, and of less than twice that.
    classes: [Vec<Hole>; CLASSES],
}

impl SpareHoles {
    pub(super) fn push(&mut self, hole: Hole) {
        self.classes[class_of(hole.size())].push(hole);
    }

    /// Takes one of the smallest holes.
    pub(super) fn pop(&mut self) -> Option<Hole> {
        self.classes.iter_mut().find_map(Vec::pop)
    }

    /// Takes a hole of at least `size` bytes, if there is one in the classes above that size.
    pub(super) fn take_larger(&mut self, size: Bytes) -> Option<Hole> {
        self.classes[class_of(size) + 1..].iter_mut().find_map(Vec::pop)
    }

    /// Takes a hole of at least `size` bytes, if there is one. Looks at each hole of the class.
    pub(super) fn take(&mut self, size: Bytes) -> Option<Hole> {
        self.take_larger(size).or_else(|| {
            let class = &mut self.classes[class_of(size)];
            let found = class.iter().rposition(|hole| hole.size() >= size)?;
            Some(class.swap_remove(found))
        })
    }

    /// Takes all holes.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Hole> {
        self.classes.iter_mut().flat_map(|class| class.drain(..))
    }

    /// Keeps the holes for which `is_kept` is true.
    pub(super) fn retain(&mut self, mut is_kept: impl FnMut(Hole) -> bool) {
        self.classes
            .iter_mut()
            .for_each(|class| class.retain(|hole| is_kept(*hole)));
    }

    /// The number of holes that there is memory for.
    pub(super) fn capacity(&self) -> usize {
        self.classes.iter().map(Vec::capacity).sum()
    }
}

/// The class of holes of `size` bytes. Those of less than a line are in the first.
fn class_of(size: Bytes) -> usize {
    let lines = (size.0 / LINE.0).max(1);
    (lines.ilog2() as usize).min(CLASSES - 1)
}

#[cfg(test)]
mod tests {
    use super::{Hole, LINE, SpareHoles};
    use crate::words::{Addr, Bytes};

    /// Holes of these sizes, in lines.
    fn spare(sizes: &[usize]) -> SpareHoles {
        let mut spare = SpareHoles::default();
        for &lines in sizes {
            spare.push(hole(Bytes(lines * LINE.0)));
        }
        spare
    }

    fn hole(size: Bytes) -> Hole {
        let start = Addr::NULL + Bytes(0x10000);
        Hole {
            start,
            end: start + size,
        }
    }

    fn lines(hole: Option<Hole>) -> Option<usize> {
        hole.map(|hole| hole.size().0 / LINE.0)
    }

    #[test]
    fn small_closures_get_the_smallest_holes() {
        let mut spare = spare(&[9, 2, 256, 1]);
        let taken = std::iter::from_fn(|| lines(spare.pop()));
        assert_eq!(taken.collect::<Vec<_>>(), [1, 2, 9, 256]);
    }

    #[test]
    fn a_closure_gets_any_hole_that_has_room_and_no_other() {
        let size = Bytes(9 * LINE.0 + 8);
        let mut holes = spare(&[8, 9, 10, 9, 1]);
        assert_eq!(lines(holes.take_larger(size)), None);
        assert_eq!(lines(holes.take(size)), Some(10));
        assert_eq!(lines(holes.take(size)), None);
        holes.push(hole(Bytes(16 * LINE.0)));
        assert_eq!(lines(holes.take_larger(size)), Some(16));
        assert_eq!(holes.drain().count(), 4);
        assert_eq!(lines(holes.pop()), None);
    }

    #[test]
    fn all_that_are_left_out_are_gone() {
        let mut spare = spare(&[1, 2, 3, 40]);
        spare.retain(|hole| hole.size().0 % (2 * LINE.0) == 0);
        assert_eq!(lines(spare.pop()), Some(2));
        assert_eq!(lines(spare.pop()), Some(40));
        assert_eq!(lines(spare.pop()), None);
    }
}
