//! The time to compact an old generation, or to copy it instead.
//!
//! The heap has small closures of three words, of which 30, 60 or 90 % live, as a binary tree in a
//! random order. That is the worst order for a collector that follows pointers, and the usual heap
//! to measure the kernels of compaction on (Jonkers, LISP-2). One major collection is timed.
//! Criterion reports the pause, and the live closures per second.
//!
//! `cargo bench -p gclab-collectors --bench compaction`; with `-- --test` it runs once, with small
//! heaps.

use criterion::{Criterion, SamplingMode, Throughput};
use gclab_collectors::{Compacting, Copying};
use gclab_core::closure::{Closure, Mut};
use gclab_core::collector::Collector;
use gclab_core::config::{Compact, Config};
use gclab_core::events::{Event, EventKind, Listener};
use gclab_core::mutator::{Handle, Mutator, MutatorKind, Request};
use gclab_core::world::World;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

#[derive(Closure)]
#[allow(dead_code, reason = "it never exists as a Rust value")]
struct Node {
    left: Mut<Node>,
    right: Mut<Node>,
}

/// Records the pause of each collection.
struct LastPause(Arc<AtomicU64>);

impl Listener for LastPause {
    fn event(&mut self, event: &Event<'_>) {
        if let EventKind::End { collection, .. } = event.kind {
            self.0.store(collection.time.elapsed_ns, Ordering::Relaxed);
        }
    }
}

/// The numbers below `n`, shuffled in the same way each time (xorshift).
fn shuffled(n: usize) -> Vec<u32> {
    let mut all: Vec<u32> = (0..n as u32).collect();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for last in (1..n).rev() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        all.swap(last, (state % (last as u64 + 1)) as usize);
    }
    all
}

/// Builds a node for each place and promotes them. Then makes a tree of `live` of them and drops
/// the others.
fn build<M: MutatorKind>(m: &mut Mutator<'_, M>, place: &[u32], live: usize) -> Handle<Node> {
    m.frame(|m, [all]| {
        let all = all.put(m.alloc_array::<Node>(place.len(), |_| None));
        for index in 0..place.len() {
            let (m, node) = m.alloc_with(|_| Node::new(None, None));
            all.get(m).set(m, index, Some(node));
        }
        // The first collection ages the nodes, the second one promotes them.
        m.collect(Request::Full);
        m.collect(Request::Full);
        let nodes = all.get(m);
        let node = |index: usize| {
            let place = place.get(index).filter(|_| index < live)?;
            nodes.get(m, *place as usize)
        };
        for index in 0..live {
            let parent = node(index).expect("it was made");
            parent.set_left(m, node(2 * index + 1));
            parent.set_right(m, node(2 * index + 2));
        }
        m.handle(node(0).expect("it was made"))
    })
}

fn collect<C: Collector>(c: &mut Criterion, total: usize, name: &str, gc_threads: u32) {
    let place = shuffled(total);
    let config = Config {
        compact: Compact::Always,
        gc_threads,
        ..Config::default()
    };
    for percent in [30, 60, 90] {
        let live = total * percent / 100;
        let mut group = c.benchmark_group(format!("{percent}% live"));
        group.sample_size(10).sampling_mode(SamplingMode::Flat);
        group.throughput(Throughput::Elements(live as u64));
        group.bench_function(name, |b| {
            let pause = Arc::new(AtomicU64::new(0));
            let mut world = World::new::<C>(&config).expect("memory for a bench");
            world.listen(Box::new(LastPause(Arc::clone(&pause))));
            b.iter_custom(|turns| {
                let turn = |_| {
                    let root = world.enter(|m| build(m, &place, live)).expect("room");
                    world.enter(|m| m.collect(Request::Full)).expect("room");
                    drop(root);
                    pause.load(Ordering::Relaxed)
                };
                Duration::from_nanos((0..turns).map(turn).sum())
            });
        });
        group.finish();
    }
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let test = std::env::args().any(|argument| argument == "--test");
    let total = if test { 10_000 } else { 5_600_000 };
    collect::<Compacting>(&mut criterion, total, "compacting", 1);
    collect::<Compacting>(&mut criterion, total, "compacting, two threads", 2);
    collect::<Copying>(&mut criterion, total, "copying", 1);
    criterion.final_summary();
}
