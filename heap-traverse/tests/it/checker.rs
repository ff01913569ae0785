//! The checker accepts sound heaps, even between sessions, and really checks.

use super::{Node, NodeFields, config};
use gclab_collectors::{Copying, TwoSpace};
use gclab_core::collector::Collector;
use gclab_core::config::Config;
use gclab_core::events::{Event, EventKind, Listener};
use gclab_core::mutator::{ByteArray, Request};
use gclab_core::stats::Collection;
use gclab_core::words::Bytes;
use gclab_core::world::World;
use gclab_heap_traverse::Checker;
use gclab_heap_traverse::check::Check;

fn churn<C: Collector>(config: &Config) {
    let mut world = World::new::<C>(config).expect("a small heap");
    world.listen(Box::new(Checker::new(&C::DESCRIPTION).exact()));
    let kept = world
        .enter(|m| {
            m.frame(|m, [array, bytes]| {
                let array = array.put(m.alloc_array::<Node>(1000, |_| None));
                let bytes = bytes.put_option::<ByteArray>(m, None);
                for i in 0..20_000u64 {
                    let at = (i * 7919 % 1000) as usize;
                    let (m2, node) = m.alloc_with(|m| Node::new(i, array.get(m).get(m, at), None));
                    array.get(m2).set(m2, at, Some(node));
                    if i % 5 == 0 {
                        node.set_left(m2, None);
                        let (m, new) = m.with_view(|m| m.alloc_bytes_filled((i * 31 % 5000) as usize, 1));
                        bytes.set(m, Some(new));
                    }
                }
                let node = array.get(m).get(m, 0).expect("stored");
                (m.handle(node), m.weak_handle(node))
            })
        })
        .expect("room enough");
    let mut checker = Checker::new(&C::DESCRIPTION);
    world
        .inspect(|stopped| checker.check(stopped, None).expect("sound"))
        .expect("no thread is inside");
    drop(kept);
    assert!(world.finish().collections_count() > 10);
}

#[test]
fn sound_heaps_pass_under_stress_and_without() {
    for stress in [None, Some(97)] {
        let config = |generations| Config {
            stress,
            ..config(generations)
        };
        churn::<TwoSpace>(&config(1));
        (2..=4).for_each(|generations| churn::<Copying>(&config(generations)));
    }
}

/// Shows the checker a record with wrong numbers.
struct Liar(Checker);

impl Listener for Liar {
    fn event(&mut self, event: &Event<'_>) {
        if let EventKind::End { collection, stopped } = event.kind {
            let mut wrong: Collection = (*collection).clone();
            wrong.work.live += Bytes(8);
            let fault = self.0.check(stopped, Some(&wrong)).expect_err("the figures are wrong");
            assert_eq!(fault.check, Check::Statistics);
            assert!(fault.to_string().contains("bytes live"), "{fault}");
        }
    }
}

#[test]
fn wrong_figures_are_noticed() {
    let mut world = World::new::<Copying>(&config(2)).expect("a small heap");
    world.listen(Box::new(Liar(Checker::new(&Copying::DESCRIPTION))));
    world.enter(|m| m.collect(Request::Full)).expect("room enough");
    assert_eq!(world.finish().collections_count(), 2);
}
