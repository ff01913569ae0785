//! How much better does a partition fit than one with fewer changes? The F statistics of Bai and
//! Perron, "Estimating and testing linear models with multiple structural changes" (1998).

use super::partition::{Partition, Sums, partitions};

/// With fewer points, a change cannot be distinguished from noise.
pub const POINTS_FOR_CHANGES: usize = 4;

/// Maximum number of changes in a history.
const MOST_CHANGES: usize = 10;

/// Sums of squares below this are rounding.
const ROUNDING: f64 = 1e-18;

/// How many changes to look for at most among `points` points: a third of them, so that enough are
/// left to show how much they scatter.
pub(super) fn most_changes(points: usize) -> usize {
    (points.saturating_sub(1) / 3).min(MOST_CHANGES)
}

/// The largest F statistic over all numbers of changes, with the best partition for each number.
pub(super) fn strongest(sums: &Sums) -> Option<(f64, Vec<Partition>)> {
    let points = sums.points();
    if points < POINTS_FOR_CHANGES {
        return None;
    }
    let partitions = partitions(sums, most_changes(points), 1);
    let whole = partitions[0].squares;
    if whole <= ROUNDING {
        return None;
    }
    let f = |changes: usize, squares: f64| {
        let left = squares.max(ROUNDING) / (points - changes - 1) as f64;
        (whole - squares) / changes as f64 / left
    };
    let all = partitions.iter().enumerate().skip(1);
    let greatest = all.map(|(changes, found)| f(changes, found.squares)).reduce(f64::max)?;
    Some((greatest, partitions))
}

/// The largest F statistic of one more change in one of the levels between `edges`; `None` if
/// nothing is left to explain.
pub(super) fn extra(sums: &Sums, edges: &[usize]) -> Option<f64> {
    let levels = || edges.windows(2).map(|edge| (edge[0], edge[1]));
    let squares: f64 = levels().map(|(from, to)| sums.squares(from, to)).sum();
    let gain = levels().map(|(from, to)| sums.gain(from, to)).reduce(f64::max)?;
    let degrees = sums.points().checked_sub(edges.len()).filter(|degrees| *degrees > 0)?;
    if squares <= ROUNDING {
        return None;
    }
    Some(gain / ((squares - gain).max(ROUNDING) / degrees as f64))
}
