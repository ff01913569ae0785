//! Programs that run between the slices of a cycle, and try to hide closures from its marking.
//!
//! Each program has a list that marking takes dozens of slices for, and acts after one of these:
//! once for each number of slices. Another program waits for cycles that the background thread marks.

use crate::random::{in_child, panics_in_collections_speak};
use gclab_core::closure::{Closure, Mut};
use gclab_core::collector::{Collector, Cycle, KindOf};
use gclab_core::config::{Config, OcamlLetter, OcamlLetters};
use gclab_core::events::{Event, EventKind, Listener};
use gclab_core::mutator::{MutByteArray, MutVar, Mutator, MutatorKind, OptionRoot, Request};
use gclab_core::stats::Statistics;
use gclab_core::words::{Bytes, Words};
use gclab_core::world::World;
use gclab_heap_traverse::Checker;
use std::any::type_name;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread::sleep;
use std::time::Duration;

/// A link of a list.
#[derive(Closure, Debug)]
#[allow(dead_code)]
pub struct Number {
    value: u64,
    next: Mut<Number>,
}

/// The numbers of the list.
pub const LENGTH: u64 = 2000;

/// A request for a slice, whose work `-DI100` bounds.
pub const SLICE: Request = Request::Slice(Words(1000));

/// The most words that a slice does, in addition to those that were promoted.
const SLICE_LIMIT: Words = Words(100);

/// Slices after which programs act.
const SLICES: std::ops::Range<usize> = 0..40;

/// Bytes of a large object.
const LARGE: usize = 20_000;

/// Puts `length` numbers in front of `list`, and promotes them.
pub fn list<'h, M: MutatorKind>(m: &mut Mutator<'h, M>, list: &OptionRoot<'_, 'h, Number>, length: u64) {
    for value in 0..length {
        let (m, number) = m.alloc_with(|m| Number::new(value, list.get(m)));
        list.set(m, Some(number));
    }
    m.collect(Request::Minor);
}

/// As [`list`], for `LENGTH` numbers. Afterwards no cycle is under way, and the next slice begins
/// one: programs act between that slice and the first that marks, too.
fn old_list<'h, M: MutatorKind>(m: &mut Mutator<'h, M>, long: &OptionRoot<'_, 'h, Number>) {
    list(m, long, LENGTH);
    m.collect(Request::Full);
}

/// Runs `program` with the checker on. No cycle begins unless the program asks for it, and nothing
/// is compacted, so that the checker knows each closure again. Returns the statistics.
///
/// # Panics
/// If the heap is exhausted, or the checker finds a fault.
pub fn in_slices<C: Collector>(program: impl for<'h> FnOnce(&mut Mutator<'h, KindOf<C>>)) -> Statistics {
    panics_in_collections_speak();
    let mut letters = OcamlLetters::default();
    letters.set(OcamlLetter::MaxOverhead, Some(OcamlLetter::MaxOverhead.range().1));
    let config = Config {
        ocaml: letters,
        slice_limit: Some(SLICE_LIMIT),
        allocation_area: Bytes::mib(1),
        old_min: Bytes::mib(64),
        ..super::small_heap::<C>()
    };
    let mut world = World::new::<C>(&config).expect("a small heap");
    world.listen(Box::new(Checker::new(world.collector()).exact()));
    world.enter(program).expect("enough memory");
    world.finish()
}

/// Tests a collector that works in slices.
///
/// # Panics
/// If a closure is lost, or the checker finds a fault.
#[track_caller]
pub fn slices<C: Collector>() {
    in_child(&format!("slices {}", type_name::<C>()), || {
        hidden::<C>();
        hidden_in_large::<C>();
        opened::<C>();
        opened_by_key::<C>();
        promoted::<C>();
        large::<C>();
        young::<C>();
        finalised::<C>();
        moved::<C>();
    });
}

/// Counts the cycles that ended.
struct Ended(Arc<AtomicU64>);

