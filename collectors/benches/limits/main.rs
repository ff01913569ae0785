//! How far collections are from the machine's limits, and allocation from bumping a pointer.
//!
//! **Collection.** A heap of about four million objects is built inside the allocation area, so
//! that they lie in the order of the shape, and collected once, into memory that earlier
//! collections have used. The time is the pause, from the record of the collection. Between
//! collections the machine itself is measured ([`machine`]). So both are measured in the same
//! minutes, and no collection finds its heap in the cache. At the end there is a table of each
//! shape and collector with
//!
//! ```text
//! roof = max(live bytes / M, lines / G, chain x L)     ratio = pause / roof, medians
//! ```
//!
//! where lines and chain come from a walk of the heap ([`census`]). The roof is a bound, not a
//! prediction: no collector that copies the heap once can be faster.
//!
//! **Allocation.** Objects of four words, none of which survives, in turns with a kernel that only
//! bumps a pointer and writes four words.
//!
//! `cargo bench -p gclab-collectors --bench limits`; with `-- --test` it runs once, with small
//! heaps. With a filter the table has only the rows that were run.

mod census;
mod machine;
mod shapes;

use census::{Census, census};
use criterion::{Criterion, SamplingMode};
use gclab_collectors::{Copying, TwoSpace};
use gclab_core::closure::{Closure, Ptr};
use gclab_core::collector::{Collector, KindOf};
use gclab_core::config::Config;
use gclab_core::events::{Event, EventKind, Listener};
use gclab_core::mutator::Request;
use gclab_core::words::Bytes;
use gclab_core::world::World;
use machine::{Machine, Rates};
use shapes::Shape;
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The sizes of heaps, probes and turns.
struct Scale {
    /// Objects of a heap; a power of two.
    objects: usize,
    /// Room for all objects, and for building them.
    area: Bytes,
    /// The size of the ranges to probe.
    probe: Bytes,
    /// Objects allocated in a turn.
    allocated: usize,
}

const FULL: Scale = Scale {
    objects: 1 << 22,
    area: Bytes::mib(320),
    probe: Bytes::mib(128),
    allocated: 2_000_000,
};

const TEST: Scale = Scale {
    objects: 1 << 10,
    area: Bytes::mib(16),
    probe: Bytes::mib(2),
    allocated: 10_000,
};

