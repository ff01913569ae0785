//! What makes a finished sweep not well: runs that failed, and checksums that do not agree.

use gclab_report::{disagreements, profile_disagreements};
use gclab_results::{ResultsDir, RunRecord, Status};

/// One text for each thing that is wrong; none if all is well. An exhausted heap is a result, not a fault: sweeps over `-M` are made to
/// find it. With `heap`, neither is a timeout: near the least heap a program may thrash.
pub fn verdict(results: &ResultsDir) -> Vec<String> {
    let mut complaints = Vec::new();
    for note in disagreements(results) {
        complaints.push(format!(
            "WRONG RESULTS: {note}: a collector loses or changes data, or the workload is not deterministic"
        ));
    }
    for note in profile_disagreements(results) {
        complaints.push(format!("WRONG RESULTS: {note}: a heap profile changes the program"));
    }
    for kind in ["crash", "timeout", "usage error"] {
        let is_result = |run: &RunRecord| run.heap_multiple.is_some() && run.outcome == Status::Timeout;
        let failed: Vec<&RunRecord> = results
            .all_runs()
            .filter(|run| run.outcome.kind() == kind && !is_result(run))
            .collect();
        if let Some(first) = failed.first() {
            complaints.push(tell(kind, failed.len(), results.done(), first));
        }
    }
    complaints
}

fn tell(kind: &str, count: usize, all: usize, first: &RunRecord) -> String {
    let what = match &first.outcome {
        Status::Crash { .. } => format!("{kind}: {count} of {all} runs; the first, {}", first.outcome),
        _ => format!("{kind}: {count} of {all} runs; the first"),
    };
    let last_words = first
        .stderr_tail
        .as_deref()
        .unwrap_or("")
        .lines()
        .rev()
        .take(8)
        .collect::<Vec<_>>();
    let indented: String = last_words
        .into_iter()
        .rev()
        .map(|line| format!("\n    {line}"))
        .collect();
    format!("{what}: {}{indented}", gclab_results::shell_line(&first.command))
}
