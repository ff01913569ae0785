//! How often would pure noise fit as well? The statistics in `statistic` are ratios of sums of
//! squares, so without a change their distribution depends only on the number of points. It has no
//! closed form, so it is simulated with series of normal noise from a seeded generator: the same
//! history always gives the same chances.

use super::partition::Sums;
use super::statistic::{extra, most_changes, strongest};
use crate::inference::noise::Noise;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// The seed of all series of noise.
const SEED: u128 = 0x0068_6973_746f_7279;

/// The number of series, if they are short.
const SERIES: usize = 9_999;

/// The minimum number of series, for a long history: a chance below one in a thousand is then
/// unknown.
const LEAST_SERIES: usize = 999;

/// About as many steps as fit in a second.
const STEPS: usize = 200_000_000;

/// The distributions simulated so far, by the number of points or by the lengths of levels.
static KNOWN: Mutex<Option<HashMap<Vec<usize>, Vec<f64>>>> = Mutex::new(None);

/// The chance of a statistic of [`strongest`] this large in `points` points without a change.
pub(super) fn of_any_change(statistic: f64, points: usize) -> f64 {
    let steps = points * points * most_changes(points) / 2;
    let series = (STEPS / steps.max(1)).clamp(LEAST_SERIES, SERIES);
    let draw = |values: &[f64]| strongest(&Sums::of(values)).map_or(0.0, |(statistic, _)| statistic);
    above(statistic, vec![points], series, draw)
}

/// The chance of a statistic of [`extra`] this large in levels of these lengths without any more
/// change.
pub(super) fn of_one_more(statistic: f64, lengths: &[usize]) -> f64 {
    let draw = |values: &[f64]| {
        let mut edges = vec![0];
        edges.extend(lengths.iter().scan(0, |end, length| {
            *end += length;
            Some(*end)
        }));
        extra(&Sums::of(values), &edges).unwrap_or(0.0)
    };
    // A first element that is never a number of points distinguishes the two kinds.
    let key: Vec<usize> = std::iter::once(0).chain(lengths.iter().copied()).collect();
    above(statistic, key, LEAST_SERIES, draw)
}

/// The share of series of noise whose statistic is at least this large; the history itself counts
/// as one, so that no chance is 0 (Davison and Hinkley, 1997, section 4.2).
fn above(statistic: f64, key: Vec<usize>, series: usize, draw: impl Fn(&[f64]) -> f64) -> f64 {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let known = known.get_or_insert_default();
    let points: usize = key.iter().sum();
    let sorted = known.entry(key).or_insert_with(|| {
        let mut noise = Noise::new(SEED);
        let mut values = vec![0.0; points];
        let mut drawn: Vec<f64> = (0..series)
            .map(|_| {
                values.iter_mut().for_each(|value| *value = noise.normal());
                draw(&values)
            })
            .collect();
        drawn.sort_by(f64::total_cmp);
        drawn
    });
    let below = sorted.partition_point(|drawn| *drawn < statistic);
    (sorted.len() - below + 1) as f64 / (sorted.len() + 1) as f64
}
