//! Uses every entry point of a heap once or a few times: small enough for tools that are a thousand
//! times slower (`.ci/miri`, `.ci/valgrind`).

use crate::basics::config;
use gclab_core::closure::{Closure, Mut, Ptr, RecordShape};
use gclab_core::collector::{Collector, CollectorVisitor};
use gclab_core::config::Config;
use gclab_core::mutator::{
    Allocation, Any, ByteArray, Gc, Handle, MutArray, MutVar, Mutator, MutatorKind, NoGc, OptionRoot, Request, Tracker,
};
use gclab_core::words::{Bytes, Words};
use gclab_core::world::{EnterError, World};
use gclab_heap_traverse::Checker;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

#[derive(Closure)]
#[allow(dead_code)]
struct Node {
    value: u64,
    next: Mut<Node>,
    any: Option<Ptr<Any>>,
}

#[derive(Closure)]
#[allow(dead_code)]
struct Boxes {
    var: Ptr<MutVar<Node>>,
    array: Ptr<MutArray<Node>>,
}

/// Puts `len` nodes in front of `root`.
fn grow<'h, M: MutatorKind>(m: &mut Mutator<'h, M>, root: &OptionRoot<'_, 'h, Node>, len: u64) {
    for value in 0..len {
        let (m, node) = m.alloc_with(|m| Node::new(value, root.get(m), None));
        root.set(m, Some(node));
    }
}

fn len<'h, M: MutatorKind>(m: &NoGc<'h, M>, mut list: Option<Gc<'_, 'h, Node>>) -> usize {
    let mut len = 0;
    while let Some(node) = list {
        (len, list) = (len + 1, node.next(m));
    }
    len
}

/// How many collections [`every_kind`] requests. The last but one is a major one.
const ROUNDS: u64 = if cfg!(miri) { 2 } else { 5 };

/// Makes closures of every kind, and checks them after each of several collections.
fn every_kind<M: MutatorKind>(m: &mut Mutator<'_, M>) {
    m.frame(|m, [list, boxes, bytes, mutable, words, record, large]| {
        let list = list.put_option::<Node>(m, None);
        grow(m, &list, 20);
        let boxes = m.frame(|m, [var, array]| {
            let var = var.put(m.alloc(|m| MutVar::new(list.get(m))));
            let array = array.put(m.alloc_array(5, |m| list.get(m)));
            boxes.put(m.alloc(|m| Boxes::new(var.get(m), array.get(m))))
        });
        let bytes = bytes.put(m.alloc_bytes(b"of an odd length"));
        let mutable = mutable.put(m.alloc_mut_bytes(20));
        let words = words.put(m.alloc_mut_words(3));
        let record = record.put(m.alloc_record(RecordShape { pointers: 2, bytes: 19 }));
        let large = large.put(m.alloc_array::<Node>(600, |m| list.get(m)));
        for round in 0..ROUNDS {
            let (m2, node) = m.alloc_with(|m| Node::new(round, None, Some(bytes.get(m).erase())));
            stores(m2, node, boxes.get(m2));
            large.get(m2).set(m2, 599, Some(node));
            record.get(m2).set(m2, 1, Some(node.erase()));
            record.get(m2).data()[1].store(round, Relaxed);
            mutable.get(m2).bytes()[19].store(round as u8, Relaxed);
            words.get(m2).words()[2].store(round, Relaxed);
            list.get(m2).expect("grown").set_next(m2, Some(node));
            m.alloc_bytes_filled(4000, 7);
            m.alloc_bytes_with(30, |m, filled| filled[..16].copy_from_slice(bytes.get(m).as_slice()));
            m.collect(if round + 2 == ROUNDS {
                Request::Full
            } else {
                Request::Minor
            });
            let node = large.get(m).get(m, 599).expect("stored");
            assert_eq!((node.value(m), len(m, list.get(m))), (round, 2));
            assert!(
                node.any(m)
                    .and_then(Gc::downcast::<ByteArray>)
                    .is_some_and(|b| b == bytes.get(m))
            );
            assert!(boxes.get(m).var(m).read(m) == Some(node) && record.get(m).get(m, 1) == Some(node.erase()));
            assert_eq!(
                (
                    record.get(m).data()[1].load(Relaxed),
                    mutable.get(m).bytes()[19].load(Relaxed)
                ),
                (round, round as u8)
            );
            assert_eq!(bytes.get(m).as_slice(), b"of an odd length");
        }
    });
}

/// A tracker that counts its calls.
#[derive(Clone, Default)]
struct Counts(Arc<AtomicU64>);

impl Counts {
    fn add(&self) -> Option<()> {
        self.0.fetch_add(1, Relaxed);
        Some(())
    }
}

impl Tracker for Counts {
    type Minor = ();
    type Major = ();
    fn alloc_minor(&mut self, _: &Allocation) -> Option<()> {
        self.add()
    }
    fn alloc_major(&mut self, _: &Allocation) -> Option<()> {
        self.add()
    }
    fn promote(&mut self, (): ()) -> Option<()> {
        self.add()
    }
    fn dealloc_minor(&mut self, (): ()) {
        self.add();
    }
    fn dealloc_major(&mut self, (): ()) {
        self.add();
    }
}

