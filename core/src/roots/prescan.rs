//! A prescan of a table while a snapshot is marked (R17), so that the pause that ends the marking has to visit
//! only some of its entries.
//!
//! An entry is *settled* if its closure is marked, or too new for the snapshot, and stays where it is.
//! Marks are only added, so it need not be visited again. The others are *doubtful*, and so is what
//! the prescan has not come to. Entries that are inserted meanwhile have closures that live, since a mutator
//! had them; but these may move when the cycle ends, so they are doubtful, too.

/// Entries for one taking of the table's lock. Fewer in test builds.
pub(super) const STEP: usize = if cfg!(debug_assertions) { 8 } else { 1 << 6 };

/// Doubtful entries, beyond which the prescan ends. Fewer in test builds.
const MOST: usize = if cfg!(debug_assertions) { 64 } else { 1 << 16 };

/// How far the prescan of a table has come.
#[derive(Debug, Default)]
pub(super) struct Prescan {
    /// The first entry that it has not come to.
    next: usize,
    /// Doubtful ones before that.
    doubtful: Vec<usize>,
    gave_up: bool,
}

impl Prescan {
    /// Looks at some of the first `count` entries. Returns whether it has seen all of them, or ends.
    pub(super) fn step(&mut self, count: usize, mut is_settled: impl FnMut(usize) -> bool) -> bool {
        for _ in 0..STEP {
            if self.gave_up || self.next >= count || self.doubtful.len() >= MOST {
                return true;
            }
            if !is_settled(self.next) && !mutant!("concurrent/doubtful-forgotten") {
                self.doubtful.push(self.next);
            }
            self.next += 1;
        }
        false
    }

    /// The entry at `index` was inserted meanwhile.
    pub(super) fn inserted(&mut self, index: usize) {
        if index >= self.next || mutant!("concurrent/inserted-forgotten") {
            return;
        }
        if self.doubtful.len() == MOST {
            *self = Prescan {
                gave_up: true,
                ..Prescan::default()
            };
        } else {
            self.doubtful.push(index);
        }
    }

    /// These of the doubtful entries, in order, were removed from the table, and those behind them have
    /// moved down.
    pub(super) fn removed(&mut self, entries: &[usize]) {
        let mut before = 0;
        self.doubtful.retain_mut(|index| {
            let is_removed = entries.get(before) == Some(index);
            before += usize::from(is_removed);
            *index -= before - usize::from(is_removed);
            !is_removed
        });
        self.next -= before;
    }

    /// The doubtful entries that it has come to, some of them twice.
    pub(super) fn doubtful(&self) -> &[usize] {
        &self.doubtful
    }

    /// All others are doubtful from here on.
    pub(super) fn rest(&self) -> usize {
        self.next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doubtful(prescan: &Prescan, count: usize) -> Vec<usize> {
        let mut all: Vec<_> = prescan
            .doubtful()
            .iter()
            .copied()
            .chain(prescan.rest()..count)
            .collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    #[test]
    fn what_is_not_settled_inserted_or_not_seen_is_doubtful() {
        let mut prescan = Prescan::default();
        let is_settled = |index: usize| index % 7 != 3;
        assert!(!prescan.step(2 * STEP, is_settled));
        prescan.inserted(4);
        prescan.inserted(STEP + 1);
        let mut expected: Vec<_> = (0..STEP).filter(|&index| !is_settled(index)).chain([4]).collect();
        expected.extend(STEP..2 * STEP);
        expected.sort_unstable();
        assert_eq!(doubtful(&prescan, 2 * STEP), expected);
        while !prescan.step(2 * STEP, is_settled) {}
        assert_eq!(doubtful(&prescan, 2 * STEP), {
            let mut expected: Vec<_> = (0..2 * STEP).filter(|&index| !is_settled(index)).chain([4]).collect();
            expected.sort_unstable();
            expected
        });
    }

    #[test]
    fn a_prescan_with_many_doubtful_entries_ends_and_everything_else_is_doubtful() {
        let (mut prescan, count) = (Prescan::default(), 4 * MOST);
        while !prescan.step(count, |index| index % 2 == 1) {}
        assert_eq!(prescan.doubtful().len(), MOST);
        assert!(prescan.rest() < count);
        prescan.inserted(0);
        assert!(prescan.step(count, |_| unreachable!("it has ended")));
        assert!(doubtful(&prescan, count).into_iter().eq(0..count));
    }

    #[test]
    fn removed_entries_leave_and_others_move_down() {
        let mut prescan = Prescan::default();
        while !prescan.step(STEP, |index| index % 2 == 1) {}
        prescan.removed(&[2, 4]);
        let left: Vec<_> = (0..STEP)
            .filter(|index| index % 2 == 0 && ![2, 4].contains(index))
            .collect();
        let moved: Vec<_> = left
            .into_iter()
            .map(|index| index - 2 * usize::from(index > 4))
            .collect();
        assert_eq!(prescan.doubtful(), moved);
        assert_eq!(prescan.rest(), STEP - 2);
    }
}
