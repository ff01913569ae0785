//! Refuses every request for memory, one after another.
//!
//! The same program runs once for each request that it makes: the heap's reservation, its side
//! tables, megablocks, the memory promised to a collection, mark stacks, remembered sets. That
//! request is refused (`-DF<n>`). The program must come to its checksum, or end as exhausted
//! because of that refusal. Afterwards the heap must be intact, can be collected and used again,
//! and has its statistics.

use crate::random::in_child;
use gclab_core::block::Shortage;
use gclab_core::closure::{Closure, Mut, Ptr};
use gclab_core::collector::Collector;
use gclab_core::config::Config;
use gclab_core::memory::MemoryError;
use gclab_core::mutator::{Gc, MutByteArray, Mutator, MutatorKind, NoGc, Request};
use gclab_core::words::Bytes;
use gclab_core::world::World;
use gclab_core::world::{EnterError, StartError};
use gclab_heap_traverse::Checker;
use std::any::type_name;
use std::sync::atomic::Ordering::Relaxed;

#[derive(Closure)]
#[allow(dead_code)]
struct Tree {
    depth: u64,
    left: Option<Ptr<Tree>>,
    right: Option<Ptr<Tree>>,
}

#[derive(Closure)]
#[allow(dead_code)]
struct Cell {
    value: u64,
    tree: Mut<Tree>,
    next: Option<Ptr<Cell>>,
}

/// Rounds of the program; its heap grows in each.
const ROUNDS: u64 = 10;
/// Trees that a round keeps, and their depth.
const KEPT: u64 = 4;
const DEPTH: u64 = 8;
/// A megablock and a half: large objects ask for megablocks by themselves.
const LARGE: usize = 3 << 19;
/// The least number of requests: fewer would prove nothing.
const LEAST_REQUESTS: u64 = 5;

fn tree<'m, 'h, M: MutatorKind>(m: &'m mut Mutator<'h, M>, depth: u64) -> Gc<'m, 'h, Tree> {
    if depth == 0 {
        return m.alloc(|_| Tree::new(0, None, None));
    }
    m.frame(|m, [l, r]| {
        let left = l.put(tree(m, depth - 1));
        let right = r.put(tree(m, depth - 1));
        m.alloc(|m| Tree::new(depth, Some(left.get(m)), Some(right.get(m))))
    })
}

fn sum<'h, M: MutatorKind>(m: &NoGc<'h, M>, tree: Gc<'_, 'h, Tree>) -> u64 {
    tree.depth(m) + tree.left(m).map_or(0, |tree| sum(m, tree)) + tree.right(m).map_or(0, |tree| sum(m, tree))
}

/// Keeps more data in each round, overwrites some of it, drops large objects, and asks for a major
/// collection in every third round.
fn program<M: MutatorKind>(m: &mut Mutator<'_, M>) -> u64 {
    m.frame(|m, [cells, small, large]| {
        let cells = cells.put_option::<Cell>(m, None);
        let small = small.put_option::<Tree>(m, None);
        let large = large.put_option::<MutByteArray>(m, None);
        let mut checksum = 0u64;
        for round in 0..ROUNDS {
            for value in 0..KEPT {
                let (view, new) = m.with_view(|m| tree(m, DEPTH));
                small.set(view, Some(new));
                let (m, cell) = m.alloc_with(|m| Cell::new(round * KEPT + value, small.get(m), cells.get(m)));
                cells.set(m, Some(cell));
            }
            let (view, bytes) = m.with_view(|m| m.alloc_mut_bytes(LARGE));
            large.set(view, Some(bytes));
            if let Some(last) = large.get(m).and_then(|large| large.bytes().last()) {
                last.store(round as u8, Relaxed);
                checksum = checksum.wrapping_mul(31).wrapping_add(u64::from(last.load(Relaxed)));
            }
            // An old cell points to a young tree.
            let (view, new) = m.with_view(|m| tree(m, 3));
            small.set(view, Some(new));
            if let Some(cell) = cells.get(m) {
                cell.set_tree(m, small.get(m));
            }
            if round % 3 == 2 {
                m.collect(Request::Full);
            }
        }
        let mut cell = cells.get(m);
        while let Some(here) = cell {
            let tree = here.tree(m).map_or(0, |tree| sum(m, tree));
            checksum = checksum.wrapping_mul(31).wrapping_add(here.value(m) ^ tree);
            cell = here.next(m);
        }
        checksum
    })
}

