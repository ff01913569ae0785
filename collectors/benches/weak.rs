//! The time that weak handles take in a collection, with one GC thread and with two.
//!
//! A heap of small closures, each with a weak handle, in an order other than that of the handles.
//! Half of the closures are dead when a major collection is timed: it clears half of the handles,
//! and updates the others. Then a minor one is timed, in which all closures are old. Criterion
//! reports the times of the phase `weak`, and the whole pause of the major collection.
//!
//! `cargo bench -p gclab-collectors --bench weak`; with `-- --test` it runs once, with small heaps.

use criterion::{Criterion, SamplingMode, Throughput};
use gclab_collectors::{Compacting, Parallel};
use gclab_core::closure::{Closure, Mut};
use gclab_core::collector::Collector;
use gclab_core::config::{Compact, Config, FromGeneration};
use gclab_core::events::{Event, EventKind, Listener};
use gclab_core::mutator::{Handle, MutArray, Mutator, MutatorKind, Request, WeakHandle};
use gclab_core::stats::Phase;
use gclab_core::words::Bytes;
use gclab_core::world::World;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

#[derive(Closure)]
#[allow(dead_code, reason = "it never exists as a Rust value")]
struct Node {
    value: u64,
    next: Mut<Node>,
}

/// The times of the last collection, in nanoseconds.
#[derive(Default)]
struct Last {
    weak: AtomicU64,
    pause: AtomicU64,
}

/// The time that is reported.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Part {
    WeakInMajor,
    WeakInMinor,
    PauseOfMajor,
}

/// Records the times of each collection.
struct Times(Arc<Last>);

impl Listener for Times {
    fn event(&mut self, event: &Event<'_>) {
        if let EventKind::End { collection, .. } = event.kind {
            let time = &collection.time;
            let weak = time.phases.taken().find(|(phase, _)| *phase == Phase::WeakProcessed);
            self.0.weak.store(weak.map_or(0, |(_, ns)| ns), Ordering::Relaxed);
            self.0.pause.store(time.elapsed_ns, Ordering::Relaxed);
        }
    }
}

/// Makes `count` nodes with a weak handle each, and drops every other one. The handles are made in
/// an order far from that of the nodes in memory.
fn build<M: MutatorKind>(m: &mut Mutator<'_, M>, count: usize) -> (Handle<MutArray<Node>>, Vec<WeakHandle<Node>>) {
    m.frame(|m, [nodes]| {
        let nodes = nodes.put(m.alloc_array::<Node>(count, |_| None));
        for index in 0..count {
            let (m, node) = m.alloc_with(|_| Node::new(index as u64, None));
            nodes.get(m).set(m, index, Some(node));
        }
        // The first collection ages the nodes, the second one promotes them.
        m.collect(Request::Full);
        m.collect(Request::Full);
        // A step that has no divisor in common with a count of a power of two.
        let order = |index: usize| (index * 7919 + 13) % count;
        let all = nodes.get(m);
        let handle = |index| m.weak_handle(all.get(m, order(index)).expect("it was made"));
        let handles = (0..count).map(handle).collect();
        (0..count).step_by(2).for_each(|index| all.set(m, index, None));
        (m.handle(all), handles)
    })
}

fn collect<C: Collector>(c: &mut Criterion, count: usize, name: &str, gc_threads: u32, parts: &[Part]) {
    let config = Config {
        allocation_area: Bytes::mib(64),
        compact: Compact::Always,
        gc_threads,
        load_balance: Some(FromGeneration::From(0)),
        ..Config::default()
    };
    for &part in parts {
        let mut group = c.benchmark_group(format!("{count} handles, {part:?}"));
        group.sample_size(10).sampling_mode(SamplingMode::Flat);
        group
            .warm_up_time(Duration::from_millis(1))
            .measurement_time(Duration::from_millis(100));
        group.throughput(Throughput::Elements(count as u64));
        group.bench_function(name, |b| {
            let last = Arc::<Last>::default();
            let mut world = World::new::<C>(&config).expect("memory for a bench");
            world.listen(Box::new(Times(Arc::clone(&last))));
            b.iter_custom(|turns| {
                let turn = |_| {
                    let kept = world.enter(|m| build(m, count)).expect("room");
                    world.enter(|m| m.collect(Request::Full)).expect("room");
                    if part == Part::WeakInMinor {
                        world.enter(|m| m.collect(Request::Minor)).expect("room");
                    }
                    drop(kept);
                    let time = if part == Part::PauseOfMajor {
                        &last.pause
                    } else {
                        &last.weak
                    };
                    time.load(Ordering::Relaxed)
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
    let counts: &[usize] = if test {
        &[1 << 10]
    } else {
        &[1 << 15, 1 << 16, 1 << 17, 1 << 18, 1 << 20]
    };
    for &count in counts {
        for gc_threads in [1, 2] {
            let name = |collector: &str| format!("{collector}, -qn{gc_threads}");
            let all = [Part::WeakInMajor, Part::WeakInMinor, Part::PauseOfMajor];
            collect::<Parallel>(&mut criterion, count, &name("parallel"), gc_threads, &all);
            // Its weak handles are updated in three phases.
            collect::<Compacting>(&mut criterion, count, &name("compacting"), gc_threads, &all[2..]);
        }
    }
    criterion.final_summary();
}
