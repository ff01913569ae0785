//! Can published figures be reproduced? Compares a published folder with one in which the same
//! experiment was repeated, on any machine.
//!
//! Counts that are equal in all published runs, such as bytes allocated, are the same on every
//! machine. Seconds are not, but the ratio of two settings' times should be. So each setting is
//! compared with the fastest published one of its workload, by the ratio of times. Ratios are
//! judged together, as in a comparison.

use crate::document::{Cell, Column, Document, Look, Part, Place, Section, Table};
use crate::format::{self, bytes, counted};
use crate::metric::{self, Metric};
use crate::summary::{Group, Summary, Work};
use gclab_results::inference::{Effect, Order, findings};
use gclab_results::{Configuration, Manifest, Minimum, ResultsDir};
use std::collections::BTreeSet;

/// The figures that depend only on the program and the collector, if a program is single-threaded.
const COUNTS: [Metric; 5] = [
    metric::ALLOCATED,
    metric::GCS,
    metric::MAJOR_GCS,
    metric::COPIED,
    metric::PEAK_IN_USE,
];

/// The tolerance of the search for a least heap, as a share.
const SEARCH: f64 = 0.01;

/// The comparison of published figures with those of the same experiment on this machine.
#[derive(Debug)]
pub struct Reproduction {
    name: String,
    kinds: Vec<Kind>,
    machines: String,
}

/// The figures of one kind.
#[derive(Debug)]
struct Kind {
    name: String,
    same: usize,
    /// Figures whose interval is too wide to tell.
    open: usize,
    differ: Vec<Difference>,
}

/// A figure that was not reproduced.
#[derive(Debug)]
struct Difference {
    workload: String,
    setting: String,
    figure: String,
    published: String,
    here: String,
}

/// Compares a published folder with a repetition of its experiment.
pub fn reproduction(published: &ResultsDir, here: &ResultsDir) -> Reproduction {
    let (old, new) = (Summary::of(published), Summary::of(here));
    let partner = |group: &Group<'_>| new.groups().find(|other| key(other) == key(group));
    let mut kinds = vec![least_heaps(published.manifest(), here.manifest())];
    let mut counts = Kind::new("outcomes and counts");
    for work in &old.works {
        for group in &work.groups {
            let place = || (work.title.clone(), old.label(group, &[]));
            counts.compare(place, group, partner(group));
        }
    }
    kinds.push(counts);
    for time in [old.time_metric(), &metric::TOTAL_CPU] {
        kinds.push(ratios(&old, time, partner));
    }
    let mut own: Vec<Metric> = Vec::new();
    for metric in old.groups().flat_map(|group| &group.own) {
        if !own.contains(metric) {
            own.push(*metric);
        }
    }
    kinds.extend(own.iter().map(|metric| ratios(&old, metric, partner)));
    kinds.retain(|kind| kind.all() > 0);
    let machine = |manifest: &Manifest| {
        let cpu = manifest.machine.cpu.as_deref().unwrap_or("an unknown processor");
        let commit = manifest
            .build
            .git_commit
            .as_deref()
            .map_or("unknown", |hash| &hash[..7.min(hash.len())]);
        format!("{cpu}, gclab {commit}")
    };
    Reproduction {
        name: published.manifest().name.clone(),
        kinds,
        machines: format!(
            "published: {}; here: {}; seconds are not compared",
            machine(published.manifest()),
            machine(here.manifest())
        ),
    }
}

/// The configuration, with the multiple of the least heap instead of its bytes.
fn key(group: &Group<'_>) -> (Configuration, Option<String>) {
    let mut configuration = group.configuration.clone();
    if group.heap.is_some() {
        configuration.flags.remove("M");
    }
    (configuration, group.heap.map(|multiple| multiple.to_string()))
}

