//! Heap profiles of an experiment: for each profiled run a chart of its bands over time, and a table of its largest census.
//!
//! Profiled runs are runs of their own ([`ResultsDir::profiled`]): what stands here is in no other part of a report, and nothing of the other parts is here. The *peak*
//! is the census with the most bytes; its table has the largest bands, the rest as one, and the sum. [`csv()`] has all bands of all censuses.

mod bands;
mod csv;

pub use csv::csv;
use gclab_results::{Census, HeapProfile, PROFILES, ResultsDir, RunRecord};

use crate::chart::{BAND_COLOURS, Stack, byte_unit, shortened};
use crate::metric::Unit;
use crate::summary::{Group, Summary};
use bands::{bands, in_order_of_life, thinned};

/// Bands in the table of a peak.
const ROWS: usize = BAND_COLOURS;
/// Members of a set of retainers that are named in a table.
const MEMBERS: usize = 4;
/// Below this many seconds an axis is in milliseconds.
const SHORT: f64 = 0.1;

/// A run that was done for its heap profile.
#[derive(Debug)]
pub struct Profiled<'a> {
    /// The run.
    pub run: &'a RunRecord,
    /// Collector, axes and the profile's flags, e.g. `copying A=1m, -hy -i0`.
    pub label: String,
    /// Its profile, if it wrote one.
    pub profile: Option<&'a HeapProfile>,
}

/// A line of the table of a peak.
#[derive(Clone, Debug, PartialEq)]
pub struct PeakRow {
    /// The band.
    pub name: String,
    /// Its bytes.
    pub bytes: u64,
    /// Its share in all bytes of the census, 0 to 1.
    pub share: f64,
    /// The members of a set of retainers, where the band is one.
    pub members: String,
}

