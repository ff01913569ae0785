//! One of a program's heaps with its reference, and the effect of operations on both.

use super::account::Account;
use super::difference::{agreed, differ};
use super::finalisers::Finalisers;
use super::model::{Id, Model};
use super::owners::Owners;
use super::program::{Op, Setting, Var};
use super::real::Real;
use super::shapes::{Shape, alloc};
use super::table::Table;
use gclab_core::block::{Accounting, MEGABLOCK, OutOfMemory};
use gclab_core::collector::Description;
use gclab_core::mutator::{Any, Ephemeron, Gc, Handle, MutArray, Mutator, MutatorKind, NoGc, OptionRoot, WeakHandle};
use gclab_core::words::Bytes;
use gclab_heap_traverse::Checker;

/// Global variables of a heap.
pub(super) const GLOBALS: usize = 8;

/// Variables of a frame.
pub(super) const LOCALS: usize = 4;

/// A heap must not be exhausted while this many times the live data would fit.
const LEAST_USE: usize = 10;

/// Bytes of a chunk of to-space. Two lanes of each step and GC thread have one open.
const CHUNK: usize = 32 << 10;

/// One of the heaps, with its reference.
pub(super) struct Heap {
    pub model: Model,
    /// `-M`, in bytes.
    pub limit: Option<usize>,
    /// Limit on the chunks that lanes have open at a time, before and after a collection.
    pub open_chunks: usize,
    /// Checks the heap while no thread is inside it.
    pub checker: Checker,
    /// The variables of the open frames, the innermost last.
    pub locals: Vec<[Option<Id>; LOCALS]>,
    pub globals: Option<(Handle<MutArray<Any>>, Id)>,
    pub handles: [Option<(Handle<Any>, Id)>; 6],
    pub weak: [Option<(WeakHandle<Any>, Id)>; 6],
    /// Many weak handles: enough for GC threads to share them.
    pub watched: Vec<(WeakHandle<Any>, Id)>,
    /// In the order of [`Model::ephemerons`].
    pub ephemerons: Vec<Ephemeron<Any, Any>>,
    pub named: Vec<Id>,
    pub finalisers: Finalisers,
    pub owners: Owners,
    /// The table shared with other threads, if there are any.
    pub table: Option<Table>,
    /// Operations done: each allocation, load and store is one.
    pub ops: u64,
    /// The words and values allocated, except words allocated by finalisers.
    pub account: Account,
    pub seed: u64,
}

/// The variables of the frames that are open, as roots.
pub(super) struct Locals<'a, 'f, 'h> {
    pub own: &'a [OptionRoot<'f, 'h, Any>; LOCALS],
    /// Holds a new closure until it has its place.
    pub scratch: &'a OptionRoot<'f, 'h, Any>,
    pub outer: Option<&'a Locals<'a, 'a, 'h>>,
    pub depth: usize,
}

impl<'h> Locals<'_, '_, 'h> {
    pub(super) fn root(&self, index: usize) -> &OptionRoot<'_, 'h, Any> {
        match self.outer {
            Some(outer) if index / LOCALS < self.depth => outer.root(index),
            _ => &self.own[index % LOCALS],
        }
    }
}

impl Heap {
    pub(super) fn new(setting: &Setting, collector: &Description) -> Self {
        Heap {
            model: Model::default(),
            limit: setting.limit_mib.map(|mib| mib << 20),
            open_chunks: 2 * 2 * setting.gc_threads as usize * setting.generations as usize,
            checker: Checker::new(collector),
            locals: Vec::new(),
            globals: None,
            handles: Default::default(),
            weak: Default::default(),
            watched: Vec::new(),
            ephemerons: Vec::new(),
            named: Vec::new(),
            finalisers: Finalisers::of(setting),
            owners: Owners::default(),
            table: None,
            ops: 0,
            account: Account::default(),
            seed: 0,
        }
    }

