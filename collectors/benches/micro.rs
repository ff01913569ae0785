//! The costs of the hot paths, one by one: allocation, the write barrier, evacuation.
//!
//! Each is measured in the same run as the program that it is compared with: allocation and a bump
//! kernel in plain Rust, stores with the barrier and the same stores under a collector without one,
//! evacuation by shape of the heap. Figures are per object or store.

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use gclab_collectors::{Copying, TwoSpace};
use gclab_core::closure::{Closure, Mut, Ptr};
use gclab_core::collector::{Collector, KindOf};
use gclab_core::config::Config;
use gclab_core::mutator::{Gc, Mutator, MutatorKind, Request};
use gclab_core::words::Bytes;
use gclab_core::world::World;
use std::hint::black_box;

#[derive(Closure)]
#[allow(dead_code)]
struct Node {
    left: Option<Ptr<Node>>,
    right: Option<Ptr<Node>>,
    value: u64,
}

#[derive(Closure)]
#[allow(dead_code)]
struct Cell {
    value: u64,
    next: Mut<Cell>,
}

fn world<C: Collector>(area: usize) -> World<KindOf<C>> {
    World::new::<C>(&Config {
        allocation_area: Bytes(area),
        ..Config::default()
    })
    .expect("memory for a bench")
}

const OBJECTS: usize = 100_000;

/// Allocates objects of four words, a header and three words each; none survives.
fn allocation(c: &mut Criterion) {
    let mut group = c.benchmark_group("allocate 4 words");
    group.throughput(Throughput::Elements(OBJECTS as u64));
    let mut buffer = vec![0u64; (4 << 20) / 8];
    group.bench_function("bump kernel", |b| {
        let mut cursor = 0;
        b.iter(|| {
            for i in 0..OBJECTS {
                if cursor + 4 > buffer.len() {
                    cursor = 0;
                }
                let object = &mut buffer[cursor..cursor + 4];
                object.copy_from_slice(&[0x0203_0000_0000_0001, 0, 0, i as u64]);
                cursor += 4;
                black_box(&mut buffer);
            }
        })
    });
    fn gclab<C: Collector>(group: &mut criterion::BenchmarkGroup<'_, criterion::measurement::WallTime>) {
        let world = world::<C>(4 << 20);
        let run = |m: &mut Mutator<'_, KindOf<C>>| {
            for i in 0..OBJECTS {
                black_box(m.alloc(|_| Node::new(None, None, i as u64)));
            }
        };
        group.bench_function(C::DESCRIPTION.name, |b| {
            world.enter(|m| b.iter(|| run(m))).expect("room")
        });
    }
    gclab::<Copying>(&mut group);
    gclab::<TwoSpace>(&mut group);
    group.finish();
}

/// Stores into an array of boxes: into a young array, old values into an old one, young values into
/// an old one.
fn barrier(c: &mut Criterion) {
    const SLOTS: usize = 4096;
    fn stores<C: Collector>(c: &mut Criterion, name: &str, old_array: bool, old_value: bool) {
        let world = world::<C>(1 << 20);
        world
            .enter(|m| {
                m.frame(|m, [array, value]| {
                    let array = array.put(m.alloc_array::<Cell>(SLOTS, |_| None));
                    if old_array {
                        (0..3).for_each(|_| m.collect(Request::Minor));
                    }
                    let value = value.put(m.alloc(|_| Cell::new(1, None)));
                    if old_value {
                        (0..3).for_each(|_| m.collect(Request::Minor));
                    }
                    let mut group = c.benchmark_group(name);
                    group.throughput(Throughput::Elements(SLOTS as u64));
                    group.bench_function(C::DESCRIPTION.name, |b| {
                        b.iter(|| {
                            let (array, value) = (array.get(m), value.get(m));
                            for i in 0..SLOTS {
                                array.set(m, i, Some(black_box(value)));
                            }
                        })
                    });
                    group.finish();
                })
            })
            .expect("room");
    }
    for (name, old_array, old_value) in [
        ("store into a young array", false, false),
        ("store old into an old array", true, true),
        ("store young into an old array", true, false),
    ] {
        stores::<TwoSpace>(c, name, old_array, old_value);
        stores::<Copying>(c, name, old_array, old_value);
    }
}

fn tree<'m, 'h, M: MutatorKind>(m: &'m mut Mutator<'h, M>, depth: u64) -> Gc<'m, 'h, Node> {
    if depth == 0 {
        return m.alloc(|_| Node::new(None, None, 0));
    }
    m.frame(|m, [l, r]| {
        let left = l.put(tree(m, depth - 1));
        let right = r.put(tree(m, depth - 1));
        m.alloc(|m| Node::new(Some(left.get(m)), Some(right.get(m)), depth))
    })
}

/// A major collection of live data: a tree in allocation order, a list, an array of boxes in random
/// order, byte arrays.
fn evacuation(c: &mut Criterion) {
    const LIVE: usize = 1 << 18;
    fn collections<C: Collector>(c: &mut Criterion) {
        let measure = |c: &mut Criterion, name: &str, m: &mut Mutator<'_, KindOf<C>>| {
            let mut group = c.benchmark_group(name);
            group.throughput(Throughput::Elements(LIVE as u64)).sample_size(20);
            group.bench_function(C::DESCRIPTION.name, |b| {
                b.iter_batched(|| (), |()| m.collect(Request::Full), BatchSize::PerIteration)
            });
            group.finish();
        };
        let world = world::<C>(4 << 20);
        let enter = |session: &mut dyn FnMut(&mut Mutator<'_, KindOf<C>>)| world.enter(|m| session(m)).expect("room");
        enter(&mut |m| {
            m.frame(|m, [root]| {
                root.put(tree(m, 17));
                measure(c, "evacuate a tree of 40-byte nodes", m);
            })
        });
        enter(&mut |m| {
            m.frame(|m, [list]| {
                let list = list.put_option::<Cell>(m, None);
                for i in 0..LIVE {
                    let (m, cell) = m.alloc_with(|m| Cell::new(i as u64, list.get(m)));
                    list.set(m, Some(cell));
                }
                measure(c, "evacuate a list of 24-byte cells", m);
            })
        });
        enter(&mut |m| {
            m.frame(|m, [array]| {
                let array = array.put(m.alloc_array::<Cell>(LIVE, |_| None));
                for i in 0..LIVE {
                    let (m, cell) = m.alloc_with(|_| Cell::new(i as u64, None));
                    // An odd multiplier permutes the indices of a power of two.
                    array.get(m).set(m, i.wrapping_mul(0x9E37_79B9) % LIVE, Some(cell));
                }
                measure(c, "evacuate boxes in random order", m);
            })
        });
    }
    collections::<Copying>(c);
    collections::<TwoSpace>(c);
}

criterion_group! {
    name = benches;
    config = Criterion::default().warm_up_time(std::time::Duration::from_millis(500)).measurement_time(std::time::Duration::from_secs(2));
    targets = allocation, barrier, evacuation
}
criterion_main!(benches);
