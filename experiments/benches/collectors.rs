//! Every collector on every workload: whole runs, from an empty heap to the checksum, side by side.
//!
//! A quick comparison during work on a collector. For reliable figures run an experiment
//! (`gclab run experiments/collectors.toml`): each run in a process of its own, in shuffled order,
//! with statistics.

use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use gclab_core::collector::{Collector, CollectorList, CollectorVisitor};
use gclab_core::config::Config;
use gclab_core::words::Bytes;
use gclab_core::world::World;
use gclab_workloads::{Args, Workload, WorkloadList, WorkloadVisitor};

/// The allocation area: small, so that the small runs of `WorkloadDescription::bench` collect
/// often.
const AREA: Bytes = Bytes(256 << 10);

struct ByWorkload<'c> {
    criterion: &'c mut Criterion,
}

impl WorkloadVisitor for ByWorkload<'_> {
    type Output = ();

    fn visit<W: Workload>(self, workload: &W) {
        let description = &W::DESCRIPTION;
        let args = Args::parse(description, description.bench).expect("sizes are in range");
        for collector in gclab_collectors::All::descriptions() {
            let by_collector = ByCollector {
                workload,
                args: &args,
                criterion: self.criterion,
            };
            gclab_collectors::All::with(collector.name, by_collector).expect("listed");
        }
    }
}

struct ByCollector<'r, W> {
    workload: &'r W,
    args: &'r Args,
    criterion: &'r mut Criterion,
}

impl<W: Workload> CollectorVisitor for ByCollector<'_, W> {
    type Output = ();

    fn visit<C: Collector>(self) {
        let config = Config {
            allocation_area: AREA,
            ..Config::default()
        };
        let mut group = self.criterion.benchmark_group(W::DESCRIPTION.name);
        group.bench_function(C::DESCRIPTION.name, |b| {
            b.iter(|| {
                let world = World::new::<C>(&config).expect("memory for a bench");
                let checksum = self.workload.run(&world, self.args).expect("room enough");
                (checksum, world.finish())
            })
        });
        group.finish();
    }
}

fn collectors(criterion: &mut Criterion) {
    for workload in gclab_workloads::All::descriptions() {
        gclab_workloads::All::with(workload.name, ByWorkload { criterion }).expect("listed");
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(2));
    targets = collectors
}
criterion_main!(benches);