    /// Checks an exhausted heap by the memory rule of [`random_programs`](crate::random_programs).
    /// `counts` are those of the heap.
    pub(super) fn may_be_exhausted(&self, cause: &OutOfMemory, counts: &Accounting) {
        let Some(limit) = self.limit else {
            differ(format!("without a limit: {cause}"));
        };
        let live = Bytes(self.model.bytes(self.roots(true).chain(self.finalisers.objects())));
        let chunks = CHUNK * self.open_chunks;
        let usable = Bytes((limit - MEGABLOCK.0).saturating_sub(chunks));
        if (live + cause.requested).0 * LEAST_USE >= usable.0 {
            return;
        }
        let (blocks, free) = (counts.committed() - counts.fragmentation(), counts.fragmentation());
        let other = Bytes(counts.taken.0.saturating_sub((counts.committed() + counts.side).0));
        let not_taken = Bytes(limit.saturating_sub(counts.taken.0));
        differ(format!(
            "the heap is exhausted too early: {cause}\n\
             of {limit}: blocks in use {blocks}, of which live {live}; free blocks {free}; side tables {side}; other \
             charges {other}; not taken {not_taken}\n\
             live and requested bytes must come to 1/{LEAST_USE} of what the collector can use, {usable}: the limit \
             without one megablock and {open} chunks of {chunk} that may be open",
            limit = Bytes(limit),
            side = counts.side,
            open = self.open_chunks,
            chunk = Bytes(CHUNK),
        ));
    }

    pub(super) fn make_globals<M: MutatorKind>(&mut self, m: &mut Mutator<'_, M>) {
        if self.globals.is_none() {
            let shape = Shape::Array(GLOBALS as u32);
            let array = m.frame(|m, [array]| {
                let array = array.put(m.alloc_array::<Any>(GLOBALS, |_| None));
                m.handle(array.get(m))
            });
            self.account.count(shape.words());
            self.globals = Some((array, self.model.alloc(shape, 0, [None; 3])));
        }
    }

