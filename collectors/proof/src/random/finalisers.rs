//! Finalisers of a random program, an alarm and a tracker, and the rules that they must obey.
//!
//! * A finaliser runs only if its object is unreachable, or has become reachable again since the
//!   collection that found it dead: by a weak handle, or by another finaliser of that collection
//!   that ran before.
//! * It runs once. Its closure, and everything reachable from it, match the reference.
//! * After a full collection, no unreachable object has one that has not run.
//! * Those of one collection run in the reverse order of registration, first ones before last ones.
//! * The panic of one reaches the program at once, and the others run later, in the same order.
//! * The alarm rings after each full collection.
//! * A tracker is told about closures with sampled words, and about no more words than they have.

use super::difference::differ;
use super::model::{Id, Model};
use super::program::Setting;
use gclab_core::mutator::{Allocation, Any, Gc, Handle, Mutator, MutatorKind, NoGc, Tracker};
use gclab_core::words::Words;
use std::collections::{HashMap, HashSet, VecDeque};
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// Closures from finalisers that the program keeps when it collects.
const MOST_KEPT: usize = 3;

/// Bytes that a finaliser allocates.
const ALLOCATED: usize = 24;

/// Words of an array of this many bytes.
const ALLOCATED_WORDS: u64 = 2 + ALLOCATED as u64 / 8;

/// A finaliser that has run.
struct Ran {
    /// The number of its registration.
    number: usize,
    /// Its closure, unless it is a last finaliser.
    closure: Option<Handle<Any>>,
    /// The number of the finaliser that it registered for its closure, if any.
    again: Option<usize>,
}

/// What finalisers share with the program.
#[derive(Clone, Default)]
struct Shared {
    registrations: Arc<AtomicUsize>,
    /// Those that have run since the program last looked.
    ran: Arc<Mutex<Vec<Ran>>>,
    /// The number of words that finalisers have allocated, on any thread.
    words: Arc<AtomicU64>,
    /// The number of finalisers whose panic has not reached a program.
    panics: Arc<AtomicUsize>,
}

/// The panic of a finaliser that is to panic.
pub(super) struct Panicked {
    /// The number of its registration.
    number: usize,
    shared: Shared,
}

impl Panicked {
    /// The panic has reached a program: of that thread, or of any other.
    pub(super) fn reached(&self) {
        self.shared.panics.fetch_sub(1, Relaxed);
    }
}

impl Shared {
    fn next_number(&self) -> usize {
        self.registrations.fetch_add(1, Relaxed)
    }

    fn note(&self, ran: Ran) {
        self.ran.lock().expect("sound").push(ran);
    }

    /// Ends the finaliser of this number in a panic.
    fn panic(self, number: usize) -> ! {
        self.panics.fetch_add(1, Relaxed);
        resume_unwind(Box::new(Panicked { number, shared: self }));
    }

    /// Registers a first finaliser. Each second one allocates, and each fourth registers another.
    fn first<'h, M: MutatorKind>(self, m: &NoGc<'h, M>, (number, panics): (usize, bool), closure: Gc<'_, 'h, Any>) {
        m.finalise(closure, move |m, closure: Handle<Any>| {
            let again = (number % 4 == 1).then(|| self.next_number());
            if let Some(again) = again {
                self.clone().first(m, (again, false), closure.open(m));
            }
            // Before it allocates: that may find the heap exhausted, and end the finaliser.
            self.note(Ran {
                number,
                closure: Some(closure),
                again,
            });
            if number.is_multiple_of(2) {
                m.alloc_bytes_filled(ALLOCATED, 7);
                self.words.fetch_add(ALLOCATED_WORDS, Relaxed);
            }
            if panics {
                self.panic(number);
            }
        });
    }
}

/// A tracker that checks what is reported to it.
struct Checks;

impl Checks {
    fn check(allocation: &Allocation) -> Option<Words> {
        let (samples, words) = (allocation.n_samples as usize, allocation.size.0 + 1);
        if samples == 0 || samples > words {
            differ(format!("a closure of {words} words has {samples} samples"));
        }
        Some(allocation.size)
    }
}

impl Tracker for Checks {
    type Minor = Words;
    type Major = Words;

    fn alloc_minor(&mut self, allocation: &Allocation) -> Option<Words> {
        Self::check(allocation)
    }

    fn alloc_major(&mut self, allocation: &Allocation) -> Option<Words> {
        Self::check(allocation)
    }

    fn promote(&mut self, size: Words) -> Option<Words> {
        Some(size)
    }

    fn dealloc_minor(&mut self, _: Words) {}

    fn dealloc_major(&mut self, _: Words) {}
}

/// The sampling rate of the tracker.
const RATE: f64 = 0.02;

/// The finalisers of one heap.
#[derive(Default)]
pub(super) struct Finalisers {
    shared: Shared,
    /// Has the heap's mutators sample words.
    samples: bool,
    /// How often the alarm has rung, once there is one.
    rings: Option<Arc<AtomicU64>>,
    /// Those that are not known to have run, by the number of their registration. Whether each is a
    /// last one.
    registered: HashMap<usize, (Id, bool)>,
    /// Closures that finalisers returned to the program.
    kept: VecDeque<(Handle<Any>, Id)>,
    /// Objects that a weak handle led to, or a finaliser after which others may be late.
    opened: HashSet<Id>,
    /// The heap was exhausted, or a finaliser panicked. A collection before that may have made
    /// finalisers ready, which run after the next one, before its own.
    is_late: bool,
}

