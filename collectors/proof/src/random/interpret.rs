//! Runs a program on a heap and on its reference, step by step.
//!
//! The reference changes only after the real heap, so both agree even if a step ends early: by a
//! panic, or because the heap is exhausted.

use super::compare;
use super::difference::{agreed, caught, differ};
use super::heap::{Heap, LOCALS, Locals};
use super::program::{Op, Program, Request, Setting};
use super::shapes::{NilInit, Shape};
use gclab_core::collector::{Collector, KindOf};
use gclab_core::mutator::{Any, Mutator, MutatorKind};
use gclab_core::world::{EnterError, World};
use gclab_heap_traverse::Checker;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// The most frames that may be open at a time in one heap.
const MAX_DEPTH: usize = 12;

/// Bytes of the arrays of `Op::Hoard`: nearly the most that fit in a small closure.
const HOARDED: u32 = 3200;

/// The panic payload of `Op::Unwind` and `Op::PanicInside`.
struct OnPurpose;

/// The way in which a run of operations ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Leave,
    Session(usize),
    Program,
}

/// The operations that are still to be done.
pub(super) struct Todo<'a> {
    pub ops: &'a [Op],
}

impl Todo<'_> {
    fn next(&mut self) -> Option<Op> {
        let (first, rest) = self.ops.split_first()?;
        self.ops = rest;
        Some(*first)
    }
}

pub(super) type Other<'a, M> = Option<(&'a World<M>, &'a mut Heap)>;

/// Runs `program` under `C`. Returns the number of operations, or the fault in words.
pub(super) fn outcome<C: Collector>(program: &Program) -> Result<u64, String> {
    caught(|| run::<C>(program))
}

fn run<C: Collector>(program: &Program) -> u64 {
    let worlds = program.settings.map(|setting| world::<C>(&setting));
    let mut heaps = program.settings.map(|setting| Heap::new(&setting, &C::DESCRIPTION));
    let mut todo = Todo { ops: &program.ops };
    let mut current = 0;
    while !todo.ops.is_empty() {
        let [first, second] = &mut heaps;
        let (mine, other) = if current == 0 { (first, second) } else { (second, first) };
        let end = session(&worlds[current], mine, Some((&worlds[1 - current], other)), &mut todo);
        current = if let End::Session(heap) = end { heap } else { current };
    }
    for (world, heap) in worlds.into_iter().zip(&mut heaps) {
        if session(&world, heap, None, &mut Todo { ops: &[] }) == End::Program {
            let allocated = world.finish().allocated;
            // An allocation that ends in exhaustion may have got a part of its memory.
            if allocated != heap.words() * 8 && heap.limit.is_none() {
                differ(format!("{allocated} bytes counted, {} allocated", heap.words() * 8));
            }
        }
    }
    heaps.iter().map(|heap| heap.ops).sum()
}

fn world<C: Collector>(setting: &Setting) -> World<KindOf<C>> {
    let mut world = World::new::<C>(&setting.config::<C>()).unwrap_or_else(|error| differ(error.to_string()));
    world.listen(Box::new(Checker::new(&C::DESCRIPTION).exact()));
    world
}

/// Enters a heap and runs operations until the program leaves it, or unwinds, or the heap is
/// exhausted.
pub(super) fn session<M: MutatorKind>(world: &World<M>, heap: &mut Heap, other: Other<'_, M>, todo: &mut Todo) -> End {
    let result = catch_unwind(AssertUnwindSafe(|| {
        world.enter(|m| {
            heap.make_globals(m);
            heap.finalisers.begin(m);
            let end = heap.frame(m, None, other, todo);
            heap.locals.clear();
            agreed(compare::heaps(m, None, heap, false));
            end
        })
    }));
    let end = match result {
        Ok(Ok(end)) => end,
        Ok(Err(EnterError::Exhausted(exhausted))) => {
            heap.may_be_exhausted(&exhausted.cause);
            heap.finalisers.exhausted();
            End::Session(0)
        }
        Ok(Err(error)) => differ(error.to_string()),
        Err(payload) if payload.is::<OnPurpose>() => End::Session(0),
        Err(payload) => resume_unwind(payload),
    };
    heap.locals.clear();
    // Checks the heap also now that the thread has left it: the mutator's doings since the last
    // collection, the remembered set among them, must be in order.
    let checked = world.inspect(|stopped| heap.checker.check(stopped, None));
    checked
        .unwrap_or_else(|error| differ(error.to_string()))
        .unwrap_or_else(|fault| differ(format!("after a session, {fault}")));
    end
}