    /// Does an operation that allocates nothing.
    pub(super) fn access<'h, M: MutatorKind>(&mut self, m: &NoGc<'h, M>, locals: &Locals<'_, '_, 'h>, op: Op) {
        match op {
            Op::Load { to, from, slot } => {
                let Some((id, real, shape)) = self.checked(m, locals, from) else {
                    return;
                };
                if let Some(slot) = slot.checked_rem(self.model.slots(id)) {
                    let value = agreed(real.slot(m, shape, slot));
                    self.set_var(m, locals, to, value, self.model.slot(id, slot));
                }
            }
            Op::Store { into, slot, value } => {
                let (value_id, value) = value.map_or((None, None), |var| self.both(m, locals, var));
                self.store(m, locals, into, slot, (value_id, value));
            }
            Op::Poke { into, at, byte } => {
                let Some((id, real, shape)) = self.checked(m, locals, into) else {
                    return;
                };
                if let Some(at) = at.checked_rem(shape.mutable_bytes()) {
                    agreed(real.set_byte(shape, at, byte));
                    self.model.set_byte(id, at, byte);
                }
            }
            Op::Copy { to, from } => {
                let (id, value) = self.both(m, locals, from);
                self.set_var(m, locals, to, value, id);
            }
            Op::Clear { var } => self.set_var(m, locals, var, None, None),
            Op::Hold { handle, var } => {
                let (id, value) = self.both(m, locals, var);
                self.handles[handle] = id.zip(value).map(|(id, gc)| (m.handle(gc), id));
            }
            Op::Open { to, handle } => {
                let opened = self.handles[handle].as_ref().map(|(handle, id)| (handle.open(m), *id));
                self.set_var(m, locals, to, opened.map(|o| o.0), opened.map(|o| o.1));
            }
            Op::HoldWeak { handle, var } => {
                let (id, value) = self.both(m, locals, var);
                self.weak[handle] = id.zip(value).map(|(id, gc)| (m.weak_handle(gc), id));
            }
            Op::OpenWeak { to, handle } => self.open_weak(m, locals, to, handle),
            Op::Tie { key, value } => self.tie(m, locals, [key, value]),
            Op::OpenEphemeron { to, index } => self.open_ephemeron(m, locals, to, index),
            Op::Finalise { var, last, panics } => {
                let (id, value) = self.both(m, locals, var);
                if let Some(both) = id.zip(value) {
                    self.finalisers.register(m, both, last, panics);
                }
            }
            op => unreachable!("{op:?} is done elsewhere"),
        }
    }

    /// The number of words allocated, including by finalisers.
    pub(super) fn words(&self) -> u64 {
        self.account.words() + self.finalisers.words()
    }

    /// Allocates a closure that is garbage at once.
    pub(super) fn churn<M: MutatorKind>(&mut self, m: &mut Mutator<'_, M>, shape: Shape) {
        let shape = if shape == Shape::Strict { Shape::Nil } else { shape };
        self.seed += 1;
        alloc(m, shape, self.seed, &self.account, |_| [None; 3]);
        self.ops += 1;
    }

    /// Allocates a closure and puts it into `to`.
    pub(super) fn make<'h, M: MutatorKind>(
        &mut self,
        m: &mut Mutator<'h, M>,
        locals: &Locals<'_, '_, 'h>,
        (to, shape, args): (Var, Shape, [Var; 3]),
    ) {
        let id = self.make_scratch(m, locals, shape, args);
        let new = locals.scratch.get(m);
        self.set_var(m, locals, to, new, Some(id));
        locals.scratch.set(m, None);
    }

    /// Allocates a closure and keeps it in the scratch slot.
    pub(super) fn make_scratch<'h, M: MutatorKind>(
        &mut self,
        m: &mut Mutator<'h, M>,
        locals: &Locals<'_, '_, 'h>,
        shape: Shape,
        args: [Var; 3],
    ) -> Id {
        let ids = args.map(|var| self.var_id(locals, var));
        let shape = match ids[0] {
            None if shape == Shape::Strict => Shape::Nil,
            _ => shape,
        };
        self.seed += 1;
        let (m, new) = m.with_view(|m| {
            alloc(m, shape, self.seed, &self.account, |m| {
                args.map(|var| self.var(m, locals, var))
            })
        });
        locals.scratch.set(m, Some(new));
        self.ops += 1;
        let id = self.model.alloc(shape, self.seed, ids);
        if let Shape::Owner(_) = shape {
            self.owners.register(self.seed, self.model.seen(id));
        }
        id
    }

    /// Does `count` stores to `into`, of which every other stores a new closure.
    pub(super) fn storm<'h, M: MutatorKind>(
        &mut self,
        m: &mut Mutator<'h, M>,
        locals: &Locals<'_, '_, 'h>,
        (into, value, count): (Var, Var, usize),
    ) {
        for i in 0..count {
            let id = if i % 2 == 0 {
                let id = self.make_scratch(m, locals, Shape::Int, [value; 3]);
                Some(id)
            } else {
                let (id, gc) = self.both(m, locals, value);
                locals.scratch.set(m, gc);
                id
            };
            let new = locals.scratch.get(m);
            self.store(m, locals, into, i.wrapping_mul(7919), (id, new));
            self.ops += 1;
        }
        locals.scratch.set(m, None);
    }

    fn store<'h, M: MutatorKind>(
        &mut self,
        m: &NoGc<'h, M>,
        locals: &Locals<'_, '_, 'h>,
        into: Var,
        slot: usize,
        (id, value): (Option<Id>, Option<Gc<'_, 'h, Any>>),
    ) {
        let Some((holder, real, shape)) = self.checked(m, locals, into) else {
            return;
        };
        if let Some(slot) = shape.mutable_slot(slot) {
            agreed(real.set_slot(m, shape, slot, value));
            self.model.set_slot(holder, slot, id);
        }
    }

    /// The objects that are roots; those of frames only if `frames`.
    pub(super) fn roots(&self, frames: bool) -> impl Iterator<Item = Id> + '_ {
        let locals = self.locals.iter().filter(move |_| frames).flatten().flatten();
        let handles = self.handles.iter().flatten().map(|(_, id)| id);
        let globals = self.globals.iter().map(|(_, id)| id);
        let finalised = self.finalisers.kept().map(|(_, id)| id);
        let all = locals.chain(handles).chain(globals).chain(&self.named);
        all.chain(finalised).copied()
    }

    /// Looks at the finalisers that have run and at the values that were dropped, see
    /// [`Finalisers::look`] and [`Owners::look`].
    pub(super) fn look(&mut self, collected: bool) {
        let in_threads = self.table.is_some();
        if collected || self.finalisers.some_ran() {
            let roots: Vec<Id> = self.roots(true).collect();
            self.finalisers.look(&self.model, &roots, collected, in_threads);
        }
        let dropped = self.account.take_dropped();
        if !dropped.is_empty() {
            let reachable = self.model.reachable(self.roots(true));
            self.owners.look(dropped, &reachable);
        }
        if collected {
            self.no_other_value_is_held();
        }
    }

    /// After a full collection and the finalisers of all threads: checks the values that are not
    /// dropped.
    pub(super) fn no_other_value_is_held(&self) {
        let reachable = self.model.reachable(self.roots(true));
        self.owners.no_others_are_held(&self.account.held(), &reachable);
    }

    /// The bytes outside the heap that a last full collection leaves, without frames.
    pub(super) fn held(&self) -> u64 {
        let kept = self.finalisers.kept_for_first_ones();
        let reachable = self.model.reachable(self.roots(false).chain(kept));
        self.owners.bytes(&self.model, &reachable)
    }

    /// The closure in a variable. Checks its data unless it is large.
    fn checked<'m, 'h, M: MutatorKind>(
        &self,
        m: &'m NoGc<'h, M>,
        locals: &Locals<'_, '_, 'h>,
        var: Var,
    ) -> Option<(Id, Real<'m, 'h>, Shape)> {
        let (id, real) = match self.both(m, locals, var) {
            (Some(id), Some(gc)) => (id, Real::Any(gc)),
            (None, None) => return None,
            (id, _) => differ(format!("{var:?} should be {id:?}, and is (or is not) null")),
        };
        let object = self.model.get(id);
        // Data of large arrays are only compared after collections.
        if object.shape.words() < 64 {
            agreed(real.check_data(m, object.shape, object.seed, &object.bytes));
        }
        Some((id, real, object.shape))
    }

    pub(super) fn both<'m, 'h, M: MutatorKind>(
        &self,
        m: &'m NoGc<'h, M>,
        locals: &Locals<'_, '_, 'h>,
        var: Var,
    ) -> (Option<Id>, Option<Gc<'m, 'h, Any>>) {
        (self.var_id(locals, var), self.var(m, locals, var))
    }

    fn local(locals: &Locals<'_, '_, '_>, var: Var) -> usize {
        var.index() % ((locals.depth + 1) * LOCALS)
    }

    fn var<'m, 'h, M: MutatorKind>(
        &self,
        m: &'m NoGc<'h, M>,
        locals: &Locals<'_, '_, 'h>,
        var: Var,
    ) -> Option<Gc<'m, 'h, Any>> {
        match &self.globals {
            Some((globals, _)) if var.is_global() => globals.open(m).get(m, var.index() % GLOBALS),
            _ => locals.root(Self::local(locals, var)).get(m),
        }
    }

    fn var_id(&self, locals: &Locals<'_, '_, '_>, var: Var) -> Option<Id> {
        match &self.globals {
            Some((_, globals)) if var.is_global() => self.model.slot(*globals, var.index() % GLOBALS),
            _ => {
                let local = Self::local(locals, var);
                self.locals[local / LOCALS][local % LOCALS]
            }
        }
    }

    pub(super) fn set_var<'h, M: MutatorKind>(
        &mut self,
        m: &NoGc<'h, M>,
        locals: &Locals<'_, '_, 'h>,
        var: Var,
        value: Option<Gc<'_, 'h, Any>>,
        id: Option<Id>,
    ) {
        if value.is_some() != id.is_some() {
            differ(format!("{var:?} becomes {id:?}, and is (or is not) null"));
        }
        match &self.globals {
            Some((globals, globals_id)) if var.is_global() => {
                globals.open(m).set(m, var.index() % GLOBALS, value);
                self.model.set_slot(*globals_id, var.index() % GLOBALS, id);
            }
            _ => {
                let local = Self::local(locals, var);
                locals.root(local).set(m, value);
                self.locals[local / LOCALS][local % LOCALS] = id;
            }
        }
    }
}
