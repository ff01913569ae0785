//! Objects by their ids.
//!
//! **How.** Ids are addresses, and most objects refer to near ones. So ordinals are sorted by id, and
//! a table leads from equal parts of the range of ids to where their ordinals begin: an object is
//! where its neighbours are. Ids that are no addresses may all lie in one part, where bisection finds
//! them.

use crate::error::Problem;
use crate::memory::{TOGETHER, reserve, touch};

/// The objects of a part, if they are spread evenly.
const PART: u64 = 4;

pub(super) struct Ids<'i> {
    /// By ordinal.
    ids: &'i [u64],
    least: u64,
    /// The part of an id is its distance from the least one, without so many low bits.
    shift: u32,
    /// By part: where its ordinals begin. Then where the last one ends.
    starts: Vec<u32>,
    ordinals: Vec<u32>,
    /// The first node that has the id of another before it.
    pub(super) twice: Option<u32>,
}

impl<'i> Ids<'i> {
    /// The nodes from ordinal `first` on.
    pub(super) fn of(ids: &'i [u64], first: usize) -> Result<Self, Problem> {
        let id = |ordinal: u32| ids[ordinal as usize];
        let (mut ordinals, mut starts) = (Vec::new(), Vec::new());
        reserve(&mut ordinals, ids.len() - first)?;
        ordinals.extend(first as u32..ids.len() as u32);
        // Stable, and fast for the runs of a dump.
        ordinals.sort_by_key(|&ordinal| id(ordinal));
        let same = ordinals.windows(2).filter(|pair| id(pair[0]) == id(pair[1]));
        let twice = same.map(|pair| pair[1]).min();
        let [least, most] = [ordinals.first(), ordinals.last()].map(|end| end.map_or(0, |&end| id(end)));
        let mut shift = 0;
        while (most - least) >> shift > (ordinals.len() as u64 / PART).max(1) {
            shift += 1;
        }
        let parts = ((most - least) >> shift) as usize + 1;
        reserve(&mut starts, parts + 1)?;
        for (at, &ordinal) in (0..).zip(&ordinals) {
            let part = ((id(ordinal) - least) >> shift) as usize;
            starts.resize(starts.len().max(part + 1), at);
        }
        starts.resize(parts + 1, ordinals.len() as u32);
        Ok(Ids {
            ids,
            least,
            shift,
            starts,
            ordinals,
            twice,
        })
    }

    /// The part of an id.
    fn part(&self, id: u64) -> Option<u32> {
        u32::try_from(id.checked_sub(self.least)? >> self.shift).ok()
    }

    /// The id of a node.
    pub(super) fn id(&self, node: usize) -> Option<u64> {
        self.ids.get(node).copied()
    }

    /// The highest id.
    pub(super) fn highest(&self) -> u64 {
        self.ordinals.last().map_or(0, |&last| self.ids[last as usize])
    }

    /// The ordinals of many ids.
    pub(super) fn find_all(&self, ids: &[u64]) -> Vec<Option<u32>> {
        let some = ids.chunks(TOGETHER).inspect(|some| self.expect(some));
        some.flatten().map(|&id| self.find(id)).collect()
    }

    /// Brings what finding some ids needs into the cache.
    fn expect(&self, some: &[u64]) {
        let parts = some.iter().filter_map(|&id| self.part(id));
        touch(&self.starts, parts.clone());
        let starts = parts.filter_map(|part| self.starts.get(part as usize).copied());
        touch(&self.ordinals, starts.clone());
        touch(
            self.ids,
            starts.filter_map(|start| self.ordinals.get(start as usize).copied()),
        );
    }

    /// The ordinal of an id.
    #[inline]
    pub(super) fn find(&self, id: u64) -> Option<u32> {
        let part = self.part(id)? as usize;
        let (start, end) = (*self.starts.get(part)?, *self.starts.get(part + 1)?);
        let some = &self.ordinals[start as usize..end as usize];
        let found = some
            .binary_search_by_key(&id, |&ordinal| self.ids[ordinal as usize])
            .ok()?;
        Some(some[found])
    }
}

#[cfg(test)]
mod tests {
    use super::Ids;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn objects_are_found_by_their_ids(
            mut ids in prop::collection::vec(prop_oneof![any::<u64>(), 0_u64..99, 4000_u64..4009], 0..50),
            first in 0_usize..3,
        ) {
            ids.splice(..0, vec![7; first]);
            let found = Ids::of(&ids, first).unwrap();
            let (mut known, mut second) = (HashMap::new(), None);
            for (ordinal, &id) in ids.iter().enumerate().skip(first) {
                if known.insert(id, ordinal as u32).is_some() {
                    second = second.or(Some(ordinal as u32));
                }
            }
            prop_assert_eq!(found.twice, second);
            for id in ids.iter().copied().chain(0..100).chain([u64::MAX]) {
                let all: Vec<_> = (first..ids.len()).filter(|&ordinal| ids[ordinal] == id).collect();
                match found.find(id) {
                    Some(ordinal) => prop_assert!(all.contains(&(ordinal as usize))),
                    None => prop_assert!(all.is_empty()),
                }
            }
        }
    }
}
