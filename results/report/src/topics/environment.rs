//! The environment: the machine and the build, what varied from run to run, disturbed runs, and
//! everything readers must know before trusting the figures.

use super::checksums;
use super::common::Context;
use super::runs::is_failure;
use crate::document::{Cell, Column, Part, Place, Section, Table};
use crate::format::{bytes, counted, list, number, plural};
use crate::metric::{self, Metric};
use crate::summary::{Group, disturbances};
use gclab_results::inference::{RUNS_FOR_INTERVAL, Spread};
use gclab_results::{ResultsDir, RunRecord, shell_line};
use std::collections::BTreeMap;

/// What varies from run to run, besides the run itself.
const VARYING: [Metric; 8] = [
    metric::LOAD,
    metric::STEAL,
    metric::OTHERS,
    metric::MEMORY_STALL,
    metric::QUOTA_STALL,
    metric::INVOLUNTARY,
    metric::MAJOR_FAULTS,
    metric::FREQUENCY,
];

/// Maximum number of disturbed runs in the table, the most disturbed first.
const LISTED: usize = 50;

/// The runs during which a check failed.
fn disturbed(runs: &[RunRecord]) -> impl Iterator<Item = &RunRecord> {
    runs.iter().filter(|run| !disturbances(run).is_empty())
}

/// How many runs were disturbed, and how many by each check; `None` if none was.
fn disturbed_words(runs: &[RunRecord]) -> Option<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for name in disturbed(runs).flat_map(disturbances) {
        *counts.entry(name).or_insert(0) += 1;
    }
    let words: Vec<String> = counts
        .iter()
        .map(|(name, count)| format!("{name} in {count}"))
        .collect();
    let all = disturbed(runs).count();
    let were = if all == 1 { "was" } else { "were" };
    (all > 0).then(|| {
        format!(
            "{all} of {} {were} disturbed: {}.",
            counted(runs.len(), "run"),
            list(&words)
        )
    })
}

/// A sentence for each aspect of the machine that has changed since the start.
fn changed(runs: &[RunRecord]) -> Vec<String> {
    let mut states: Vec<(&BTreeMap<String, String>, u32, usize)> = Vec::new();
    for run in runs {
        let Some(state) = run
            .conditions
            .as_ref()
            .and_then(|conditions| conditions.machine_changes.as_ref())
        else {
            continue;
        };
        match states.iter_mut().find(|(known, ..)| *known == state) {
            Some((_, first, count)) => (*first, *count) = ((*first).min(run.position), *count + 1),
            None => states.push((state, run.position, 1)),
        }
    }
    let line = |(state, first, count): &(&BTreeMap<String, String>, u32, usize)| {
        let facts: Vec<String> = state.iter().map(|(key, value)| format!("{key} {value}")).collect();
        format!(
            "{}, starting with number {first}, ran on another machine or under another state of it: {}.",
            counted(*count, "run"),
            list(&facts)
        )
    };
    states.iter().map(line).collect()
}

/// The notes of runs, each once, with how many runs have it.
fn notes(runs: &[RunRecord]) -> Vec<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for note in runs.iter().flat_map(|run| &run.notes) {
        *counts.entry(note).or_insert(0) += 1;
    }
    let note = |(note, count): (&&str, &usize)| format!("{count} of {}: {note}", counted(runs.len(), "run"));
    counts.iter().map(note).collect()
}

/// What readers must know before trusting the figures, the gravest first.
pub(super) fn cautions(of: &Context<'_>) -> Vec<String> {
    let (dir, summary, manifest) = (of.dir, of.summary, of.dir.manifest());
    let wrong = checksums::in_summary(summary)
        .into_iter()
        .map(|note| format!("Wrong results: {note}. A collector that changes results has no speed."));
    let untimed = checksums::untimed_disagreements(dir)
        .into_iter()
        .map(|note| format!("Wrong results: {note}. Neither a heap profile nor an event log may change the program."));
    let mut cautions: Vec<String> = wrong.chain(untimed).collect();
    let failed = dir.all_runs().filter(|run| is_failure(run)).count();
    if failed > 0 {
        cautions.push(format!(
            "{failed} of {} runs did not end well. They enter no statistic.",
            dir.done()
        ));
    }
    if dir.done() < dir.manifest().plan.len() {
        let rest = manifest.precision.map_or("; to go on, run the experiment again".to_owned(), |precision| {
            let percent = number(precision * 100.0);
            format!(". The experiment ends when the 95 % interval of each mean time reaches at most {percent} % to either side")
        });
        cautions.push(format!(
            "{} of {} planned runs are done{rest}.",
            dir.done(),
            dir.manifest().plan.len()
        ));
    }
    if let Some(torn) = dir.torn() {
        cautions.push(format!(
            "Line {} of runs.jsonl was not written to its end ({} bytes); that run does not count and will be repeated.",
            torn.line, torn.bytes
        ));
    }
    let most = summary.most_runs();
    if (1..RUNS_FOR_INTERVAL).contains(&most) && !summary.is_alone() {
        cautions.push(format!(
            "{} of each configuration: too few for any interval.",
            counted(most, "run")
        ));
    }
    cautions.extend(notes(dir.runs()));
    cautions.extend(super::drift::caution(summary));
    // The sweep itself warns of it, if it could see that.
    let is_warned = manifest
        .machine
        .warnings
        .iter()
        .any(|warning| warning.contains("debug build"));
    if manifest.build.profile.as_deref() == Some("debug") && !is_warned {
        cautions.push("This gclab was a debug build: its times say nothing about a release build.".to_owned());
    }
    cautions.extend(disturbed_words(dir.runs()));
    cautions.extend(changed(dir.runs()));
    cautions.extend(manifest.machine.warnings.iter().cloned());
    cautions
}

