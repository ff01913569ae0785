//! Every collector on every workload: whole runs, from an empty heap to the checksum, side by side.
//!
//! A quick look while working on a collector. For figures to believe run an experiment (`gclab run experiments/collectors.toml`):
//! each run in a process of its own, in shuffled order, with statistics.

use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use gclab_core::World;
use gclab_core::collector::{Collector, CollectorList, CollectorVisitor};
use gclab_core::config::Config;
use gclab_core::words::Bytes;
use gclab_workloads::{Args, Workload, WorkloadList, WorkloadVisitor};

/// Sizes at which a run takes some milliseconds, and collects many times with [`AREA`]; workloads that are not named
/// here run at their test size.
const SIZES: &[(&str, &[&str])] = &[
    ("binary_trees", &["13"]),
    ("gcbench", &["13", "11", "50000"]),
    ("long_list", &["60000", "60000"]),
    ("mut_array", &["30000", "300000"]),
    ("hash_churn", &["8192", "32768", "200000"]),
    ("message_window", &["5000", "15000", "1024"]),
    ("heap_snapshot", &["-", "2"]),
    ("word_index", &["-", "2", "100"]),
    ("par_trees", &["2", "12"]),
    ("par_skewed", &["4", "10000", "500"]),
    ("par_shared", &["4", "8192", "32768", "100000"]),
    ("server", &["2", "2000", "2000", "0"]),
];

/// The allocation area: small, so that small runs collect often.
const AREA: Bytes = Bytes(256 << 10);

struct ByWorkload<'c> {
    criterion: &'c mut Criterion,
}

impl WorkloadVisitor for ByWorkload<'_> {
    type Output = ();

    fn visit<W: Workload>(self, workload: &W) {
        let description = &W::DESCRIPTION;
        let named = SIZES.iter().find(|(name, _)| *name == description.name);
        let args = named.map_or(description.test.args, |(_, args)| args);
        let args = Args::parse(description, args).expect("sizes are in range");
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
        let flags = Config {
            allocation_area: AREA,
            ..Config::default()
        };
        let mut group = self.criterion.benchmark_group(W::DESCRIPTION.name);
        group.bench_function(C::DESCRIPTION.name, |b| {
            b.iter(|| {
                let world = World::<C>::new(&flags).expect("memory for a bench");
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
