//! The conditions of runs: those that were disturbed, and those that another machine did.

use crate::format::{counted, list};
use crate::run::Run;
use std::collections::BTreeMap;

/// The runs during which a check failed, with the names of these checks.
pub(crate) fn disturbed(runs: &[Run]) -> impl Iterator<Item = (&Run, &[String])> {
    runs.iter().filter_map(|run| {
        let names = run.kind().disturbances.as_deref()?;
        (!names.is_empty()).then_some((run, names))
    })
}

/// A caution with the number of disturbed runs for each check; `None` without any.
pub(crate) fn caution(runs: &[Run]) -> Option<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for name in disturbed(runs).flat_map(|(_, names)| names) {
        *counts.entry(name).or_insert(0) += 1;
    }
    let all = disturbed(runs).count();
    let words: Vec<String> = counts
        .iter()
        .map(|(name, count)| format!("{name} in {count}"))
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    (all > 0).then(|| {
        format!(
            "{all} of {} disturbed: {}. They are in all statistics; the section on the environment lists them.",
            if all == 1 {
                format!("{} was", counted(runs.len(), "run"))
            } else {
                format!("{} were", counted(runs.len(), "run"))
            },
            list(&words)
        )
    })
}

/// A sentence for each state of the machine that is not as at the beginning: `8 runs, from number
/// 12 on: kernel Linux 7`.
pub(crate) fn changed(runs: &[Run]) -> Vec<String> {
    let mut states: Vec<(&BTreeMap<String, String>, u32, usize)> = Vec::new();
    for run in runs {
        let Some(state) = run.kind().machine_changes.as_ref() else {
            continue;
        };
        match states.iter_mut().find(|(known, ..)| *known == state) {
            Some((_, first, count)) => (*first, *count) = ((*first).min(run.position), *count + 1),
            None => states.push((state, run.position, 1)),
        }
    }
    let line = |(state, first, count): &(&BTreeMap<String, String>, u32, usize)| {
        let facts: Vec<String> = state.iter().map(|(key, value)| format!("{key} {value}")).collect();
        let facts: Vec<&str> = facts.iter().map(String::as_str).collect();
        format!(
            "{}, from number {first} on, ran on another machine or under another state of it: {}.",
            counted(*count, "run"),
            list(&facts)
        )
    };
    states.iter().map(line).collect()
}
