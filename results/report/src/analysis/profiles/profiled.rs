//! One profiled run: its chart, its peak, and remarks.

use super::bands::{bands, in_order_of_life, thinned};
use crate::chart::{BAND_COLOURS, Band, Stack, View};
use crate::folder::{Results, Untimed};
use crate::format::{self, counted, shortened};
use crate::metric::Unit;
use crate::summary::{Group, Summary, axes};
use gclab_results::order::Arrange;
use gclab_results::{Census, HeapProfile, PROFILES, RunRecord};

/// The most bands in the table of a peak.
const ROWS: usize = BAND_COLOURS;
/// The most members of a set of retainers that a table names.
const MEMBERS: usize = 4;

/// A run that was done for its heap profile.
#[derive(Debug)]
pub(crate) struct Profiled<'a> {
    /// The profiled run.
    pub(crate) run: &'a RunRecord,
    /// The collector, the axes and the flags of the profile, e.g. `copying A=1m, -hy -i0`.
    pub(crate) label: String,
    /// The profile, if the run wrote one.
    pub(crate) profile: Option<&'a HeapProfile>,
    /// The file with the whole profile, within the results folder.
    pub(crate) file: String,
}

/// A row of the table of a peak.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PeakRow {
    /// The name of the band.
    pub(crate) name: String,
    /// The bytes of the band.
    pub(crate) bytes: u64,
    /// The share of the band in the bytes of the census, 0 to 1.
    pub(crate) share: f64,
    /// The members of a set of retainers if the band is one; else empty.
    pub(crate) members: String,
}

/// The profiled runs of a folder by workload, in the order of the plan.
pub(crate) fn profiled<'a>(dir: &'a Results, summary: &Summary<'_>) -> Vec<(String, Vec<Profiled<'a>>)> {
    // A part of a sweep may have profiled runs alone.
    let own = axes(dir.profiled().iter().map(|one| &one.run), &dir.manifest().sweep);
    let axes = if dir.runs().is_empty() { &own } else { &summary.axes };
    let mut runs: Vec<&Untimed> = dir.profiled().iter().collect();
    runs.arrange_by_key(|one| one.run.position);
    let mut works: Vec<(String, Vec<Profiled<'a>>)> = Vec::new();
    for Untimed { run, record } in runs {
        let group = Group::empty(run);
        let of_run = Profiled {
            run: record,
            label: format!("{}, {}", group.label(axes), flags(record)),
            profile: record.profile.as_ref(),
            file: file(dir, record),
        };
        let title = group.configuration.work();
        match works.iter_mut().find(|(work, _)| *work == title) {
            Some((_, runs)) => runs.push(of_run),
            None => works.push((title, vec![of_run])),
        }
    }
    works
}

fn flags(run: &RunRecord) -> &str {
    run.profile_flags.as_deref().unwrap_or_default()
}

impl Profiled<'_> {
    /// The bands over time; `None` without a census.
    pub(crate) fn chart(&self) -> Option<Stack> {
        let profile = self.profile?;
        let drawn = thinned(profile);
        let last = drawn.last()?.seconds;
        let (scale, unit) = format::time_unit(last);
        let marked = profile
            .censuses
            .iter()
            .filter_map(|census| Some((census, census.marker.as_ref()?)));
        Some(Stack {
            title: format!("Heap by {}, {}", profile.breakdown, self.label),
            x_label: format!("CPU time of the mutators, {unit}"),
            x: drawn.iter().map(|census| census.seconds * scale).collect(),
            bands: bands(profile, &drawn)
                .into_iter()
                .map(|band| Band {
                    name: full_name(profile, &band.name),
                    ..band
                })
                .collect(),
            markers: marked
                .map(|(census, name)| (census.seconds * scale, name.clone()))
                .collect(),
            alone: None,
            view: View::Bytes,
        })
    }

    /// The peak and the rows of its table; the last row is the sum.
    pub(crate) fn peak(&self) -> Option<(&Census, Vec<PeakRow>)> {
        let profile = self.profile?;
        let peak = profile.peak()?;
        let mut all: Vec<(&String, u64)> = peak.bands.iter().map(|(name, bytes)| (name, *bytes)).collect();
        all.arrange_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
        in_order_of_life(profile, &mut all, |(name, _)| name);
        let row = |name: String, bytes: u64, members: String| PeakRow {
            name,
            bytes,
            share: share(bytes, peak),
            members,
        };
        let mut rows: Vec<PeakRow> = all
            .iter()
            .take(ROWS)
            .map(|(name, bytes)| row(without_number(profile, name).to_owned(), *bytes, members(profile, name)))
            .collect();
        if let Some(rest @ [_, ..]) = all.get(ROWS..) {
            let bytes = rest.iter().map(|(_, bytes)| bytes).sum();
            rows.push(row(format!("({} more)", rest.len()), bytes, String::new()));
        }
        rows.push(row("sum".to_owned(), peak.bytes(), String::new()));
        Some((peak, rows))
    }

    /// Remarks on the profile: the number of censuses, their CPU time, and the outcome of a run
    /// that did not end well.
    pub(crate) fn notes(&self) -> String {
        let mut notes = Vec::new();
        if !self.run.outcome.is_ok() {
            notes.push(format!("the run ended as {}", self.run.outcome));
        }
        match self.profile {
            None => notes.push("no profile was recorded".to_owned()),
            Some(profile) if profile.censuses.is_empty() => notes.push(
                "no census: the run ended before the first was due (-i<seconds>; -i0 takes one at each collection)"
                    .to_owned(),
            ),
            Some(profile) => {
                let censuses = counted(profile.censuses.len(), "census");
                let seconds = Unit::Seconds.text_with_unit(profile.census_seconds);
                notes.push(format!("{censuses} in {seconds} of CPU time"));
            }
        }
        notes.join("; ")
    }

    /// The profile in one line: the peak and its largest bands.
    pub(crate) fn line(&self) -> String {
        line(self)
    }
}

