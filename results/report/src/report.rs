//! A results folder for people: HTML, markdown for an issue, CSV for other tools.
//!
//! Everything is derived from the records. Folders are reported one after the other and never pooled: two folders may come
//! from two machines. The HTML is one file that loads nothing from anywhere; its template escapes all text by default, and the
//! only markup put in unescaped are charts, which escape for themselves ([`crate::chart::escape`]).

mod answer;
mod csv;
mod figures;
mod grid;
mod markdown;
mod memory;
mod page;
mod parallel;
mod pauses;
pub mod profiles;
mod timeline;

pub use answer::{Answer, Best, Rival, answers, headline};
pub use csv::csv;
use gclab_results::{ResultsDir, RunRecord, Status};
pub use markdown::markdown;
pub use memory::{Budget, Budgets, Standing, budgets};
pub use page::html;
pub use parallel::{Advice, Call, Candidate, Case, advice};
pub use pauses::{PERCENTILES, PauseRow, pause_rows};

use crate::maths::{RUNS_FOR_INTERVAL, Ratio, Spread};
use crate::metric::{self, Metric};
use crate::summary::Summary;

/// The figure that "fast" means: the run's own total, or the wall clock where no run has it.
fn time_metric(summary: &Summary<'_>) -> &'static Metric {
    let has_total = summary
        .groups()
        .any(|group| group.spread(&metric::TOTAL_ELAPSED).is_some());
    if has_total {
        &metric::TOTAL_ELAPSED
    } else {
        &metric::WALL
    }
}

/// `0.412 (0.405–0.431)`: median, least and greatest; the median alone for one run or equal runs.
fn with_range(metric: &Metric, spread: &Spread) -> String {
    let text = |value| metric.unit.text(value);
    if spread.n > 1 && text(spread.min) != text(spread.max) {
        format!("{} ({}–{})", text(spread.median), text(spread.min), text(spread.max))
    } else {
        text(spread.median)
    }
}

/// `1.32× (1.28–1.36)`.
fn ratio_text(ratio: &Ratio) -> String {
    match ratio.ci95 {
        Some(ci) => format!("{:.2}× ({:.2}–{:.2})", ratio.estimate, ci.low, ci.high),
        None => format!("{:.2}× (no interval)", ratio.estimate),
    }
}

/// Whether a run failed; to be exhausted or to thrash is a result where heaps are multiples of the least.
fn is_failure(run: &RunRecord) -> bool {
    let by_heap = run.heap_multiple.is_some() && matches!(run.outcome, Status::HeapExhausted | Status::Timeout);
    !run.outcome.is_ok() && !by_heap
}

/// What a reader must know before believing the figures.
fn cautions(dir: &ResultsDir, summary: &Summary<'_>) -> Vec<String> {
    let manifest = dir.manifest();
    let mut cautions = Vec::new();
    for note in crate::table::disagreements(dir) {
        cautions.push(format!(
            "Wrong results: {note}. A collector that changes results has no speed."
        ));
    }
    for note in profiles::wrong_results(dir) {
        cautions.push(format!(
            "Wrong results: {note}. Who looks at a heap must not change the program."
        ));
    }
    let failed = dir.all_runs().filter(|run| is_failure(run)).count();
    if failed > 0 {
        cautions.push(format!(
            "{failed} of {} runs did not end well. They enter no statistic and are listed under Failed runs.",
            dir.done()
        ));
    }
    if dir.done() < manifest.plan.len() {
        cautions.push(format!(
            "{} of {} planned runs are done; the experiment goes on where it stopped.",
            dir.done(),
            manifest.plan.len()
        ));
    }
    if let Some(torn) = dir.torn() {
        cautions.push(format!(
            "Line {} of runs.jsonl was not written to its end ({} bytes); that run is not counted and will be repeated.",
            torn.line, torn.bytes
        ));
    }
    let most = summary.most_runs();
    if (1..RUNS_FOR_INTERVAL).contains(&most) {
        cautions.push(format!(
            "{most} run{} of each configuration: too few for any interval. Differences may be noise.",
            if most == 1 { "" } else { "s" }
        ));
    }
    if manifest.build.profile.as_deref() == Some("debug") {
        cautions.push("This gclab was a debug build: its times say nothing about a release build.".to_owned());
    }
    cautions.extend(manifest.machine.warnings.iter().cloned());
    cautions
}

/// The machine, build and time of an experiment as pairs; what is not known is not there.
fn environment(dir: &ResultsDir) -> Vec<(&'static str, String)> {
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
    put("Governor", machine.governor.clone());
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
