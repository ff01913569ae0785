//! Every collector under every sizing policy: the same results, and thresholds that differ as they
//! should.

use crate::basics::config;
use gclab_collectors::{All, Copying};
use gclab_core::closure::{Closure, Ptr};
use gclab_core::collector::{Collector, CollectorList, CollectorVisitor, Description};
use gclab_core::config::{Config, HeapHint, Parameter, SizingPolicy};
use gclab_core::mutator::{Mutator, MutatorKind};
use gclab_core::stats::Statistics;
use gclab_core::words::Bytes;
use gclab_core::world::{EnterError, Stopped, World};
use gclab_heap_traverse::Checker;
use gclab_proof::tier;

#[derive(Closure)]
#[allow(dead_code)]
struct Cell {
    value: u64,
    next: Option<Ptr<Cell>>,
}

/// Replaces lists of `len` cells in `slots` slots of an array, one after another, `rounds` times.
/// Returns the sum of the remaining cells.
fn churn<M: MutatorKind>(m: &mut Mutator<'_, M>, slots: usize, len: u64, rounds: u64) -> u64 {
    m.frame(|m, [table, list]| {
        let table = table.put(m.alloc_array::<Cell>(slots, |_| None));
        let list = list.put_option::<Cell>(m, None);
        for round in 0..rounds {
            list.set(m, None);
            for value in 0..len {
                let (m, cell) = m.alloc_with(|m| Cell::new(value * round, list.get(m)));
                list.set(m, Some(cell));
            }
            let table = table.get(m);
            table.set(m, round as usize % slots, list.get(m));
        }
        let mut sum = 0;
        for slot in 0..slots {
            let mut at = table.get(m).get(m, slot);
            while let Some(cell) = at {
                (sum, at) = (sum + cell.value(m), cell.next(m));
            }
        }
        sum
    })
}

const ROUNDS: u64 = 120;

fn expected(slots: u64, len: u64) -> u64 {
    let values = len * (len - 1) / 2;
    (ROUNDS - slots..ROUNDS).map(|round| values * round).sum()
}

/// Churns lists of `len` cells: 40 of them are live, and 120 are allocated.
fn run<C: Collector>(config: &Config, len: u64) -> (Result<u64, EnterError>, Statistics) {
    let mut world = World::new::<C>(config).unwrap_or_else(|error| panic!("{}: {error}", C::DESCRIPTION.name));
    Checker::install(&mut world);
    let sum = world.enter(|m| churn(m, 40, len, ROUNDS));
    (sum, world.finish())
}

fn majors(statistics: &Statistics) -> usize {
    statistics
        .collections
        .iter()
        .filter(|collection| collection.work.is_major())
        .count()
}

/// Runs one collector under policies that depend on its position in the list.
struct Policies(usize);
impl CollectorVisitor for Policies {
    type Output = ();
    fn visit<C: Collector>(self) {
        let name = C::DESCRIPTION.name;
        let majors_with = |sizing, heap_hint, membalancer_c, old_min| {
            let config = Config {
                sizing,
                heap_hint,
                membalancer_c,
                old_min: Bytes::kib(old_min),
                ..config::<C>(64 << 10)
            };
            // 1 MB is live, and 3 MB are allocated.
            let (sum, statistics) = run::<C>(&config, 1000);
            assert_eq!(sum, Ok(expected(40, 1000)), "{name} with {sizing:?}");
            majors(&statistics)
        };
        let default = Config::default();
        for policy in tier::rows(&[SizingPolicy::Fixed, SizingPolicy::MemBalancer], self.0) {
            if *policy == SizingPolicy::Fixed {
                let of = |policy, heap_hint| majors_with(policy, heap_hint, default.membalancer_c, 64);
                let fixed = |size| of(SizingPolicy::Fixed, HeapHint::Size(size));
                // A large heap has a major collection only at the end. A heap that is too small
                // still runs.
                assert_eq!(fixed(Bytes::mib(256)), 1, "{name}");
                assert!(
                    fixed(Bytes::kib(512)) > of(SizingPolicy::Factor, default.heap_hint),
                    "{name}"
                );
            } else {
                // In one run memory costs nothing, in the other it is so expensive that the speeds
                // of program and collector, which vary on a busy machine, make no difference.
                let [cheap, dear] = [1e-9, 1e12].map(|c| majors_with(*policy, default.heap_hint, c, 512));
                assert!(cheap < dear, "{name}: {cheap} major collections, and {dear}");
            }
        }
    }
}

#[test]
fn programs_run_the_same_under_every_policy_and_collector() {
    let all = All::descriptions();
    let sized = all.iter().filter(|description| description.honours(Parameter::Sizing));
    for (index, description) in sized.enumerate() {
        All::with(description.name, Policies(index)).expect("listed");
    }
}

