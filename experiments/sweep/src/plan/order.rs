//! The order within a round: a random one, which in the first round takes the ends and the middle
//! of each range first.
//!
//! A *range* is an axis whose values are all numbers. Its ends and its middle have rank 0, the
//! middles of the two gaps rank 1, those of the four gaps that remain rank 2, and so on. A
//! configuration has the highest rank of its values. The first round takes the ranks in turn, so
//! that curves show early. After it every configuration has a run, so all later rounds keep the
//! random order, which is free of such bias.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use gclab_core::words::size::read_number;
use rand_pcg::Pcg64;
use rand_pcg::rand_core::Rng;

/// The rank of each value of each range, by the axis and the text of the value. Axes whose values
/// all have rank 0 are left out.
#[derive(Debug, Default)]
pub(super) struct Ranks {
    of: HashMap<String, HashMap<String, u32>>,
    heaps: HashMap<u64, u32>,
}

impl Ranks {
    /// The ranks of the values of these axes, and of these multiples of the least heap.
    pub(super) fn new(axes: &BTreeMap<String, BTreeSet<String>>, heaps: &[f64]) -> Ranks {
        let of_axis = |(name, values): (&String, &BTreeSet<String>)| {
            let numbers = values.iter().map(|text| Some((read_number(text)?, text)));
            let numbers: Vec<(f64, &String)> = numbers.collect::<Option<_>>()?;
            let ranks = ranks(numbers)?;
            Some((
                name.clone(),
                ranks.into_iter().map(|(text, rank)| (text.clone(), rank)).collect(),
            ))
        };
        let heaps = heaps.iter().map(|multiple| (*multiple, multiple.to_bits())).collect();
        Ranks {
            of: axes.iter().filter_map(of_axis).collect(),
            heaps: ranks(heaps).unwrap_or_default().into_iter().collect(),
        }
    }

    /// Whether all values have rank 0.
    pub(super) fn is_empty(&self) -> bool {
        self.of.is_empty() && self.heaps.is_empty()
    }

    /// The highest rank of these values and of this multiple.
    pub(super) fn of<'v>(&self, values: impl Iterator<Item = (String, &'v str)>, heap: Option<f64>) -> u32 {
        let rank = |(name, value): (String, &str)| self.of.get(&name)?.get(value).copied();
        let heap = heap.and_then(|multiple| self.heaps.get(&multiple.to_bits()).copied());
        values.filter_map(rank).chain(heap).max().unwrap_or(0)
    }
}

/// The rank of each of these numbers; `None` if all have rank 0.
fn ranks<T>(mut numbers: Vec<(f64, T)>) -> Option<Vec<(T, u32)>> {
    if numbers.len() <= 3 {
        return None;
    }
    numbers.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut ranks = vec![0; numbers.len()];
    let mut gaps = vec![(0, numbers.len() - 1, 0)];
    while let Some((from, to, rank)) = gaps.pop() {
        if to - from >= 2 {
            let middle = from.midpoint(to);
            ranks[middle] = rank;
            gaps.extend([(from, middle, rank + 1), (middle, to, rank + 1)]);
        }
    }
    Some(numbers.into_iter().map(|(_, of)| of).zip(ranks).collect())
}

/// The order of `count` items in a round: a function of the seed and the round alone.
pub(super) fn order(count: usize, seed: u64, round: u32) -> Vec<u32> {
    let mut order: Vec<u32> = (0..).take(count).collect();
    shuffle(&mut order, &mut Pcg64::new(u128::from(seed), u128::from(round)));
    order
}

/// Shuffles by Fisher-Yates, from the last place down.
pub(crate) fn shuffle<T>(items: &mut [T], random: &mut Pcg64) {
    for last in (1..items.len()).rev() {
        items.swap(last, below(last as u64 + 1, random) as usize);
    }
}

/// A number below `bound`, each equally likely. Draws from the incomplete last span of the 64-bit
/// range are rejected.
fn below(bound: u64, random: &mut Pcg64) -> u64 {
    let whole = u64::MAX - u64::MAX % bound;
    loop {
        let draw = random.next_u64();
        if draw < whole {
            return draw % bound;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[&str]) -> Vec<u32> {
        let values = values.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let axes = [("A".to_owned(), values.iter().cloned().collect())].into();
        let ranks = Ranks::new(&axes, &[]);
        let rank = |text: &String| ranks.of([("A".to_owned(), text.as_str())].into_iter(), None);
        values.iter().map(rank).collect()
    }

    #[test]
    fn ends_and_middle_come_first_and_then_the_middles_of_gaps() {
        assert_eq!(of(&["1m", "2m", "4m", "8m", "16m"]), [0, 1, 0, 1, 0]);
        assert_eq!(
            of(&["16m", "64k", "1m", "256k"]),
            [0, 0, 1, 0],
            "by number, not by place"
        );
        assert_eq!(
            of(&["1", "2", "3", "4", "5", "6", "7", "8", "9"]),
            [0, 2, 1, 2, 0, 2, 1, 2, 0]
        );
        assert_eq!(of(&["1", "2", "3"]), [0, 0, 0]);
        assert_eq!(of(&["false", "0", "1", "2", "3"]), [0; 5], "no range");
        let heaps = Ranks::new(&BTreeMap::new(), &[6.0, 1.0, 1.5, 3.0, 2.0]);
        let rank = |multiple| heaps.of(std::iter::empty(), Some(multiple));
        assert_eq!([1.0, 1.5, 2.0, 3.0, 6.0].map(rank), [0, 1, 0, 1, 0]);
    }
}
