//! Heap profiles: the bands over time and the largest census of each profiled run.
//!
//! Profiled runs are separate runs. Their figures do not enter any other part of a report, and this
//! part does not use figures of other runs. The *peak* is the census with the most bytes; its table
//! has the largest bands, the rest as one row, and the sum.

mod bands;
mod file;

pub(crate) use file::FileProfile;

use self::bands::{bands, in_order_of_life, thinned};
use super::common::Context;
use crate::chart::{BAND_COLOURS, Band, Stack, View};
use crate::document::{Cell, Column, Part, Place, Section, Table};
use crate::format::{self, counted, short_list, shortened};
use crate::metric::Unit;
use crate::summary::{Group, axes};
use gclab_results::{Census, HeapProfile, PROFILES, RunRecord};

/// Maximum number of bands in the table of a peak.
const ROWS: usize = BAND_COLOURS;
/// Maximum number of members of a retainer set named in a table.
const MEMBERS: usize = 4;
/// How many profiles the answer describes, and how many a page draws: each takes some twenty
/// kilobytes.
const DESCRIBED: usize = 4;
/// See [`DESCRIBED`].
const DRAWN: usize = 60;
/// How many bands the answer names, and the smallest share of one.
const NAMED: usize = 3;
/// See [`NAMED`].
const LEAST_SHARE: f64 = 0.005;
/// Maximum length of a name in the answer.
const LETTERS: usize = 40;

/// A run that was done for its heap profile.
struct Profiled<'a> {
    /// The workload.
    work: String,
    /// The profiled run.
    run: &'a RunRecord,
    /// The collector and the axes, e.g. `copying A=1m`.
    setting: String,
    /// The flags of the profile.
    flags: &'a str,
    /// The file with the whole profile, within the results folder.
    file: String,
}

/// The profiled runs of a folder, in the order of the plan.
fn profiled<'a>(of: &Context<'a>) -> Vec<Profiled<'a>> {
    // A shard of a sweep may have only profiled runs.
    let own = axes(of.dir.profiled(), &of.dir.manifest().sweep);
    let axes = if of.dir.runs().is_empty() {
        &own
    } else {
        &of.summary.axes
    };
    let mut runs: Vec<&RunRecord> = of.dir.profiled().iter().collect();
    runs.sort_by_key(|run| run.position);
    let profiled = |run: &'a RunRecord| Profiled {
        work: run.configuration.work(),
        setting: setting(run, axes),
        flags: run.profile_flags.as_deref().unwrap_or_default(),
        file: format!("{PROFILES}/{}.hp", run.file_stem()),
        run,
    };
    runs.into_iter().map(profiled).collect()
}

/// The name and the values of the axes.
pub(super) fn setting(run: &RunRecord, axes: &[gclab_results::Axis]) -> String {
    let group = Group::empty(run);
    let values = axes
        .iter()
        .map(|axis| format!(" {}={}", axis.flag, group.flag(&axis.flag)));
    format!("{}{}", group.name, values.collect::<String>())
}

/// The section. If nothing is compared, the profiles are the subject of the experiment.
pub(super) fn section(of: &Context<'_>) -> Option<Section> {
    let all = profiled(of);
    all.first()?;
    let only_profiles = of.summary.is_alone();
    let mut text: Vec<String> = all
        .iter()
        .take(DESCRIBED)
        .map(|one| one.sentence(all.len() > 1))
        .collect();
    if let Some(more @ 1..) = all.len().checked_sub(DESCRIBED) {
        text.push(format!(
            "{} in the report, under Heap profiles.",
            counted(more, "more profile")
        ));
    }
    let mut parts = Vec::new();
    let mut work = String::new();
    for one in all.iter().take(DRAWN) {
        if one.work != work {
            work.clone_from(&one.work);
            parts.push(Part::Heading(work.clone()));
        }
        let file = if one.run.profile.is_some() {
            format!("; the whole profile is in {}", one.file)
        } else {
            String::new()
        };
        let table = one.peak().map(|(peak, rows)| peak_table(peak, rows));
        match (one.chart(), table) {
            (Some(chart), Some(table)) => parts.push(Part::Profile(Box::new(chart), table)),
            (None, Some(table)) => parts.push(Part::Table(table)),
            _ => {}
        }
        parts.push(Part::Paragraph(format!(
            "{}, {}: {}{file}.",
            one.setting,
            one.flags,
            one.notes()
        )));
    }
    if let Some(more @ 1..) = all.len().checked_sub(DRAWN) {
        parts.push(Part::Note(format!(
            "Not drawn: {}; the files are in the folder.",
            counted(more, "more profile")
        )));
    }
    parts.push(Part::Note(
        "Each heap profile has a run of its own. A profiled run is slower, so it enters no figure of the other sections. \
         The bands with the largest areas have colours, the largest at the bottom; the rest is grey. Dashed lines are \
         markers of the program. The table is the peak, the census with the most bytes."
            .to_owned(),
    ));
    Some(Section {
        title: "Heap profiles",
        place: if only_profiles { Place::Answer } else { Place::Detail },
        text,
        parts,
        ..Section::default()
    })
}

