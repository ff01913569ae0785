//! The order of a trace, for every collector: remembered slots, roots, everything reachable from
//! them, ephemerons, finalisers, weak handles.
//!
//! Remembered slots come first, so that their referents go to the steps of the closures that point
//! to them. After everything reachable is traced, from the values of ephemerons, too, all live closures are
//! known. A finaliser that
//! gets its closure keeps it alive once more, with everything reachable from it. So these
//! finalisers come next, then weak handles, then the finalisers that run when their closure is
//! gone.

use super::ephemerons::AwaitedKeys;
use crate::capability::Capabilities;
use crate::events::Phase;
use crate::roots::{RootSlot, Roots};

/// What the order needs from a tracer; [`super::Evacuator`] and [`super::Marker`] implement it.
pub trait Tracing {
    /// Traces the referent of a root, but not further.
    fn root(&mut self, slot: RootSlot<'_>);
    /// Traces the referents of all roots, but not further.
    fn roots(&mut self, roots: Roots<'_>) {
        roots.for_each(|slot| self.root(slot));
    }
    /// Traces everything that can be reached from there. It may be called once more, after more
    /// roots.
    fn trace(&mut self);
    /// After tracing: traces everything that can be reached from the values of ephemerons, as long as
    /// more `keys` are found.
    fn trace_from(&mut self, keys: &AwaitedKeys<RootSlot<'_>>);
    /// After tracing: whether the slot's closure is live. Updates the slot if so.
    fn lives(&mut self, slot: RootSlot<'_>) -> bool;
    /// After tracing: updates weak slots whose referents are live, and clears the others.
    fn weak_handles(&mut self, roots: Roots<'_>);
}

/// A tracer that collects part of the heap, with remembered slots as roots.
pub trait RememberedTracing: Tracing {
    /// Whether only generation 0 is collected: no closure is freed or moved that was in a block of
    /// an old step ([`FIRST_OLD_STEP`](crate::block::FIRST_OLD_STEP)) when the last collection ended.
    /// Then handles, weak handles and finalisers of these closures are not visited.
    fn spares_old(&self) -> bool;

    /// Traces the referents of the remembered slots that do not lie in condemned memory themselves,
    /// and empties the sets.
    fn remembered<A>(&mut self, capabilities: Capabilities<'_, A>);
}

/// Traces everything live: roots, everything reachable from them, weak handles. Calls `phase` at
/// the end of each phase.
pub fn live(tracer: &mut impl Tracing, roots: Roots<'_>, mut phase: impl FnMut(Phase)) {
    tracer.roots(roots);
    phase(Phase::RootsTraced);
    tracer.trace();
    trace_values(tracer, roots);
    phase(Phase::HeapTraced);
    if let Some(finalised) = roots.finalise_first(|slot| tracer.lives(slot)) {
        finalised.for_each(|slot| tracer.root(slot));
        if !mutant!("finalisers/not-traced") {
            tracer.trace();
            trace_values(tracer, roots);
        }
        phase(Phase::FinalisersTraced);
    }
    if mutant!("finalisers/last-without-weak") {
        roots.finalise_last(|_| false);
    }
    tracer.weak_handles(roots);
    roots.clear_ephemerons(|slot| tracer.lives(slot));
    roots.finalise_last(|slot| tracer.lives(slot));
    phase(Phase::WeakProcessed);
}

/// After tracing: traces the values of ephemerons whose keys live.
pub(super) fn trace_values(tracer: &mut impl Tracing, roots: Roots<'_>) {
    let keys = AwaitedKeys::default();
    roots.for_each_ephemeron(|key, value| {
        let awaited = (!tracer.lives(key)).then(|| key.closure());
        keys.add(awaited, value);
    });
    if !keys.is_dry() && !mutant!("ephemerons/value-not-traced") {
        tracer.trace_from(&keys);
    }
}

/// Traces everything live in the collected generations: remembered slots, then as [`live`].
pub fn live_and_remembered<A>(
    tracer: &mut impl RememberedTracing,
    capabilities: Capabilities<'_, A>,
    roots: Roots<'_>,
    mut phase: impl FnMut(Phase),
) {
    tracer.remembered(capabilities);
    phase(Phase::RememberedTraced);
    let roots = if tracer.spares_old() { roots.of_young() } else { roots };
    live(tracer, roots, phase);
}

#[cfg(all(test, not(any(gclab_loom, gclab_shuttle))))]
mod tests {
    use super::super::weak::{self, Survivors};
    use super::*;
    use crate::block::{BlockState, FIRST_OLD_STEP};
    use crate::closure::ClosureRef;
    use crate::config::Config;
    use crate::heap::Heap;
    use crate::roots::finalisers::Occasion;
    use crate::roots::handles::{HandleTable, Strength};
    use crate::sync::Arc;
    use crate::words::{Addr, Bytes};
    use std::collections::HashSet;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    /// Counts the slots that a collection visits. All closures live.
    struct Counter {
        spares_old: bool,
        strong: usize,
        others: AtomicUsize,
    }

    impl Survivors for &AtomicUsize {
        fn is_settled(self, _: ClosureRef) -> bool {
            self.fetch_add(1, Relaxed);
            true
        }
        fn prefetch(self, _: ClosureRef) {}
        unsafe fn find(self, closure: ClosureRef) -> Option<ClosureRef> {
            Some(closure)
        }
    }

    impl Tracing for Counter {
        fn root(&mut self, _: RootSlot<'_>) {
            self.strong += 1;
        }
        fn trace(&mut self) {}
        fn trace_from(&mut self, _: &AwaitedKeys<RootSlot<'_>>) {}
        fn lives(&mut self, slot: RootSlot<'_>) -> bool {
            // SAFETY: no closure is read.
            unsafe { weak::lives(slot.slot(), &self.others) }
        }
        fn weak_handles(&mut self, roots: Roots<'_>) {
            // SAFETY: as above.
            unsafe { weak::update(roots, &self.others, None) };
        }
    }

    impl RememberedTracing for Counter {
        fn spares_old(&self) -> bool {
            self.spares_old
        }
        fn remembered<A>(&mut self, _: Capabilities<'_, A>) {}
    }

    /// Everything that a closure may have.
    fn attach(table: &HandleTable, closure: u64) {
        _ = table.insert(Strength::Strong, closure);
        _ = table.insert(Strength::Weak, closure);
        _ = table.finalisers().register(Occasion::First, closure);
        _ = table.finalisers().register(Occasion::Last, closure);
        table.foreign().register(closure, 0, Bytes(8));
        table.sampled().register(closure, 0, Bytes(8));
    }

    /// An old closure and a young one, in a heap.
    fn closures() -> (Heap, u64, u64) {
        let config = Config {
            reserve: Bytes::mib(4),
            ..Config::default()
        };
        let mut heap = Heap::new(&config).expect("a heap");
        let mut in_step = |step| heap.allocate(1, 1, BlockState::of_step(step)).expect("room").start().0 as u64;
        let (old, young) = (in_step(FIRST_OLD_STEP), in_step(FIRST_OLD_STEP - 1));
        (heap, old, young)
    }

    /// The tables of what [`attach`] makes, apart from strong handles.
    const TABLES: usize = 5;

    #[test]
    fn a_minor_collection_visits_the_slots_of_young_closures_only() {
        let (heap, old, young) = closures();
        let table = Arc::new(HandleTable::default());
        let visited = |spares_old| {
            let mut counter = Counter {
                spares_old,
                strong: 0,
                others: AtomicUsize::new(0),
            };
            table.begin_collection();
            // SAFETY: there is no frame.
            let roots = unsafe { Roots::new(&[], &table) };
            live_and_remembered::<()>(&mut counter, Capabilities::new(&[]), roots, |_| ());
            table.end_collection(Some(heap.states()));
            (counter.strong, counter.others.into_inner())
        };
        (0..100).for_each(|_| attach(&table, old));
        (0..3).for_each(|_| attach(&table, young));
        assert_eq!(visited(true), (103, TABLES * 103), "none is known to be old");
        assert_eq!(visited(true), (3, TABLES * 3));
        attach(&table, old);
        assert_eq!(visited(true), (4, TABLES * 4));
        assert_eq!(visited(false), (104, TABLES * 104));
    }

    #[test]
    fn the_end_of_a_cycle_visits_what_is_doubtful() {
        let (heap, old, young) = closures();
        // The second is to move when the cycle ends.
        let (unmarked, moving) = (old + 8, old + 16);
        let table = Arc::new(HandleTable::default());
        // SAFETY: there is no frame.
        let roots = unsafe { Roots::new(&[], &table) };
        let collect = || {
            table.begin_collection();
            table.end_collection(Some(heap.states()));
        };
        // How many slots with `unmarked`, `young`, `moving` and other closures are visited; in handles some twice.
        let visited = || {
            let (mut strong, mut others) = ([0; 4], [0; 4]);
            let count = |counts: &mut [usize; 4], slot: RootSlot<'_>| {
                // SAFETY: a slot of the tables.
                let closure = unsafe { slot.slot().load() }.0 as u64;
                let one = [unmarked, young, moving].iter().position(|&one| one == closure);
                counts[one.unwrap_or(3)] += 1;
            };
            roots.of_doubtful().for_each(|slot| count(&mut strong, slot));
            roots.of_doubtful().for_each_weak(|slot| count(&mut others, slot));
            (strong, others)
        };
        let prescan = || while !table.prescan(|closure| ![unmarked, moving].contains(&closure)) {};
        for _ in 0..100 {
            attach(&table, old);
        }
        (0..3).for_each(|_| attach(&table, unmarked));
        attach(&table, moving);
        collect();
        roots.begin_trace_in_slices();
        assert_eq!(
            visited(),
            ([3, 0, 1, 100], [3 * TABLES, 0, TABLES, 100 * TABLES]),
            "nothing was seen"
        );
        prescan();
        assert_eq!(visited(), ([3, 0, 1, 0], [3 * TABLES, 0, TABLES, 0]));
        // They are made meanwhile, and only handles fill the places of others that were dropped.
        table.remove(Strength::Weak, 0);
        attach(&table, young);
        attach(&table, old);
        for _ in 0..2 {
            let (strong, others) = visited();
            assert!(strong[1] > 0 && strong[3] > 0 && strong[3] < 5, "{strong:?}");
            assert!(
                others[1] >= TABLES && others[3] >= TABLES && others[3] < 2 * TABLES,
                "{others:?}"
            );
            assert_eq!((strong[0], strong[2]), (3, 1));
            assert_eq!((others[0], others[2]), (3 * TABLES, TABLES));
            collect();
        }
        // The dead leave, and what is behind them is still known.
        let died = std::cell::Cell::new(0);
        let lives = |slot: RootSlot<'_>| {
            // SAFETY: a slot of the tables.
            let lives = unsafe { slot.slot().load() }.0 as u64 != unmarked;
            died.set(died.get() + usize::from(!lives));
            lives
        };
        assert!(roots.of_doubtful().finalise_first(lives).is_some());
        roots.of_doubtful().finalise_last(lives);
        assert_eq!(died.get(), 3 * (TABLES - 1));
        let (_, others) = visited();
        assert_eq!((others[0], others[2]), (3, TABLES), "weak handles, and what lives");
        assert!(
            others[1] >= TABLES && others[3] >= TABLES && others[3] < 2 * TABLES,
            "{others:?}"
        );
        roots.end_trace_in_slices();
        collect();
        // The handle of the young closure is listed, too.
        assert_eq!(
            visited().1,
            [3, TABLES + 1, TABLES, 101 * TABLES - 1],
            "the prescan is over"
        );
    }

    /// A heap of closures without slots.
    #[derive(Default)]
    struct Marked {
        closures: HashSet<Addr>,
        looks: usize,
    }

    impl Tracing for Marked {
        fn root(&mut self, _: RootSlot<'_>) {}
        fn trace(&mut self) {}
        fn trace_from(&mut self, keys: &AwaitedKeys<RootSlot<'_>>) {
            while let Some(value) = keys.next_root() {
                self.closures.insert(value.closure());
            }
        }
        fn lives(&mut self, slot: RootSlot<'_>) -> bool {
            self.looks += 1;
            self.closures.contains(&slot.closure())
        }
        fn weak_handles(&mut self, _: Roots<'_>) {}
    }

    #[test]
    fn a_chain_takes_one_look_at_each_key() {
        const LENGTH: usize = 1000;
        let table = Arc::new(HandleTable::default());
        let closure = |number: usize| 8 * (number + 1);
        // The end comes first, and each key has another value, too.
        for number in (0..LENGTH).rev() {
            table.insert_ephemeron(closure(number) as u64, closure(number + 1) as u64);
            table.insert_ephemeron(closure(number) as u64, closure(number + 2 * LENGTH) as u64);
        }
        // SAFETY: there is no frame.
        let roots = unsafe { Roots::new(&[], &table) };
        let mut marked = Marked::default();
        trace_values(&mut marked, roots);
        assert_eq!((marked.closures.len(), marked.looks), (0, 2 * LENGTH));
        marked.closures.insert(Addr(closure(0)));
        trace_values(&mut marked, roots);
        assert_eq!((marked.closures.len(), marked.looks), (2 * LENGTH + 1, 4 * LENGTH));
    }
}
