//! Facts about an experiment: the machine, and the cautions for a reader.

use crate::analysis::checksums::{in_summary, untimed_disagreements};
use crate::analysis::conditions;
use crate::analysis::steadiness::steadiness;
use crate::folder::Results;
use crate::format::{bytes, counted, number};
use crate::inference::RUNS_FOR_INTERVAL;
use crate::run::Run;
use crate::summary::Summary;
use gclab_results::Status;

/// Whether a run failed. Where heaps are multiples of the least heap, an exhausted heap and a
/// timeout are results.
pub(crate) fn is_failure(run: &Run) -> bool {
    let by_heap = run.heap_multiple.is_some() && matches!(run.outcome(), Status::HeapExhausted | Status::Timeout);
    !run.outcome().is_ok() && !by_heap
}

/// The things that a reader must know before believing the figures.
pub(crate) fn cautions(dir: &Results, summary: &Summary<'_>) -> Vec<String> {
    let manifest = dir.manifest();
    let mut cautions = Vec::new();
    for note in in_summary(summary) {
        cautions.push(format!(
            "Wrong results: {note}. A collector that changes results has no speed."
        ));
    }
    for note in untimed_disagreements(dir) {
        cautions.push(format!(
            "Wrong results: {note}. Neither a heap profile nor an event log may change the program."
        ));
    }
    let failed = dir.all_runs().filter(|run| is_failure(run)).count();
    if failed > 0 {
        cautions.push(format!(
            "{failed} of {} runs did not end well. They enter no statistic; the HTML report lists them under Failed runs.",
            dir.done()
        ));
    }
    if dir.done() < dir.planned() {
        cautions.push(format!(
            "{} of {} planned runs are done{}.",
            dir.done(),
            dir.planned(),
            manifest
                .precision
                .map_or("; to go on, run the experiment again".to_owned(), until)
        ));
    }
    if let Some(torn) = dir.torn() {
        cautions.push(format!(
            "Line {} of runs.jsonl was not written to its end ({} bytes); that run does not count and will be repeated.",
            torn.line, torn.bytes
        ));
    }
    let most = summary.most_runs();
    if (1..RUNS_FOR_INTERVAL).contains(&most) {
        cautions.push(format!(
            "{} of each configuration: too few for any interval. Differences may be noise.",
            counted(most, "run")
        ));
    }
    cautions.extend(steadiness(summary).and_then(|found| found.caution()));
    // The sweep warns of it, too, if it could see that.
    let is_warned = manifest
        .machine
        .warnings
        .iter()
        .any(|warning| warning.contains("debug build"));
    if manifest.build.profile.as_deref() == Some("debug") && !is_warned {
        cautions.push("This gclab was a debug build: its times say nothing about a release build.".to_owned());
    }
    cautions.extend(conditions::caution(dir.runs()));
    cautions.extend(conditions::changed(dir.runs()));
    cautions.extend(manifest.machine.warnings.iter().cloned());
    cautions
}

/// The end of an experiment that may be complete before all its runs are done.
fn until(precision: f64) -> String {
    format!(
        ". The experiment ends when the 95 % interval of each mean time reaches at most {} % to either side; to see whether \
         it has ended, run it again",
        number(precision * 100.0)
    )
}

/// The machine, build and time of an experiment as pairs of name and value. Unknown facts are left
/// out.
pub(crate) fn environment(dir: &Results) -> Vec<(&'static str, String)> {
    let (manifest, machine, build) = (dir.manifest(), &dir.manifest().machine, &dir.manifest().build);
    let mut pairs: Vec<(&'static str, String)> = Vec::new();
    let mut put = |name, value: Option<String>| pairs.extend(value.filter(|v| !v.is_empty()).map(|v| (name, v)));
    put("Host", machine.host.clone());
    put("Processor", machine.cpu.clone());
    let logical = machine.logical_cpus.map(|n| format!("{n} logical"));
    let cores = machine.cores.map(|n| format!("{n} physical"));
    put(
        "Cores",
        Some([cores, logical].into_iter().flatten().collect::<Vec<_>>().join(", ")),
    );
    put("Caches", Some(machine.caches.join(", ")));
    put(
        "Memory",
        machine
            .memory_bytes
            .map(|b| format!("{:.1} GiB", b as f64 / f64::from(1 << 30))),
    );
    put("Kernel", machine.kernel.clone());
    put("Transparent huge pages", machine.transparent_huge_pages.clone());
    put("Huge pages by compaction", machine.huge_page_defrag.clone());
    put("Governor", machine.governor.clone());
    put(
        "Boost",
        machine.boost.map(|on| if on { "on" } else { "off" }.to_owned()),
    );
    put("Threads of one core", machine.smt.clone());
    put("Randomised addresses", machine.address_randomisation.clone());
    put("Swap", machine.swap_bytes.map(bytes));
    put(
        "Limits of the control group",
        Some([
            machine.cpu_limit.map(|cpus| format!("{cpus} processors")),
            machine.memory_limit_bytes.map(bytes),
        ])
        .map(|limits| limits.into_iter().flatten().collect::<Vec<_>>().join(", ")),
    );
    put("Power", machine.power.clone());
    put("Performance counters", Some(machine.counters.join(", ")));
    put("Missing counters", machine.counters_absent.clone());
    let at_pauses = manifest.pause_counters == Some(true);
    put(
        "Counters at pauses",
        at_pauses.then(|| "read in each run of a workload".to_owned()),
    );
    put("Virtualisation", machine.virtualisation.clone());
    put("Mitigations", Some(machine.mitigations.join("; ")));
    put("gclab", Some(manifest.gclab.clone()));
    let dirty = if build.git_dirty == Some(true) {
        " with uncommitted changes"
    } else {
        ""
    };
    put(
        "Commit",
        build.git_commit.as_ref().map(|commit| format!("{commit}{dirty}")),
    );
    put("Compiler", build.rustc.clone());
    put("Build", build.profile.clone());
    put("Started", Some(manifest.started.clone()));
    pairs
}

#[cfg(test)]
mod tests {
    use super::is_failure;
    use crate::folder::kept;
    use crate::tests::synthetic::small_runs;
    use gclab_results::{RunRecord, Status};

    /// An exhausted heap and a timeout answer the question of an experiment with `heap`. In any
    /// other experiment they are failures, and every other end but a good one is a failure in both.
    #[test]
    fn which_ends_are_failures() {
        let crash = Status::Crash {
            exit_code: Some(101),
            signal: None,
        };
        for (outcome, plainly, with_heap) in [
            (Status::Ok, false, false),
            (Status::HeapExhausted, true, false),
            (Status::Timeout, true, false),
            (Status::Usage, true, true),
            (Status::WrongAnswer, true, true),
            (Status::Unprepared, true, true),
            (crash, true, true),
        ] {
            let run = |heap_multiple| RunRecord {
                outcome: outcome.clone(),
                heap_multiple,
                ..small_runs().swap_remove(0)
            };
            let runs = kept(&[run(None), run(Some(2.0))]);
            assert_eq!(
                (is_failure(&runs[0]), is_failure(&runs[1])),
                (plainly, with_heap),
                "{outcome:?}"
            );
        }
    }
}
