//! Finalisers of a random program, and the rules that they have to keep.
//!
//! * A finaliser runs only if its object is unreachable, or has become reachable again since the
//!   collection that found it dead: by a weak handle, or by another finaliser of that collection
//!   that ran before.
//! * It runs once. Its closure, and all that it leads to, are as the reference has them.
//! * After a collection of everything, no unreachable object has one that has not run.
//! * Those of one collection run in the reverse order of their registration, first ones before last
//!   ones.

use super::difference::differ;
use super::model::{Id, Model};
use gclab_core::mutator::{Any, Gc, Handle, MutatorKind, NoGc};
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// Closures from finalisers that the program keeps when it collects.
const MOST_KEPT: usize = 3;

/// Bytes that a finaliser allocates.
const ALLOCATED: usize = 24;

/// Words of an array of so many bytes.
const ALLOCATED_WORDS: u64 = 2 + ALLOCATED as u64 / 8;

/// A finaliser that has run.
struct Ran {
    /// The number of its registration.
    number: usize,
    /// Its closure, unless it is a last finaliser.
    closure: Option<Handle<Any>>,
}

/// The finalisers of one heap.
#[derive(Default)]
pub(super) struct Finalisers {
    registrations: usize,
    /// Those that are not known to have run, by the number of their registration. Whether each is a
    /// last one.
    registered: HashMap<usize, (Id, bool)>,
    /// Those that have run since the program last looked.
    ran: Arc<Mutex<Vec<Ran>>>,
    /// The number of words that finalisers have allocated, on any thread.
    words: Arc<AtomicU64>,
    /// Closures that finalisers returned to the program.
    kept: VecDeque<(Handle<Any>, Id)>,
    /// Objects that a weak handle led to, or a finaliser after which others may be late.
    opened: HashSet<Id>,
    /// The heap was exhausted. A collection before that may have made finalisers ready, which run
    /// after the next one, before its own.
    is_late: bool,
}

impl Finalisers {
    /// The closures that finalisers returned to the program.
    pub(super) fn kept(&self) -> impl Iterator<Item = &(Handle<Any>, Id)> {
        self.kept.iter()
    }

    /// The number of words that finalisers have allocated.
    pub(super) fn words(&self) -> u64 {
        self.words.load(Relaxed)
    }

    /// Whether no finaliser is left that has not run.
    pub(super) fn all_ran(&self) -> bool {
        self.registered.is_empty()
    }

    /// The objects that collections keep alive for finalisers, at most.
    pub(super) fn objects(&self) -> impl Iterator<Item = Id> + '_ {
        let registered = self.registered.values().map(|(id, _)| *id);
        registered.chain(self.kept.iter().map(|(_, id)| *id))
    }

    /// The heap is exhausted.
    pub(super) fn exhausted(&mut self) {
        self.is_late = true;
    }

    /// Registers a finaliser of the object `id`. Each second first finaliser allocates.
    pub(super) fn register<'h, M: MutatorKind>(
        &mut self,
        m: &NoGc<'h, M>,
        (id, closure): (Id, Gc<'_, 'h, Any>),
        last: bool,
    ) {
        let number = self.registrations;
        self.registrations += 1;
        self.registered.insert(number, (id, last));
        let (ran, words) = (Arc::clone(&self.ran), Arc::clone(&self.words));
        let note = move |closure| ran.lock().expect("sound").push(Ran { number, closure });
        if last {
            m.finalise_last(closure, move |_| note(None));
        } else {
            m.finalise(closure, move |m, closure| {
                // First: the allocation may find the heap exhausted, and end the finaliser.
                note(Some(closure));
                if number.is_multiple_of(2) {
                    m.alloc_bytes_filled(ALLOCATED, 7);
                    words.fetch_add(ALLOCATED_WORDS, Relaxed);
                }
            });
        }
    }

    /// A weak handle or a finaliser led the program to the object `id`.
    pub(super) fn open(&mut self, model: &Model, id: Id) {
        if !self.registered.is_empty() {
            let reached = model.reachable([id]);
            let reached = reached.iter().enumerate().filter(|(_, reached)| **reached);
            self.opened.extend(reached.map(|(number, _)| Id(number)));
        }
    }

    /// Drops the oldest closures that finalisers returned, if there are many. Called before a
    /// collection, not after it: the collection has kept each closure alive that it returns.
    pub(super) fn drop_old(&mut self) {
        self.kept.drain(..self.kept.len().saturating_sub(MOST_KEPT));
    }

    /// Whether finalisers have run since the program last looked.
    pub(super) fn some_ran(&self) -> bool {
        !self.ran.lock().expect("sound").is_empty()
    }

    /// Looks at the finalisers that have run since the last look. `roots`: the roots of the
    /// program, with the closures that earlier finalisers returned. `collected`: the operation
    /// before collected everything, with no thread but this one, and did nothing else.
    /// `in_threads`: any thread may run the finalisers, and has perhaps run a part of them.
    pub(super) fn look(&mut self, model: &Model, roots: &[Id], collected: bool, in_threads: bool) {
        let ran = std::mem::take(&mut *self.ran.lock().expect("sound"));
        let mut order = Vec::new();
        let reachable = self.reachable(model, roots);
        for Ran { number, closure } in ran {
            let Some((id, last)) = self.registered.remove(&number) else {
                differ(format!("finaliser {number} ran twice"));
            };
            if reachable[id.0] && !self.opened.contains(&id) {
                differ(format!("finaliser {number} ran, and {id:?} is reachable"));
            }
            order.push((last, usize::MAX - number));
            if let Some(closure) = closure {
                self.kept.push_back((closure, id));
                if in_threads || self.is_late {
                    self.open(model, id);
                }
            }
        }
        if collected {
            let is_late = std::mem::take(&mut self.is_late);
            self.all_have_run(&self.reachable(model, roots), (!is_late).then_some(&order));
        }
    }

    fn reachable(&self, model: &Model, roots: &[Id]) -> Vec<bool> {
        let kept = self.kept.iter().map(|(_, id)| *id);
        model.reachable(roots.iter().copied().chain(kept))
    }

    /// After a collection of everything. `order`: of the finalisers that ran, if it alone made them
    /// ready.
    fn all_have_run(&self, reachable: &[bool], order: Option<&Vec<(bool, usize)>>) {
        if order.is_some_and(|order| !order.is_sorted()) {
            differ("finalisers of one collection ran in another order than that of their registration, reversed");
        }
        for (number, (id, _)) in &self.registered {
            if !reachable[id.0] {
                differ(format!("finaliser {number} has not run, and {id:?} is unreachable"));
            }
        }
    }
}