impl Listener for Ended {
    fn event(&mut self, event: &Event<'_>) {
        if let EventKind::Recorded { collection, .. } = event.kind {
            let is_ended = collection.work.cycle == Cycle::Ended;
            self.0.fetch_add(is_ended.into(), Relaxed);
        }
    }
}

/// Tests a collector whose background thread marks. Cycles begin and end without a request, as lists die
/// one after another. When the thread has nothing left to do, the program is stopped before it has used
/// up its area. Slices say what they marked.
///
/// # Panics
/// If they do not, or the checker finds a fault.
#[track_caller]
pub fn cycles<C: Collector>() {
    in_child(&format!("cycles {}", type_name::<C>()), unasked::<C>);
}

fn unasked<C: Collector>() {
    /// Lists that may be made until cycles have ended.
    const LISTS: usize = 200;
    /// Times that the program waits for the thread, how long, and the bytes that it allocates after each.
    const WAITS: usize = 1000;
    const WAIT: Duration = Duration::from_millis(1);
    const BETWEEN: usize = 8 << 10;
    let config = Config {
        allocation_area: Bytes(2 * WAITS * BETWEEN),
        ..super::small_heap::<C>()
    };
    let mut world = World::new::<C>(&config).expect("a small heap");
    let count = Arc::new(AtomicU64::new(0));
    world.listen(Box::new(Ended(Arc::clone(&count))));
    world.listen(Box::new(Checker::new(world.collector()).exact()));
    let session = world.enter(|m| {
        m.frame(|m, [long]| {
            let long = long.put_option(m, None);
            let begun = (0..LISTS).any(|_| {
                long.set(m, None);
                list(m, &long, LENGTH);
                m.blocking(|| sleep(WAIT));
                count.load(Relaxed) > 2
            });
            assert!(begun, "no cycles begin, or none ends");
            m.collect(Request::Full);
            m.collect(SLICE);
            let before = count.load(Relaxed);
            let ended = (0..WAITS).any(|_| {
                m.blocking(|| sleep(WAIT));
                for value in 0..BETWEEN / size_of::<[u64; 3]>() {
                    m.alloc(|_| Number::new(value as u64, None));
                }
                count.load(Relaxed) > before
            });
            assert!(ended, "the program is not stopped when nothing is left to mark");
        });
    });
    session.expect("enough memory");
    assert!(world.finish().slices.marked > 0, "slices have marked nothing");
}

/// The program takes a closure out of one that is marked and not scanned yet, and overwrites the
/// pointer: the barrier has noted it.
fn hidden<C: Collector>() {
    for slices in SLICES {
        in_slices::<C>(|m| {
            m.frame(|m, [long, var, hidden]| {
                let hidden = hidden.put_option::<Number>(m, None);
                let var = var.put(m.alloc(|_| MutVar::<Number>::new(None)));
                let (view, number) = m.alloc_with(|_| Number::new(7, None));
                var.get(view).write(view, Some(number));
                let long = long.put_option(m, None);
                old_list(m, &long);
                (0..=slices).for_each(|_| m.collect(SLICE));
                hidden.set(m, var.get(m).read(m));
                var.get(m).write(m, None);
                m.collect(Request::Cycle);
                assert_eq!(hidden.get(m).map(|number| number.value(m)), Some(7));
            });
        });
    }
}

/// The same, of a large array, in a second cycle: the first one left no mark of it.
fn hidden_in_large<C: Collector>() {
    for slices in SLICES {
        in_slices::<C>(|m| {
            m.frame(|m, [long, array, hidden]| {
                let hidden = hidden.put_option::<Number>(m, None);
                let array = array.put(m.alloc_array::<Number>(LARGE / 8, |_| None));
                let long = long.put_option(m, None);
                old_list(m, &long);
                m.collect(SLICE);
                m.collect(Request::Cycle);
                for index in 0..2 {
                    let (view, number) = m.alloc_with(|_| Number::new(7, None));
                    array.get(view).set(view, index, Some(number));
                }
                m.collect(Request::Minor);
                (0..=slices).for_each(|_| m.collect(SLICE));
                hidden.set(m, array.get(m).get(m, 0));
                array.get(m).set(m, 0, None);
                m.collect(Request::Cycle);
                let values = [hidden.get(m), array.get(m).get(m, 1)];
                assert_eq!(values.map(|number| number.map(|number| number.value(m))), [Some(7); 2]);
            });
        });
    }
}

