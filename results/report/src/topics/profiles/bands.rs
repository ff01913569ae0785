//! The drawn part of a heap profile: its bands, their order, and the censuses.

use gclab_results::{Census, HeapProfile};
use std::collections::BTreeMap;

use crate::chart::{BAND_COLOURS, Band};

/// Maximum number of censuses that are drawn. If several share a point, the largest is drawn.
const POINTS: usize = 160;

/// The breakdown of a profile of lag and drag.
const BIOGRAPHY: &str = "biography";

/// The bands of a biography in the order of a life; they are never sorted by size.
const LIFE: [&str; 5] = ["VOID", "LAG", "USE", "INHERENT_USE", "DRAG"];

/// The bands of a chart from the bottom to the top, with their bytes at each of `censuses`: the
/// largest by area, and the rest as one band. A biography has all its bands, in the order of a
/// life.
pub(super) fn bands(profile: &HeapProfile, censuses: &[&Census]) -> Vec<Band> {
    let of = |name: &str| Band {
        name: name.to_owned(),
        bytes: censuses.iter().map(|census| bytes(census, name)).collect(),
        rest: false,
    };
    let names = by_area(profile);
    let mut bands: Vec<Band> = names.iter().take(BAND_COLOURS).map(|name| of(name)).collect();
    if let Some(left @ [_, ..]) = names.get(BAND_COLOURS..) {
        bands.push(Band {
            name: format!("({} more)", left.len()),
            bytes: censuses
                .iter()
                .map(|census| left.iter().map(|name| bytes(census, name)).sum())
                .collect(),
            rest: true,
        });
    }
    bands
}

/// The bytes of a band in a census; 0 if the census does not have it.
fn bytes(census: &Census, name: &str) -> u64 {
    census.bands.get(name).copied().unwrap_or(0)
}

/// The names of all bands, by area, largest first, then by name.
fn by_area(profile: &HeapProfile) -> Vec<&str> {
    let mut areas: BTreeMap<&str, f64> = BTreeMap::new();
    for (census, weight) in profile.censuses.iter().zip(weights(&profile.censuses)) {
        for (name, bytes) in &census.bands {
            *areas.entry(name).or_default() += weight * *bytes as f64;
        }
    }
    let mut names: Vec<(&str, f64)> = areas.into_iter().collect();
    names.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut names: Vec<&str> = names.into_iter().map(|(name, _)| name).collect();
    in_order_of_life(profile, &mut names, |name| name);
    names
}

/// The time that each census represents, in seconds: half of the time from the one before it to the
/// one after it. All weights are 1 if no time passed.
fn weights(censuses: &[Census]) -> Vec<f64> {
    let at = |index: usize| censuses[index].seconds;
    let last = censuses.len().saturating_sub(1);
    if censuses.is_empty() || at(0) >= at(last) {
        return vec![1.0; censuses.len()];
    }
    (0..=last)
        .map(|index| (at((index + 1).min(last)) - at(index.saturating_sub(1))) / 2.0)
        .collect()
}

/// Sorts the bands of a biography in the order of a life; other profiles keep their order.
pub(super) fn in_order_of_life<T>(profile: &HeapProfile, bands: &mut [T], name: impl Fn(&T) -> &str) {
    if profile.breakdown == BIOGRAPHY {
        bands.sort_by_key(|band| LIFE.iter().position(|stage| *stage == name(band)).unwrap_or(LIFE.len()));
    }
}

/// At most [`POINTS`] censuses, including the first and the last.
pub(super) fn thinned(profile: &HeapProfile) -> Vec<&Census> {
    let censuses = &profile.censuses;
    let mut drawn: Vec<&Census> = censuses
        .chunks(censuses.len().div_ceil(POINTS).max(1))
        .filter_map(|chunk| chunk.iter().max_by_key(|census| census.bytes()))
        .collect();
    if let (Some(first), Some(begin)) = (drawn.first_mut(), censuses.first()) {
        *first = begin;
    }
    if let (Some(last), Some(end)) = (drawn.last_mut(), censuses.last()) {
        *last = end;
    }
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;

    fn census(seconds: f64, bands: &[(&str, u64)]) -> Census {
        Census {
            seconds,
            bands: bands.iter().map(|(name, bytes)| ((*name).to_owned(), *bytes)).collect(),
            ..Census::default()
        }
    }

    fn profile(breakdown: &str, censuses: Vec<Census>) -> HeapProfile {
        HeapProfile {
            breakdown: breakdown.to_owned(),
            censuses,
            ..HeapProfile::default()
        }
    }

    fn names(profile: &HeapProfile) -> Vec<String> {
        bands(profile, &thinned(profile))
            .into_iter()
            .map(|band| band.name)
            .collect()
    }

    /// `short` has the largest census, but only briefly; `long` has the larger area.
    #[test]
    fn the_largest_by_area_not_by_census() {
        let censuses = vec![
            census(0.0, &[("long", 50)]),
            census(0.01, &[("long", 50), ("short", 400)]),
            census(0.02, &[("long", 50)]),
            census(1.0, &[("long", 50), ("none", 0)]),
        ];
        assert_eq!(names(&profile("type", censuses)), ["long", "short", "none"]);
        // If no time passes between censuses, the sums count.
        let at_once = vec![census(0.5, &[("a", 1), ("b", 2)]), census(0.5, &[("a", 2)])];
        assert_eq!(names(&profile("type", at_once)), ["a", "b"]);
    }

    #[test]
    fn a_life_is_not_sorted() {
        let census = census(
            1.0,
            &[("DRAG", 500), ("USE", 1), ("LAG", 30), ("VOID", 2), ("INHERENT_USE", 9)],
        );
        assert_eq!(names(&profile("biography", vec![census.clone()])), LIFE);
        assert_eq!(names(&profile("type", vec![census]))[0], "DRAG");
    }

    #[test]
    fn what_has_no_colour_is_one_band() {
        for (all, shown, rest) in [(12, 12, None), (13, 12, Some("(1 more)")), (40, 12, Some("(28 more)"))] {
            let many: Vec<(String, u64)> = (0..all).map(|n| (format!("T{n:02}"), 1000 - n)).collect();
            let many: Vec<(&str, u64)> = many.iter().map(|(name, bytes)| (name.as_str(), *bytes)).collect();
            let profile = profile("type", vec![census(0.0, &many), census(1.0, &many)]);
            let bands = bands(&profile, &thinned(&profile));
            let named = bands.iter().filter(|band| !band.rest).count();
            assert_eq!(named, shown, "of {all}");
            assert_eq!(bands.iter().find(|band| band.rest).map(|band| band.name.as_str()), rest);
            let drawn: u64 = bands.iter().map(|band| band.bytes[1]).sum();
            assert_eq!(drawn, profile.censuses[1].bytes(), "nothing is lost");
        }
    }

    #[test]
    fn thinning_keeps_the_ends_and_the_peak() {
        let mut censuses: Vec<Census> = (0..5000).map(|n| census(f64::from(n), &[("a", 10)])).collect();
        censuses[3210].bands.insert("b".to_owned(), 1);
        let profile = profile("type", censuses);
        let drawn = thinned(&profile);
        assert!(drawn.len() <= POINTS);
        assert_eq!((drawn[0].seconds, drawn[drawn.len() - 1].seconds), (0.0, 4999.0));
        assert!(drawn.iter().any(|census| census.bytes() == 11));
    }
}
