//! Objects by their ids.
//!
//! **How.** Ids are addresses, and most objects refer to near ones. So ordinals are sorted by id, and
//! a table leads from equal parts of the range of ids to where their ordinals begin: an object is
//! where its neighbours are. Ids that are no addresses may all lie in one part, where bisection finds
//! them.

use crate::error::Problem;
use crate::memory::reserve;

/// The objects of a part, if they are spread evenly.
const PART: u64 = 4;

pub(super) struct Ids {
    least: u64,
    /// The part of an id is its distance from the least one, without so many low bits.
    shift: u32,
    /// By part: where its ordinals begin. Then where the last one ends.
    starts: Vec<u32>,
    ordinals: Vec<u32>,
}

impl Ids {
    /// The nodes from ordinal `first` on. Also returns the first one that has the id of another
    /// before it.
    pub(super) fn of(ids: &[u64], first: usize) -> Result<(Self, Option<u32>), Problem> {
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
        let ids = Ids {
            least,
            shift,
            starts,
            ordinals,
        };
        Ok((ids, twice))
    }

    /// The ordinal of an id among `ids`.
    #[inline]
    pub(super) fn find(&self, ids: &[u64], id: u64) -> Option<u32> {
        let part = usize::try_from(id.checked_sub(self.least)? >> self.shift).ok()?;
        let (start, end) = (*self.starts.get(part)?, *self.starts.get(part.checked_add(1)?)?);
        let some = &self.ordinals[start as usize..end as usize];
        let found = some.binary_search_by_key(&id, |&ordinal| ids[ordinal as usize]).ok()?;
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
            let (found, twice) = Ids::of(&ids, first).unwrap();
            let (mut known, mut second) = (HashMap::new(), None);
            for (ordinal, &id) in ids.iter().enumerate().skip(first) {
                if known.insert(id, ordinal as u32).is_some() {
                    second = second.or(Some(ordinal as u32));
                }
            }
            prop_assert_eq!(twice, second);
            for id in ids.iter().copied().chain(0..100).chain([u64::MAX]) {
                let all: Vec<_> = (first..ids.len()).filter(|&ordinal| ids[ordinal] == id).collect();
                match found.find(&ids, id) {
                    Some(ordinal) => prop_assert!(all.contains(&(ordinal as usize))),
                    None => prop_assert!(all.is_empty()),
                }
            }
        }
    }
}