/// The closure that only a weak handle leads to when marking begins is not in the snapshot, and
/// the marker hears of it only from the hook of weak handles.
fn opened<C: Collector>() {
    let mut opened = 0;
    for slices in SLICES {
        in_slices::<C>(|m| {
            m.frame(|m, [long, found]| {
                let (long, found) = (long.put_option(m, None), found.put_option::<Number>(m, None));
                let weak = m.frame(|m, [lonely]| {
                    let lonely = lonely.put(m.alloc(|_| Number::new(7, None)));
                    old_list(m, &long);
                    m.weak_handle(lonely.get(m))
                });
                (0..=slices).for_each(|_| m.collect(SLICE));
                opened += usize::from(weak.open(m).is_some());
                found.set(m, weak.open(m));
                m.collect(Request::Cycle);
                m.collect(Request::Minor);
                assert!(found.get(m) == weak.open(m));
                assert!(found.get(m).is_none_or(|number| number.value(m) == 7));
            });
        });
    }
    assert!(opened > 10, "marking took few slices: {opened} were opened");
}

/// The same with an ephemeron, which is dropped once it has been opened.
fn opened_by_key<C: Collector>() {
    for slices in SLICES {
        in_slices::<C>(|m| {
            m.frame(|m, [long, found]| {
                let (long, found) = (long.put_option(m, None), found.put_option::<Number>(m, None));
                let ephemeron = m.frame(|m, [lonely]| {
                    let lonely = lonely.put(m.alloc(|_| Number::new(7, None)));
                    old_list(m, &long);
                    m.ephemeron(long.get(m).expect("a list"), lonely.get(m))
                });
                (0..=slices).for_each(|_| m.collect(SLICE));
                found.set(m, ephemeron.open(m).map(|(_, value)| value));
                drop(ephemeron);
                m.collect(Request::Cycle);
                assert_eq!(found.get(m).map(|number| number.value(m)), Some(7));
            });
        });
    }
}

/// Closures that are promoted while marking are not part of the snapshot.
fn promoted<C: Collector>() {
    for slices in SLICES {
        in_slices::<C>(|m| {
            m.frame(|m, [long, new]| {
                let (long, new) = (long.put_option(m, None), new.put_option::<Number>(m, None));
                old_list(m, &long);
                (0..=slices).for_each(|_| m.collect(SLICE));
                list(m, &new, 3);
                m.collect(Request::Cycle);
                assert_eq!(new.get(m).map(|number| number.value(m)), Some(2));
            });
        });
    }
}

/// Large objects that are allocated while marking are none, either.
fn large<C: Collector>() {
    for slices in SLICES {
        in_slices::<C>(|m| {
            m.frame(|m, [long, new]| {
                let (long, new) = (long.put_option(m, None), new.put_option::<MutByteArray>(m, None));
                old_list(m, &long);
                (0..=slices).for_each(|_| m.collect(SLICE));
                let (view, bytes) = m.with_view(|m| m.alloc_mut_bytes(LARGE));
                bytes.bytes()[LARGE - 1].store(7, Relaxed);
                new.set(view, Some(bytes));
                m.collect(Request::Minor);
                m.collect(Request::Cycle);
                assert_eq!(new.get(m).map(|bytes| bytes.bytes()[LARGE - 1].load(Relaxed)), Some(7));
            });
        });
    }
}

