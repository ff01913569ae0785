//! Which collector for which budget of memory? What an experiment with `heap` says of time and space.
//!
//! Terms: a *budget* is a multiple of the reference minimum of each workload, the same bytes for all collectors; a *contender* is a collector with the
//! flags that are swept beside `heap`; it *dies* at a budget where a run did not end well. A contender's time at a budget is the geometric mean, over
//! all workloads, of its mean time over the least mean time that anybody has on that workload at any budget. Where it dies on a workload it has none: a mean
//! over those that are left would flatter it.

mod advice;
mod charts;
mod tables;

pub use advice::{Budget, Budgets, Standing, budgets};
pub(super) use charts::charts;
pub(super) use tables::{deaths_text, minima, standing_text};

use crate::summary::{Group, HEAP, Summary};

/// A collector with the flags that are swept beside the heap, e.g. `copying A=1m`.
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

/// Why there is no time, in a word or two: of several reasons the first.
pub(super) fn reason(group: &Group<'_>) -> Option<&'static str> {
    let kind = group.failures().into_keys().next()?;
    Some(if kind == "timeout" { "thrashing" } else { kind })
}

/// `1.5×`.
pub(super) fn times(multiple: f64) -> String {
    format!("{multiple}×")
}
