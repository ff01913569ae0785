//! Traversals and profiles by criterion, to compare one day with another; `traverse.rs` has what they take beside kernels on the same heap.
//!
//! `cargo bench -p gclab-heap-traverse --bench profiles`; with `-- --test` all of it once, with small heaps.

mod heaps;

use criterion::{Criterion, SamplingMode, Throughput};
use gclab_core::world::ClosureView;
use gclab_heap_traverse::{Client, Order, Traversal, Visit};
use heaps::{HEAPS, Heap, counter};
use std::time::Duration;

/// Counts closures depth first.
struct Deep(usize);

impl<'a> Client<'a> for Deep {
    const ORDER: Order = Order::DepthFirst;
    type Parent = ();
    type Data = ();
    type Sum = ();
    #[inline(always)]
    fn visit(&mut self, _: ClosureView<'a>, (): (), (): (), _: bool) -> Visit<()> {
        self.0 += 1;
        Visit::Descend(())
    }
}

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
                let mut client = Deep(0);
                traversal.run(roots.iter().map(|root| (*root, ())), &mut client);
                client.0
            });
        });
        for flag in ["-hT", "-hr", "-ho"] {
            let mut counter = counter(flag);
            group.bench_function(flag, |b| b.iter(|| counter.census(stopped, 0.0, None)));
        }
    });
    looked.expect("nobody is inside");
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
