//! The module `Gc`: each of OCaml's functions, on a mutator.

use crate::basics::config;
use gclab_collectors::ocaml::{Control, GcModule, NotOcaml, Stat};
use gclab_collectors::{Copying, Ocaml};
use gclab_core::collector::KindOf;
use gclab_core::config::Config;
use gclab_core::mutator::{Allocation, ByteArray, Handle, Mutator, MutatorKind, Request, Tracker};
use gclab_core::words::Bytes;
use gclab_core::world::World;
use gclab_heap_traverse::Checker;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The minor heap of these tests, in words.
pub(super) const MINOR: u64 = 8192;

pub(super) fn world(config: &Config) -> World<KindOf<Ocaml>> {
    use gclab_core::collector::Collector;
    let mut world = World::new::<Ocaml>(config).expect("a small heap");
    world.listen(Box::new(Checker::new(&Ocaml::DESCRIPTION).exact()));
    world
}

pub(super) fn with_module<R>(program: impl for<'h> FnOnce(&mut Mutator<'h, KindOf<Ocaml>>) -> R) -> R {
    let world = world(&config::<Ocaml>(MINOR as usize * 8));
    world.enter(program).expect("room enough")
}

/// Allocates `count` arrays of `words` words each, and keeps the last one.
pub(super) fn allocate<M: MutatorKind>(m: &mut Mutator<'_, M>, count: usize, words: usize) -> Handle<ByteArray> {
    for _ in 1..count {
        m.alloc_bytes_filled(8 * (words - 2), 1);
    }
    let (view, last) = m.with_view(|m| m.alloc_bytes_filled(8 * (words - 2), 1));
    view.handle(last)
}

#[test]
fn counters_count_words_where_they_are_allocated() {
    with_module(|m| {
        let kept = allocate(m, 100, 10);
        let mut gc = m.gc().expect("ocaml");
        assert_eq!(gc.counters(), (1000.0, 0.0, 0.0));
        assert_eq!((gc.minor_words(), gc.allocated_bytes()), (1000.0, 8000.0));
        assert_eq!(gc.get_minor_free(), MINOR - 1000);
        gc.minor();
        assert_eq!(gc.counters(), (1000.0, 10.0, 10.0));
        assert_eq!(gc.get_minor_free(), MINOR);
        assert_eq!(gc.quick_stat().minor_collections, 1);
        let large = allocate(m, 1, 1000);
        let mut gc = m.gc().expect("ocaml");
        assert_eq!(gc.counters(), (1000.0, 10.0, 1010.0));
        assert_eq!(gc.allocated_bytes(), 16_000.0);
        drop((kept, large));
    });
}

#[test]
fn stat_looks_at_every_block_and_quick_stat_at_none() {
    with_module(|m| {
        let kept: Vec<_> = (1..=5).map(|words| allocate(m, 10, 10 * words)).collect();
        let mut gc = m.gc().expect("ocaml");
        gc.full_major();
        let stat = gc.stat();
        assert_eq!((stat.live_words, stat.live_blocks), (150, 5));
        assert_eq!(
            stat.live_words + stat.free_words + stat.fragments,
            stat.heap_words,
            "{stat:?}"
        );
        assert!(stat.largest_free <= stat.free_words && stat.free_blocks > 0, "{stat:?}");
        assert!(
            stat.heap_chunks > 0 && stat.top_heap_words >= stat.heap_words,
            "{stat:?}"
        );
        assert_eq!(stat.stack_size, 0);
        let quick = gc.quick_stat();
        assert_eq!(quick.live_words + quick.live_blocks + quick.free_words, 0);
        assert_eq!(quick.free_blocks + quick.largest_free + quick.fragments, 0);
        assert_eq!(quick.heap_words, stat.heap_words);
        m.frame(|m, [a, b]| {
            let (_a, _b) = (a.put_option::<ByteArray>(m, None), b.put_option::<ByteArray>(m, None));
            assert_eq!(m.gc().expect("ocaml").quick_stat().stack_size, 2);
        });
        drop(kept);
        let mut gc = m.gc().expect("ocaml");
        gc.full_major();
        assert_eq!(gc.stat().live_words, 0);
    });
}