impl Finalisers {
    /// Those of a heap with this setting: of each third, mutators sample words.
    pub(super) fn of(setting: &Setting) -> Self {
        Finalisers {
            samples: setting.area_blocks.is_multiple_of(3),
            ..Finalisers::default()
        }
    }

    /// Makes the alarm and the tracker, unless they are there.
    pub(super) fn begin<M: MutatorKind>(&mut self, m: &mut Mutator<'_, M>) {
        if self.rings.is_some() {
            return;
        }
        let rings = Arc::<AtomicU64>::default();
        self.rings = Some(Arc::clone(&rings));
        m.create_alarm(move |_| _ = rings.fetch_add(1, Relaxed));
        if self.samples {
            // Another thread may have started it.
            let _ = m.start_memprof(RATE, 0, Checks);
        }
    }

    /// How often the alarm has rung.
    pub(super) fn rings(&self) -> u64 {
        self.rings.as_ref().map_or(0, |rings| rings.load(Relaxed))
    }

    /// The closures that finalisers returned to the program.
    pub(super) fn kept(&self) -> impl Iterator<Item = &(Handle<Any>, Id)> {
        self.kept.iter()
    }

    /// The number of words that finalisers have allocated.
    pub(super) fn words(&self) -> u64 {
        self.shared.words.load(Relaxed)
    }

    /// Whether all finalisers have run.
    pub(super) fn all_ran(&self) -> bool {
        self.registered.is_empty()
    }

    /// The objects that collections may keep alive for finalisers.
    pub(super) fn objects(&self) -> impl Iterator<Item = Id> + '_ {
        let registered = self.registered.values().map(|(id, _)| *id);
        registered.chain(self.kept.iter().map(|(_, id)| *id))
    }

    /// The objects that a collection keeps alive for first finalisers that have not run.
    pub(super) fn kept_for_first_ones(&self) -> impl Iterator<Item = Id> + '_ {
        let registered = self.registered.values();
        registered.filter(|(_, last)| !last).map(|(id, _)| *id)
    }

    /// The heap is exhausted.
    pub(super) fn exhausted(&mut self) {
        self.is_late = true;
    }

    /// A finaliser has panicked, and its panic is here. `in_threads`: it may be one of another
    /// thread.
    pub(super) fn panicked(&mut self, panicked: &Panicked, in_threads: bool) {
        panicked.reached();
        self.is_late = true;
        let ran = self.shared.ran.lock().expect("sound");
        let last = ran.last().map(|ran| ran.number);
        drop(ran);
        if !in_threads && last != Some(panicked.number) {
            let number = panicked.number;
            differ(format!("after the panic of finaliser {number}, finaliser {last:?} ran"));
        }
    }

    /// Whether finalisers of an earlier collection may run after the next one.
    pub(super) fn is_late(&self) -> bool {
        self.is_late
    }

    /// The finalisers of this collection run at several slow paths, since some panic. They are late
    /// only if those before were.
    pub(super) fn all_run_now(&mut self, was_late: bool) {
        self.is_late = was_late;
    }

    /// Checks that the panics of finalisers have reached a program.
    pub(super) fn no_panic_is_lost(&self) {
        let lost = self.shared.panics.load(Relaxed);
        if lost > 0 {
            differ(format!("the panics of {lost} finalisers have not reached the program"));
        }
    }

    /// Registers a finaliser of the object `id`.
    pub(super) fn register<'h, M: MutatorKind>(
        &mut self,
        m: &NoGc<'h, M>,
        (id, closure): (Id, Gc<'_, 'h, Any>),
        last: bool,
        panics: bool,
    ) {
        let shared = self.shared.clone();
        let number = shared.next_number();
        self.registered.insert(number, (id, last));
        if last {
            m.finalise_last(closure, move |_| {
                shared.note(Ran {
                    number,
                    closure: None,
                    again: None,
                });
                if panics {
                    shared.panic(number);
                }
            });
        } else {
            shared.first(m, (number, panics), closure);
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
        !self.shared.ran.lock().expect("sound").is_empty()
    }

    /// Looks at the finalisers that have run since the last look. `roots`: the roots of the
    /// program, with the closures that earlier finalisers returned. `collected`: the operation
    /// before collected everything, with no thread but this one, and did nothing else.
    /// `in_threads`: any thread may run the finalisers, and has perhaps run a part of them.
    pub(super) fn look(&mut self, model: &Model, roots: &[Id], collected: bool, in_threads: bool) {
        if !in_threads {
            self.no_panic_is_lost();
        }
        let ran = std::mem::take(&mut *self.shared.ran.lock().expect("sound"));
        let mut order = Vec::new();
        let reachable = self.reachable(model, roots);
        for Ran { number, closure, again } in ran {
            let Some((id, last)) = self.registered.remove(&number) else {
                differ(format!("finaliser {number} ran twice"));
            };
            if reachable[id.0] && !self.opened.contains(&id) {
                differ(format!("finaliser {number} ran, but {id:?} is reachable"));
            }
            order.push((last, usize::MAX - number));
            self.registered.extend(again.map(|again| (again, (id, false))));
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
            differ("finalisers of one collection did not run in reverse order of registration");
        }
        for (number, (id, _)) in &self.registered {
            if !reachable[id.0] {
                differ(format!("finaliser {number} has not run, but {id:?} is unreachable"));
            }
        }
    }
}
