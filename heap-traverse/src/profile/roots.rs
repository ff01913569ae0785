//! The root profile (`-ho`): how much is reachable from which of the named roots.
//!
//! A band is a combination of roots: the closures reachable from all of these roots and from no
//! other. All bands together are the closures reachable from any named root. Only combinations that
//! occur are kept, so there may be any number of roots. Weak roots count like others while their
//! closures live, but do not keep them alive.

use super::bands::{Bands, NONE};
use super::reach::{COMMON, Reach};
use super::sets::{Label, Sets};
use crate::traverse::Traversal;
use gclab_core::closure::TypeInfo;
use gclab_core::world::Stopped;
use std::collections::HashMap;

/// The separator of names in a combination.
const AND: char = '-';

/// Up to this many roots, a table shows all combinations, even empty ones.
const SHOWN_IN_FULL: usize = 4;

/// Counts bytes by combination, without empty combinations.
pub(super) fn roots(
    stopped: &Stopped<'_>,
    (traversal, reach): (&mut Traversal, &mut Reach),
    bands: &mut Bands,
) -> RootCensus {
    let mut names: Vec<String> = Vec::new();
    let mut numbers: HashMap<String, Label> = HashMap::new();
    let mut roots = Vec::new();
    for root in stopped.named_roots() {
        // Several roots with the same name count as one.
        let label = *numbers.entry(root.name).or_insert_with_key(|name| {
            names.push(name.clone());
            names.len() as Label - 1
        });
        roots.extend(root.closure.map(|closure| (closure, label)));
    }
    let mut sets = Sets::new(usize::MAX);
    let side_words = stopped.side_words().map(|side_words| &**side_words);
    let mut words: Vec<u64> = Vec::new();
    let by_stacks = bands.look_at_stacks();
    let (mut last, mut takes): (Option<&TypeInfo>, _) = (None, false);
    let found = reach.named(traversal, &roots, &mut sets, |closure, region| {
        let info = closure.info();
        // Neighbours are often of one type.
        if by_stacks {
            takes = bands.of_closure(closure, side_words) != NONE;
        } else if !last.is_some_and(|last| std::ptr::eq(last, info)) {
            (last, takes) = (Some(info), bands.of(info) != NONE);
        }
        if !takes {
            return;
        }
        if region as usize >= words.len() {
            words.resize(region as usize + 1, 0);
        }
        words[region as usize] += closure.words().0 as u64;
    });
    let mut bytes = vec![0; sets.len()];
    for (set, words) in found.sets.iter().zip(&words) {
        bytes[*set as usize] += words * 8;
    }
    // Closures in parts were counted under `COMMON` before.
    let parts: u64 = words.iter().skip(found.parts as usize).sum();
    bytes[found.sets[COMMON as usize] as usize] -= parts * 8;
    let some = bytes.iter().enumerate().filter(|(_, bytes)| **bytes > 0);
    let combinations = some
        .map(|(set, bytes)| (sets.labels(set as u32).to_vec(), *bytes))
        .collect();
    RootCensus { names, combinations }
}

/// The result of a root profile.
#[derive(Debug)]
pub(super) struct RootCensus {
    names: Vec<String>,
    /// The numbers of the roots in ascending order, and bytes.
    combinations: Vec<(Vec<Label>, u64)>,
}

impl RootCensus {
    /// The names of the roots, joined. A name that contains a dash is put in braces, so that no two
    /// combinations have the same name.
    fn name(&self, combination: &[Label]) -> String {
        let of_root = |label: &Label| {
            let name = &self.names[*label as usize];
            if name.contains([AND, '{', '}']) {
                format!("{{{name}}}")
            } else {
                name.clone()
            }
        };
        let names: Vec<_> = combination.iter().map(of_root).collect();
        names.join(&AND.to_string())
    }

    /// Bytes by the names of combinations.
    pub(super) fn bands(&self) -> Vec<(String, u64)> {
        let all = self.combinations.iter();
        all.map(|(labels, bytes)| (self.name(labels), *bytes)).collect()
    }

    /// The same for a table. If there are few roots it has all combinations, single roots first.
    pub(super) fn table(&self) -> Option<Vec<(String, u64)>> {
        let count = self.names.len();
        if count == 0 || count > SHOWN_IN_FULL {
            return None;
        }
        // The first root is the highest bit, so that the combinations of one size descend.
        let labels = |bits: u32| (0..count as Label).filter(move |label| bits << label >> (count - 1) & 1 == 1);
        let of_size = |size: u32| (1..1_u32 << count).rev().filter(move |bits| bits.count_ones() == size);
        let all = (1..=count as u32).flat_map(of_size);
        let all: Vec<Vec<Label>> = all.map(|bits| labels(bits).collect()).collect();
        let bytes = |labels: &Vec<Label>| {
            let found = self.combinations.iter().find(|(other, _)| other == labels);
            found.map_or(0, |(_, bytes)| *bytes)
        };
        Some(all.iter().map(|labels| (self.name(labels), bytes(labels))).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A root called `a-b`, and the closures that `a` and `b` share.
    #[test]
    fn roots_whose_names_have_dashes_have_bands_of_their_own() {
        let census = RootCensus {
            names: ["a", "b", "a-b", "c"].map(str::to_owned).to_vec(),
            combinations: vec![(vec![0, 1], 8), (vec![2], 16), (vec![2, 3], 32)],
        };
        let bands = census.bands();
        let names: Vec<&str> = bands.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["a-b", "{a-b}", "{a-b}-c"]);
    }
}
