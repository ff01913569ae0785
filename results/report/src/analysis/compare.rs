//! Is the new one slower? Compares two results folders, configuration by configuration.
//!
//! A change counts only if it is large enough (the threshold) *and* the interval of the ratio
//! excludes 1: either condition alone raises false alarms. A ratio that may be 1, but may as well
//! exceed the threshold, is *unclear*: more runs are needed. One in twenty intervals misses by
//! design, so with many configurations a finding must be repeated before it is believed.

use crate::maths::{Ratio, Spread, ratio_of_means};
use crate::metric::{COMPARED, COMPARED_PARALLEL, Metric, PAR_GCS};
use crate::summary::{Group, Summary};
use gclab_results::{Configuration, ResultsDir};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// The judgement on a figure or a configuration. Greater is worse, so that the worst of several is
/// their maximum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    /// The interval lies within the threshold on both sides of 1.
    Same,
    /// Smaller by the threshold or more, and the interval excludes 1.
    Improvement,
    /// None of the other verdicts: too few runs or too much noise.
    Unclear,
    /// Larger by the threshold or more, and the interval excludes 1; or more runs fail than before,
    /// or the checksum changed.
    Regression,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Verdict::Same => "same",
            Verdict::Improvement => "improvement",
            Verdict::Unclear => "unclear",
            Verdict::Regression => "REGRESSION",
        })
    }
}

/// The comparison of two folders.
#[derive(Debug)]
pub struct Comparison {
    /// The smallest change that counts, as a share: 0.03 is 3 %.
    pub(crate) threshold: f64,
    /// The configurations that both folders have.
    pub(crate) rows: Vec<Row>,
    /// Configurations that only the base has.
    pub(crate) only_base: Vec<Configuration>,
    /// Configurations that only the new folder has.
    pub(crate) only_new: Vec<Configuration>,
    /// Reasons why the two may not be comparable: another machine, another build profile.
    pub(crate) cautions: Vec<String>,
}

/// The comparison of one configuration.
#[derive(Debug)]
pub(crate) struct Row {
    /// The configuration that is compared.
    pub(crate) configuration: Configuration,
    /// The figures that both folders have, judged.
    pub(crate) figures: Vec<Figure>,
    /// Changes that overrule all figures: failures, or another checksum.
    pub(crate) note: Option<String>,
    /// The verdict on the configuration.
    pub(crate) verdict: Verdict,
}

/// The comparison of one figure of one configuration.
#[derive(Debug)]
pub(crate) struct Figure {
    /// The figure that is compared.
    pub(crate) metric: Metric,
    /// Its values in the base.
    pub(crate) base: Spread,
    /// Its values in the new folder.
    pub(crate) new: Spread,
    /// New over base; `None` when the base is 0.
    pub(crate) ratio: Option<Ratio>,
    /// The verdict on the figure.
    pub(crate) verdict: Verdict,
}

impl Comparison {
    /// Whether the two have no configuration in common that was run.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether any configuration got worse.
    pub fn regressed(&self) -> bool {
        self.rows.iter().any(|row| row.verdict == Verdict::Regression)
    }
}

/// Compares two folders; `threshold` is a share (0.03 for 3 %), not below 0.
pub fn compare(base: &ResultsDir, new: &ResultsDir, threshold: f64) -> Comparison {
    let (base_summary, new_summary) = (Summary::of(base), Summary::of(new));
    let by_configuration = |summary: &Summary<'_>| -> BTreeSet<Configuration> {
        summary.groups().map(|g| g.configuration.clone()).collect()
    };
    let (in_base, in_new) = (by_configuration(&base_summary), by_configuration(&new_summary));
    let new_groups: BTreeMap<&Configuration, &Group<'_>> =
        new_summary.groups().map(|g| (&g.configuration, g)).collect();
    let rows = base_summary
        .groups()
        .filter_map(|group| {
            new_groups
                .get(&group.configuration)
                .map(|new| row(group, new, threshold))
        })
        .collect();
    Comparison {
        threshold,
        rows,
        only_base: in_base.difference(&in_new).cloned().collect(),
        only_new: in_new.difference(&in_base).cloned().collect(),
        cautions: cautions(base, new),
    }
}

