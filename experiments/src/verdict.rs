//! The faults of a finished sweep: runs that failed, and checksums that disagree.

use gclab_report::{disagreements, untimed_disagreements};
use gclab_results::{ResultsDir, RunRecord, Status, shell_line};
use gclab_sweep::text::ends;

/// One message for each fault; none if all is well. An exhausted heap is a result, not a fault:
/// sweeps over `-M` look for it. With `heap`, a timeout is a result too: near the least heap a
/// program may thrash.
pub(crate) fn faults(results: &ResultsDir) -> Vec<String> {
    let mut faults = Vec::new();
    for note in disagreements(results) {
        faults.push(format!(
            "WRONG RESULTS: {note}: a collector loses or changes data, or the workload is not deterministic"
        ));
    }
    for note in untimed_disagreements(results) {
        faults.push(format!(
            "WRONG RESULTS: {note}: a heap profile or an event log changes the program"
        ));
    }
    for kind in ["crash", "timeout", "usage error", "wrong answer", "unprepared"] {
        let is_result = |run: &RunRecord| kind == "timeout" && run.heap_multiple.is_some();
        let failed = results
            .all_runs()
            .filter(|run| run.outcome.kind() == kind && !is_result(run));
        let failed: Vec<&RunRecord> = failed.collect();
        if let Some(first) = failed.first() {
            faults.push(message(kind, first, failed.len(), results.all_runs().count()));
        }
    }
    faults
}

fn message(kind: &str, first: &RunRecord, count: usize, all: usize) -> String {
    let outcome = match &first.outcome {
        Status::Crash { .. } => format!(", {}", first.outcome),
        _ => String::new(),
    };
    let command = shell_line(&first.command);
    let stderr = ends(first.stderr_tail.as_deref().unwrap_or(""));
    format!("{kind}: {count} of {all} runs; the first{outcome}: {command}{stderr}")
}

#[cfg(test)]
mod tests {
    use gclab_results::{Configuration, Manifest, PlannedRun, ResultsDir, RunRecord};

    use super::*;

    /// A folder with a run for each collector and outcome; the checksum is that of good runs.
    fn results(folder: &tempfile::TempDir, runs: &[(&str, Status, &str)]) -> ResultsDir {
        let mut manifest = Manifest::new("fake");
        for (position, (collector, ..)) in (0..).zip(runs) {
            let configuration = Configuration {
                collector: (*collector).into(),
                workload: "good".into(),
                ..Configuration::default()
            };
            manifest.plan.push(PlannedRun::new(configuration, 0, position));
        }
        let plan = manifest.plan.clone();
        let mut results = ResultsDir::create(folder.path(), manifest).unwrap();
        for (planned, (_, outcome, checksum)) in plan.iter().zip(runs) {
            let record = RunRecord {
                outcome: outcome.clone(),
                checksum: outcome.is_ok().then(|| (*checksum).to_owned()),
                command: ["gclab", "exec", "good"].map(str::to_owned).to_vec(),
                stderr_tail: (!outcome.is_ok()).then(|| "last words".to_owned()),
                ..RunRecord::planned(planned, 0)
            };
            results.append_run(record).unwrap();
        }
        ResultsDir::open(folder.path()).unwrap()
    }

    #[test]
    fn different_checksums_are_a_fault() {
        let folder = tempfile::tempdir().unwrap();
        let results = results(&folder, &[("right", Status::Ok, "42"), ("wrong", Status::Ok, "43")]);
        let faults = faults(&results);
        assert_eq!(faults.len(), 1);
        assert!(
            faults[0].contains("checksum 42 under right; checksum 43 under wrong"),
            "{faults:?}"
        );
    }

    #[test]
    fn an_exhausted_heap_is_not_a_fault_but_a_crash_is() {
        let folder = tempfile::tempdir().unwrap();
        let runs = [("one", Status::Ok, "42"), ("two", Status::HeapExhausted, "")];
        assert_eq!(faults(&results(&folder, &runs)), Vec::<String>::new());
        let crash = Status::Crash {
            exit_code: None,
            signal: Some(11),
        };
        let folder = tempfile::tempdir().unwrap();
        let runs = [
            ("one", Status::Ok, "42"),
            ("two", crash.clone(), ""),
            ("three", crash, ""),
        ];
        assert_eq!(
            faults(&results(&folder, &runs)),
            ["crash: 2 of 3 runs; the first, crash (signal 11): gclab exec good\n    last words"]
        );
    }
}
