//! Checksums that differ: a collector, a profile or a workload is wrong.

use crate::summary::{Summary, WorkloadRuns};
use gclab_results::{ResultsDir, RunRecord};

/// The workloads on which collectors computed different checksums: one text for each, with the
/// checksums and their collectors.
pub fn disagreements(dir: &ResultsDir) -> Vec<String> {
    let works = Summary::of(dir).works;
    let text = |work: &WorkloadRuns<'_>| Some(format!("{}: {}", work.title, disagreement(work)?));
    works.iter().filter_map(text).collect()
}

/// The checksums of one workload with their collectors, when there is more than one checksum.
pub(crate) fn disagreement(work: &WorkloadRuns<'_>) -> Option<String> {
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

/// The profiled runs whose checksum differs from that of a timed run of the same workload: one text
/// for each. A profile must not change the program.
pub fn profile_disagreements(dir: &ResultsDir) -> Vec<String> {
    let ok = |run: &&RunRecord| run.outcome.is_ok();
    let differs = |run: &&RunRecord| {
        let mut timed = dir.runs().iter().filter(ok);
        timed.any(|timed| timed.workload == run.workload && timed.args == run.args && timed.checksum != run.checksum)
    };
    let wrong = dir.profiled().iter().filter(ok).filter(differs);
    wrong
        .map(|run| {
            format!(
                "{} under {} with {}: checksum {}, but another one without the profile",
                run.configuration().work(),
                run.collector,
                run.profile_flags.as_deref().unwrap_or_default(),
                run.checksum.as_deref().unwrap_or("none")
            )
        })
        .collect()
}