/// Runs one collector near its limit, under policies that depend on its position in the list.
struct Limited(usize);
impl CollectorVisitor for Limited {
    type Output = ();
    fn visit<C: Collector>(self) {
        let name = C::DESCRIPTION.name;
        let policies = [SizingPolicy::Factor, SizingPolicy::Fixed, SizingPolicy::MemBalancer];
        for policy in tier::rows(&policies, self.0) {
            // From too little memory to enough: each run succeeds or is exhausted, within the
            // limit.
            let mut finished = 0;
            for mib in (2..14).step_by(2) {
                let limited = Config {
                    max_heap: Some(Bytes(mib << 20)),
                    sizing: *policy,
                    ..config::<C>(1 << 20)
                };
                // 2 MB are live.
                let (sum, statistics) = run::<C>(&limited, 2000);
                match sum {
                    Ok(sum) => assert_eq!(sum, expected(40, 2000), "{name}, {policy:?}, {mib} MiB"),
                    Err(EnterError::Exhausted(_)) => {
                        assert_eq!(finished, 0, "{name}, {policy:?}: less than {mib} MiB were enough")
                    }
                    Err(error) => panic!("{name}, {policy:?}, {mib} MiB: {error}"),
                }
                finished += usize::from(sum.is_ok());
                assert!(
                    statistics.peak_in_use <= (mib << 20) as u64,
                    "{name}, {policy:?}, {mib} MiB"
                );
            }
            assert!(finished >= 2, "{name}, {policy:?}: {finished} of the sizes were enough");
        }
    }
}

#[test]
fn under_a_limit_every_policy_keeps_it() {
    for (index, description) in All::descriptions().iter().enumerate() {
        All::with(description.name, Limited(index)).expect("listed");
    }
}

#[derive(Clone, Copy)]
struct NearLimit;
impl CollectorVisitor for NearLimit {
    type Output = ();
    fn visit<C: Collector>(self) {
        let Description { name, generations, .. } = C::DESCRIPTION;
        if generations.1 < 2 {
            return;
        }
        // 7.8 MiB are live. Copying collectors need them twice.
        let copies = matches!(name, "copying" | "parallel");
        let config = Config {
            max_heap: Some(Bytes::mib(if copies { 18 } else { 10 })),
            ..config::<C>(2 << 20)
        };
        let world = World::new::<C>(&config).expect("fits");
        let sum = world.enter(|m| {
            m.frame(|m, [kept]| {
                let kept = kept.put_option::<Cell>(m, None);
                for value in 0..340_000 {
                    let (m, cell) = m.alloc_with(|m| Cell::new(value, kept.get(m)));
                    kept.set(m, Some(cell));
                }
                for value in 0..2_000_000 {
                    m.alloc(|_| Cell::new(value, None));
                }
                let (mut sum, mut at) = (0, kept.get(m));
                while let Some(cell) = at {
                    (sum, at) = (sum + cell.value(m), cell.next(m));
                }
                sum
            })
        });
        assert_eq!(sum, Ok(340_000 * 339_999 / 2), "{name}");
        let statistics = world.finish();
        let (majors, all) = (majors(&statistics), statistics.collections.len());
        assert!(majors <= 12 && all > 4 * majors, "{name}: {majors} of {all} are major");
    }
}

/// With little free, every collection used to be a major one, though nothing young survived.
#[test]
fn near_the_limit_collections_stay_minor_ones() {
    crate::under_every_collector(NearLimit);
}

/// The number of runs that mutators allocate in, and the size of the largest.
fn nursery_runs<M: MutatorKind>(world: &World<M>) -> (usize, usize) {
    let mut runs = Vec::new();
    let look = |stopped: &Stopped<'_>| {
        stopped.for_each_region(&mut |region| {
            if region.step == 0 && !region.large {
                runs.push(region.run.bytes().0);
            }
        });
    };
    world.inspect(look).expect("no thread is inside");
    (runs.len(), runs.into_iter().max().unwrap_or(0))
}

/// Allocates 4 MiB by one of so many capabilities. Returns the size of the nursery and the number of
/// collections.
struct OneOf(u32);
impl CollectorVisitor for OneOf {
    type Output = (usize, usize);
    fn visit<C: Collector>(self) -> Self::Output {
        let config = Config {
            capabilities: self.0,
            ..config::<C>(64 << 10)
        };
        let world = World::new::<C>(&config).expect("a small heap");
        let ran = world.enter(|m| {
            for _ in 0..40_000 {
                m.alloc_bytes_filled(100, 1);
            }
        });
        assert_eq!(ran, Ok(()), "{}", C::DESCRIPTION.name);
        let mut area = 0;
        let look = |stopped: &Stopped<'_>| {
            stopped.for_each_region(&mut |region| area += if region.step == 0 { region.run.bytes().0 } else { 0 });
        };
        world.inspect(look).expect("no thread is inside");
        (area, world.finish().collections.len())
    }
}

