//! The means of a comparison of rivals over the workloads: as text, as Markdown and as JSON.

use super::github::Rows;
use super::text_table::TextTable;
use crate::analysis::compare::Comparison;
use crate::analysis::rivals::Mean;
use gclab_results::Configuration;
use serde_json::{Value, json};

const HEADER: [&str; 6] = [
    "geometric mean of all workloads",
    "figure",
    "workloads",
    "new/base",
    "95 % interval",
    "worst",
];

/// The means as a table; empty without any.
pub(super) fn means(comparison: &Comparison) -> String {
    let rows = rows(comparison);
    if rows.is_empty() {
        return String::new();
    }
    let mut table = TextTable::new(HEADER.map(str::to_owned).to_vec(), 2);
    rows.into_iter().for_each(|row| table.push(row));
    format!("{}\n", table.text())
}

/// The means as a table of Markdown.
pub(super) fn table(comparison: &Comparison) -> Rows<'static> {
    Rows {
        head: &HEADER,
        right_from: 2,
        left_from: HEADER.len() - 1,
        rows: rows(comparison),
    }
}

/// The rows of the table of means, one for each figure at each setting.
fn rows(comparison: &Comparison) -> Vec<Vec<String>> {
    let row = |mean: &Mean| {
        let interval = mean.ratio.ci95;
        vec![
            setting(comparison, &mean.setting),
            mean.metric.title.to_owned(),
            mean.workloads.to_string(),
            format!("{:.3}", mean.ratio.estimate),
            interval.map_or_else(
                || "too few runs".to_owned(),
                |ci| format!("{:.3} to {:.3}", ci.low, ci.high),
            ),
            format!("{:.3} {}", mean.worst.0, mean.worst.1),
        ]
    };
    comparison.means.iter().map(row).collect()
}

/// The configuration without a workload: `copying over two-space A=1m`.
fn setting(comparison: &Comparison, configuration: &Configuration) -> String {
    let text = named(comparison, configuration);
    text.trim_start_matches(", ").to_owned()
}

/// A mean for other programs.
pub(super) fn json(mean: &Mean) -> Value {
    json!({
        "collector": mean.setting.collector,
        "flags": mean.setting.flags,
        "settings": mean.setting.settings,
        "figure": mean.metric.key,
        "workloads": mean.workloads,
        "ratio": mean.ratio.estimate,
        "low": mean.ratio.ci95.map(|ci| ci.low),
        "high": mean.ratio.ci95.map(|ci| ci.high),
        "worst": {"ratio": mean.worst.0, "workload": mean.worst.1},
    })
}

/// The configuration, with both sides of the comparison in the place in which they differ.
pub(super) fn named(comparison: &Comparison, configuration: &Configuration) -> String {
    let mut configuration = configuration.clone();
    if let Some(against) = &comparison.against {
        let judged = if comparison.of_builds {
            configuration.settings.entry("build".to_owned()).or_default()
        } else {
            &mut configuration.collector
        };
        judged.push_str(" over ");
        judged.push_str(against);
    }
    configuration.to_string()
}
