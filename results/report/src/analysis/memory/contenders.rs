//! Contenders: the collectors of an experiment with `heap`, each with its other swept flags.

use crate::summary::{Group, HEAP, Summary};

/// The collector's name in runs of programs that have no runtime.
const NO_RUNTIME: &str = "none";

/// The contender that a group belongs to, e.g. `copying A=1m`.
pub(super) fn contender(summary: &Summary<'_>, group: &Group<'_>) -> String {
    let axes: Vec<_> = summary.axes.iter().filter(|axis| axis.flag != HEAP).cloned().collect();
    let label = group.label(&axes);
    let is_program = group.configuration.program.is_some();
    match label.strip_prefix(NO_RUNTIME) {
        // A sentence that begins with the name of no runtime would read as its opposite.
        Some(rest) if is_program && (rest.is_empty() || rest.starts_with(' ')) => format!("the program{rest}"),
        _ => label,
    }
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