/// A young closure is overwritten in an old one while marking, and is gone before the next slice.
fn young<C: Collector>() {
    for slices in SLICES {
        in_slices::<C>(|m| {
            m.frame(|m, [long, var]| {
                let var = var.put(m.alloc(|_| MutVar::<MutByteArray>::new(None)));
                let long = long.put_option(m, None);
                old_list(m, &long);
                (0..=slices).for_each(|_| m.collect(SLICE));
                for len in [LARGE, 10] {
                    let (view, bytes) = m.with_view(|m| m.alloc_mut_bytes(len));
                    var.get(view).write(view, Some(bytes));
                    var.get(m).write(m, None);
                }
                m.collect(Request::Minor);
                m.collect(SLICE);
                m.collect(Request::Cycle);
                assert!(var.get(m).read(m).is_none());
            });
        });
    }
}

/// The end of the cycle may move a closure to which the program stores pointers meanwhile: in old
/// arrays that marking has been to or not, and in young closures that become old before the last pause
/// or in it. In the end all of them lead to it, and so do roots and handles. In some programs too many
/// slots lead to it.
fn moved<C: Collector>() {
    for slices in SLICES {
        in_slices::<C>(|m| {
            m.frame(|m, [long, small, large, at, before, last]| {
                let small = small.put(m.alloc_array::<Number>(4, |_| None));
                let large = large.put(m.alloc_array::<Number>(LARGE / 8, |_| None));
                let at = at.put(m.alloc(|_| Number::new(7, None)));
                let (weak, handle) = (m.weak_handle(at.get(m)), m.handle(at.get(m)));
                let (before, last) = (before.put_option(m, None), last.put_option(m, None));
                let long = long.put_option(m, None);
                let many = if slices % 4 == 0 { LARGE / 8 } else { 1 };
                (0..many).for_each(|index| large.get(m).set(m, index, Some(at.get(m))));
                old_list(m, &long);
                (0..=slices).for_each(|_| m.collect(SLICE));
                large.get(m).set(m, 1, Some(at.get(m)));
                small.get(m).set(m, 0, Some(at.get(m)));
                before.set(m, Some(at.get(m)));
                list(m, &before, 1);
                m.collect(SLICE);
                small.get(m).set(m, 1, Some(at.get(m)));
                let (view, number) = m.alloc_with(|m| Number::new(8, Some(at.get(m))));
                last.set(view, Some(number));
                m.collect(Request::Cycle);
                let nexts = [&before, &last].map(|list| list.get(m).and_then(|number| number.next(m)));
                let stored = [0, 1].map(|index| [large.get(m).get(m, index), small.get(m).get(m, index)]);
                let all = [nexts, stored[0], stored[1], [weak.open(m), Some(handle.open(m))]];
                assert!(all.as_flattened().iter().all(|closure| *closure == Some(at.get(m))));
                assert_eq!(at.get(m).value(m), 7);
            });
        });
    }
}

/// A closure at the end of the list has a finaliser. It lives, though marking comes to it late; the
/// finaliser runs when it is gone.
fn finalised<C: Collector>() {
    for slices in SLICES {
        let ran = Arc::new(AtomicU64::new(0));
        in_slices::<C>(|m| {
            m.frame(|m, [long]| {
                let count = Arc::clone(&ran);
                let (view, last) = m.alloc_with(|_| Number::new(7, None));
                view.finalise_last(last, move |_| _ = count.fetch_add(1, Relaxed));
                let long = long.put_option(view, Some(last));
                old_list(m, &long);
                (0..=slices).for_each(|_| m.collect(SLICE));
                m.collect(Request::Cycle);
                m.alloc(|_| Number::new(8, None));
                assert_eq!(ran.load(Relaxed), 0, "the closure lives, after {slices} slices");
                long.set(m, None);
                m.collect(Request::Full);
                m.alloc(|_| Number::new(9, None));
                assert_eq!(ran.load(Relaxed), 1, "the closure is gone");
            });
        });
    }
}
