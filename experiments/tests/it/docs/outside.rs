//! The tutorials' code: compiled in place, run under the checker, and shown on the pages as it is.
//! (With their own `main` the tutorials are examples of this package, and `.ci/outside` checks them
//! as crates outside the workspace.)

#[path = "../../../../docs/examples/clockwork/src/clockwork.rs"]
mod clockwork;
#[path = "../../../../docs/examples/mark_sweep/src/mark_sweep.rs"]
mod mark_sweep;
#[path = "../../../../docs/examples/clockwork/src/pipeline.rs"]
mod pipeline;
#[path = "../../../../docs/examples/plain_concurrent.rs"]
mod plain_concurrent;
#[path = "../../../../docs/examples/plain_counting.rs"]
mod plain_counting;

use std::fs;

use clockwork::Clockwork;
use gclab_core::collector::{Collector, CollectorList, CollectorVisitor};
use gclab_proof::tier;
use gclab_workloads::WorkloadList;
use mark_sweep::MarkSweep;
use plain_concurrent::PlainConcurrent;
use plain_counting::PlainCounting;

use super::{files, pages, root};

type Collectors = (
    Clockwork,
    (MarkSweep, (PlainConcurrent, (PlainCounting, gclab_collectors::All))),
);
/// Only the tutorial's workload. Otherwise each workload would be compiled for each collector.
type OwnWorkload = (pipeline::Pipeline, ());

struct Pipeline;

impl CollectorVisitor for Pipeline {
    type Output = ();

    fn visit<C: Collector>(self) {
        gclab_proof::workload::<C, OwnWorkload>("pipeline");
    }
}

#[test]
fn the_new_collectors_run_the_workloads() {
    type All = gclab_workloads::All;
    let collectors = [
        gclab_proof::workload::<Clockwork, All>,
        gclab_proof::workload::<MarkSweep, All>,
        gclab_proof::workload::<PlainConcurrent, All>,
        gclab_proof::workload::<PlainCounting, All>,
    ];
    for (number, workload) in All::descriptions().iter().enumerate() {
        for run in tier::rows(&collectors, number) {
            run(workload.name);
        }
    }
}

#[test]
fn the_new_workload_runs_under_every_collector() {
    for collector in Collectors::descriptions() {
        Collectors::with(collector.name, Pipeline).expect("it is in the list");
    }
}

#[test]
fn what_the_tutorials_show_is_what_was_compiled() {
    let sources: Vec<String> = files(&root().join("docs/examples"), "rs")
        .iter()
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    let mut shown = 0;
    for block in pages().iter().flat_map(super::Page::blocks) {
        if block.language == "rust" {
            shown += 1;
            let found = sources.iter().any(|source| source.contains(&block.text));
            assert!(found, "{}: not in docs/examples:\n{}", block.place, block.text);
        }
    }
    assert!(shown >= 8, "only {shown} blocks were found");
}