/// The profiled runs of a folder, by workload with its arguments, in the order of the plan.
pub fn profiled<'a>(dir: &'a ResultsDir, summary: &Summary<'_>) -> Vec<(String, Vec<Profiled<'a>>)> {
    let mut runs: Vec<&RunRecord> = dir.profiled().iter().collect();
    runs.sort_by_key(|run| run.position);
    let mut works: Vec<(String, Vec<Profiled<'a>>)> = Vec::new();
    for run in runs {
        let group = Group::empty(run);
        let of_run = Profiled {
            run,
            label: format!("{}, {}", group.label(&summary.axes), flags(run)),
            profile: run.profile.as_ref(),
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
    /// The bands over time; nothing without a census.
    pub fn chart(&self) -> Option<Stack> {
        let profile = self.profile?;
        let drawn = thinned(profile);
        let last = drawn.last()?.seconds;
        let (scale, unit) = if last < SHORT {
            (1e3, "milliseconds")
        } else {
            (1.0, "seconds")
        };
        let marked = profile
            .censuses
            .iter()
            .filter_map(|census| Some((census, census.marker.as_ref()?)));
        Some(Stack {
            title: format!("Heap by {}, {}", profile.breakdown, self.label),
            x_label: format!("CPU time of the mutators, {unit}"),
            x: drawn.iter().map(|census| census.seconds * scale).collect(),
            bands: bands(profile, &drawn),
            markers: marked
                .map(|(census, name)| (census.seconds * scale, name.clone()))
                .collect(),
        })
    }

    /// The peak and its table, whose last line is the sum.
    pub fn peak(&self) -> Option<(&Census, Vec<PeakRow>)> {
        let profile = self.profile?;
        let peak = profile.peak()?;
        let mut all: Vec<(&String, u64)> = peak.bands.iter().map(|(name, bytes)| (name, *bytes)).collect();
        all.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
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
            .map(|(name, bytes)| row((*name).clone(), *bytes, members(profile, name)))
            .collect();
        if let Some(rest @ [_, ..]) = all.get(ROWS..) {
            let bytes = rest.iter().map(|(_, bytes)| bytes).sum();
            rows.push(row(format!("({} more)", rest.len()), bytes, String::new()));
        }
        rows.push(row("sum".to_owned(), peak.bytes(), String::new()));
        Some((peak, rows))
    }

    /// What is to be said of the profile as a whole: how many censuses, what they took, how the run ended if not well.
    pub fn notes(&self) -> String {
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
                let count = profile.censuses.len();
                let censuses = if count == 1 { "census" } else { "censuses" };
                let seconds = Unit::Seconds.text_with_unit(profile.census_seconds);
                notes.push(format!("{count} {censuses} in {seconds} of CPU time"));
            }
        }
        notes.join("; ")
    }

    /// The file with the whole of it, within the results folder.
    pub fn file(&self) -> String {
        format!("{PROFILES}/{}.hp", self.run.id)
    }
}

/// Of all bytes of a census; nothing of nothing.
fn share(bytes: u64, of: &Census) -> f64 {
    match of.bytes() {
        0 => 0.0,
        all => bytes as f64 / all as f64,
    }
}

/// Who is in a set of retainers: the band's name begins with the number of the set, in parentheses.
fn members(profile: &HeapProfile, band: &str) -> String {
    let number = band.strip_prefix('(').and_then(|rest| rest.split_once(')'));
    let set = number.and_then(|(number, _)| profile.retainer_sets.as_ref()?.get(number));
    let Some(set) = set else { return String::new() };
    let mut text = set.iter().take(MEMBERS).cloned().collect::<Vec<_>>().join(", ");
    if set.len() > MEMBERS {
        text.push_str(&format!(", and {} more", set.len() - MEMBERS));
    }
    text
}

/// `2531360` as `2.4 MiB`; bytes below a kibibyte as they are.
pub fn bytes_text(bytes: u64) -> String {
    match byte_unit(bytes as f64) {
        (1.0, unit) => format!("{bytes} {unit}"),
        (size, unit) => format!("{:.1} {unit}", bytes as f64 / size),
    }
}

/// When a census was taken, as text.
pub fn time_text(seconds: f64) -> String {
    if seconds < SHORT {
        Unit::Milliseconds.text_with_unit(seconds)
    } else {
        Unit::Seconds.text_with_unit(seconds)
    }
}

/// One line for a terminal: the peak and its largest bands.
pub fn line(profiled: &Profiled<'_>) -> String {
    /// Bands that are named.
    const NAMED: usize = 3;
    /// Letters of their names: those of sets may have thousands.
    const LETTERS: usize = 40;
    let Some(peak) = profiled.profile.and_then(HeapProfile::peak) else {
        return format!("{}: {}", profiled.label, profiled.notes());
    };
    // The largest first, those of a biography too: there is no room for all.
    let mut bands: Vec<(&String, u64)> = peak.bands.iter().map(|(name, bytes)| (name, *bytes)).collect();
    bands.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    let percent = |bytes: u64| Unit::Percent.text(share(bytes, peak));
    let mut named: Vec<String> = bands
        .iter()
        .take(NAMED)
        .map(|(name, bytes)| format!("{} {} %", shortened(name, LETTERS), percent(*bytes)))
        .collect();
    if peak.bands.len() > NAMED {
        named.push(format!("{} more", peak.bands.len() - NAMED));
    }
    format!(
        "{}: at most {} after {}: {}",
        profiled.label,
        bytes_text(peak.bytes()),
        time_text(peak.seconds),
        named.join(", ")
    )
}

/// Profiled runs that computed something else than the timed runs of the same workload: a text for each. Whoever looks at a heap must not change the program.
pub fn wrong_results(dir: &ResultsDir) -> Vec<String> {
    let ok = |run: &&RunRecord| run.outcome.is_ok();
    let work = |run: &RunRecord| run.configuration().work();
    let differs = |run: &&RunRecord| {
        let timed = dir.runs().iter().filter(ok);
        timed
            .filter(|timed| timed.workload == run.workload && timed.args == run.args)
            .any(|timed| timed.checksum != run.checksum)
    };
    let wrong = dir.profiled().iter().filter(ok).filter(differs);
    wrong
        .map(|run| {
            format!(
                "{} under {} with {}: checksum {}, and another without the profile",
                work(run),
                run.collector,
                flags(run),
                run.checksum.as_deref().unwrap_or("none")
            )
        })
        .collect()
}