/// See [`Profiled::file`]. An older gclab named files by the run's id alone.
fn file(dir: &Results, run: &RunRecord) -> String {
    let stem = if dir.profile_file(&run.id, "hp").exists() {
        run.id.clone()
    } else {
        run.file_stem()
    };
    format!("{PROFILES}/{stem}.hp")
}

/// The share of some bytes in a census; 0 in an empty one.
fn share(bytes: u64, of: &Census) -> f64 {
    match of.bytes() {
        0 => 0.0,
        all => bytes as f64 / all as f64,
    }
}

/// The set of retainers that is a band, and the rest of the band's name. The name begins with the
/// number of the set, in parentheses.
fn set<'p, 'b>(profile: &'p HeapProfile, band: &'b str) -> Option<(&'p Vec<String>, &'b str)> {
    let (number, name) = band.strip_prefix('(')?.split_once(')')?;
    Some((profile.retainer_sets.as_ref()?.get(number)?, name))
}

/// The name of a band without the number of its set, which differs from run to run.
fn without_number<'b>(profile: &HeapProfile, band: &'b str) -> &'b str {
    set(profile, band).map_or(band, |(_, name)| name)
}

/// The name of a band with all members of its set, if it is one.
fn full_name(profile: &HeapProfile, band: &str) -> String {
    set(profile, band).map_or_else(|| band.to_owned(), |(members, _)| members.join(", "))
}

/// The first members of a set of retainers; empty if the band is none.
fn members(profile: &HeapProfile, band: &str) -> String {
    let Some((set, _)) = set(profile, band) else {
        return String::new();
    };
    let mut text = set.iter().take(MEMBERS).cloned().collect::<Vec<_>>().join(", ");
    if set.len() > MEMBERS {
        text.push_str(&format!(", and {} more", set.len() - MEMBERS));
    }
    text
}

/// See [`Profiled::line`].
fn line(profiled: &Profiled<'_>) -> String {
    /// The number of bands that are named.
    const NAMED: usize = 3;
    /// The most letters of a name: those of sets may have thousands.
    const LETTERS: usize = 40;
    let Some(peak) = profiled.profile.and_then(HeapProfile::peak) else {
        return format!("{}: {}", profiled.label, profiled.notes());
    };
    // The largest first, in a biography, too: there is no room for all of them.
    let mut bands: Vec<(&String, u64)> = peak.bands.iter().map(|(name, bytes)| (name, *bytes)).collect();
    bands.arrange_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    let name = |name: &'_ str| {
        let plain = profiled.profile.map_or(name, |profile| without_number(profile, name));
        shortened(plain, LETTERS)
    };
    let percent = |bytes: u64| Unit::Percent.text(share(bytes, peak));
    let mut named: Vec<String> = bands
        .iter()
        .take(NAMED)
        .map(|(band, bytes)| format!("{} {} %", name(band), percent(*bytes)))
        .collect();
    if peak.bands.len() > NAMED {
        named.push(format!("{} more", peak.bands.len() - NAMED));
    }
    format!(
        "{}: at most {} after {}: {}",
        profiled.label,
        format::bytes(peak.bytes()),
        format::time(peak.seconds),
        named.join(", ")
    )
}