fn least_heaps(published: &Manifest, here: &Manifest) -> Kind {
    let mut kind = Kind::new("least heaps");
    let text = |minimum: Option<&Minimum>| match minimum.map(|minimum| minimum.minimum_bytes) {
        Some(Some(least)) => bytes(least),
        Some(None) => "none".to_owned(),
        None => "not searched".to_owned(),
    };
    for old in &published.minima {
        let new = here.minima.iter().find(|new| new.configuration == old.configuration);
        let is_same = match (old.minimum_bytes, new.map(|new| new.minimum_bytes)) {
            (Some(old), Some(Some(new))) => (old as f64 / new as f64).ln().abs() <= SEARCH.ln_1p(),
            (None, Some(None)) => true,
            _ => false,
        };
        kind.add(is_same, || Difference {
            workload: old.configuration.work(),
            setting: old.configuration.collector.clone(),
            figure: "least heap".to_owned(),
            published: text(Some(old)),
            here: text(new),
        });
    }
    kind
}

/// The ratios of a time to that of the fastest setting of each workload.
fn ratios<'s, 'a: 's>(
    summary: &'s Summary<'a>,
    time: &Metric,
    partner: impl Fn(&Group<'a>) -> Option<&'s Group<'a>>,
) -> Kind {
    let mut kind = Kind::new(format!("ratios of {}", time.title));
    let mut compared = Vec::new();
    for work in &summary.works {
        let Some(fastest) = fastest(work, time) else { continue };
        for group in work.groups.iter().filter(|group| key(group) != key(fastest)) {
            let ratio = |base: &Group<'_>, new: &Group<'_>| {
                Effect::of(&base.values(time), &new.values(time), Order::Interleaved)
            };
            let again = || ratio(partner(fastest)?, partner(group)?);
            if let (Some(old), Some(new)) = (ratio(fastest, group), again()) {
                let over = format!("{} over {}", summary.label(group, &[]), summary.label(fastest, &[]));
                compared.push(((work.title.clone(), over), old, new));
            }
        }
    }
    let changes: Vec<Effect> = compared.iter().map(|(_, old, new)| new.over(old)).collect();
    let chances: Vec<f64> = changes.iter().map(|change| change.chance().unwrap_or(1.0)).collect();
    for ((((workload, setting), old, new), change), differs) in
        compared.into_iter().zip(&changes).zip(findings(&chances))
    {
        if !differs && (change.ci95().is_none() || change.is_too_noisy()) {
            kind.open += 1;
            continue;
        }
        let (published, here) = (format::effect(&old), format::effect(&new));
        // Figures without noise may differ by less than is shown.
        kind.add(!differs || published == here, || Difference {
            workload,
            setting,
            figure: time.title.to_owned(),
            published,
            here,
        });
    }
    kind
}

/// The setting with the lowest time.
fn fastest<'w, 'a>(work: &'w Work<'a>, time: &Metric) -> Option<&'w Group<'a>> {
    let timed = work
        .groups
        .iter()
        .filter_map(|group| Some((group, group.spread(time)?.center)));
    timed
        .min_by(|(_, one), (_, other)| one.total_cmp(other))
        .map(|(group, _)| group)
}

impl Kind {
    fn new(name: impl Into<String>) -> Kind {
        Kind {
            name: name.into(),
            same: 0,
            open: 0,
            differ: Vec::new(),
        }
    }

    fn all(&self) -> usize {
        self.same + self.open + self.differ.len()
    }

    fn add(&mut self, is_same: bool, difference: impl FnOnce() -> Difference) {
        if is_same {
            self.same += 1;
        } else {
            self.differ.push(difference());
        }
    }

