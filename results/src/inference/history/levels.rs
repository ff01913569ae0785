//! Is there a change at all, and how many are there?
//!
//! Source: Bai and Perron, "Estimating and testing linear models with multiple structural changes"
//! (1998), and their advice on practice in "Computation and analysis of multiple structural change
//! models" (2003), section 5. First `UDmax` says whether there is any change: the greatest F
//! statistic over all numbers of changes. A change that was undone later shows with two changes,
//! though not with one. Then `sup F(k+1 | k)` says whether one level of the best partition has
//! another change in it, until none has.
//!
//! The papers have tables for long series. Histories are short, so the chances are from
//! [`super::chance`].

use super::chance;
use super::partition::{Partition, Sums};
use super::point::Point;
use super::statistic::{extra, strongest};
use crate::inference::several::FALSE_SHARE;

/// The levels of a history, if it has a change at all.
#[derive(Debug, Clone, PartialEq)]
pub struct Levels {
    /// The first points of all levels except the first, in order. There is at least one.
    pub starts: Vec<usize>,
    /// The chance that pure noise fits as well. It is for judging several histories together: by
    /// itself, a history has a change if this is at most 5 %.
    pub chance: f64,
}

/// The levels of a history; `None` with fewer points than
/// [`POINTS_FOR_CHANGES`](super::POINTS_FOR_CHANGES), or if all points are equal.
pub fn levels(points: &[Point]) -> Option<Levels> {
    let values: Vec<f64> = points.iter().map(|point| point.log).collect();
    let sums = Sums::of(&values);
    let (statistic, partitions) = strongest(&sums)?;
    let found = number(&sums, &partitions);
    Some(Levels {
        starts: partitions[found].starts.clone(),
        chance: chance::of_any_change(statistic, points.len()),
    })
}

/// The number of changes, which is at least one.
fn number(sums: &Sums, partitions: &[Partition]) -> usize {
    let more = |found: &Partition| {
        let mut edges = vec![0];
        edges.extend(&found.starts);
        edges.push(sums.points());
        let lengths: Vec<usize> = edges.windows(2).map(|edge| edge[1] - edge[0]).collect();
        extra(sums, &edges).is_some_and(|statistic| chance::of_one_more(statistic, &lengths) <= FALSE_SHARE)
    };
    let most = partitions.len() - 1;
    (1..most).find(|&changes| !more(&partitions[changes])).unwrap_or(most)
}