/// Finalisers, an alarm, a foreign value, a tracker, and requests for a slice and for a compaction.
fn functions_of_the_program<M: MutatorKind>(m: &mut Mutator<'_, M>) {
    let (ran, counts) = (Arc::new(AtomicU64::new(0)), Counts::default());
    m.start_memprof(0.5, 0, counts.clone()).expect("not started");
    let alarm = m.create_alarm({
        let ran = Arc::clone(&ran);
        move |_| _ = ran.fetch_add(1, Relaxed)
    });
    m.frame(|m, [list]| {
        let list = list.put_option(m, None);
        grow(m, &list, 4);
        let head = list.get(m).expect("grown");
        let (first, last) = (Arc::clone(&ran), Arc::clone(&ran));
        m.finalise(head, move |m, list: Handle<Node>| {
            m.alloc_mut_bytes(40);
            first.fetch_add(100 * len(m, Some(list.open(m))) as u64, Relaxed);
        });
        m.finalise_last(head, move |_| _ = last.fetch_add(1000, Relaxed));
        m.collect(Request::Slice(Words(10)));
        list.set(m, None);
    });
    let value = Arc::clone(&ran);
    let (view, owner) = m.with_view(|m| m.alloc_foreign(value, Bytes(1000)));
    assert_eq!(owner.value(view).load(Relaxed) % 100, ran.load(Relaxed) % 100);
    // The first one keeps the list alive for one more collection.
    for request in [Request::Full, Request::Compact] {
        m.collect(request);
    }
    assert_eq!(ran.load(Relaxed) / 100, 14);
    assert!(ran.load(Relaxed) % 100 >= 2, "the alarm rang");
    // Here, and in the alarm's function.
    assert_eq!(Arc::strong_count(&ran), 2);
    m.delete_alarm(alarm);
    m.stop_memprof().expect("started");
    assert!(counts.0.load(Relaxed) > 0 && Arc::strong_count(&ran) == 1);
    assert!(m.rts_stats().is_err(), "no flag asks for them");
}

/// Makes the variable and the array in `boxes` point to `node`.
fn stores<'h, M: MutatorKind>(m: &NoGc<'h, M>, node: Gc<'_, 'h, Node>, boxes: Gc<'_, 'h, Boxes>) {
    boxes.var(m).write(m, Some(node));
    (0..5).for_each(|i| boxes.array(m).set(m, i, Some(node)));
}

/// Uses what a frame returns after it has closed: a pointer, and the mutator itself.
fn out_of_frames<M: MutatorKind>(m: &mut Mutator<'_, M>) {
    let (view, node) = m.frame(|m, [slot]| {
        slot.put(m.alloc(|_| Node::new(1, None, None)));
        m.alloc_with(|_| Node::new(2, None, None))
    });
    node.set_next(view, Some(node));
    assert_eq!(node.next(view).expect("itself").value(view), 2);
    let m = m.frame(|m, []| m);
    m.frame(|m, [slot]| {
        let slot = slot.put(m.alloc(|_| Node::new(3, None, None)));
        m.collect(Request::Minor);
        assert_eq!(slot.get(m).value(m), 3);
    });
}

/// Panics in frames and initialisers, and catches the panics inside the world.
fn unwinding<M: MutatorKind>(m: &mut Mutator<'_, M>) {
    let caught = |run: &mut dyn FnMut()| assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
    m.frame(|m, [list]| {
        let list = list.put_option(m, None);
        grow(m, &list, 3);
        caught(&mut || {
            m.frame(|m, [slot]| std::panic::resume_unwind(Box::new(slot.put(m.alloc_bytes(b"")).get(m).len())))
        });
        caught(&mut || _ = m.alloc_array::<Any>(500, |_| std::panic::resume_unwind(Box::new(()))));
        caught(&mut || _ = m.alloc(|_| -> NodeInit<'_, '_> { std::panic::resume_unwind(Box::new(())) }));
        m.collect(Request::Full);
        assert_eq!(len(m, list.get(m)), 3);
    });
}

#[derive(Clone, Copy)]
struct Everything;
impl CollectorVisitor for Everything {
    type Output = ();
    fn visit<C: Collector>(self) {
        let small = |stress| Config {
            stress,
            large_area: Some(Bytes(4096)),
            max_heap: Some(Bytes(6 << 20)),
            // Miri fills all of it with zeros.
            reserve: if cfg!(miri) {
                Bytes::mib(4)
            } else {
                Config::default().reserve
            },
            ..config::<C>(4096)
        };
        for stress in [None, Some(3)] {
            let mut world = World::new::<C>(&small(stress)).expect("a small heap");
            // A check takes Miri seconds, and under stress there are many.
            if stress.is_none() || !cfg!(miri) {
                Checker::install(&mut world);
            }
            let other = World::new::<C>(&small(None)).expect("another");
            let (strong, weak) = world
                .enter(|m| {
                    every_kind(m);
                    out_of_frames(m);
                    unwinding(m);
                    functions_of_the_program(m);
                    let (view, node) = m.alloc_with(|_| Node::new(8, None, None));
                    (view.handle(node), view.weak_handle(node))
                })
                .expect("room enough");
            let opened = world.enter(|m| {
                // Enters another heap from inside an initialiser.
                m.frame(|m, [slot]| {
                    let slot = slot.put(m.alloc(|_| {
                        other.enter(every_kind).expect("room enough");
                        Node::new(9, None, None)
                    }));
                    m.set_heap_roots([("node", slot.get(m).erase())]);
                });
                m.collect(Request::Full);
                assert!(weak.open(m).expect("held") == strong.open(m));
                strong.open(m).value(m)
            });
            assert_eq!(opened, Ok(8));
            std::thread::spawn(move || drop(strong)).join().expect("no panic");
            world
                .enter(|m| {
                    m.collect(Request::Full);
                    assert!(weak.open(m).is_none());
                })
                .expect("room enough");
            let exhausted = world.enter(|m| _ = m.alloc_mut_bytes(100 << 20));
            assert!(matches!(exhausted, Err(EnterError::Exhausted(_))), "{exhausted:?}");
            world.finish();
        }
    }
}

#[test]
fn everything_once() {
    crate::under_every_collector(Everything);
}