/// What the bands of a profile represent, by the letter of its flag.
fn question(flags: &str) -> &'static str {
    let letter = flags
        .split_whitespace()
        .find_map(|word| word.strip_prefix("-h")?.chars().next());
    match letter {
        Some('y') => "by type",
        Some('d') => "by constructor",
        Some('r') => "kept alive by",
        Some('c') => "allocated by",
        Some('b') => "by phase of life",
        Some('i') => "by place in the source",
        _ => "by kind",
    }
}

impl Profiled<'_> {
    /// The bands over time; `None` without a census.
    fn chart(&self) -> Option<Stack> {
        let profile = self.run.profile.as_ref()?;
        let drawn = thinned(profile);
        let last = drawn.last()?.seconds;
        let (scale, unit) = format::time_unit(last);
        let marked = profile
            .censuses
            .iter()
            .filter_map(|census| Some((census, census.marker.as_ref()?)));
        Some(Stack {
            title: format!("Heap by {}, {}", profile.breakdown, self.setting),
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
    fn peak(&self) -> Option<(&Census, Vec<Vec<Cell>>)> {
        let profile = self.run.profile.as_ref()?;
        let peak = profile.peak()?;
        let mut all: Vec<(&String, u64)> = peak.bands.iter().map(|(name, bytes)| (name, *bytes)).collect();
        all.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
        in_order_of_life(profile, &mut all, |(name, _)| name);
        let row = |name: String, bytes: u64, members: String| {
            vec![
                Cell {
                    more: members,
                    ..Cell::text(name)
                },
                Cell::number(format::bytes(bytes), bytes as f64),
                Cell::text(format!("{} %", Unit::Percent.text(share(bytes, peak)))),
            ]
        };
        let named = all.iter().take(ROWS);
        let mut rows: Vec<Vec<Cell>> = named
            .map(|(name, bytes)| row(without_number(profile, name).to_owned(), *bytes, members(profile, name)))
            .collect();
        if let Some(rest @ [_, ..]) = all.get(ROWS..) {
            let bytes = rest.iter().map(|(_, bytes)| bytes).sum();
            rows.push(row(format!("({} more)", rest.len()), bytes, String::new()));
        }
        rows.push(row("sum".to_owned(), peak.bytes(), String::new()));
        Some((peak, rows))
    }

    /// The profile in a sentence: the peak and its largest bands. The label names the run if there
    /// are several.
    fn sentence(&self, several: bool) -> String {
        let name = format!("{}, {}", self.work, self.setting);
        let name = if several { format!("{name}: ") } else { String::new() };
        let Some((profile, peak)) = self
            .run
            .profile
            .as_ref()
            .and_then(|profile| Some((profile, profile.peak()?)))
        else {
            return format!("{name}{}.", self.notes());
        };
        // Largest first, even in a biographical profile, since not all bands fit.
        let mut bands: Vec<(&String, u64)> = peak.bands.iter().map(|(name, bytes)| (name, *bytes)).collect();
        bands.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
        let large = bands.iter().filter(|(_, bytes)| share(*bytes, peak) >= LEAST_SHARE);
        let named: Vec<String> = large
            .map(|(band, bytes)| {
                let band = match band.as_str() {
                    "DRAG" => "never used again (drag)".to_owned(),
                    band => shortened(without_number(profile, band), LETTERS),
                };
                format!("{band} {} %", Unit::Percent.text(share(*bytes, peak)))
            })
            .collect();
        format!(
            "{name}at most {} after {}, {}: {}.",
            format::bytes(peak.bytes()),
            format::time(peak.seconds),
            question(self.flags),
            short_list(&named, NAMED + 1)
        )
    }

    /// Remarks on the profile: the number of censuses, their CPU time, and the outcome of a run
    /// that did not end well.
    fn notes(&self) -> String {
        let mut notes = Vec::new();
        if !self.run.outcome.is_ok() {
            notes.push(format!("the run ended as {}", self.run.outcome));
        }
        match self.run.profile.as_ref() {
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
}

/// The share of some bytes in a census; 0 in an empty one.
fn share(bytes: u64, of: &Census) -> f64 {
    match of.bytes() {
        0 => 0.0,
        all => bytes as f64 / all as f64,
    }
}

/// The retainer set of a band, and the rest of the band's name. The name starts with the number of
/// the set, in parentheses.
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

/// The first members of a retainer set; empty if the band does not have one.
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

/// The table of a peak.
fn peak_table(peak: &Census, rows: Vec<Vec<Cell>>) -> Table {
    let mut head = format!("Peak, after {}", format::time(peak.seconds));
    if let Some(marker) = &peak.marker {
        head.push_str(&format!(", at {marker}"));
    }
    Table {
        columns: vec![Column::words(head), Column::figures("bytes"), Column::figures("share")],
        rows,
        look: crate::document::Look::Answers,
        runs: None,
    }
}