/// The section on the machine and the build.
pub(super) fn section(of: &Context<'_>) -> Option<Section> {
    let runs = of.dir.runs();
    let mut parts = vec![Part::Facts(facts(of.dir))];
    let varied = varied(runs);
    if !varied.rows.is_empty() {
        parts.push(Part::Details("Differences from run to run", vec![Part::Table(varied)]));
    }
    let count = disturbed(runs).count();
    if count > 0 {
        let row = |run: &RunRecord| {
            vec![
                Cell::word(run.position.to_string()),
                Cell::text(run.configuration.work()),
                Cell::text(of.summary.label(&Group::empty(run), &[])),
                Cell::text(disturbances(run).join(", ")),
            ]
        };
        let table = Table {
            columns: ["order", "workload", "configuration", "disturbed by"]
                .map(Column::words)
                .to_vec(),
            rows: disturbed(runs).take(LISTED).map(row).collect(),
            ..Table::default()
        };
        let note = format!(
            "{count} {} failed a check while they ran. All statistics contain them.",
            plural(count, "run")
        );
        parts.push(Part::Details(
            "Disturbed runs",
            vec![Part::Note(note), Part::Table(table)],
        ));
    }
    Some(Section {
        title: "Environment",
        place: Place::Detail,
        parts,
        ..Section::default()
    })
}

/// A row for each figure that is not 0 in all runs.
fn varied(runs: &[RunRecord]) -> Table {
    let row = |metric: &Metric| {
        let spread = Spread::of(runs.iter().filter_map(|run| metric.of(run)))?;
        let value = |value: f64| Cell::figure(metric, Some(value));
        let cells = vec![
            Cell::text(metric.heading()),
            value(spread.min),
            value(spread.center),
            value(spread.max),
        ];
        (spread.max > 0.0).then_some(cells)
    };
    let mut columns = vec![Column::words("during a run")];
    columns.extend(["least", "mean", "greatest"].map(Column::figures));
    Table {
        columns,
        rows: VARYING.iter().filter_map(row).collect(),
        ..Table::default()
    }
}

/// How to repeat the experiment.
pub(super) fn repeat(of: &Context<'_>) -> Option<Section> {
    let manifest = of.dir.manifest();
    let order = format!(
        "Each run is a process of its own. The configurations were shuffled within each of {}, with seed {}. The \
         experiment file:",
        counted(manifest.repeat as usize, "round"),
        manifest.seed
    );
    let parts = vec![
        Part::Code(shell_line(&manifest.command)),
        Part::Paragraph(order),
        Part::Code(manifest.experiment.clone()),
    ];
    Some(Section {
        title: "Repeat it",
        parts,
        ..Section::default()
    })
}

/// The machine, build and time of an experiment as pairs of name and value. Unknown facts are left
/// out.
fn facts(dir: &ResultsDir) -> Vec<(&'static str, String)> {
    let (manifest, machine, build) = (dir.manifest(), &dir.manifest().machine, &dir.manifest().build);
    let mut pairs: Vec<(&'static str, String)> = Vec::new();
    let mut put = |name, value: Option<String>| pairs.extend(value.filter(|v| !v.is_empty()).map(|v| (name, v)));
    put("Host", machine.host.clone());
    put("Processor", machine.cpu.clone());
    let logical = machine.logical_cpus.map(|n| format!("{n} logical"));
    let cores = machine.cores.map(|n| format!("{n} physical"));
    put(
        "Cores",
        Some([cores, logical].into_iter().flatten().collect::<Vec<_>>().join(", ")),
    );
    put("Caches", Some(machine.caches.join(", ")));
    put(
        "Memory",
        machine
            .memory_bytes
            .map(|b| format!("{:.1} GiB", b as f64 / f64::from(1 << 30))),
    );
    put("Kernel", machine.kernel.clone());
    put("Transparent huge pages", machine.transparent_huge_pages.clone());
    put("Huge pages by compaction", machine.huge_page_defrag.clone());
    put("Governor", machine.governor.clone());
    put(
        "Boost",
        machine.boost.map(|on| if on { "on" } else { "off" }.to_owned()),
    );
    put("Threads of one core", machine.smt.clone());
    put("Randomised addresses", machine.address_randomisation.clone());
    put("Swap", machine.swap_bytes.map(bytes));
    put(
        "Limits of the control group",
        Some([
            machine.cpu_limit.map(|cpus| format!("{cpus} processors")),
            machine.memory_limit_bytes.map(bytes),
        ])
        .map(|limits| limits.into_iter().flatten().collect::<Vec<_>>().join(", ")),
    );
    put("Power", machine.power.clone());
    put("Performance counters", Some(machine.counters.join(", ")));
    put("Missing counters", machine.counters_absent.clone());
    let at_pauses = manifest.pause_counters == Some(true);
    put(
        "Counters at pauses",
        at_pauses.then(|| "read in each run of a workload".to_owned()),
    );
    put("Virtualisation", machine.virtualisation.clone());
    put("Mitigations", Some(machine.mitigations.join("; ")));
    put("gclab", Some(manifest.gclab.clone()));
    let dirty = if build.git_dirty == Some(true) {
        " with uncommitted changes"
    } else {
        ""
    };
    put(
        "Commit",
        build.git_commit.as_ref().map(|commit| format!("{commit}{dirty}")),
    );
    put("Compiler", build.rustc.clone());
    put("Build", build.profile.clone());
    put("Started", Some(manifest.started.clone()));
    pairs
}
