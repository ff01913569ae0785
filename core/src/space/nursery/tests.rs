//! What a nursery refuses.

use super::*;

fn nursery() -> (Heap, Nursery) {
    let config = Config {
        allocation_area: Bytes::kib(64),
        ..Config::default()
    };
    let mut heap = Heap::new(&config).expect("address space");
    let nursery = Nursery::new(&mut heap, Bytes::kib(64), &config).expect("room");
    (heap, nursery)
}

#[test]
#[should_panic(expected = "mutators leave before a collection")]
fn a_nursery_with_a_mutator_is_not_reset() {
    let (_heap, mut nursery) = nursery();
    nursery.held[0] = Some(0);
    nursery.reset();
}

#[test]
#[should_panic(expected = "a nursery is reset before its size changes")]
fn a_nursery_with_closures_keeps_its_size() {
    let (mut heap, mut nursery) = nursery();
    nursery.areas[0].next = 1;
    let _ = nursery.resize(&mut heap, Bytes::kib(128));
}
