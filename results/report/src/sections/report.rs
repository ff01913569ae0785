//! The report of a folder: its head, and all its sections.

use super::{answers, charts, environment, latency, logs, overhead, own, profiles, runs, shares, steadiness};
use crate::analysis::facts::cautions;
use crate::document::{Part, Report, Section, Topic};
use crate::folder::Results;
use crate::format::counted;
use crate::summary::Summary;
use gclab_results::{Manifest, shell_line};

/// The report of a folder.
pub(crate) fn report(dir: &Results) -> Report {
    of(dir, logs::logs)
}

/// The report of a folder without the section on event logs: reading large logs takes a while.
pub(crate) fn brief(dir: &Results) -> Report {
    of(dir, |_, _| None)
}

fn of(dir: &Results, logs: fn(&Results, &Summary<'_>) -> Option<Section>) -> Report {
    let manifest = dir.manifest();
    let summary = Summary::of(dir);
    // Profiles without anything to compare are the subject of the experiment.
    let only_profiles = !dir.profiled().is_empty() && summary.axes.is_empty() && summary.collectors.len() < 2;
    let profiles = profiles::profiles(dir, &summary);
    let (early, late) = if only_profiles {
        (profiles, None)
    } else {
        (None, profiles)
    };
    let sections = [
        answers::budgets(&summary),
        answers::least_heaps(&summary, manifest),
        answers::sharing(&summary),
        answers::overall(&summary),
        answers::knee(&summary),
        latency::latency(&summary),
        profiles::bands(dir, &summary),
        answers::best(&summary, dir),
        early,
        charts::parallel(&summary),
        charts::curves(&summary),
        overhead::section(&summary),
        charts::panels(&summary),
        charts::timelines(&summary),
        charts::pauses(&summary),
        logs(dir, &summary),
        late,
        runs::failed(dir, &summary),
        Some(runs::workloads(dir, &summary)),
        Some(runs::configurations(dir, &summary)),
        shares::section(&summary),
        own::section(&summary),
        steadiness::section(&summary),
        Some(environment::section(dir, &summary)),
        Some(repeat(dir, &summary)),
    ];
    Report {
        name: manifest.name.clone(),
        question: manifest.question.clone(),
        facts: facts(dir, &summary),
        fixed: summary.fixed.clone().into_iter().collect(),
        cautions: cautions(dir, &summary),
        done: dir.done(),
        planned: dir.planned(),
        most_runs: summary.most_runs(),
        least_runs: summary.least_runs(),
        seed: manifest.seed,
        command: shell_line(&manifest.command),
        sections: sections.into_iter().flatten().collect(),
    }
}

fn facts(dir: &Results, summary: &Summary<'_>) -> Vec<String> {
    let manifest = dir.manifest();
    let mut facts = vec![
        counted(dir.runs().len(), "run"),
        counted(summary.groups().count(), "configuration"),
    ];
    if !dir.profiled().is_empty() {
        facts.push(counted(dir.profiled().len(), "heap profile"));
    }
    if !dir.logged().is_empty() {
        facts.push(counted(dir.logged().len(), "event log"));
    }
    facts.push(format!("seed {}", manifest.seed));
    if !manifest.started.is_empty() {
        facts.push(manifest.started.clone());
    }
    facts
}

fn repeat(dir: &Results, summary: &Summary<'_>) -> Section {
    let Manifest { repeat, seed, .. } = dir.manifest();
    let order = format!(
        "Each run is a process of its own. The configurations were shuffled within each of {}, with seed {seed}. \
         The experiment file:",
        counted(*repeat as usize, "round")
    );
    Section {
        topic: Topic::Repeat,
        text: Vec::new(),
        parts: vec![
            Part::Code(shell_line(&dir.manifest().command)),
            Part::Paragraph(order),
            Part::Code(dir.manifest().experiment.clone()),
            Part::Details("The plan: all runs in their order", runs::plan(dir, summary)),
        ],
    }
}
