//! Quantiles and percentiles of sorted values.
//!
//! Sources: Hyndman and Fan, "Sample quantiles in statistical packages" (1996), type 7, for
//! quantiles; the nearest rank for percentiles of single events, which is always an observed value.

/// The p-quantile of sorted values, interpolated linearly between order statistics (type 7 of
/// Hyndman and Fan).
///
/// # Panics
/// When there are no values.
pub(crate) fn quantile(sorted: &[f64], p: f64) -> f64 {
    let position = p.clamp(0.0, 1.0) * (sorted.len() - 1) as f64;
    let below = sorted[position.floor() as usize];
    let above = sorted[position.ceil() as usize];
    below + (above - below) * position.fract()
}

/// The p-th percentile of sorted values by nearest rank: value number ceil(p/100 · n), which is
/// always an observed value. Above the median it needs 1 / (1 - p/100) values: 10 for 90 %, 100 for
/// 99 %, 1000 for 99.9 %. With fewer it would be the largest value, so it is `None`.
pub fn nearest_rank<T: Copy>(sorted: &[T], p: f64) -> Option<T> {
    let beyond = (100.0 - p) / 100.0 * sorted.len() as f64;
    if p > 50.0 && p < 100.0 && beyond < 1.0 - 1e-9 {
        return None;
    }
    sorted.get(rank(sorted.len(), p) - 1).copied()
}

/// The rank of the p-th percentile of `n` values, from 1.
pub(crate) fn rank(n: usize, p: f64) -> usize {
    // 99.9 % of 1000 is 999.0000000000001 in binary. Without the correction the rank would be 1000.
    (p / 100.0 * n as f64 - 1e-9).ceil().max(1.0) as usize
}
