//! Programs for collectors that count references.

use crate::random::panics_in_collections_speak;
use gclab_core::closure::{Closure, Mut};
use gclab_core::collector::{Collector, KindOf};
use gclab_core::config::Config;
use gclab_core::events::{Event, EventKind, Listener, Look, Occasion};
use gclab_core::mutator::{Mutator, Request};
use gclab_core::words::{Bytes, Words};
use gclab_core::world::World;
use gclab_heap_traverse::Checker;
use std::sync::{Arc, Mutex};

#[derive(Closure, Debug)]
#[allow(dead_code)]
struct Number {
    value: u64,
    next: Mut<Number>,
    other: Mut<Number>,
}

/// Lists that live at a time, how often each is replaced, and their length.
const LISTS: usize = 50;
const TIMES: usize = 20;
const LENGTH: u64 = 100;

/// Collections after the last one is replaced, for a collector that frees a few closures in each.
const AFTER: usize = 50;

/// The collections so far: which were major, and the live bytes after each.
#[derive(Clone, Debug, Default)]
struct Collections(Arc<Mutex<Vec<(bool, Bytes)>>>);

impl Listener for Collections {
    fn look(&self, _: Occasion) -> Option<Look> {
        None
    }

    fn event(&mut self, event: &Event<'_>) {
        if let EventKind::Recorded { collection, .. } = event.kind {
            let one = (collection.work.is_major(), collection.work.live);
            self.0.lock().expect("no listener panics").push(one);
        }
    }
}

/// Tests that old closures die when nothing leads to them any more, without a trace: a program keeps
/// some lists in an old array, and replaces them over and over. The checker counts all references again
/// after each collection. `own` are flags of the collector.
///
/// # Panics
/// If old closures that died take memory in the end, or the checker finds a fault.
pub fn deaths<C: Collector>(own: &[&str]) {
    panics_in_collections_speak();
    let config = Config {
        allocation_area: Bytes::mib(1),
        old_min: Bytes::mib(64),
        own: own.iter().map(|&flag| flag.to_owned()).collect(),
        ..super::small_heap::<C>()
    };
    let mut world = World::new::<C>(&config).expect("a small heap");
    Checker::install(&mut world);
    let collections = Collections::default();
    world.listen(Box::new(collections.clone()));
    world.enter(replace_lists::<C>).expect("enough memory");
    let collections = collections.0.lock().expect("no listener panics").clone();
    assert!(collections.iter().all(|(is_major, _)| !is_major), "the heap was traced");
    let lists = Words((LISTS * LENGTH as usize) * 4).to_bytes();
    let (_, live) = collections.last().expect("there were collections");
    assert!(
        live.0 < lists.0 * 5 / 4,
        "{live} live, and all lists together have {lists}"
    );
}

fn replace_lists<C: Collector>(m: &mut Mutator<'_, KindOf<C>>) {
    m.frame(|m, [array, list]| {
        let array = array.put(m.alloc_array::<Number>(LISTS, |_| None));
        let list = list.put_option::<Number>(m, None);
        for number in 0..LISTS * TIMES {
            list.set(m, None);
            for value in 0..LENGTH {
                // Each number but the last has two references.
                let (view, cell) = m.alloc_with(|m| Number::new(value, list.get(m), list.get(m)));
                list.set(view, Some(cell));
            }
            array.get(m).set(m, number % LISTS, list.get(m));
            if number % 10 == 9 {
                m.collect(Request::Minor);
            }
        }
        (0..AFTER).for_each(|_| m.collect(Request::Minor));
    });
}
