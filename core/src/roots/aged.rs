//! The entries of a table in registration order. The oldest are *settled*: their closures are old,
//! so collections of generation 0 neither free nor move them, and skip these entries.
//!
//! Invariant: the closures of the first `settled` entries are old. An entry whose closure is young
//! keeps later entries from being settled, for as many collections as a closure takes to grow old.

use super::prescan::Prescan;

/// The entries of tables that a collection visits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Visited {
    /// All of them.
    All,
    /// Entries whose closures may be young: a collection of generation 0 neither frees nor moves
    /// the others.
    Young,
    /// Entries that the end of a cycle must visit: see [`Prescan`].
    Doubtful,
}

/// Entries, the settled ones first.
#[derive(Debug)]
pub(super) struct Aged<T> {
    entries: Vec<T>,
    settled: usize,
    /// Of the settled entries, which keep their places until the cycle ends.
    prescan: Option<Prescan>,
}

impl<T> Default for Aged<T> {
    fn default() -> Self {
        Aged {
            entries: Vec::new(),
            settled: 0,
            prescan: None,
        }
    }
}

impl<T> Aged<T> {
    pub(super) fn push(&mut self, entry: T) {
        self.entries.push(entry);
    }

    /// The first entries that are visited, and from where on all are.
    fn visited(&self, visited: Visited) -> (&[usize], usize) {
        match (visited, &self.prescan) {
            (Visited::All, _) | (Visited::Doubtful, None) => (&[], 0),
            (Visited::Young, _) => (&[], self.settled),
            (Visited::Doubtful, Some(prescan)) => (prescan.doubtful(), prescan.rest()),
        }
    }

    /// Calls `visit` for the entries that are visited.
    pub(super) fn for_each(&mut self, visited: Visited, mut visit: impl FnMut(&mut T)) {
        let (some, rest) = self.visited(visited);
        let some = some.to_vec();
        some.into_iter().for_each(|index| visit(&mut self.entries[index]));
        self.entries[rest..].iter_mut().for_each(visit);
    }

    /// Removes and returns the entries for which `is_dead` is true, in order.
    pub(super) fn take_dead(&mut self, visited: Visited, mut is_dead: impl FnMut(&mut T) -> bool) -> Vec<T> {
        let (some, rest) = self.visited(visited);
        let mut some = some.to_vec();
        some.retain(|&index| is_dead(&mut self.entries[index]));
        let from = some.first().copied().unwrap_or(rest);
        let mut known = some.iter().copied().peekable();
        let (mut index, mut settled) = (from, self.settled);
        let dead = self.entries.extract_if(from.., |entry| {
            let is_dead = if index < rest {
                known.next_if_eq(&index).is_some()
            } else {
                is_dead(entry)
            };
            settled -= usize::from(is_dead && index < self.settled);
            index += 1;
            is_dead
        });
        let dead = dead.collect();
        self.settled = settled;
        match &mut self.prescan {
            // Indices have changed.
            prescan if visited == Visited::All => *prescan = None,
            Some(prescan) => prescan.removed(&some),
            None => {}
        }
        dead
    }

    /// A prescan begins, or is over.
    pub(super) fn set_prescan(&mut self, yes: bool) {
        self.prescan = yes.then(Prescan::default);
    }

    /// Looks at some settled entries, if a prescan has begun. Returns whether it has seen all of them.
    pub(super) fn prescan(&mut self, mut is_settled: impl FnMut(&T) -> bool) -> bool {
        let (entries, count) = (&self.entries, self.settled);
        let prescan = self.prescan.as_mut();
        prescan.is_none_or(|prescan| prescan.step(count, |index| is_settled(&entries[index])))
    }

    /// A collection is over: settles the entries whose closures are old.
    pub(super) fn settle(&mut self, is_old: impl Fn(&T) -> bool) {
        while self.entries.get(self.settled).is_some_and(&is_old) {
            self.settled += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settled_entries_are_visited_only_when_all_are() {
        let mut table = Aged::default();
        (1..=5).for_each(|entry| table.push(entry));
        // 3 is young, and keeps 4 and 5.
        table.settle(|&entry| entry != 3);
        let mut seen = Vec::new();
        let dead = table.take_dead(Visited::Young, |&mut entry| {
            seen.push(entry);
            entry == 4
        });
        assert_eq!((seen, dead), (vec![3, 4, 5], vec![4]));
        table.push(6);
        assert_eq!(
            table.take_dead(Visited::All, |&mut entry| entry == 1 || entry == 5),
            [1, 5]
        );
        // 2 is still settled; 3 is not.
        let mut seen = Vec::new();
        table.take_dead(Visited::Young, |&mut entry| {
            seen.push(entry);
            false
        });
        assert_eq!(seen, [3, 6]);
    }
}
