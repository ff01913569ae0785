//! Sets of labels, each kept once. A set is a number, and two sets are equal if their numbers are.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher};

/// A label: the number of a retainer or of a named root.
pub(super) type Label = u32;

/// The number of a set of labels.
pub(super) type Set = u32;

/// The empty set of labels.
pub(super) const EMPTY: Set = 0;

/// The set for all sets with more labels than the limit allows.
pub(super) const MANY: Set = 1;

/// A hasher without a random seed: the same from run to run, which is easier to debug.
type Hasher = BuildHasherDefault<DefaultHasher>;

/// The number of unions that are remembered: 192 KiB of them.
const REMEMBERED: usize = 1 << 14;

/// All sets that have occurred.
#[derive(Debug)]
pub(super) struct Sets {
    /// Larger sets are [`MANY`].
    limit: usize,
    /// The labels of all sets, one set after another, each ascending.
    labels: Vec<Label>,
    /// The place where the labels of each set begin, and one more at the end.
    starts: Vec<usize>,
    numbers: HashMap<Box<[Label]>, Set, Hasher>,
    /// Unions of two sets, the lower number first. The two numbers determine the place, which holds
    /// the last union put there. Empty until the first union.
    unions: Vec<(Set, Set, Set)>,
}

impl Sets {
    /// Makes the empty set and [`MANY`]. `limit` is the maximum number of labels in a set.
    pub(super) fn new(limit: usize) -> Self {
        Sets {
            limit,
            labels: Vec::new(),
            starts: vec![0, 0, 0],
            numbers: HashMap::from_iter([(Box::default(), EMPTY)]),
            unions: Vec::new(),
        }
    }

    /// The maximum number of labels in a set.
    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// The number of sets, those two included.
    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The labels of a set, ascending. [`MANY`] has none.
    pub(super) fn labels(&self, set: Set) -> &[Label] {
        &self.labels[self.starts[set as usize]..self.starts[set as usize + 1]]
    }

    /// The set of one label.
    pub(super) fn single(&mut self, label: Label) -> Set {
        self.intern(vec![label])
    }

    /// The union of two sets.
    #[inline(always)]
    pub(super) fn union(&mut self, one: Set, other: Set) -> Set {
        let (low, high) = (one.min(other), one.max(other));
        match (low, high) {
            _ if low == high || low == EMPTY => high,
            (MANY, _) => MANY,
            _ => self.union_of(low, high),
        }
    }

    fn union_of(&mut self, low: Set, high: Set) -> Set {
        if self.unions.is_empty() {
            self.unions.resize(REMEMBERED, (EMPTY, EMPTY, EMPTY));
        }
        let place = (low.wrapping_mul(0x9e37_79b9) ^ high.wrapping_mul(0x85eb_ca6b)) as usize >> 16 & (REMEMBERED - 1);
        let (one, other, known) = self.unions[place];
        if (one, other) == (low, high) {
            return known;
        }
        let union = self.intern(merge(self.labels(low), self.labels(high)));
        self.unions[place] = (low, high, union);
        union
    }

    /// The set with the same labels as `set` of `others`.
    ///
    /// # Panics
    /// If `others` has another limit.
    pub(super) fn same(&mut self, set: Set, others: &Sets) -> Set {
        assert_eq!(self.limit, others.limit, "sets with two limits");
        match set {
            MANY => MANY,
            set => self.intern(others.labels(set).to_vec()),
        }
    }

    fn intern(&mut self, labels: Vec<Label>) -> Set {
        if labels.len() > self.limit {
            return MANY;
        }
        if let Some(&known) = self.numbers.get(labels.as_slice()) {
            return known;
        }
        let number = self.len() as Set;
        self.labels.extend_from_slice(&labels);
        self.starts.push(self.labels.len());
        self.numbers.insert(labels.into_boxed_slice(), number);
        number
    }
}

/// Merges two ascending lists.
fn merge(mut one: &[Label], mut other: &[Label]) -> Vec<Label> {
    let mut all = Vec::with_capacity(one.len() + other.len());
    while let (Some(&a), Some(&b)) = (one.first(), other.first()) {
        all.push(a.min(b));
        if a <= b {
            one = &one[1..];
        }
        if b <= a {
            other = &other[1..];
        }
    }
    all.extend_from_slice(one);
    all.extend_from_slice(other);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "sets with two limits")]
    fn sets_of_another_limit_are_not_mixed() {
        let mut others = Sets::new(4);
        let one = others.single(1);
        Sets::new(3).same(one, &others);
    }

    #[test]
    fn one_set_one_number() {
        let mut sets = Sets::new(3);
        let [a, b, c, d] = [5, 2, 9, 7].map(|label| sets.single(label));
        let ab = sets.union(a, b);
        let bc = sets.union(c, b);
        assert_eq!(sets.labels(ab), [2, 5]);
        assert_eq!(
            (sets.union(ab, c), sets.union(ab, bc)),
            (sets.union(a, bc), sets.union(a, bc))
        );
        assert_eq!(
            (sets.union(ab, EMPTY), sets.union(a, a), sets.union(ab, a)),
            (ab, a, ab)
        );
        let abc = sets.union(ab, c);
        assert_eq!(sets.labels(abc), [2, 5, 9]);
        assert_eq!(
            (sets.union(abc, d), sets.union(MANY, a), sets.union(MANY, EMPTY)),
            (MANY, MANY, MANY)
        );
        assert_eq!(sets.union(abc, bc), abc);
        assert!(sets.labels(MANY).is_empty());
    }
}
