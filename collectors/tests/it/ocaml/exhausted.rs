//! After its heap was exhausted a program can continue, and most of what it allocates survives.
//! Nothing is promoted without room for it.

use gclab_collectors::Ocaml;
use gclab_core::closure::{Closure, Ptr};
use gclab_core::collector::KindOf;
use gclab_core::config::Config;
use gclab_core::mutator::{Handle, Mutator};
use gclab_core::words::Bytes;
use gclab_core::world::{EnterError, World};
use gclab_heap_traverse::Checker;
use std::cell::RefCell;

#[derive(Closure)]
#[allow(dead_code)]
struct Link {
    next: Option<Ptr<Link>>,
    number: u64,
}

/// Lengthens a list until memory runs out. `kept` has a handle to all of it but the last few links.
fn lengthen(m: &mut Mutator<'_, KindOf<Ocaml>>, kept: &RefCell<Vec<Handle<Link>>>) {
    m.frame(|m, [list]| {
        let list = list.put_option::<Link>(m, None);
        loop {
            for _ in 0..100 {
                let (m, link) = m.alloc_with(|m| Link::new(list.get(m), 7));
                list.set(m, Some(link));
            }
            let handle = list.get(m).map(|link| m.handle(link));
            kept.borrow_mut().extend(handle);
        }
    })
}

#[test]
fn a_program_that_goes_on_finds_the_heap_exhausted_or_has_room() {
    let config = Config {
        max_heap: Some(Bytes::mib(4)),
        ..gclab_proof::small_heap::<Ocaml>()
    };
    let mut world = World::new::<Ocaml>(&config).expect("a small heap");
    Checker::install(&mut world);
    let kept = RefCell::default();
    let mut lengths = Vec::new();
    for _ in 0..5 {
        let ended: Result<(), _> = world.enter(|m| lengthen(m, &kept));
        assert!(matches!(ended, Err(EnterError::Exhausted(_))));
        lengths.push(kept.borrow().len());
    }
    assert!(lengths[0] > 100, "{lengths:?}");
    kept.borrow_mut().clear();
    let again: Result<(), _> = world.enter(|m| lengthen(m, &kept));
    assert!(matches!(again, Err(EnterError::Exhausted(_))));
    let length = kept.borrow().len();
    assert!(length * 10 > lengths[0] * 9, "{length} after {lengths:?}");
}
