//! Checksums that differ: a collector, a profile or a workload is wrong.

use crate::summary::{Summary, Work};
use gclab_results::{Purpose, ResultsDir, RunRecord};

/// The workloads on which collectors computed different checksums: one text for each, with the
/// checksums and their collectors.
pub fn disagreements(dir: &ResultsDir) -> Vec<String> {
    in_summary(&Summary::of(dir))
}

/// The same for grouped runs.
pub(crate) fn in_summary(summary: &Summary<'_>) -> Vec<String> {
    let text = |work: &Work<'_>| Some(format!("{}: {}", work.title, disagreement(work)?));
    summary.works.iter().filter_map(text).collect()
}

/// The checksums of one workload with their collectors, if there is more than one checksum.
pub(crate) fn disagreement(work: &Work<'_>) -> Option<String> {
    let found = work.disagreement()?;
    let parts: Vec<String> = found
        .iter()
        .map(|(checksum, collectors)| {
            let names: Vec<&str> = collectors.iter().copied().collect();
            format!("checksum {checksum} under {}", names.join(", "))
        })
        .collect();
    Some(parts.join("; "))
}

/// The runs for heap profiles and event logs whose checksum differs from a timed run's of the same
/// workload, in one text each. Neither may change the program's result.
pub fn untimed_disagreements(dir: &ResultsDir) -> Vec<String> {
    let ok = |run: &&RunRecord| run.outcome.is_ok();
    let differs = |run: &&RunRecord| {
        let mut timed = dir.runs().iter().filter(ok);
        let own = &run.configuration;
        let is_same_work = |timed: &&RunRecord| {
            let of = &timed.configuration;
            (&of.workload, &of.args, &of.settings) == (&own.workload, &own.args, &own.settings)
        };
        timed.any(|timed| timed.checksum != run.checksum && is_same_work(&timed))
    };
    let untimed = dir.profiled().iter().chain(dir.logged());
    let wrong = untimed.filter(ok).filter(differs);
    wrong
        .map(|run| {
            let (with, without) = match run.purpose() {
                Purpose::HeapProfile(flags) => (flags, "the profile"),
                _ => ("an event log", "the log"),
            };
            format!(
                "{} under {} with {with}: checksum {}, but another one without {without}",
                run.configuration.work(),
                run.configuration.collector,
                run.checksum.as_deref().unwrap_or("none")
            )
        })
        .collect()
}
