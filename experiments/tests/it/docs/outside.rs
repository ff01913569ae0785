//! The tutorials' code: compiled from where readers find it, run under the checker, and what the pages show of it is what it is.
//! (That it is a crate of its own outside the workspace, with its own `main`, is for `.ci/outside` to show.)

#[path = "../../../../docs/examples/clockwork/src/clockwork.rs"]
mod clockwork;
#[path = "../../../../docs/examples/clockwork/src/pipeline.rs"]
mod pipeline;

use std::fs;
use std::marker::PhantomData;

use gclab_core::collector::{Collector, CollectorList, CollectorVisitor};
use gclab_core::flags::Flags;
use gclab_core::words::Bytes;
use gclab_core::world::World;
use gclab_heap_traverse::Checker;
use gclab_workloads::{Workload, WorkloadList, WorkloadVisitor};

use super::{files, pages, root};

type Collectors = (clockwork::Clockwork, gclab_collectors::All);
type Workloads = (pipeline::Pipeline, gclab_workloads::All);

/// Runs a workload at its test size, every collection checked.
struct Checked<C>(PhantomData<C>);

impl<C: Collector> WorkloadVisitor for Checked<C> {
    type Output = ();

    fn visit<W: Workload>(self, workload: &W) {
        let flags = Flags {
            allocation_area: Bytes::kib(64),
            reserve: Bytes::gib(4),
            ..Flags::default()
        };
        let mut world = World::<C>::new(&flags).expect("a small heap");
        world.listen(Box::new(Checker::new::<C>().exact()));
        let checksum = workload
            .run(&world, &W::DESCRIPTION.test_args().expect("legal arguments"))
            .expect("it fits");
        let expected = W::DESCRIPTION.test.checksum.unwrap_or(checksum);
        assert_eq!(
            checksum,
            expected,
            "{} under {}",
            W::DESCRIPTION.name,
            C::DESCRIPTION.name
        );
        let statistics = world.finish();
        assert!(
            statistics.collections_count() > 3,
            "{} hardly collected",
            W::DESCRIPTION.name
        );
    }
}

struct Everything<'a>(&'a str);

impl CollectorVisitor for Everything<'_> {
    type Output = ();

    fn visit<C: Collector>(self) {
        Workloads::with(self.0, Checked::<C>(PhantomData)).expect("a workload of the list");
    }
}

#[test]
fn the_new_collector_runs_every_workload() {
    for workload in Workloads::descriptions() {
        Collectors::with("clockwork", Everything(workload.name)).expect("it is in the list");
    }
}

#[test]
fn the_new_workload_runs_under_every_collector() {
    for collector in Collectors::descriptions() {
        Collectors::with(collector.name, Everything("pipeline")).expect("it is in the list");
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
