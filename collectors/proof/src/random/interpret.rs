//! Runs a program on a heap and on its reference, step by step.
//!
//! The reference changes only after the real heap, so both agree even if a step ends early: by a
//! panic, or because the heap is exhausted.

use super::compare;
use super::difference::{agreed, caught, differ};
use super::end;
use super::finalisers::Panicked;
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

/// Part of a program ended in a panic, its own or a finaliser's.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    OnPurpose,
    ByFinaliser,
}

/// How a run of operations ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Leave,
    Session(usize),
    Program,
}

/// The remaining operations.
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
            let statistics = world.finish();
            // A limited heap may have no room for the last collection, and an allocation that ends
            // in exhaustion may have got part of its memory.
            if heap.limit.is_none() {
                end::statistics(&statistics, 0, &[&*heap]);
            }
        } else {
            drop(world);
        }
        end::all_is_dropped(heap);
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
            let counts = world.inspect(|stopped| stopped.blocks().accounting());
            heap.may_be_exhausted(&exhausted.cause, &agreed(counts.map_err(|error| error.to_string())));
            heap.finalisers.exhausted();
            End::Session(0)
        }
        Ok(Err(error)) => differ(error.to_string()),
        Err(payload) => {
            heap.ended(payload);
            End::Session(0)
        }
    };
    heap.locals.clear();
    // Checks the heap again now that the thread has left it: everything that the mutator did since
    // the last collection, including the remembered set, must be in order.
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
                        Ok(End::Leave) | Err(_) => {}
                        Ok(end) => return end,
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
                    // After the panic of a finaliser, the rest of the operation is left out.
                    if self.caught(m, |heap, m| heap.operation(m, locals, op)).is_err() {
                        locals.scratch.set(m, None);
                    }
                    self.look(false);
                }
            }
        }
        End::Program
    }

    /// Does `work`, which may panic on purpose or because a finaliser did.
    pub(super) fn caught<'h, M: MutatorKind, R>(
        &mut self,
        m: &mut Mutator<'h, M>,
        work: impl FnOnce(&mut Self, &mut Mutator<'h, M>) -> R,
    ) -> Result<R, Ended> {
        catch_unwind(AssertUnwindSafe(|| work(self, m))).map_err(|payload| self.ended(payload))
    }

    /// Returns the reason for a panic. A difference is passed on.
    fn ended(&mut self, payload: Box<dyn std::any::Any + Send>) -> Ended {
        if payload.is::<OnPurpose>() {
            return Ended::OnPurpose;
        }
        let panicked = payload
            .downcast::<Panicked>()
            .unwrap_or_else(|payload| resume_unwind(payload));
        self.finalisers.panicked(&panicked, self.table.is_some());
        Ended::ByFinaliser
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
            Op::Chain { from, via, length } => self.chain(m, locals, (from, via, length)),
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
            Op::Collect(request) => self.collect(m, locals, request),
            Op::PanicInside => {
                let _ = self.caught(m, |_, m| {
                    m.alloc(|_| -> NilInit<'_, '_> { resume_unwind(Box::new(OnPurpose)) });
                });
                for len in [10, 1000] {
                    let ended = self.caught(m, |_, m| {
                        m.alloc_array::<Any>(len, |_| resume_unwind(Box::new(OnPurpose)));
                    });
                    // A large array has its space, and is counted, before the initialiser runs.
                    if len == 1000 && ended == Err(Ended::OnPurpose) {
                        self.account.count(Shape::Array(1000).words());
                    }
                }
            }
            Op::Shared(shared) => {
                if let Some(table) = &mut self.table {
                    table.operation(m, shared, &self.account);
                }
            }
            // Named roots belong to the world, so programs of several threads do not set them.
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

    /// Collects, and compares the heap with its reference.
    fn collect<'h, M: MutatorKind>(&mut self, m: &mut Mutator<'h, M>, locals: &Locals<'_, '_, 'h>, request: Request) {
        self.look(false);
        self.finalisers.drop_old();
        let (rings, was_late) = (self.finalisers.rings(), self.finalisers.is_late());
        // After other requests garbage may float.
        let is_full = matches!(request, Request::Full | Request::Compact);
        let is_alone = self.table.is_none();
        let mut ended = self.caught(m, |_, m| m.collect(request));
        // Each panic leaves the later finalisers for the next slow path.
        while is_full && is_alone && ended.is_err() {
            ended = self.caught(m, |_, m| m.collect(Request::Minor));
            self.finalisers.all_run_now(was_late);
        }
        if is_full && is_alone && self.finalisers.rings() == rings {
            differ("the alarm has not rung after a collection of everything");
        }
        // Another thread may hold up the finalisers of this one.
        let settled = is_alone || self.finalisers.all_ran();
        self.look(is_full && is_alone);
        agreed(compare::heaps(m, Some(locals), self, is_full && settled));
    }
}
