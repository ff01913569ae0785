//! Many threads in one heap, under every collector: their data stays intact, whichever thread
//! collects.

mod chunks;
mod data;
mod ends;
mod idle;
mod stops;

use crate::basics::config;
use gclab_core::closure::{Closure, Mut, Ptr};
use gclab_core::collector::{Collector, KindOf};
use gclab_core::config::Config;
use gclab_core::mutator::{Gc, Mutator, MutatorKind, NoGc, OptionRoot};
use gclab_core::world::World;
use gclab_heap_traverse::Checker;
use std::sync::Barrier;
use std::thread;

#[derive(Closure)]
#[allow(dead_code)]
struct List {
    value: u64,
    next: Mut<List>,
}

#[derive(Closure)]
#[allow(dead_code)]
struct Tree {
    left: Option<Ptr<Tree>>,
    right: Option<Ptr<Tree>>,
}

/// The configuration of a small heap with `capabilities`.
fn of_many<C: Collector>(capabilities: u32, area: usize) -> Config {
    Config {
        capabilities,
        ..config::<C>(area)
    }
}

/// A world whose whole heap is checked after each collection.
fn checked<C: Collector>(config: &Config) -> World<KindOf<C>> {
    let mut world = World::new::<C>(config).expect("a small heap");
    Checker::install(&mut world);
    world
}

fn make<'m, 'h, M: MutatorKind>(m: &'m mut Mutator<'h, M>, depth: u32) -> Gc<'m, 'h, Tree> {
    if depth == 0 {
        return m.alloc(|_| Tree::new(None, None));
    }
    m.frame(|m, [l, r]| {
        let left = l.put(make(m, depth - 1));
        let right = r.put(make(m, depth - 1));
        m.alloc(|m| Tree::new(Some(left.get(m)), Some(right.get(m))))
    })
}

fn make_and_count<M: MutatorKind>(m: &mut Mutator<'_, M>, depth: u32) -> u64 {
    let (m, tree) = m.with_view(|m| make(m, depth));
    count(m, tree)
}

fn count<'h, M: MutatorKind>(m: &NoGc<'h, M>, tree: Gc<'_, 'h, Tree>) -> u64 {
    let below = |child: Option<_>| child.map_or(0, |child| count(m, child));
    1 + below(tree.left(m)) + below(tree.right(m))
}

/// Prepends `value` to `root`.
fn push<'h, M: MutatorKind>(m: &mut Mutator<'h, M>, root: &OptionRoot<'_, 'h, List>, value: u64) {
    let (m, list) = m.alloc_with(|m| List::new(value, root.get(m)));
    root.set(m, Some(list));
}

fn sum<'h, M: MutatorKind>(m: &NoGc<'h, M>, mut list: Option<Gc<'_, 'h, List>>) -> u64 {
    let mut sum = 0;
    while let Some(cell) = list {
        sum += cell.value(m);
        list = cell.next(m);
    }
    sum
}

/// Makes trees that live and die and a growing list, and stores into closures that are old by then.
fn busy<M: MutatorKind>(m: &mut Mutator<'_, M>, rounds: u64) {
    m.frame(|m, [tree, list, array]| {
        let tree = tree.put(make(m, 7));
        let list = list.put_option(m, None);
        let array = array.put(m.alloc_array::<List>(20, |_| None));
        for round in 0..rounds {
            assert_eq!(make_and_count(m, 5), 63);
            push(m, &list, round);
            array.get(m).set(m, (round % 20) as usize, list.get(m));
            if round % 16 == 0 {
                m.alloc_mut_bytes(5000);
            }
        }
        assert_eq!(count(m, tree.get(m)), 255);
        assert_eq!(sum(m, list.get(m)), rounds * rounds.saturating_sub(1) / 2);
        for at in 0..rounds.min(20) {
            let newest = (0..rounds).rev().find(|round| round % 20 == at).expect("stored");
            assert_eq!(array.get(m).get(m, at as usize).expect("stored").value(m), newest);
        }
    });
}

/// Runs `program` in `world` on `threads` threads at the same time.
fn all_at_once<M: MutatorKind>(world: &World<M>, threads: usize, program: impl Fn(&mut Mutator<'_, M>, usize) + Sync) {
    let (program, start) = (&program, &Barrier::new(threads));
    thread::scope(|s| {
        for number in 0..threads {
            s.spawn(move || {
                start.wait();
                world.enter(|m| program(m, number)).expect("room enough")
            });
        }
    });
}

/// Waits at a barrier in a blocking call.
fn meet<M: MutatorKind>(m: &mut Mutator<'_, M>, barrier: &Barrier) {
    m.blocking(|| _ = barrier.wait());
}
