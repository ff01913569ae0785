//! The runs and figures of one configuration that can be compared between folders.

use super::verdict::Verdict;
use crate::metric::{COMPARED, COMPARED_PARALLEL, Metric, PAR_GCS};
use crate::run::{Run, each_facts};
use crate::summary::Group;
use gclab_results::{Manifest, RunRecord};
use std::collections::BTreeSet;

/// The facts about a folder that make its figures others than those of another folder, with their
/// names. (The commit is none of them: it is what most comparisons are about.)
pub(crate) fn facts(manifest: &Manifest) -> [(&'static str, String); 5] {
    let or_unknown = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".to_owned());
    let (machine, build) = (&manifest.machine, &manifest.build);
    let counted = manifest.pause_counters == Some(true);
    [
        ("processor", or_unknown(&machine.cpu)),
        ("kernel", or_unknown(&machine.kernel)),
        ("build profile", or_unknown(&build.profile)),
        ("rustc", or_unknown(&build.rustc)),
        ("key pause_counters", counted.to_string()),
    ]
}

/// The figures that are judged: more of them where collections were parallel.
pub(crate) fn compared(groups: &[&Group<'_>]) -> impl Iterator<Item = &'static Metric> + use<> {
    let is_parallel = |group: &&Group<'_>| group.spread(&PAR_GCS).is_some_and(|spread| spread.max > 0.0);
    let more = if groups.iter().any(is_parallel) {
        COMPARED_PARALLEL
    } else {
        &[]
    };
    COMPARED.iter().chain(more)
}

/// Whether some runs have statistics with phases, and others without. Then the figures of all are
/// those of whole runs.
pub(crate) fn is_mixed(groups: &[&Group<'_>]) -> bool {
    let phases = || {
        groups
            .iter()
            .flat_map(|group| group.ok())
            .map(|run| run.kind().has_phases)
    };
    phases().any(|has| has == Some(true)) && phases().any(|has| has == Some(false))
}

/// The runs of a configuration that are compared.
#[derive(Debug)]
pub(crate) enum OkRuns<'a> {
    /// The figures are those of the measured phase.
    Measured(Vec<&'a Run>),
    /// The figures are those of whole runs: records without phases.
    Whole(Vec<RunRecord>),
}

/// The values of a figure with the rounds of their runs.
pub(crate) fn values(metric: &Metric, runs: &OkRuns<'_>) -> Vec<(u32, f64)> {
    let finite = |round, value: Option<f64>| Some((round, value.filter(|value| value.is_finite())?));
    match runs {
        OkRuns::Measured(runs) => {
            let values = runs.iter().filter_map(|run| finite(run.round, metric.of(run)));
            values.collect()
        }
        OkRuns::Whole(runs) => {
            let values = runs.iter().filter_map(|run| finite(run.round, metric.read(run)));
            values.collect()
        }
    }
}

/// The runs that ended well. For figures of `whole_runs` their records are read again; a record
/// that cannot be read does not count.
pub(crate) fn ok_runs<'a>(group: &Group<'a>, whole_runs: bool) -> OkRuns<'a> {
    if !whole_runs {
        return OkRuns::Measured(group.ok().collect());
    }
    let without_phases = |run: &Run| {
        let mut record = run.record().ok()?;
        if let Some(stats) = &mut record.stats {
            stats.phases = None;
        }
        Some(record)
    };
    OkRuns::Whole(group.ok().filter_map(without_phases).collect())
}

/// A change of outcomes or checksums, which overrules every figure.
pub(crate) fn outcome_change(base: &Group<'_>, new: &Group<'_>) -> (Option<String>, Option<Verdict>) {
    let (failed_base, failed_new) = (base.failures_text(), new.failures_text());
    let checksums = |group: &Group<'_>| -> BTreeSet<String> {
        let checksums = each_facts(group.ok()).filter_map(|run| run.checksum());
        checksums.map(str::to_owned).collect()
    };
    let (sum_base, sum_new) = (checksums(base), checksums(new));
    if !sum_base.is_empty() && !sum_new.is_empty() && sum_base != sum_new {
        let list = |set: &BTreeSet<String>| set.iter().cloned().collect::<Vec<_>>().join(", ");
        let note = format!("checksum was {}, is {}", list(&sum_base), list(&sum_new));
        return (Some(note), Some(Verdict::Worse));
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
        Some(Verdict::Worse)
    } else if share_new < share_base && share_new == 0.0 {
        Some(Verdict::Better)
    } else if share_new == 1.0 {
        Some(Verdict::Same)
    } else {
        None
    };
    (note, verdict)
}
