//! A heap profile in a file, drawn by the rules of `hp2ps`.
//!
//! **The rules.** A band's *total* is the sum of its values over all samples. The smallest bands,
//! which together make up less than one percent of all totals, are *traces* and not drawn. Of the
//! others, the twenty with the largest totals are drawn; if there are more, the nineteen largest
//! and `OTHER`, the sum of the rest. The largest is on top, `OTHER` at the bottom.

use crate::chart::{ALONE_COLOURS, Band, Stack, View};
use crate::format;
use gclab_eventlog::hp::{Profile, Sample};
use std::cmp::Reverse;

/// Number of bands in the picture.
const PLACES: usize = 20;
const _: () = assert!(PLACES <= ALONE_COLOURS);

/// Traces together stay below this percentage of all totals.
const TRACES: u128 = 1;

/// Maximum number of samples that are drawn. If several share a point, the largest is drawn.
const POINTS: usize = 200;

/// The name of the sum of the other bands.
const OTHER: &str = "OTHER";

/// A profile with the bands of its picture.
#[derive(Debug)]
pub(crate) struct FileProfile<'p> {
    /// The profile.
    pub(crate) profile: &'p Profile,
    /// All bands by total, largest first, then in file order.
    pub(crate) bands: Vec<FileBand>,
    /// How many bands, from the first, are drawn individually.
    pub(crate) drawn: usize,
    /// How many bands after those are drawn as one.
    pub(crate) other: usize,
    /// The sample with the largest sum; absent if there are no values.
    pub(crate) peak: Option<usize>,
    /// The samples that are drawn.
    points: Vec<usize>,
}

/// A band of a profile.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FileBand {
    /// The name.
    pub(crate) name: String,
    /// The sum of the values over all samples.
    pub(crate) total: u128,
    /// The samples that have the band, with its values.
    values: Vec<(usize, u64)>,
}

impl FileBand {
    /// The value in a sample.
    pub(crate) fn at(&self, sample: usize) -> u64 {
        match self.values.binary_search_by_key(&sample, |(sample, _)| *sample) {
            Ok(at) => self.values[at].1,
            Err(_) => 0,
        }
    }
}

impl<'p> FileProfile<'p> {
    /// Sorts the bands and chooses those that are drawn.
    pub(crate) fn of(profile: &'p Profile) -> Self {
        let bands = sorted(profile);
        let traces = traces(&bands);
        let places = bands.len() - traces;
        let drawn = if places > PLACES { PLACES - 1 } else { places };
        let sums: Vec<u64> = profile.samples.iter().map(Sample::sum).collect();
        // The first of equal ones.
        let peak = (0..sums.len()).rev().max_by_key(|&at| sums[at]);
        FileProfile {
            profile,
            bands,
            drawn,
            other: places - drawn,
            peak: peak.filter(|&at| sums[at] > 0),
            points: points(&sums),
        }
    }

    /// The sample in which these bands together are largest (the first of equal ones), and their
    /// value.
    pub(crate) fn most(&self, bands: &[FileBand]) -> (usize, u64) {
        let mut sums = vec![0_u64; self.profile.samples.len()];
        for (sample, value) in bands.iter().flat_map(|band| &band.values) {
            sums[*sample] = sums[*sample].saturating_add(*value);
        }
        let most = (0..sums.len()).rev().max_by_key(|at| sums[*at]).unwrap_or(0);
        (most, sums.get(most).copied().unwrap_or(0))
    }

    /// The bands that are drawn as one.
    pub(crate) fn others(&self) -> &[FileBand] {
        &self.bands[self.drawn..self.drawn + self.other]
    }

    /// The number of bands that are not drawn.
    pub(crate) fn traces(&self) -> usize {
        self.bands.len() - self.drawn - self.other
    }

    /// The sum of a sample.
    pub(crate) fn sum(&self, sample: usize) -> u64 {
        self.profile.samples[sample].sum()
    }

    /// The number of samples with any band. GHC writes an empty one at the start.
    pub(crate) fn censuses(&self) -> usize {
        let samples = self.profile.samples.iter();
        samples.filter(|sample| !sample.values.is_empty()).count()
    }

    /// The bands over time.
    pub(crate) fn chart(&self) -> Stack {
        let at = |sample: usize| self.profile.samples[sample].at;
        let (scale, unit, x_label) = match self.profile.sample_unit.as_str() {
            "seconds" => {
                let (scale, unit) = format::time_unit(self.points.last().map_or(0.0, |&last| at(last)));
                (scale, unit, format!("mutator CPU time, {unit}"))
            }
            unit => (1.0, "", unit.to_owned()),
        };
        let named = |band: &FileBand| Band {
            name: band.name.clone(),
            bytes: self.points.iter().map(|&sample| band.at(sample)).collect(),
            rest: false,
        };
        let sum = |sample: usize| self.others().iter().map(|band| band.at(sample)).sum();
        let other = (self.other > 0).then(|| Band {
            name: OTHER.to_owned(),
            bytes: self.points.iter().map(|&sample| sum(sample)).collect(),
            rest: true,
        });
        let marks = self.profile.marks.iter();
        Stack {
            title: format!("{} in the heap", self.profile.value_unit),
            x_label,
            x: self.points.iter().map(|&sample| at(sample) * scale).collect(),
            bands: other
                .into_iter()
                .chain(self.bands[..self.drawn].iter().rev().map(named))
                .collect(),
            markers: marks.map(|mark| (mark * scale, String::new())).collect(),
            alone: Some(unit),
            view: View::Bytes,
        }
    }
}

