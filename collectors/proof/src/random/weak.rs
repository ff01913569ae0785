//! The weak handles and the ephemerons of a random program.

use super::difference::differ;
use super::heap::{Heap, Locals};
use super::model::Id;
use super::program::Var;
use super::shapes::Shape;
use gclab_core::mutator::{Any, Mutator, MutatorKind, NoGc, WeakHandle};

/// Limit on a heap's weak handles.
const MOST_WATCHED: usize = 2000;

/// Limit on a heap's ephemerons.
const MOST_EPHEMERONS: usize = 500;

impl Heap {
    pub(super) fn open_weak<'h, M: MutatorKind>(
        &mut self,
        m: &NoGc<'h, M>,
        locals: &Locals<'_, '_, 'h>,
        to: Var,
        weak: usize,
    ) {
        let Some((handle, id)) = &self.weak[weak] else { return };
        let (opened, id) = (handle.open(m), *id);
        if opened.is_none() {
            if self.model.reachable(self.roots(true))[id.0] {
                differ(format!("weak handle {weak} is empty, but its closure is reachable"));
            }
            self.weak[weak] = None;
        } else {
            self.finalisers.open(&self.model, id);
        }
        self.set_var(m, locals, to, opened, opened.map(|_| id));
    }

    /// Makes a weak handle for the closure in `var`. If there are many, it drops every other one,
    /// so that slots between those of others become vacant.
    pub(super) fn watch<'h, M: MutatorKind>(&mut self, m: &NoGc<'h, M>, locals: &Locals<'_, '_, 'h>, var: Var) {
        let (id, value) = self.both(m, locals, var);
        self.watched
            .extend(id.zip(value).map(|(id, gc)| (m.weak_handle(gc), id)));
        if self.watched.len() >= MOST_WATCHED {
            let mut number = 0;
            self.watched.retain(|_| {
                number += 1;
                number % 2 == 0
            });
        }
    }

    /// Makes an ephemeron. If there are many, it drops every other one.
    pub(super) fn tie<'h, M: MutatorKind>(
        &mut self,
        m: &NoGc<'h, M>,
        locals: &Locals<'_, '_, 'h>,
        [key, value]: [Var; 2],
    ) {
        let (key, value) = (self.both(m, locals, key), self.both(m, locals, value));
        if let (Some((key, gc)), Some((value, gc_value))) = (key.0.zip(key.1), value.0.zip(value.1)) {
            self.ephemerons.push(m.ephemeron(gc, gc_value));
            self.model.ephemerons.push((key, value));
        }
        if self.ephemerons.len() >= MOST_EPHEMERONS {
            let every_other = || {
                let mut number = 0;
                move || {
                    number += 1;
                    number % 2 == 0
                }
            };
            let (mut real, mut model) = (every_other(), every_other());
            self.ephemerons.retain(|_| real());
            self.model.ephemerons.retain(|_| model());
        }
    }

    /// Makes a chain of `length` ephemerons, from the closure in `from`: each value is a new closure, and
    /// the next key.
    pub(super) fn chain<'h, M: MutatorKind>(
        &mut self,
        m: &mut Mutator<'h, M>,
        locals: &Locals<'_, '_, 'h>,
        (from, via, length): (Var, Var, usize),
    ) {
        let (id, value) = self.both(m, locals, from);
        self.set_var(m, locals, via, value, id);
        for _ in 0..length {
            let id = self.make_scratch(m, locals, Shape::Int, [via; 3]);
            let (key, new) = (self.both(m, locals, via), locals.scratch.get(m));
            if let (Some(key), Some(gc), Some(value)) = (key.0, key.1, new) {
                self.ephemerons.push(m.ephemeron(gc, value));
                self.model.ephemerons.push((key, id));
            }
            self.set_var(m, locals, via, new, Some(id));
            locals.scratch.set(m, None);
        }
        self.set_var(m, locals, via, None, None);
    }

    /// Puts the value of an ephemeron into `to`, if its key is still there.
    pub(super) fn open_ephemeron<'h, M: MutatorKind>(
        &mut self,
        m: &NoGc<'h, M>,
        locals: &Locals<'_, '_, 'h>,
        to: Var,
        index: usize,
    ) {
        let Some(index) = index.checked_rem(self.ephemerons.len()) else {
            return;
        };
        let (opened, (key, value)) = (self.ephemerons[index].open(m), self.model.ephemerons[index]);
        let Some((_, gc)) = opened else {
            if self.model.reachable(self.roots(true))[key.0] {
                differ(format!("ephemeron {index} is empty, but its key is reachable"));
            }
            return;
        };
        [key, value]
            .into_iter()
            .for_each(|id| self.finalisers.open(&self.model, id));
        self.set_var(m, locals, to, Some(gc), Some(value));
    }

    /// All weak handles.
    pub(super) fn weak_handles(&self) -> impl Iterator<Item = &(WeakHandle<Any>, Id)> {
        self.weak.iter().flatten().chain(&self.watched)
    }
}