#[test]
fn cycles_are_counted_when_they_end() {
    with_module(|m| {
        let kept = allocate(m, 1000, 3);
        let mut gc = m.gc().expect("ocaml");
        gc.full_major();
        let before = gc.quick_stat();
        assert!(before.forced_major_collections == 1 && before.major_collections >= 1);
        assert_eq!(gc.major_slice(0), 0);
        gc.major();
        let after = gc.quick_stat();
        assert!(after.major_collections > before.major_collections, "{after:?}");
        assert_eq!(after.forced_major_collections, 1);
        gc.compact();
        let compacted = gc.quick_stat();
        assert_eq!(compacted.forced_major_collections, 2);
        assert!(gc.get_credit() <= 1_000_000 && gc.get_bucket(0) <= 300_000);
        assert_eq!((gc.get_bucket(1), gc.huge_fallback_count()), (0, 0));
        drop(kept);
    });
}

#[test]
fn a_forced_slice_is_work_in_advance() {
    with_module(|m| {
        let kept: Vec<_> = (0..400).map(|_| allocate(m, 1, 100)).collect();
        let mut gc = m.gc().expect("ocaml");
        gc.full_major();
        // The first slice starts a cycle.
        gc.major_slice(0);
        gc.major_slice(1000);
        let credit = gc.get_credit();
        assert!(credit > 0, "{credit}");
        gc.major_slice(1000);
        assert!(gc.get_credit() > credit);
        drop(kept);
    });
}

#[test]
fn print_stat_prints_the_counters() {
    with_module(|m| {
        let mut text = Vec::new();
        let mut gc = m.gc().expect("ocaml");
        gc.print_stat(&mut text).expect("room");
        assert_eq!(String::from_utf8(text).expect("text"), gc.stat().to_string());
    });
}

/// Counts the samples.
struct Samples(Arc<AtomicU64>);

impl Tracker for Samples {
    type Minor = ();
    type Major = ();
    fn alloc_minor(&mut self, allocation: &Allocation) -> Option<()> {
        self.0.fetch_add(u64::from(allocation.n_samples), Relaxed);
        None
    }
    fn alloc_major(&mut self, allocation: &Allocation) -> Option<()> {
        self.alloc_minor(allocation)
    }
    fn promote(&mut self, (): ()) -> Option<()> {
        unreachable!("nothing is followed")
    }
    fn dealloc_minor(&mut self, (): ()) {
        unreachable!("nothing is followed")
    }
    fn dealloc_major(&mut self, (): ()) {
        unreachable!("nothing is followed")
    }
}

#[test]
fn memprof_samples_what_is_allocated() {
    with_module(|m| {
        let samples = Arc::default();
        let mut gc = m.gc().expect("ocaml");
        gc.memprof_start(1.0, 10, Samples(Arc::clone(&samples)))
            .expect("stopped");
        allocate(m, 5000, 10);
        let mut gc = m.gc().expect("ocaml");
        gc.full_major();
        gc.memprof_stop().expect("started");
        assert_eq!(samples.load(Relaxed), 50_000);
    });
}

#[test]
fn memory_outside_the_heap_speeds_up_the_collector() {
    let collections = |bytes: usize| {
        with_module(|m| {
            for _ in 0..2000 {
                m.alloc_foreign((), Bytes(bytes));
            }
            m.gc().expect("ocaml").quick_stat()
        })
    };
    let (without, with) = (collections(0), collections(8192));
    // 2000 values of 8 KiB, and a minor heap of 64 KiB: every eighth triggers a collection.
    assert_eq!((without.minor_collections, with.minor_collections), (0, 250));
    // What survives counts towards the major heap.
    let (kept_with, kept_without) = [1 << 20, 0]
        .map(|bytes| {
            with_module(|m| {
                let keep = |_| {
                    let (view, closure) = m.with_view(|m| m.alloc_foreign((), Bytes(bytes)));
                    view.handle(closure)
                };
                let kept: Vec<_> = (0..500).map(keep).collect();
                let stat = m.gc().expect("ocaml").quick_stat();
                drop(kept);
                stat.major_collections
            })
        })
        .into();
    assert!(kept_with > kept_without, "{kept_with} {kept_without}");
}