fn row(base: &Group<'_>, new: &Group<'_>, threshold: f64) -> Row {
    let parallel = [base, new]
        .iter()
        .any(|group| group.spread(&PAR_GCS).is_some_and(|spread| spread.max > 0.0));
    let more = if parallel { COMPARED_PARALLEL } else { &[] };
    let figures: Vec<Figure> = COMPARED
        .iter()
        .chain(more)
        .filter_map(|metric| figure(metric, base, new, threshold))
        .collect();
    let (note, loud) = outcome_change(base, new);
    let quiet = figures
        .iter()
        .map(|figure| figure.verdict)
        .max()
        .unwrap_or(Verdict::Unclear);
    Row {
        configuration: base.configuration.clone(),
        figures,
        note,
        verdict: loud.unwrap_or(quiet),
    }
}

fn figure(metric: &Metric, base: &Group<'_>, new: &Group<'_>, threshold: f64) -> Option<Figure> {
    let (base, new) = (base.spread(metric)?, new.spread(metric)?);
    let ratio = ratio_of_means(&base, &new);
    let verdict = match ratio {
        Some(ratio) => judge(&ratio, threshold),
        None if base.mean == 0.0 && new.mean == 0.0 => Verdict::Same,
        None => Verdict::Unclear,
    };
    Some(Figure {
        metric: *metric,
        base,
        new,
        ratio,
        verdict,
    })
}

/// The verdict on a ratio `new / base` where less is better.
pub(crate) fn judge(ratio: &Ratio, threshold: f64) -> Verdict {
    let Some(ci) = ratio.ci95 else {
        return Verdict::Unclear;
    };
    if ci.low > 1.0 && ratio.estimate >= 1.0 + threshold {
        Verdict::Regression
    } else if ci.high < 1.0 && ratio.estimate <= 1.0 - threshold {
        Verdict::Improvement
    } else if ci.low >= 1.0 - threshold && ci.high <= 1.0 + threshold {
        Verdict::Same
    } else {
        Verdict::Unclear
    }
}

/// A change of outcomes or checksums, which overrules every figure.
fn outcome_change(base: &Group<'_>, new: &Group<'_>) -> (Option<String>, Option<Verdict>) {
    let (failed_base, failed_new) = (base.failures_text(), new.failures_text());
    let checksums = |group: &Group<'_>| -> BTreeSet<String> { group.ok().filter_map(|r| r.checksum.clone()).collect() };
    let (sum_base, sum_new) = (checksums(base), checksums(new));
    if !sum_base.is_empty() && !sum_new.is_empty() && sum_base != sum_new {
        let list = |set: &BTreeSet<String>| set.iter().cloned().collect::<Vec<_>>().join(", ");
        let note = format!("checksum was {}, is {}", list(&sum_base), list(&sum_new));
        return (Some(note), Some(Verdict::Regression));
    }
    let failing_share = |group: &Group<'_>| {
        let failed: usize = group.failures().values().sum();
        failed as f64 / group.runs.len() as f64
    };
    let (share_base, share_new) = (failing_share(base), failing_share(new));
    let of = |text: &str, group: &Group<'_>| {
        if text.is_empty() {
            "no failures".to_owned()
        } else {
            format!("{text} of {}", group.runs.len())
        }
    };
    let note = (share_base > 0.0 || share_new > 0.0)
        .then(|| format!("was {}, is {}", of(&failed_base, base), of(&failed_new, new)));
    let verdict = if share_new > share_base {
        Some(Verdict::Regression)
    } else if share_new < share_base && share_new == 0.0 {
        Some(Verdict::Improvement)
    } else if share_new == 1.0 {
        Some(Verdict::Same)
    } else {
        None
    };
    (note, verdict)
}

fn cautions(base: &ResultsDir, new: &ResultsDir) -> Vec<String> {
    let (a, b) = (base.manifest(), new.manifest());
    let or_unknown = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".to_owned());
    let pairs = [
        ("processor", or_unknown(&a.machine.cpu), or_unknown(&b.machine.cpu)),
        ("kernel", or_unknown(&a.machine.kernel), or_unknown(&b.machine.kernel)),
        (
            "build profile",
            or_unknown(&a.build.profile),
            or_unknown(&b.build.profile),
        ),
        ("rustc", or_unknown(&a.build.rustc), or_unknown(&b.build.rustc)),
    ];
    let differ = pairs.iter().filter(|(_, a, b)| a != b);
    differ
        .map(|(name, a, b)| format!("the {name} differs: {a} in the base, {b} in the new one"))
        .collect()
}
