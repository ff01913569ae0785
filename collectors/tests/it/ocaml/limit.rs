//! Under a limit (`-M`), the minor heap shrinks to make room for what would not fit otherwise.

use crate::basics::config;
use gclab_collectors::Ocaml;
use gclab_collectors::ocaml::{Control, GcModule};
use gclab_core::collector::KindOf;
use gclab_core::config::Config;
use gclab_core::words::Bytes;
use gclab_core::world::{EnterError, World};
use gclab_heap_traverse::Checker;

const LIMIT: Bytes = Bytes::mib(8);

/// A heap with this limit and a minor heap of 64 KiB.
fn limited(limit: Bytes) -> World<KindOf<Ocaml>> {
    let config = Config {
        max_heap: Some(limit),
        ..config::<Ocaml>(64 << 10)
    };
    let mut world = World::new::<Ocaml>(&config).expect("a small heap");
    Checker::install(&mut world);
    world
}

#[test]
fn an_enlarged_minor_heap_gives_way_to_a_large_object() {
    // It fits beside the initial minor heap.
    let large = 5 << 20;
    let world = limited(LIMIT);
    let ran = world.enter(|m| _ = m.alloc_bytes_filled(large, 1));
    ran.expect("room enough");
    for minor_heap_size in [256 << 10, 1 << 20, 1 << 28] {
        let world = limited(LIMIT);
        let ran = world.enter(|m| {
            let mut gc = m.gc().expect("ocaml");
            let control = gc.get();
            gc.set(Control {
                minor_heap_size,
                ..control
            })
            .expect("legal");
            let (view, object) = m.with_view(|m| m.alloc_bytes_filled(large, 1));
            let object = view.handle(object);
            // The program continues.
            for _ in 0..10_000 {
                m.alloc_bytes_filled(800, 2);
            }
            assert!(object.open(m).as_slice().iter().all(|byte| *byte == 1));
            drop(object);
            m.gc().expect("ocaml").full_major();
            assert!(
                m.gc().expect("ocaml").get_minor_free() > 64 << 10 >> 3,
                "it grows again"
            );
        });
        ran.unwrap_or_else(|error| panic!("{minor_heap_size} words: {error}"));
        assert!(world.finish().peak_taken <= LIMIT.0 as u64);
    }
}

#[test]
fn a_large_object_without_room_is_refused_with_its_size() {
    let world = limited(LIMIT);
    let ran = world.enter(|m| _ = m.alloc_bytes_filled(8 << 20, 1));
    let Err(EnterError::Exhausted(exhausted)) = ran else {
        panic!("{ran:?}");
    };
    assert_eq!(exhausted.cause.limit, Some(LIMIT));
    assert!(exhausted.cause.requested >= LIMIT, "{exhausted}");
}