/// In OCaml 4.13, bigarrays of 8175 bytes cause the same minor collections: four of them use up the
/// 32700 bytes, and the fifth exceeds them.
#[test]
fn exceeding_the_bound_on_outside_memory_triggers_a_minor_collection() {
    let world = world(&config::<Ocaml>(4096 * 8));
    let ran = world.enter(|m| {
        let mut collections = Vec::new();
        for _ in 0..12 {
            m.alloc_foreign((), Bytes(8175));
            collections.push(m.gc().expect("ocaml").quick_stat().minor_collections);
        }
        assert_eq!(collections, [0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2]);
        // A single value larger than the bound.
        let mut gc = m.gc().expect("ocaml");
        let control = gc.get();
        let other = Control {
            custom_minor_max_size: 40_000,
            ..control
        };
        gc.set(other).expect("legal");
        gc.minor();
        let before = gc.quick_stat().minor_collections;
        allocate(m, 1, 10);
        m.alloc_foreign((), Bytes(40_000));
        assert_eq!(m.gc().expect("ocaml").quick_stat().minor_collections, before + 1);
    });
    ran.expect("room enough");
}

#[test]
fn only_ocaml_has_the_module() {
    let world = World::new::<Copying>(&config::<Copying>(64 << 10)).expect("a small heap");
    let ran = world.enter(|m| {
        let error = m.gc().expect_err("another collector");
        assert_eq!(error, NotOcaml { collector: "copying" });
        assert_eq!(
            error.to_string(),
            "the module Gc needs the collector ocaml, but this heap has copying"
        );
        assert!(!m.ask_collector(&mut 5_u64), "no collector understands a number");
        m.collect(Request::Minor);
    });
    ran.expect("room enough");
}

#[test]
fn the_counters_are_figures_of_the_run_by_name() {
    let world = world(&config::<Ocaml>(MINOR as usize * 8));
    let ran = world.enter(|m| {
        let kept = allocate(m, 100, 10);
        m.gc().expect("ocaml").full_major();
        drop(kept);
    });
    ran.expect("room enough");
    let statistics = world.finish();
    let summary = gclab_core::stats::render::summary(&statistics);
    let line = summary
        .lines()
        .find(|line| line.starts_with("  Figures: "))
        .expect("there");
    assert!(
        line.starts_with("  Figures: minor_words 1,000, promoted_words 10, major_words 10, "),
        "{line}"
    );
    let keys = gclab_core::stats::render::machine_readable(&statistics);
    assert!(keys.contains("(\"forced_major_collections\", \"1\")"), "{keys}");
}

/// OCaml 4.13.1's `Gc.print_stat` printed this text for these counters.
#[test]
fn the_text_is_ocamls() {
    let stat = Stat {
        minor_words: 12_345_678.0,
        promoted_words: 901_234.0,
        major_words: 1_000_000.0,
        minor_collections: 49,
        major_collections: 7,
        heap_words: 1_003_520,
        heap_chunks: 3,
        live_words: 800_000,
        live_blocks: 266_000,
        free_words: 203_510,
        free_blocks: 12,
        largest_free: 190_000,
        fragments: 10,
        compactions: 1,
        top_heap_words: 1_003_520,
        stack_size: 40,
        forced_major_collections: 2,
    };
    let text = "minor_collections:      49\nmajor_collections:      7\ncompactions:            1\n\
        forced_major_collections: 2\n\nminor_words:    12345678\npromoted_words:   901234\n\
        major_words:     1000000\n\ntop_heap_words: 1003520\nheap_words:     1003520\n\
        live_words:      800000\nfree_words:      203510\nlargest_free:    190000\n\
        fragments:           10\n\nlive_blocks: 266000\nfree_blocks: 12\nheap_chunks: 3\n";
    assert_eq!(stat.to_string(), text);
}
