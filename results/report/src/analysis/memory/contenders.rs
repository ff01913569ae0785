//! Contenders: the collectors of an experiment with `heap`, each with its other swept flags.

use crate::summary::{Group, HEAP, Summary};

/// The contender that a group belongs to, e.g. `copying A=1m`.
pub(super) fn contender(summary: &Summary<'_>, group: &Group<'_>) -> String {
    let axes: Vec<_> = summary.axes.iter().filter(|axis| axis.flag != HEAP).cloned().collect();
    group.label(&axes)
}

/// All contenders, in alphabetical order.
pub(super) fn contenders(summary: &Summary<'_>) -> Vec<String> {
    let mut all: Vec<String> = summary.groups().map(|group| contender(summary, group)).collect();
    all.sort();
    all.dedup();
    all
}

/// Why a group has no time, in a word or two; of several reasons the first.
pub(super) fn reason(group: &Group<'_>) -> Option<&'static str> {
    let kind = group.failures().into_keys().next()?;
    Some(if kind == "timeout" { "thrashing" } else { kind })
}
