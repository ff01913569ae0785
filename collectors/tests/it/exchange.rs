//! Exchanges store the new value, return the old one, and run the write barrier.

use crate::basics::config;
use gclab_core::closure::Closure;
use gclab_core::collector::{Collector, CollectorVisitor};
use gclab_core::mutator::{Gc, MutVar, Mutator, MutatorKind, NoGc, Request};
use gclab_core::world::World;
use gclab_heap_traverse::Checker;

#[derive(Closure)]
#[allow(dead_code)]
struct Number {
    value: u64,
}

/// The value of a boxed number, or 0.
fn value<'h, M: MutatorKind>(m: &NoGc<'h, M>, number: Option<Gc<'_, 'h, Number>>) -> u64 {
    number.map_or(0, |number| number.value(m))
}

/// An old variable and an old array get young numbers through exchanges only. A collector that
/// fails to remember one of them loses it in the next collection.
fn exchanges<M: MutatorKind>(m: &mut Mutator<'_, M>) {
    m.frame(|m, [var, array]| {
        let var = var.put(m.alloc(|_| MutVar::<Number>::new(None)));
        let array = array.put(m.alloc_array::<Number>(600, |_| None));
        (0..3).for_each(|_| m.collect(Request::Full));
        for round in 1..=5 {
            let before = 2 * (round - 1);
            let (view, number) = m.alloc_with(|_| Number::new(2 * round - 1));
            let (v, a) = (var.get(view), array.get(view));
            assert_eq!(value(view, v.swap(view, Some(number))), before);
            assert_eq!(value(view, a.swap(view, 599, Some(number))), before);
            m.collect(Request::Minor);
            let (view, number) = m.alloc_with(|_| Number::new(2 * round));
            let (v, a) = (var.get(view), array.get(view));
            let now = v.read(view);
            assert_eq!((value(view, now), a.get(view, 599) == now), (2 * round - 1, true));
            // A failed exchange returns the current value and changes nothing.
            assert!(v.compare_exchange(view, Some(number), None) == Err(now));
            assert!(a.compare_exchange(view, 599, None, Some(number)) == Err(now));
            assert!(a.compare_exchange(view, 0, None, None).is_ok());
            assert!(v.read(view) == now && a.get(view, 599) == now && a.get(view, 598).is_none());
            assert!(v.compare_exchange(view, now, Some(number)).is_ok());
            assert!(a.compare_exchange(view, 599, now, Some(number)).is_ok());
            m.collect(Request::Minor);
            assert_eq!(
                (value(m, var.get(m).read(m)), value(m, array.get(m).get(m, 599))),
                (2 * round, 2 * round)
            );
        }
        assert_eq!(value(m, var.get(m).swap(m, None)), 10);
        assert!(var.get(m).read(m).is_none());
    });
}

#[derive(Clone, Copy)]
struct Exchanges;
impl CollectorVisitor for Exchanges {
    type Output = ();
    fn visit<C: Collector>(self) {
        let mut world = World::new::<C>(&config::<C>(64 << 10)).expect("a small heap");
        Checker::install(&mut world);
        world.enter(exchanges).expect("room enough");
    }
}

#[test]
fn exchanges_store_and_run_the_barrier() {
    crate::under_every_collector(Exchanges);
}