    /// Compares outcomes, checksums and counts. A count that varies from run to run is not
    /// compared.
    fn compare(&mut self, place: impl Fn() -> (String, String), old: &Group<'_>, new: Option<&Group<'_>>) {
        let difference = |figure: &str, published: String, here: String| {
            let (workload, setting) = place();
            Difference {
                workload,
                setting,
                figure: figure.to_owned(),
                published,
                here,
            }
        };
        let outcome = |group: &Group<'_>| -> BTreeSet<String> {
            let of = |run: &&gclab_results::RunRecord| match &run.checksum {
                Some(checksum) => format!("checksum {checksum}"),
                None => run.outcome.kind().to_owned(),
            };
            group.runs.iter().map(of).collect()
        };
        let text = |outcomes: BTreeSet<String>| outcomes.into_iter().collect::<Vec<_>>().join(", ");
        let outcomes = (outcome(old), new.map(&outcome));
        // A heap on the verge of thrashing completes only some runs.
        if outcomes.0.len() == 1 {
            let is_same = outcomes.1.as_ref() == Some(&outcomes.0);
            let here = outcomes.1.map_or_else(|| "not run".to_owned(), text);
            self.add(is_same, || difference("outcome", text(outcomes.0), here));
        }
        for count in COUNTS {
            let (Some(before), Some(now)) = (old.spread(&count), new.and_then(|new| new.spread(&count))) else {
                continue;
            };
            if before.min == before.max {
                // A peak in megablocks may differ by one between machines.
                let in_megablocks =
                    |run: &gclab_results::RunRecord| matches!(run.runtime.as_deref(), None | Some("ghc"));
                let is_rounded = count == metric::PEAK_IN_USE && old.runs.iter().all(|run| in_megablocks(run));
                let slack = if is_rounded { metric::MEGABLOCK } else { 0.0 };
                let is_same = |value: f64| (before.min - value).abs() <= slack;
                let cell = |spread| {
                    let text = Cell::spread(&count, Some(spread)).line();
                    format!("{text} {}", count.unit.name()).trim_end().to_owned()
                };
                self.add(is_same(now.min) && is_same(now.max), || {
                    // In MiB, a few bytes more look the same.
                    let (mut published, mut here) = (cell(before), cell(now));
                    if published == here {
                        let other = if is_same(now.min) { now.max } else { now.min };
                        [published, here] = [before.min, other].map(|bytes| format!("{bytes} B"));
                    }
                    difference(count.title, published, here)
                });
            }
        }
    }
}

impl Reproduction {
    /// Whether a figure was not reproduced.
    pub fn differs(&self) -> bool {
        self.kinds.iter().any(|kind| !kind.differ.is_empty())
    }

