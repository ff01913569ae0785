//! Panics and exhaustion at odd moments.

use super::{List, ListInit, exercise, grow, ignore, panics, sum, world};
use crate::basics::config;
use gclab_core::closure::RecordShape;
use gclab_core::collector::{Collector, CollectorVisitor};
use gclab_core::config::Config;
use gclab_core::events::{Event, EventKind, Listener, Phase};
use gclab_core::mutator::{Any, Mutator, MutatorKind, Request};
use gclab_core::words::Bytes;
use gclab_core::world::{EnterError, World};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Panics at the first event that matches.
struct PanicsAt(fn(&Event<'_>) -> bool, bool);

impl Listener for PanicsAt {
    fn event(&mut self, event: &Event<'_>) {
        if !self.1 && self.0(event) {
            self.1 = true;
            panic!("on purpose");
        }
    }
}

under_every_collector! {
    fn a_panic_of_a_listener_waits_until_the_heap_is_whole<C>() {
        let moments: [fn(&Event<'_>) -> bool; 6] = [
            |event| matches!(event.kind, EventKind::Start { .. }),
            |event| matches!(event.kind, EventKind::Phase(Phase::Condemned)),
            |event| matches!(event.kind, EventKind::Phase(Phase::RootsTraced)),
            |event| matches!(event.kind, EventKind::Phase(Phase::HeapTraced)),
            |event| matches!(event.kind, EventKind::Phase(Phase::Released)),
            |event| matches!(event.kind, EventKind::End { .. }),
        ];
        for moment in moments {
            let mut world = world::<C>();
            world.listen(Box::new(PanicsAt(moment, false)));
            world.enter(|m| m.frame(|m, [kept, before]| {
                let (kept, before) = (kept.put_option(m, None), before.put_option(m, None));
                grow(m, &before, 300);
                // Caught while the thread is inside the world, whose frames hold the roots.
                panics(|| (0..100_000).for_each(|len| grow(m, &kept, len % 100)));
                grow(m, &kept, 100);
                exercise(m);
                assert_eq!((sum(m, kept.get(m)), sum(m, before.get(m))), (4950, 44850));
            })).expect("room enough");
            world.finish();
        }
    }

    fn panics_in_initialisers_leave_the_heap_as_it_was<C>() {
        let world = world::<C>();
        world.enter(|m| m.frame(|m, [kept]| {
            let kept = kept.put_option(m, None);
            for round in 0..200 {
                grow(m, &kept, 50);
                panics(|| ignore(m.alloc(|_| -> ListInit { panic!("small") })));
                panics(|| ignore(m.alloc_array::<List>(10, |_| panic!("small"))));
                panics(|| ignore(m.alloc_array::<List>(5000, |_| panic!("large"))));
                panics(|| ignore(m.alloc_bytes_with(100, |_, bytes| { bytes.fill(0xff); panic!("small") })));
                panics(|| ignore(m.alloc_bytes_with(5000 + round, |_, bytes| { bytes.fill(0xff); panic!("large") })));
                panics(|| m.frame(|m, [slot]| { slot.put(m.alloc_bytes(b"rooted")); panic!("frame") }));
                assert_eq!(sum(m, kept.get(m)), 1225);
            }
            m.collect(Request::Full);
            assert_eq!(sum(m, kept.get(m)), 1225);
            exercise(m);
        })).expect("room enough");
        world.inspect(|stopped| stopped.for_each_region(&mut |region| {
            assert!(stopped.closures(region).all(|closure| closure.is_ok()), "{region:?}");
        })).expect("nobody inside");
    }

    fn frames_close_when_they_unwind_and_roots_below_stay<C>() {
        fn deep<M: MutatorKind>(m: &mut Mutator<'_, M>, depth: u64) -> u64 {
            m.frame(|m, [list]| {
                let list = list.put_option(m, None);
                grow(m, &list, depth);
                if depth == 200 {
                    panic!("at the bottom");
                }
                // Every third level catches the panics from below, and continues with its own
                // roots.
                if depth.is_multiple_of(3) {
                    let below = catch_unwind(AssertUnwindSafe(|| deep(m, depth + 1)));
                    m.collect(if depth.is_multiple_of(2) { Request::Full } else { Request::Minor });
                    assert_eq!(sum(m, list.get(m)), depth * (depth - 1) / 2);
                    return below.unwrap_or(0) + 1;
                }
                deep(m, depth + 1)
            })
        }
        world::<C>().enter(|m| {
            assert!(deep(m, 1) > 0);
            exercise(m);
        }).expect("room enough");
    }

    fn huge_lengths_are_exhaustion<C>() {
        let config = Config { max_heap: Some(Bytes(16 << 20)), ..config::<C>(32 << 10) };
        let world = World::new::<C>(&config).expect("a small heap");
        let exhausted = |result: Result<(), EnterError>| {
            assert!(matches!(result, Err(EnterError::Exhausted(_))), "{result:?}");
        };
        for len in [usize::MAX, usize::MAX - 1, usize::MAX / 8, usize::MAX / 8 - 1, 1 << 61, (1 << 61) - 2, 1 << 44, 1 << 32, 17 << 20] {
            exhausted(world.enter(|m| ignore(m.alloc_array::<Any>(len, |_| unreachable!("no room")))));
            exhausted(world.enter(|m| ignore(m.alloc_bytes_filled(len, 1))));
            exhausted(world.enter(|m| ignore(m.alloc_mut_bytes(len))));
            exhausted(world.enter(|m| ignore(m.alloc_mut_words(len))));
            exhausted(world.enter(|m| ignore(m.alloc_bytes_with(len, |_, _| unreachable!("no room")))));
        }
        for (pointers, bytes) in [(u32::MAX, u32::MAX), (u32::MAX, 0), (0, u32::MAX)] {
            exhausted(world.enter(|m| ignore(m.alloc_record(RecordShape { pointers, bytes }))));
        }
        world.enter(exercise).expect("the world is still good");
    }

    fn exhaustion_is_of_the_world_that_is_exhausted<C>() {
        let small = Config { max_heap: Some(Bytes(4 << 20)), ..config::<C>(32 << 10) };
        let (outer, inner) = (World::new::<C>(&small).expect("a heap"), world::<C>());
        let mut inner_went_on = false;
        let result = outer.enter(|outer| {
            // Inside another heap, whose `enter` must not mistake the thread for its own.
            let _ = inner.enter(|_| ignore(outer.alloc_mut_bytes(1 << 40)));
            inner_went_on = true;
        });
        assert!(matches!(result, Err(EnterError::Exhausted(_))), "{result:?}");
        assert!(!inner_went_on);
        outer.enter(exercise).expect("usable");
        inner.enter(exercise).expect("usable");
    }

    fn exhaustion_may_be_caught_inside_the_stay<C>() {
        let small = Config { max_heap: Some(Bytes(8 << 20)), ..config::<C>(32 << 10) };
        World::new::<C>(&small).expect("a heap").enter(|m| m.frame(|m, [kept]| {
            let kept = kept.put_option(m, None);
            for _ in 0..3 {
                panics(|| grow(m, &kept, u64::MAX));
                grow(m, &kept, 100);
                m.collect(Request::Full);
                assert_eq!(sum(m, kept.get(m)), 4950);
            }
        })).expect("went on");
    }

    fn a_panic_during_inspection_leaves_the_world_usable<C>() {
        let world = world::<C>();
        panics(|| world.inspect(|_| panic!("on purpose")));
        world.inspect(|_| ()).expect("nobody is inside");
        world.statistics().expect("nobody is inside");
        world.enter(exercise).expect("usable");
    }

    fn exhaustion_that_was_caught_may_be_thrown_anywhere<C>() {
        let small = Config { max_heap: Some(Bytes(8 << 20)), ..config::<C>(32 << 10) };
        let (exhausted, other) = (World::new::<C>(&small).expect("a heap"), world::<C>());
        let mut payload = None;
        exhausted.enter(|m| {
            payload = catch_unwind(AssertUnwindSafe(|| ignore(m.alloc_mut_bytes(1 << 30)))).err();
            exercise(m);
        }).expect("caught");
        let thrown = catch_unwind(AssertUnwindSafe(|| other.enter(|m| m.frame(|m, [slot]| {
            slot.put(m.alloc_bytes(b"rooted"));
            resume_unwind(payload.take().expect("caught"))
        }))));
        assert!(thrown.is_err());
        exhausted.enter(exercise).expect("usable");
        other.enter(exercise).expect("usable");
    }

    fn a_destructor_may_allocate_while_the_stay_unwinds<C>() {
        struct Last<'a, 'h, M: MutatorKind>(&'a mut Mutator<'h, M>);
        impl<M: MutatorKind> Drop for Last<'_, '_, M> {
            fn drop(&mut self) {
                exercise(self.0);
            }
        }
        let small = Config { max_heap: Some(Bytes(8 << 20)), ..config::<C>(32 << 10) };
        let world = World::new::<C>(&small).expect("a heap");
        let result = world.enter(|m| m.frame(|m, [list]| {
            let list = list.put_option(m, None);
            let last = Last(m);
            grow(last.0, &list, 100);
            ignore(last.0.alloc_mut_bytes(1 << 30));
        }));
        assert!(matches!(result, Err(EnterError::Exhausted(_))), "{result:?}");
        world.enter(exercise).expect("usable");
    }
}
