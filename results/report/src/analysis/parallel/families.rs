//! Families of configurations that differ only in the sharing flags.

use crate::metric;
use crate::summary::{Group, Summary, UNSET, WorkloadRuns};
use gclab_core::words::size::read_number;
use gclab_results::order::Arrange;
use std::collections::BTreeMap;

/// The sharing flags.
pub(crate) const SHARING_FLAGS: [&str; 3] = ["qg", "qb", "qn"];

/// Whether the runs say anything on parallel collection: it was switched on and off, or it took
/// place and the number of capabilities was swept.
pub(super) fn concerns(summary: &Summary<'_>) -> bool {
    summary.sweeps("qg") || summary.sweeps("N") && summary.groups().any(shared_any)
}

/// Whether any collection of any run was parallel.
pub(super) fn shared_any(group: &Group<'_>) -> bool {
    group.spread(&metric::PAR_GCS).is_some_and(|spread| spread.max > 0.0)
}

/// Whether parallel collection is switched off.
pub(super) fn is_off(group: &Group<'_>) -> bool {
    group.flag("qg") == "false"
}

/// The number that a flag is set to; 1 if it is not set.
fn count(group: &Group<'_>, flag: &str) -> f64 {
    read_number(group.flag(flag)).unwrap_or(1.0)
}

/// Whether collections may be shared: with several threads, and not switched off.
pub(crate) fn is_on(group: &Group<'_>) -> bool {
    let threads = match read_number(group.flag("qn")) {
        Some(threads) if threads > 0.0 => threads,
        _ => count(group, "N"),
    };
    threads > 1.0 && !is_off(group)
}

/// The collector and all flags except `left_out`: the key of a family.
fn but_for<'g>(group: &'g Group<'_>, left_out: &[&str]) -> (&'g str, BTreeMap<&'g str, &'g str>) {
    let flags = group.configuration.flags.iter().chain(&group.configuration.settings);
    let flags = flags.filter(|(name, _)| !left_out.contains(&name.as_str()));
    let flags = flags.map(|(name, value)| (name.as_str(), value.as_str()));
    (&group.configuration.collector, flags.collect())
}

/// The base with parallel collection off.
pub(super) fn off<'w, 'a>(work: &'w WorkloadRuns<'a>, group: &Group<'_>) -> Option<&'w Group<'a>> {
    let family = but_for(group, &SHARING_FLAGS);
    let mut groups = work.groups.iter();
    groups.find(|base| is_off(base) && but_for(base, &SHARING_FLAGS) == family)
}

/// The base with one capability.
pub(super) fn one<'w, 'a>(work: &'w WorkloadRuns<'a>, group: &Group<'_>) -> Option<&'w Group<'a>> {
    let with_n = [SHARING_FLAGS[0], SHARING_FLAGS[1], SHARING_FLAGS[2], "N"];
    let family = but_for(group, &with_n);
    let mut groups = work.groups.iter();
    groups.find(|base| count(base, "N") == 1.0 && !is_on(base) && but_for(base, &with_n) == family)
}

/// The sharing flags as words of a command line, e.g. `-qg0 -qb`; `default -qg` if none is set.
pub(super) fn sharing_words(group: &Group<'_>) -> String {
    let words: Vec<String> = SHARING_FLAGS
        .iter()
        .filter(|flag| group.flag(flag) != UNSET)
        .map(|flag| match group.flag(flag) {
            "false" => format!("-{flag}"),
            value => format!("-{flag}{value}"),
        })
        .collect();
    if words.is_empty() {
        "default -qg".to_owned()
    } else {
        words.join(" ")
    }
}

/// How the work was shared, over all runs: `gen 0: 90 too little, 12 balanced; gen 1: 5 balanced`;
/// `None` where it is not recorded.
pub(crate) fn decisions(group: &Group<'_>) -> Option<String> {
    let mut counts: BTreeMap<usize, BTreeMap<&str, u64>> = BTreeMap::new();
    for (number, name, count) in group.ok().flat_map(|run| run.sharing()) {
        *counts.entry(number).or_default().entry(name).or_default() += count;
    }
    let parts = counts.into_iter().map(|(number, counts)| {
        let mut counts: Vec<(&str, u64)> = counts.into_iter().collect();
        counts.arrange_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        let counts: Vec<String> = counts.iter().map(|(name, n)| format!("{n} {name}")).collect();
        format!("gen {number}: {}", counts.join(", "))
    });
    let text = parts.collect::<Vec<_>>().join("; ");
    (!text.is_empty()).then_some(text)
}

/// The shares of the threads' time in the parallel parts: at work, waking up, idle, in termination.
/// They add up to 1.
pub(crate) fn time_shares(group: &Group<'_>) -> Option<[f64; 4]> {
    let times = group.ok().filter_map(|run| run.thread_times());
    let sums = times.fold([0u64; 4], |mut sums, times| {
        sums.iter_mut().zip(times).for_each(|(sum, time)| *sum += time);
        sums
    });
    let all: u64 = sums.iter().sum();
    (all > 0).then(|| sums.map(|sum| sum as f64 / all as f64))
}
