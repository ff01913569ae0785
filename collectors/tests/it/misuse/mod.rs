//! Misuse of the safe API at run time: it gives an error or a panic, and leaves the heap intact.

mod odd_uses;
mod panics;

use crate::basics::config;
use gclab_core::closure::{Closure, Mut, Ptr};
use gclab_core::collector::{Collector, KindOf};
use gclab_core::mutator::{Any, Gc, Mutator, MutatorKind, NoGc, OptionRoot, Request};
use gclab_core::world::World;
use std::panic::{AssertUnwindSafe, catch_unwind};

#[derive(Closure)]
#[allow(dead_code)]
struct List {
    value: u64,
    next: Mut<List>,
}

#[derive(Closure)]
#[allow(dead_code)]
struct Tagged {
    what: Ptr<Any>,
}

#[derive(Closure)]
struct Empty;

fn world<C: Collector>() -> World<KindOf<C>> {
    World::new::<C>(&config::<C>(32 << 10)).expect("a small heap")
}

fn panics<R>(run: impl FnOnce() -> R) {
    assert!(catch_unwind(AssertUnwindSafe(run)).is_err(), "it should have panicked");
}

fn ignore<T>(_: T) {}

/// Puts a list of `len` into `root`.
fn grow<'h, M: MutatorKind>(m: &mut Mutator<'h, M>, root: &OptionRoot<'_, 'h, List>, len: u64) {
    root.set(m, None);
    for value in 0..len {
        let (m, list) = m.alloc_with(|m| List::new(value, root.get(m)));
        root.set(m, Some(list));
    }
}

fn sum<'h, M: MutatorKind>(m: &NoGc<'h, M>, mut list: Option<Gc<'_, 'h, List>>) -> u64 {
    let mut sum = 0;
    while let Some(cell) = list {
        sum += cell.value(m);
        list = cell.next(m);
    }
    sum
}

/// Makes lists that live and lists that die, and checks the live ones.
fn exercise<M: MutatorKind>(m: &mut Mutator<'_, M>) {
    m.frame(|m, [kept, other]| {
        let (kept, other) = (kept.put_option(m, None), other.put_option(m, None));
        grow(m, &kept, 100);
        (0..50).for_each(|_| grow(m, &other, 200));
        m.collect(Request::Full);
        assert_eq!((sum(m, kept.get(m)), sum(m, other.get(m))), (4950, 19900));
    });
}