/// A row of the table.
struct Row {
    shape: Shape,
    collector: &'static str,
    census: Census,
    pauses: Vec<f64>,
    rates: Vec<Rates>,
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

fn world<C: Collector>(area: Bytes) -> World<KindOf<C>> {
    let config = Config {
        allocation_area: area,
        ..Config::default()
    };
    World::new::<C>(&config).expect("memory for a bench")
}

/// Builds and collects a heap again and again. Criterion gets the pauses, `rows` all figures.
fn collect<C: Collector>(c: &mut Criterion, shape: Shape, scale: &Scale, machine: &mut Machine, rows: &mut Vec<Row>) {
    let mut group = c.benchmark_group(shape.name());
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    let mut row = None;
    group.bench_function(C::DESCRIPTION.name, |b| {
        let pause = Arc::new(AtomicU64::new(0));
        let mut world = world::<C>(scale.area);
        world.listen(Box::new(LastPause(pause.clone())));
        let mut turn = |row: &mut Row| {
            let root = world.enter(|m| {
                m.frame(|m, [slot]| {
                    let root = slot.put(shape.build(m, scale.objects));
                    m.handle(root.get(m))
                })
            });
            let root = root.expect("room");
            if row.census.objects == 0 {
                assert_eq!(
                    pause.load(Ordering::Relaxed),
                    0,
                    "the heap was collected while it was built"
                );
                row.census = world.inspect(census).expect("nobody is inside");
            }
            row.rates.push(machine.probe());
            world.enter(|m| m.collect(Request::Full)).expect("room");
            let elapsed = pause.load(Ordering::Relaxed);
            drop(root);
            world.enter(|m| m.collect(Request::Full)).expect("room");
            elapsed
        };
        let row = row.get_or_insert_with(|| {
            let mut row = Row {
                shape,
                collector: C::DESCRIPTION.name,
                census: Census::default(),
                pauses: Vec::new(),
                rates: Vec::new(),
            };
            // The first collection takes fresh memory from the system.
            turn(&mut row);
            row
        });
        b.iter_custom(|turns| {
            let mut total = 0;
            for _ in 0..turns {
                let pause = turn(row);
                row.pauses.push(pause as f64 / 1e9);
                total += pause;
            }
            Duration::from_nanos(total)
        })
    });
    group.finish();
    rows.extend(row);
}

#[derive(Closure)]
#[allow(dead_code, reason = "it never exists as a Rust value")]
struct Node {
    left: Option<Ptr<Node>>,
    right: Option<Ptr<Node>>,
    value: u64,
}

/// Writes four words at a time into a buffer of 4 MiB, again and again.
fn bump(buffer: &mut [u64], objects: usize) {
    let (places, _) = buffer.as_chunks_mut::<4>();
    let mut cursor = 0;
    for i in 0..objects {
        if cursor == places.len() {
            cursor = 0;
        }
        let object = &mut places[cursor];
        *object = [0x0203_0000_0000_0001, 0, 0, i as u64];
        black_box(object);
        cursor += 1;
    }
}

/// Seconds of allocation: the collector's name, its samples, the kernel's samples.
type Allocation = (&'static str, Vec<f64>, Vec<f64>);

fn allocate<C: Collector>(c: &mut Criterion, scale: &Scale, rows: &mut Vec<Allocation>) {
    let mut group = c.benchmark_group("allocate 4 words");
    group.throughput(criterion::Throughput::Elements(scale.allocated as u64));
    let (mut ours, mut kernel) = (Vec::new(), Vec::new());
    let mut buffer = vec![0; (4 << 20) / 8];
    let world = world::<C>(Bytes::mib(4));
    group.bench_function(C::DESCRIPTION.name, |b| {
        b.iter_custom(|turns| {
            let mut total = Duration::ZERO;
            for _ in 0..turns {
                let start = Instant::now();
                bump(&mut buffer, scale.allocated);
                kernel.push(start.elapsed().as_secs_f64());
                let elapsed = world.enter(|m| {
                    let start = Instant::now();
                    for i in 0..scale.allocated {
                        black_box(m.alloc(|_| Node::new(None, None, i as u64)));
                    }
                    start.elapsed()
                });
                let elapsed = elapsed.expect("room");
                ours.push(elapsed.as_secs_f64());
                total += elapsed;
            }
            total
        })
    });
    group.finish();
    if !ours.is_empty() {
        rows.push((C::DESCRIPTION.name, ours, kernel));
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn print_allocation(rows: Vec<Allocation>, objects: usize) {
    println!("\n| allocation of 4 words | ns/object | bump kernel, ns/object | ratio |\n|---|---|---|---|");
    for (name, ours, kernel) in rows {
        let (ours, kernel) = (median(ours), median(kernel));
        let each = 1e9 / objects as f64;
        println!(
            "| {name} | {:.2} | {:.2} | {:.2} |",
            ours * each,
            kernel * each,
            ours / kernel
        );
    }
}

fn print_collections(rows: Vec<Row>) {
    println!(
        "\n| heap | live objects | MB | collector | ns/object (least–most) | GB/s | M, GB/s | G, M/s | L, ns | roof, ns/object | bound by | ratio |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|");
    for row in rows {
        let Census {
            objects,
            bytes,
            lines,
            chain,
        } = row.census;
        let rate = |of: fn(&Rates) -> f64| median(row.rates.iter().map(of).collect());
        let (copy, gather, miss) = (rate(|r| r.copy), rate(|r| r.lines), rate(|r| r.miss));
        let terms = [
            (bytes as f64 / copy, "bytes"),
            (lines as f64 / gather, "lines"),
            (chain as f64 * miss, "chain"),
        ];
        let (roof, by) = terms
            .into_iter()
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .expect("three terms");
        let each = 1e9 / objects as f64;
        let least = row.pauses.iter().copied().fold(f64::INFINITY, f64::min) * each;
        let most = row.pauses.iter().copied().fold(0.0, f64::max) * each;
        let pause = median(row.pauses);
        println!(
            "| {} | {objects} | {:.1} | {} | {:.1} ({least:.1}–{most:.1}) | {:.2} | {:.1} | {:.0} | {:.0} | {:.2} | {by} | {:.2} |",
            row.shape.name(),
            bytes as f64 / 1e6,
            row.collector,
            pause * each,
            bytes as f64 / pause / 1e9,
            copy / 1e9,
            gather / 1e6,
            miss * 1e9,
            roof * each,
            pause / roof,
        );
    }
}

fn main() {
    // The same rule as criterion's: `cargo bench` passes `--bench`, and `--test` overrides that.
    let said = |word: &str| std::env::args().any(|argument| argument == word);
    let scale = if said("--bench") && !said("--test") { FULL } else { TEST };
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_secs(3))
        .configure_from_args();
    let mut machine = Machine::new(scale.probe);
    let (mut allocations, mut rows) = (Vec::new(), Vec::new());
    allocate::<Copying>(&mut criterion, &scale, &mut allocations);
    allocate::<TwoSpace>(&mut criterion, &scale, &mut allocations);
    for shape in Shape::ALL {
        collect::<Copying>(&mut criterion, shape, &scale, &mut machine, &mut rows);
        collect::<TwoSpace>(&mut criterion, shape, &scale, &mut machine, &mut rows);
    }
    criterion.final_summary();
    if !allocations.is_empty() {
        print_allocation(allocations, scale.allocated);
    }
    if !rows.is_empty() {
        print_collections(rows);
    }
}
