//! `top_heap_words`: the largest size of the major heap so far, in words.

use super::gc_module::{allocate, with_module, world};
use crate::basics::config;
use gclab_collectors::Ocaml;
use gclab_collectors::ocaml::GcModule;

#[test]
fn a_large_object_that_died_young_was_in_the_heap() {
    with_module(|m| {
        let start = m.gc().expect("ocaml").quick_stat();
        assert_eq!(start.top_heap_words, start.heap_words);
        let large = allocate(m, 1, 100_000);
        let with_it = m.gc().expect("ocaml").quick_stat();
        assert_eq!(with_it.top_heap_words, with_it.heap_words);
        assert!(with_it.heap_words >= start.heap_words + 100_000, "{with_it:?}");
        drop(large);
        let mut gc = m.gc().expect("ocaml");
        gc.minor();
        let without = gc.quick_stat();
        assert_eq!(without.heap_words, start.heap_words);
        assert_eq!(without.top_heap_words, with_it.heap_words);
        assert_eq!(gc.stat().top_heap_words, with_it.heap_words);
    });
}

/// OCaml 4.13 gives the same numbers with a minor heap of 8k words.
#[test]
fn a_chunk_that_everything_moves_to_is_beside_the_others() {
    let world = world(&config::<Ocaml>(8 << 13));
    let ran = world.enter(|m| {
        let mut gc = m.gc().expect("ocaml");
        let start = gc.quick_stat();
        assert_eq!((start.heap_words, start.top_heap_words), (126_976, 126_976));
        gc.compact();
        let compacted = gc.quick_stat();
        assert_eq!((compacted.heap_words, compacted.top_heap_words), (61_440, 188_416));
        assert_eq!(gc.stat().top_heap_words, 188_416);
    });
    ran.expect("room enough");
    let figures = world.finish().figures;
    let top = figures.iter().find(|figure| figure.name == "top_heap_words");
    assert_eq!(top.map(|figure| figure.value), Some(188_416), "{figures:?}");
}
