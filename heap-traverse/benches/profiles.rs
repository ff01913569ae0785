//! Traversals and profiles by criterion, to compare one day with another. `traverse.rs` compares
//! them with kernels on the same heap.
//!
//! `cargo bench -p gclab-heap-traverse --bench profiles`. With `-- --test` everything runs once,
//! with small heaps.

mod heaps;

use criterion::{Criterion, SamplingMode, Throughput};
use gclab_heap_traverse::{Traversal, Visit};
use heaps::{Empty, HEAPS, Heap, counter};
use std::time::Duration;

fn bench(criterion: &mut Criterion, Heap { name, world, .. }: &Heap, nodes: usize) {
    let mut group = criterion.benchmark_group(name);
    group.throughput(Throughput::Elements(nodes as u64));
    group.sampling_mode(SamplingMode::Flat).sample_size(10);
    group
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_secs(1));
    let looked = world.inspect(|stopped| {
        let roots = stopped.root_closures();
        let mut traversal = Traversal::new(stopped);
        group.bench_function("any order", |b| {
            b.iter(|| {
                let mut count = 0;
                traversal.each(roots.iter().copied(), |_| {
                    count += 1;
                    Visit::Descend(())
                });
                count
            });
        });
        group.bench_function("depth first", |b| {
            b.iter(|| {
                let mut client = Empty::<true>(0);
                traversal.run(roots.iter().map(|root| (*root, ())), &mut client);
                client.0
            });
        });
        for flag in ["-hT", "-hr", "-ho"] {
            let mut counter = counter(flag);
            group.bench_function(flag, |b| b.iter(|| counter.census(stopped, 0.0, None)));
        }
    });
    looked.expect("no thread is inside");
    group.finish();
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let test = std::env::args().any(|argument| argument == "--test");
    let nodes = if test { 1000 } else { 2_000_000 };
    for (shape, roots) in HEAPS {
        bench(&mut criterion, &Heap::new(shape, nodes, roots), nodes);
    }
    criterion.final_summary();
}
