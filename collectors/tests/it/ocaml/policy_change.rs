//! Changing the allocation policy at run time: the heap is compacted once, in the pause in which
//! the policy takes effect.

use super::gc_module::{MINOR, allocate, world};
use crate::basics::config;
use gclab_collectors::Ocaml;
use gclab_collectors::ocaml::{Control, GcModule};
use gclab_core::collector::{Collector, KindOf};
use gclab_core::config::Config;
use gclab_core::mutator::{ByteArray, Handle, Mutator};
use gclab_core::world::World;
use gclab_heap_traverse::Checker;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Live data in more than one chunk, in a heap that was compacted.
fn compacted(m: &mut Mutator<'_, KindOf<Ocaml>>) -> Vec<Handle<ByteArray>> {
    let kept = (0..1500).map(|_| allocate(m, 1, 100)).collect();
    m.gc().expect("ocaml").compact();
    kept
}

/// Changes the policy and the minor heap.
fn change(m: &mut Mutator<'_, KindOf<Ocaml>>, allocation_policy: u64) {
    let mut gc = m.gc().expect("ocaml");
    let (before, control) = (gc.quick_stat(), gc.get());
    let other = Control {
        allocation_policy,
        minor_heap_size: MINOR * (1 + allocation_policy),
        ..control
    };
    gc.set(other).expect("legal");
    let (after, control) = (gc.quick_stat(), gc.get());
    assert_eq!(control, other);
    assert_eq!(after.compactions - before.compactions, 1, "policy {allocation_policy}");
    assert_eq!(after.forced_major_collections - before.forced_major_collections, 1);
}

#[test]
fn a_new_policy_compacts_once() {
    let world = world(&config::<Ocaml>(MINOR as usize * 8));
    let ran = world.enter(|m| {
        let kept = compacted(m);
        [0, 1, 2, 0, 2, 1].into_iter().for_each(|policy| change(m, policy));
        drop(kept);
    });
    ran.expect("room enough");
    // One for each change, in its only pause, after one that the program requested.
    let collections = world.finish().collections;
    let compacting = collections.iter().filter(|each| each.work.compacted).count();
    let begun = collections.iter().position(|each| each.work.compacted);
    assert_eq!(compacting, 7);
    let rest = &collections[begun.expect("the first") + 1..];
    assert!(
        rest[..6].iter().all(|each| each.work.compacted),
        "no other pause in between"
    );
}

/// In OCaml, finalisers run once the policy has changed.
#[test]
fn a_new_policy_compacts_once_where_finalisers_begin_cycles() {
    for stress in [None, Some(1)] {
        let config = Config {
            stress,
            ..config::<Ocaml>(MINOR as usize * 8)
        };
        let world = world(&config);
        let rings = Arc::new(AtomicU64::new(0));
        let ran = world.enter(|m| {
            let kept = compacted(m);
            let noted = Arc::clone(&rings);
            let alarm = m.create_alarm(move |m| {
                assert!(noted.fetch_add(1, Relaxed) < 1000, "one cycle leads to another");
                allocate(m, 1, 10);
            });
            [0, 1, 2, 0, 2, 1].into_iter().for_each(|policy| change(m, policy));
            m.delete_alarm(alarm);
            drop(kept);
        });
        ran.expect("room enough");
        assert!(rings.load(Relaxed) >= 6);
    }
}

/// Each request for memory is refused once, including those for the tables of the compaction.
#[test]
fn the_policy_changes_even_if_compaction_has_no_memory() {
    let mut compactions = Vec::new();
    for request in 0..20 {
        let config = Config {
            refuse_request: Some(request),
            ..config::<Ocaml>(MINOR as usize * 8)
        };
        let Ok(mut world) = World::new::<Ocaml>(&config) else {
            continue;
        };
        world.listen(Box::new(Checker::new(&Ocaml::DESCRIPTION).exact()));
        let changed = world.enter(|m| {
            let kept: Vec<_> = (0..1500).map(|_| allocate(m, 1, 100)).collect();
            let mut gc = m.gc().expect("ocaml");
            let control = gc.get();
            let other = Control {
                allocation_policy: 0,
                ..control
            };
            gc.set(other).expect("legal");
            assert_eq!(gc.get(), other);
            let compactions = gc.quick_stat().compactions;
            drop((0..50).map(|words| allocate(m, 10, 3 + words)).collect::<Vec<_>>());
            drop(kept);
            compactions
        });
        compactions.extend(changed.ok());
    }
    assert!(compactions.contains(&0) && compactions.contains(&1), "{compactions:?}");
}