/// Each of 256 capabilities had an allocation area, whether it had a thread or not, and a part of
/// `ocaml`'s minor heap, which was collected as soon as one part was full.
#[test]
fn idle_capabilities_hold_no_area() {
    for description in All::descriptions() {
        let of = |capabilities| All::with(description.name, OneOf(capabilities)).expect("listed");
        let (one, many) = (of(1), of(256));
        assert_eq!(many, one, "{}", description.name);
        assert!(one.1 > 1, "{}: {} collections", description.name, one.1);
    }
}

#[derive(Clone, Copy)]
struct Chunks;
impl CollectorVisitor for Chunks {
    type Output = ();
    fn visit<C: Collector>(self) {
        if !C::DESCRIPTION.honours(Parameter::Chunk) {
            return;
        }
        let chunks = |kib: usize| {
            let small = Config {
                capabilities: 4,
                chunk: Some(Bytes(kib << 10)),
                ..config::<C>(8 << 20)
            };
            nursery_runs(&World::new::<C>(&small).expect("address space for 32 MiB"))
        };
        // 32 MiB for four capabilities. With chunks of 8 MiB or more each has its own area, in
        // pieces of a megablock, as without -n. A few runs are smaller: those of the smallest
        // nursery, and those in megablocks already in use.
        for (kib, expected) in [
            (512, 512),
            (1024, 1024),
            (1536, 1536),
            (4096, 4096),
            (8192, 1024),
            (1 << 20, 1024),
        ] {
            let (count, largest) = chunks(kib);
            let name = C::DESCRIPTION.name;
            assert_eq!(largest, expected << 10, "{name}, -n{kib}k");
            let rests = if expected == 1536 { count / 2 } else { 8 };
            assert!(count <= (32 << 10) / expected + rests, "{name}, -n{kib}k: {count} runs");
        }
    }
}

/// Chunks above a megablock were silently cut to one.
#[test]
fn a_chunk_may_be_larger_than_a_megablock() {
    crate::under_every_collector(Chunks);
}

/// Allocates through chunks of several megablocks in a heap with scattered free memory.
#[test]
fn large_chunks_are_found_in_a_limited_heap() {
    let small = Config {
        capabilities: 2,
        chunk: Some(Bytes(4 << 20)),
        max_heap: Some(Bytes(32 << 20)),
        ..config::<Copying>(4 << 20)
    };
    let mut world = World::new::<Copying>(&small).expect("fits");
    Checker::install(&mut world);
    assert_eq!(world.enter(|m| churn(m, 40, 9000, ROUNDS)), Ok(expected(40, 9000)));
}

/// Allocates large objects with these limits. Returns the bytes of the first nursery, and the
/// number of collections.
#[derive(Clone, Copy)]
struct LargeObjects {
    area: usize,
    large_area: usize,
    max_heap: Option<usize>,
}

impl CollectorVisitor for LargeObjects {
    type Output = (usize, u64);
    fn visit<C: Collector>(self) -> Self::Output {
        let small = Config {
            large_area: Some(Bytes(self.large_area)),
            max_heap: self.max_heap.map(Bytes),
            ..config::<C>(self.area)
        };
        let world = World::new::<C>(&small).expect("a heap that needs nothing yet");
        let area = nursery_runs(&world);
        let result = world.enter(|m| {
            for _ in 0..100 {
                m.alloc_mut_bytes(100 << 10);
            }
        });
        assert_eq!(result, Ok(()), "{}", C::DESCRIPTION.name);
        (area.0 * area.1, world.finish().collections.len() as u64)
    }
}

/// 6 TiB, more than exist, were kept free for large objects, so a heap was exhausted before it
/// started.
#[test]
fn a_huge_limit_on_large_objects_reserves_nothing() {
    for name in ["two-space", "copying", "parallel", "compacting"] {
        for max_heap in [None, Some(16 << 20)] {
            let of = |large_area| {
                All::with(
                    name,
                    LargeObjects {
                        area: 1 << 20,
                        large_area,
                        max_heap,
                    },
                )
                .expect("listed")
            };
            let (area, _) = of(1 << 20);
            let (great, collections) = of(6 << 40);
            assert_eq!(great, area, "{name}");
            // 10 MB of large objects fit without a collection, except for the last one, at exit.
            assert!(max_heap.is_some() || collections == 1, "{name}: {collections}");
        }
    }
}

/// A small nursery's share of a small limit was rounded to nothing, so that no large object could
/// be allocated.
#[test]
fn a_limit_on_large_objects_is_never_zero() {
    for name in ["two-space", "copying", "parallel", "compacting"] {
        let tiny = LargeObjects {
            area: 16 << 20,
            large_area: 1,
            max_heap: Some(6 << 20),
        };
        All::with(name, tiny).expect("listed");
    }
}
