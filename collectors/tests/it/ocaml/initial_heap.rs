//! The initial major heap (`h`).

use crate::basics::config;
use gclab_collectors::Ocaml;
use gclab_collectors::ocaml::GcModule;
use gclab_core::collector::KindOf;
use gclab_core::config::{Config, OcamlLetter, OcamlLetters};
use gclab_core::words::Bytes;
use gclab_core::world::{StartError, World};

fn start(words: Option<u64>, limit: Option<Bytes>) -> Result<World<KindOf<Ocaml>>, StartError> {
    let mut letters = OcamlLetters::default();
    letters.set(OcamlLetter::InitialHeap, words);
    World::new::<Ocaml>(&Config {
        max_heap: limit,
        ocaml: letters,
        ..config::<Ocaml>(64 << 10)
    })
}

/// The initial size of the major heap, in words.
fn heap_words(words: Option<u64>, limit: Option<Bytes>) -> u64 {
    let world = start(words, limit).expect("room enough");
    let stat = world.enter(|m| m.gc().expect("ocaml").stat()).expect("room enough");
    assert_eq!(
        (stat.free_words, stat.top_heap_words),
        (stat.heap_words, stat.heap_words)
    );
    stat.heap_words
}

#[test]
fn a_heap_starts_with_the_given_words() {
    let limit = Some(Bytes::mib(8));
    for limit in [None, limit] {
        assert_eq!(heap_words(Some(512 << 10), limit), 512 << 10);
        // The smallest chunk, as in OCaml.
        assert_eq!(heap_words(Some(1), limit), 61_440);
        assert_eq!(heap_words(Some(0), limit), 0);
    }
    assert_eq!(heap_words(None, None), 126_976);
    // A 64th of the limit, less some tables.
    let cut = heap_words(None, limit);
    assert!((1 << 13..=1 << 14).contains(&cut), "{cut}");
}

#[test]
fn a_heap_without_room_for_them_does_not_start() {
    let limit = Bytes::mib(8);
    let error = start(Some(1 << 20), Some(limit)).expect_err("too large");
    let StartError::OutOfMemory(error) = error else {
        panic!("{error}");
    };
    assert_eq!(error.limit, Some(limit));
    assert!(error.in_use > Bytes::mib(4), "{error}");
}
