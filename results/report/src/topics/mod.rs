//! The topics of a report. A topic is one file: its analysis and its section.
//!
//! What was swept determines the question, and the topics that answer it come first: multiples of
//! the least heap (`memory`), parallel collection (`parallel`), a flag with numbers (`knee`),
//! requests (`latency`), and which setting is the fastest (`fastest`). Every answer follows from a
//! [`crate::ranking::Ranking`]: a difference that may be noise is never reported as one. A topic
//! without data has no section.

pub(crate) mod checksums;
mod common;
pub(crate) mod comparison;
mod drift;
mod environment;
mod fastest;
pub(crate) mod history;
mod knee;
mod latency;
mod logs;
mod memory;
mod overhead;
mod panels;
mod parallel;
mod pauses;
pub(crate) mod profiles;
pub(crate) mod reproduction;
mod runs;
mod timeline;

use self::common::Context;
use crate::document::{Document, Place, Section};
use crate::format::counted;
use crate::ranking::{Ranking, Verdict};
use crate::summary::Summary;
use gclab_results::{ResultsDir, shell_line};

/// A topic's section, if the runs say anything about it.
type Topic = fn(&Context<'_>) -> Option<Section>;

/// The topics in the order of the page.
const TOPICS: [Topic; 21] = [
    memory::budgets,
    parallel::verdict,
    fastest::section,
    knee::section,
    latency::section,
    profiles::section,
    runs::configurations,
    memory::least_heaps,
    runs::failed,
    parallel::charts,
    memory::curves,
    panels::section,
    pauses::section,
    overhead::section,
    timeline::section,
    logs::section,
    runs::measures,
    runs::all,
    drift::section,
    environment::section,
    environment::repeat,
];

/// What competes in a folder: its collectors, and its programs by name.
pub fn names(dir: &ResultsDir) -> Vec<String> {
    Summary::of(dir).names
}

/// The report of a folder.
pub fn report(dir: &ResultsDir) -> Document {
    let manifest = dir.manifest();
    let summary = Summary::of(dir);
    let of = Context::new(dir, &summary);
    let sections: Vec<Section> = TOPICS.into_iter().filter_map(|topic| topic(&of)).collect();
    let cautions = environment::cautions(&of);
    let mut answer: Vec<String> = cautions
        .iter()
        .filter(|caution| caution.starts_with("Wrong results"))
        .cloned()
        .collect();
    // A profile is the answer if nothing else is.
    let is_answer = |section: &&Section| section.place == Place::Answer;
    answer.extend(
        sections
            .iter()
            .filter(is_answer)
            .flat_map(|section| section.text.clone()),
    );
    if answer.is_empty() {
        answer.extend(sections.iter().flat_map(|section| section.text.clone()));
    }
    if answer.is_empty() {
        answer.push(match dir.done() {
            0 => format!("No runs yet ({} planned).", dir.manifest().plan.len()),
            _ => "No configuration has a run that ended well, so there is no answer yet.".to_owned(),
        });
    }
    let best = sections
        .iter()
        .filter(is_answer)
        .find_map(|section| section.rankings.first());
    Document {
        name: manifest.name.clone(),
        question: manifest.question.clone(),
        answer,
        best: best.and_then(|ranking| command_of_best(&summary, ranking)),
        facts: facts(&of),
        cautions,
        sections,
        command: shell_line(&manifest.command),
    }
}

/// The command of the best configuration, if one was shown to be the best on all workloads.
fn command_of_best(summary: &Summary<'_>, ranking: &Ranking) -> Option<String> {
    let best = Some(ranking.first()).filter(|first| first.verdict == Verdict::Best)?;
    let group = summary.groups().find(|group| summary.label(group, &[]) == best.label)?;
    Some(shell_line(&group.ok().next()?.command))
}

fn facts(of: &Context<'_>) -> Vec<String> {
    let (dir, summary) = (of.dir, of.summary);
    let mut facts = vec![
        counted(dir.runs().len(), "run"),
        counted(summary.groups().count(), "configuration"),
    ];
    let others = [
        (dir.profiled().len(), "heap profile"),
        (dir.logged().len(), "event log"),
    ];
    facts.extend(
        others
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, noun)| counted(*count, noun)),
    );
    let least = summary
        .groups()
        .map(|group| group.ok().count())
        .filter(|count| *count > 0)
        .min();
    facts.extend(least.map(|least| match summary.most_runs() {
        most if least < most => format!("{least} to {} of each", counted(most, "good run")),
        most => format!("{} of each", counted(most, "good run")),
    }));
    facts.push(format!("seed {}", dir.manifest().seed));
    facts.push(dir.manifest().started.clone());
    if !summary.fixed.is_empty() {
        let fixed: Vec<String> = summary
            .fixed
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        facts.push(format!("in every run: {}", fixed.join(" ")));
    }
    facts.retain(|fact| !fact.is_empty());
    facts
}
