//! Slots of a table at stable indices, for handles and ephemerons.
//!
//! A list has the entries whose closures may be young: those made since the last collection, and those
//! whose closures were young after it. A collection of generation 0 visits no others
//! ([`Visited::Young`]), since old closures do not move. So entries of old closures and empty ones cost
//! it nothing.

use super::aged::Visited;
use super::prescan::{Prescan, STEP};

/// Entries of `N` slots each.
#[derive(Debug)]
pub(super) struct Slots<const N: usize> {
    /// At stable indices. An entry with nothing but zeros is vacant, or its closures have died.
    entries: Vec<[u64; N]>,
    vacant: Vec<usize>,
    /// The entries whose closures may be young, each once, and whether an entry is in this list.
    young: Vec<usize>,
    is_listed: Vec<bool>,
    /// Of all entries, while a snapshot is marked.
    prescan: Option<Prescan>,
    /// Dropped while a collection owned the slots.
    dropped: Vec<usize>,
}

impl<const N: usize> Default for Slots<N> {
    fn default() -> Self {
        Slots {
            entries: Vec::new(),
            vacant: Vec::new(),
            young: Vec::new(),
            is_listed: Vec::new(),
            prescan: None,
            dropped: Vec::new(),
        }
    }
}

impl<const N: usize> Slots<N> {
    pub(super) fn insert(&mut self, entry: [u64; N]) -> usize {
        let index = self.vacant.pop().unwrap_or_else(|| {
            self.entries.push([0; N]);
            self.is_listed.push(false);
            self.entries.len() - 1
        });
        self.entries[index] = entry;
        if !std::mem::replace(&mut self.is_listed[index], true) {
            self.young.push(index);
        }
        index
    }

    /// Whether no entry was ever made.
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn get(&self, index: usize) -> [u64; N] {
        self.entries[index]
    }

    /// Frees an entry; if `collecting`, when [`Slots::remove_dropped`] says so.
    pub(super) fn remove(&mut self, index: usize, collecting: bool) {
        if collecting {
            self.dropped.push(index);
            return;
        }
        self.entries[index] = [0; N];
        self.vacant.push(index);
    }

    pub(super) fn remove_dropped(&mut self) {
        for index in std::mem::take(&mut self.dropped) {
            self.remove(index, false);
        }
    }

    /// Removes from the list the entries whose closures are old, and empty ones.
    pub(super) fn settle(&mut self, is_old: impl Fn(u64) -> bool) {
        let Slots {
            entries,
            young,
            is_listed,
            prescan,
            ..
        } = self;
        young.retain(|&index| {
            let entry = entries[index];
            is_listed[index] = entry.iter().any(|&word| word != 0 && !is_old(word));
            if let Some(prescan) = prescan.as_mut().filter(|_| entry != [0; N] && !is_listed[index]) {
                prescan.inserted(index);
            }
            is_listed[index]
        });
    }

    /// Calls `visit` for the entries that are visited, some of them twice.
    pub(super) fn for_each(&mut self, visited: Visited, mut visit: impl FnMut(&mut [u64; N])) {
        self.for_each_listed(visited, &mut visit);
        let rest = self.rest(visited);
        self.entries[rest..].iter_mut().for_each(visit);
    }

    /// The same for those that come before [`Slots::rest`].
    pub(super) fn for_each_listed(&mut self, visited: Visited, mut visit: impl FnMut(&mut [u64; N])) {
        let Slots {
            entries,
            young,
            prescan,
            ..
        } = self;
        let mut visit = |&index: &usize| visit(&mut entries[index]);
        match visited {
            Visited::All => {}
            Visited::Young => young.iter().for_each(visit),
            Visited::Doubtful => {
                young.iter().for_each(&mut visit);
                prescan.iter().flat_map(Prescan::doubtful).for_each(visit);
            }
        }
    }

    /// Calls `visit` for some entries, from number `from` on. Returns the number of the next one; `None`
    /// after the last.
    pub(super) fn some(&self, from: usize, visit: impl FnMut([u64; N])) -> Option<usize> {
        let rest = self.entries.get(from..).filter(|rest| !rest.is_empty())?;
        rest.iter().copied().take(STEP).for_each(visit);
        Some(from + STEP)
    }

    /// From here on all entries are visited.
    fn rest(&self, visited: Visited) -> usize {
        match visited {
            Visited::All => 0,
            Visited::Young => self.entries.len(),
            Visited::Doubtful => self.prescan.as_ref().map_or(0, Prescan::rest),
        }
    }

    /// The entries from [`Slots::rest`] on.
    pub(super) fn rest_of(&mut self, visited: Visited) -> &mut [[u64; N]] {
        let rest = self.rest(visited);
        &mut self.entries[rest..]
    }

    /// A prescan begins, or is over.
    pub(super) fn set_prescan(&mut self, yes: bool) {
        self.prescan = yes.then(Prescan::default);
    }

    /// Looks at some entries, if a prescan has begun. Returns whether it has seen all of them.
    pub(super) fn prescan(&mut self, mut is_settled: impl FnMut([u64; N]) -> bool) -> bool {
        let entries = &self.entries;
        let prescan = self.prescan.as_mut();
        prescan.is_none_or(|prescan| prescan.step(entries.len(), |index| is_settled(entries[index])))
    }
}

#[cfg(all(test, not(any(gclab_loom, gclab_shuttle))))]
mod tests {
    use super::*;

    fn visited(slots: &mut Slots<1>, visited: Visited) -> Vec<u64> {
        let mut words = Vec::new();
        slots.for_each(visited, |[word]| words.push(*word));
        words
    }

    #[test]
    fn slots_of_old_closures_and_empty_slots_are_visited_only_with_all_others() {
        let mut slots = Slots::default();
        let indices: Vec<_> = [8, 16, 24].map(|word| slots.insert([word])).into();
        assert_eq!(visited(&mut slots, Visited::Young), [8, 16, 24]);
        // A collection cleared one.
        slots.entries[indices[0]] = [0];
        slots.settle(|word| word == 16);
        assert_eq!(visited(&mut slots, Visited::Young), [24]);
        assert_eq!(visited(&mut slots, Visited::All), [0, 16, 24]);
        // A slot that is taken repeatedly is listed once.
        for index in [indices[1], indices[2]] {
            for word in [32, 40] {
                slots.remove(index, false);
                assert_eq!(slots.insert([word]), index);
            }
        }
        assert_eq!(visited(&mut slots, Visited::Young), [40, 40]);
        slots.settle(|_| true);
        assert_eq!(visited(&mut slots, Visited::Young), [0; 0]);
    }
}