    /// The document.
    pub fn document(&self) -> Document {
        let sum = |of: fn(&Kind) -> usize| self.kinds.iter().map(of).sum::<usize>();
        let (all, same, open) = (sum(Kind::all), sum(|kind| kind.same), sum(|kind| kind.open));
        let differ = match all - same - open {
            0 => "none differs".to_owned(),
            1 => "1 differs".to_owned(),
            some => format!("{some} differ"),
        };
        let open = match open {
            0 => String::new(),
            1 => ", 1 is too noisy to tell".to_owned(),
            _ => format!(", {open} are too noisy to tell"),
        };
        let count = |number: usize| Cell::number(number.to_string(), number as f64);
        let kinds = Table {
            columns: vec![
                Column::words("figures"),
                Column::figures("agree"),
                Column::figures("differ"),
                Column::figures("too noisy"),
            ],
            rows: self
                .kinds
                .iter()
                .map(|kind| {
                    vec![
                        Cell::text(&kind.name),
                        count(kind.same),
                        count(kind.differ.len()),
                        count(kind.open),
                    ]
                })
                .collect(),
            look: Look::Answers,
            runs: None,
        };
        let differences = self.kinds.iter().flat_map(|kind| &kind.differ);
        let differences = Table {
            columns: ["workload", "setting", "figure", "published", "here"]
                .map(Column::words)
                .to_vec(),
            rows: differences
                .map(|one| {
                    [&one.workload, &one.setting, &one.figure, &one.published, &one.here]
                        .map(Cell::text)
                        .to_vec()
                })
                .collect(),
            look: Look::Grouped,
            runs: None,
        };
        Document {
            name: self.name.clone(),
            answer: vec![format!(
                "{same} of {} agree, {differ}{open}.",
                counted(all, "published figure")
            )],
            facts: vec![self.machines.clone()],
            sections: vec![Section {
                title: "Agreement",
                place: Place::Answer,
                parts: vec![Part::Table(kinds), Part::Table(differences)],
                ..Section::default()
            }],
            ..Document::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::synthetic::{manifest, small, small_runs, write};
    use gclab_results::RunRecord;

    /// What a repetition of `small` reports after `change` has changed each record.
    fn said(change: impl Fn(&mut RunRecord)) -> (bool, String) {
        said_of(|_| {}, change)
    }

    /// The same for runs changed by `made` beforehand.
    fn said_of(made: impl Fn(&mut RunRecord), change: impl Fn(&mut RunRecord)) -> (bool, String) {
        let parent = tempfile::tempdir().expect("a folder");
        let mut runs = small_runs();
        runs.iter_mut().for_each(made);
        let published = write(&parent.path().join("published"), manifest(&small()), &runs);
        runs.iter_mut().for_each(change);
        let here = write(&parent.path().join("here"), manifest(&small()), &runs);
        let reproduction = reproduction(&published, &here);
        (reproduction.differs(), crate::terminal(&reproduction.document(), true))
    }

    fn is_two_space(run: &RunRecord) -> bool {
        run.configuration.collector == "two-space"
    }

    /// A machine twice as fast halves every time, and no ratio changes.
    #[test]
    fn another_machine_changes_no_ratio_and_no_count() {
        let (differs, text) = said(|run| {
            if let Some(stats) = &mut run.stats {
                stats.total_elapsed_seconds = stats.total_elapsed_seconds.map(|seconds| seconds / 2.0);
            }
        });
        assert!(!differs && text.contains(" agree, none differs"), "{text}");
    }

    #[test]
    fn a_count_that_differs_is_named_with_both_values() {
        let (differs, text) = said(|run| {
            let more = u64::from(is_two_space(run));
            if let Some(stats) = &mut run.stats {
                stats.gcs = stats.gcs.map(|gcs| gcs + more);
            }
        });
        assert!(
            differs && text.contains("two-space A=1m") && !text.contains("copying A=1m  "),
            "{text}"
        );
    }

    /// Only gclab's collectors and GHC count memory in megablocks.
    #[test]
    fn a_megablock_more_is_not_a_difference_where_memory_is_counted_in_them() {
        for (runtime, expected) in [(None, false), (Some("ghc"), false), (Some("ocaml"), true)] {
            let (differs, text) = said_of(
                |run| run.run.runtime = runtime.map(str::to_owned),
                |run| {
                    if let Some(stats) = &mut run.stats {
                        stats.peak_in_use_bytes = stats.peak_in_use_bytes.map(|bytes| bytes + (1 << 20));
                    }
                },
            );
            assert_eq!(differs, expected, "{runtime:?}: {text}");
        }
    }

    /// In MiB both would read 0.0.
    #[test]
    fn a_difference_of_bytes_is_told_in_bytes() {
        let copied = |bytes: u64| {
            move |run: &mut RunRecord| {
                if let Some(stats) = &mut run.stats {
                    stats.copied_bytes = Some(bytes);
                    if let Some(phases) = &mut stats.phases {
                        phases.measured.copied_bytes = Some(bytes);
                    }
                }
            }
        };
        let (differs, text) = said_of(copied(1000), copied(1008));
        assert!(differs && text.contains("1000 B") && text.contains("1008 B"), "{text}");
    }

    #[test]
    fn ratios_of_a_programs_own_figures_are_compared() {
        let latency = |run: &mut RunRecord, of_two_space: f64| {
            let latency = if is_two_space(run) { of_two_space } else { 10.0 };
            run.figures = Some([("lat".to_owned(), latency + 0.01 * f64::from(run.round))].into());
        };
        let (differs, text) = said_of(|run| latency(run, 12.5), |run| latency(run, 12.51));
        assert!(!differs && text.contains("ratios of lat"), "{text}");
        let (differs, text) = said_of(|run| latency(run, 12.5), |run| latency(run, 37.5));
        assert!(differs && text.contains("3.75×"), "{text}");
    }

    #[test]
    fn a_ratio_that_differs_is_named_with_both_intervals() {
        let (differs, text) = said(|run| {
            let slower = if is_two_space(run) { 3.0 } else { 1.0 };
            if let Some(stats) = &mut run.stats {
                stats.total_elapsed_seconds = stats.total_elapsed_seconds.map(|seconds| slower * seconds);
            }
        });
        assert!(differs && text.contains(" over ") && text.contains("total"), "{text}");
    }
}