impl Heap {
    /// Opens a frame and runs operations in it until it is left.
    fn frame<'h, M: MutatorKind>(
        &mut self,
        m: &mut Mutator<'h, M>,
        outer: Option<&Locals<'_, '_, 'h>>,
        other: Other<'_, M>,
        todo: &mut Todo,
    ) -> End {
        let depth = self.locals.len();
        self.locals.push([None; LOCALS]);
        let end = m.frame(|m, [a, b, c, d, scratch]| {
            let own = [a, b, c, d].map(|slot| slot.put_option(m, None));
            let scratch = scratch.put_option(m, None);
            let locals = Locals {
                own: &own,
                scratch: &scratch,
                outer,
                depth,
            };
            self.operations(m, &locals, other, todo)
        });
        self.locals.truncate(depth);
        end
    }

    fn operations<'h, M: MutatorKind>(
        &mut self,
        m: &mut Mutator<'h, M>,
        locals: &Locals<'_, '_, 'h>,
        mut other: Other<'_, M>,
        todo: &mut Todo,
    ) -> End {
        while let Some(op) = todo.next() {
            self.ops += 1;
            match op {
                Op::Switch { heap } => return End::Session(heap),
                Op::Leave if locals.depth > 0 => return End::Leave,
                Op::Enter if locals.depth < MAX_DEPTH => {
                    let other = other.as_mut().map(|(world, heap)| (*world, &mut **heap));
                    let end = self.caught(m, |heap, m| heap.frame(m, Some(locals), other, todo));
                    self.locals.truncate(locals.depth + 1);
                    match end {
                        Some(End::Leave) | None => {}
                        Some(end) => return end,
                    }
                }
                Op::Unwind => resume_unwind(Box::new(OnPurpose)),
                Op::Other { count } => {
                    let (now, later) = todo.ops.split_at(count.min(todo.ops.len()));
                    if let Some((world, heap)) = &mut other {
                        let mut now = Todo { ops: now };
                        while !now.ops.is_empty() {
                            session(world, heap, None, &mut now);
                        }
                        todo.ops = later;
                    }
                }
                Op::Leave | Op::Enter => {}
                op => {
                    self.operation(m, locals, op);
                    self.look_at_finalisers(false);
                }
            }
        }
        End::Program
    }

    /// Does `work`. Returns `None` if it panics on purpose.
    fn caught<'h, M: MutatorKind, R>(
        &mut self,
        m: &mut Mutator<'h, M>,
        work: impl FnOnce(&mut Self, &mut Mutator<'h, M>) -> R,
    ) -> Option<R> {
        match catch_unwind(AssertUnwindSafe(|| work(self, m))) {
            Ok(result) => Some(result),
            Err(payload) if payload.is::<OnPurpose>() => None,
            Err(payload) => resume_unwind(payload),
        }
    }

    fn operation<'h, M: MutatorKind>(&mut self, m: &mut Mutator<'h, M>, locals: &Locals<'_, '_, 'h>, op: Op) {
        match op {
            Op::New { to, shape, args } => {
                self.make(m, locals, (to, shape, args));
            }
            Op::List { onto, length } => {
                for _ in 0..length {
                    self.make(m, locals, (onto, Shape::Cons, [onto; 3]));
                }
            }
            Op::Watch { onto, length } => {
                for _ in 0..length {
                    self.make(m, locals, (onto, Shape::Cons, [onto; 3]));
                    self.watch(m, locals, onto);
                }
            }
            Op::Hoard { onto, via, count } => {
                for _ in 0..count {
                    self.make(m, locals, (via, Shape::Bytes(HOARDED), [via; 3]));
                    self.make(m, locals, (onto, Shape::Cons, [via, onto, via]));
                }
            }
            Op::Churn { shape, count } => {
                (0..count).for_each(|_| self.churn(m, shape));
            }
            Op::Storm { into, value, count } => self.storm(m, locals, (into, value, count)),
            Op::Collect(request) => {
                self.look_at_finalisers(false);
                self.finalisers.drop_old();
                let rings = self.finalisers.rings();
                m.collect(request);
                // Another thread may hold up the finalisers of this one.
                let settled = self.table.is_none() || self.finalisers.all_ran();
                // After other requests garbage may float.
                let is_full = matches!(request, Request::Full | Request::Compact);
                if is_full && self.table.is_none() && self.finalisers.rings() == rings {
                    differ("the alarm has not rung after a collection of everything");
                }
                self.look_at_finalisers(is_full && self.table.is_none());
                agreed(compare::heaps(m, Some(locals), self, is_full && settled));
            }
            Op::PanicInside => {
                let _: Option<()> = self.caught(m, |_, m| {
                    m.alloc(|_| -> NilInit<'_, '_> { resume_unwind(Box::new(OnPurpose)) });
                });
                for len in [10, 1000] {
                    let _: Option<()> = self.caught(m, |_, m| {
                        m.alloc_array::<Any>(len, |_| resume_unwind(Box::new(OnPurpose)));
                    });
                }
                // A large array has its space, and counts, before the initialiser runs.
                self.words += Shape::Array(1000).words();
            }
            Op::Shared(shared) => {
                if let Some(table) = &mut self.table {
                    self.words += table.operation(m, shared);
                }
            }
            // Named roots belong to the world, so a thread of several does not set them.
            Op::Name { .. } if self.table.is_some() => {}
            Op::Name { roots } => {
                let both = roots.map(|var| self.both(m, locals, var));
                let names = ["first", "second", "third"];
                m.set_heap_roots(
                    names
                        .into_iter()
                        .zip(both)
                        .filter_map(|(name, both)| Some((name, both.1?))),
                );
                self.named = both.into_iter().filter_map(|both| both.0).collect();
            }
            op => self.access(m, locals, op),
        }
    }
}