/// Runs the program with request `n` refused. Returns the checksum, if the program reached one, and
/// whether there was such a request.
fn refused<C: Collector>(config: &Config, n: u64) -> (Option<u64>, bool) {
    let config = Config {
        refuse_request: Some(n),
        ..config.clone()
    };
    let on_purpose = |cause: &Shortage| *cause == Shortage::System(MemoryError::OnPurpose { number: n });
    let name = C::DESCRIPTION.name;
    let mut world = match World::new::<C>(&config) {
        Ok(world) => world,
        Err(StartError::Memory(MemoryError::OnPurpose { number })) if number == n => return (None, true),
        Err(StartError::OutOfMemory(error)) if on_purpose(&error.cause) => return (None, true),
        Err(error) => panic!("{name}, request {n}: {error}"),
    };
    Checker::install(&mut world);
    let result = world.enter(program);
    match &result {
        Ok(_) => {}
        Err(EnterError::Exhausted(error)) if on_purpose(&error.cause.cause) => {
            // No other request is refused, so the heap can be used as before.
            let again = world.enter(|m| {
                m.collect(Request::Full);
                let (m, tree) = m.with_view(|m| tree(m, DEPTH));
                sum(m, tree)
            });
            assert_eq!(again, Ok((1 << (DEPTH + 1)) - DEPTH - 2), "{name}, after request {n}");
        }
        Err(error) => panic!("{name}, request {n}: {error}"),
    }
    let made = world
        .inspect(|stopped| {
            stopped
                .blocks()
                .check()
                .unwrap_or_else(|fault| panic!("{name}, request {n}: {fault}"));
            stopped.blocks().requests()
        })
        .expect("nobody is inside");
    let statistics = world.finish();
    assert!(
        statistics.peak_taken > 0 && statistics.allocated > 0,
        "{name}, request {n}: no figures"
    );
    (result.ok(), made >= n)
}

/// Runs a program under collector `C` with `config`: once for each of its requests for memory with
/// that request refused, and once without a refusal. [`small_heap`] has a configuration that suits
/// most collectors.
///
/// # Panics
/// If a run ends otherwise than with its checksum or with exhaustion because of the refusal, or if
/// the heap is damaged afterwards.
#[track_caller]
pub fn every_request_refused<C: Collector>(config: &Config) {
    in_child(&format!("{} {config:?}", type_name::<C>()), || refusals::<C>(config));
}

fn refusals<C: Collector>(config: &Config) {
    let (expected, _) = refused::<C>(config, u64::MAX);
    let expected = expected.expect("without a refusal it fits");
    let (mut n, mut ended) = (1, 0);
    loop {
        let (checksum, was_made) = refused::<C>(config, n);
        assert!(
            checksum.is_none_or(|checksum| checksum == expected),
            "{}, request {n}: {checksum:?} is not {expected}",
            C::DESCRIPTION.name
        );
        ended += u64::from(checksum.is_none());
        if !was_made {
            break;
        }
        n += 1;
    }
    assert!(
        n > LEAST_REQUESTS && ended > 0,
        "{}: {n} requests, {ended} of which ended the run",
        C::DESCRIPTION.name
    );
}

/// A configuration for a heap of a few megabytes, with a number of generations that `C` accepts.
pub fn small_heap<C: Collector>() -> Config {
    let (least, most) = C::DESCRIPTION.generations;
    Config {
        allocation_area: Bytes::kib(64),
        old_min: Bytes::kib(64),
        reserve: Bytes::mib(256),
        huge_pages: false,
        generations: Config::default().generations.clamp(least, most),
        ..Config::default()
    }
}
