//! The weak handles of a random program.

use super::difference::differ;
use super::heap::{Heap, Locals};
use super::model::Id;
use super::program::Var;
use gclab_core::mutator::{Any, MutatorKind, NoGc, WeakHandle};

/// Limit on a heap's weak handles.
const MOST_WATCHED: usize = 2000;

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

    /// All weak handles.
    pub(super) fn weak_handles(&self) -> impl Iterator<Item = &(WeakHandle<Any>, Id)> {
        self.weak.iter().flatten().chain(&self.watched)
    }
}