/// The bands of a profile, the largest total first.
fn sorted(profile: &Profile) -> Vec<FileBand> {
    let named = |name: &String| FileBand {
        name: name.clone(),
        total: 0,
        values: Vec::new(),
    };
    let mut bands: Vec<FileBand> = profile.names.iter().map(named).collect();
    for (at, sample) in profile.samples.iter().enumerate() {
        for &(band, value) in &sample.values {
            bands[band].values.push((at, value));
            bands[band].total += u128::from(value);
        }
    }
    bands.sort_by_key(|band| Reverse(band.total));
    bands
}

/// The number of traces, which are the last of these bands.
fn traces(bands: &[FileBand]) -> usize {
    let all: u128 = bands.iter().map(|band| band.total).sum();
    let mut sum = 0;
    let is_trace = |band: &&FileBand| {
        sum += band.total;
        sum * 100 < all * TRACES
    };
    bands.iter().rev().take_while(is_trace).count()
}

/// At most [`POINTS`] samples, including the first, the last and the largest.
fn points(sums: &[u64]) -> Vec<usize> {
    let all: Vec<usize> = (0..sums.len()).collect();
    let largest = |places: &[usize]| places.iter().copied().max_by_key(|&at| sums[at]);
    let mut points: Vec<usize> = all
        .chunks(sums.len().div_ceil(POINTS - 2).max(1))
        .filter_map(largest)
        .chain(all.first().copied())
        .chain(all.last().copied())
        .collect();
    points.sort_unstable();
    points.dedup();
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A profile of these bands, each with its values sample by sample.
    fn profile(bands: &[(&str, &[u64])]) -> Profile {
        let samples = bands.first().map_or(0, |band| band.1.len());
        let values = |at: usize| {
            bands
                .iter()
                .enumerate()
                .map(move |(band, (_, values))| (band, values[at]))
        };
        Profile {
            names: bands.iter().map(|band| band.0.to_owned()).collect(),
            samples: (0..samples)
                .map(|at| Sample {
                    at: at as f64,
                    values: values(at).collect(),
                })
                .collect(),
            sample_unit: "seconds".to_owned(),
            ..Profile::default()
        }
    }

    /// The names of the drawn bands from the top to the bottom.
    fn names(profile: &Profile) -> Vec<String> {
        let chart = FileProfile::of(profile).chart();
        chart.bands.iter().rev().map(|band| band.name.clone()).collect()
    }

    #[test]
    fn the_largest_total_is_on_top_and_traces_are_left_out() {
        // The totals of `trace` and `small` are 17 of 997, and the total of `trace` alone is 8.
        let file = profile(&[
            ("small", &[4, 5]),
            ("large", &[500, 400]),
            ("trace", &[3, 5]),
            ("middle", &[40, 40]),
        ]);
        assert_eq!(names(&file), ["large", "middle", "small"]);
        assert_eq!(FileProfile::of(&file).traces(), 1);
        assert_eq!(FileProfile::of(&file).peak, Some(0));
    }

    #[test]
    fn of_more_than_twenty_bands_the_smallest_are_one() {
        let all: Vec<(String, [u64; 1])> = (0..30).map(|band| (format!("b{band:02}"), [1000 - band])).collect();
        let bands: Vec<(&str, &[u64])> = all.iter().map(|(name, values)| (name.as_str(), &values[..])).collect();
        let expected: Vec<&str> = bands.iter().map(|band| band.0).collect();
        assert_eq!(names(&profile(&bands[..20])), expected[..20]);
        for count in [21, 30] {
            let file = profile(&bands[..count]);
            let chart = FileProfile::of(&file).chart();
            let lowest = &chart.bands[0];
            assert_eq!(
                (chart.bands.len(), lowest.name.as_str(), lowest.rest),
                (20, OTHER, true)
            );
            assert_eq!(names(&file)[..19], expected[..19]);
            let drawn: u64 = chart.bands.iter().map(|band| band.bytes[0]).sum();
            assert_eq!(drawn, file.samples[0].sum());
        }
    }

    #[test]
    fn thinning_keeps_the_ends_and_the_peak() {
        for peak in [0, 1, 3210, 4998, 4999] {
            let mut sums = vec![10; 5000];
            sums[peak] = 11;
            let points = points(&sums);
            assert!(points.len() <= POINTS && points.is_sorted());
            assert!(
                [0, peak, 4999].iter().all(|at| points.contains(at)),
                "{peak}: {points:?}"
            );
        }
        assert_eq!(points(&[1, 2, 3]), [0, 1, 2]);
        assert_eq!(points(&[]), [0; 0]);
    }

    #[test]
    fn a_chart_alone_shows_values_under_the_pointer() {
        let file = profile(&[("a<b", &[1024, 3072]), ("c", &[1024, 1024])]);
        let svg = FileProfile::of(&file).chart().svg();
        assert!(
            svg.contains("<title>a&lt;b: 3.0 KiB (75.0 % of 4.0 KiB) at 1 seconds</title>"),
            "{svg}"
        );
        assert!(
            svg.contains("<title>c: 1.0 KiB (50.0 % of 2.0 KiB) at 0 seconds</title>"),
            "{svg}"
        );
        assert!(svg.contains(r#"viewBox="0 0 1000 "#), "as wide as its page: {svg}");
        let lone = profile(&[("a", &[1])]);
        assert!(!FileProfile::of(&lone).chart().svg().contains("NaN"));
        assert!(FileProfile::of(&Profile::default()).chart().svg().ends_with("</svg>"));
    }
}
