//! Ephemerons: a value lives if its key does.
//!
//! When everything else is traced, the values of the keys that live are traced. That may show that
//! other keys live. To look at all ephemerons again after each trace would take quadratic time for a
//! chain of them, from value to key. So the keys that have not been reached are *awaited*: a trace from
//! values tells which of them it reaches. It is compiled apart from the trace of everything else, which
//! has no instruction for this. Only a trace in slices always looks whether a key is awaited: the background
//! thread traces ephemerons, too, and keeps the keys from pause to pause.

use crate::closure::{ClosureRef, Slot};
use crate::profile::{MoveSideWords, SideWordsView};
use crate::roots::RootSlot;
use crate::space::Marks;
use crate::sync::{AtomicBool, Mutex, Ordering};
use crate::words::{Addr, Words};
use std::collections::HashMap;

/// The keys that a trace has not reached, and the values from which it has yet to go on.
#[derive(Debug)]
pub struct AwaitedKeys<V> {
    keys: Mutex<Keys<V>>,
    /// There are some. Relaxed: the thread that adds them starts the others.
    any: AtomicBool,
}

#[derive(Debug)]
struct Keys<V> {
    /// By the address of a key: its last value in `values`.
    awaited: HashMap<Addr, usize>,
    /// Values of awaited keys, each with the one before it of the same key.
    values: Vec<(V, Option<usize>)>,
    /// The values of keys that live.
    found: Vec<V>,
}

impl<V> Default for AwaitedKeys<V> {
    fn default() -> Self {
        AwaitedKeys {
            keys: Mutex::new(Keys {
                awaited: HashMap::new(),
                values: Vec::new(),
                found: Vec::new(),
            }),
            any: AtomicBool::new(false),
        }
    }
}

impl<V: Copy> AwaitedKeys<V> {
    /// Adds a value, and its key if that has not been reached.
    pub(super) fn add(&self, key: Option<Addr>, value: V) {
        let mut keys = self.keys.lock();
        let Some(key) = key else {
            keys.found.push(value);
            return;
        };
        let index = keys.values.len();
        let before = keys.awaited.insert(key, index);
        keys.values.push((value, before));
        self.any.store(true, Ordering::Relaxed);
    }

    /// Whether any key is awaited.
    #[inline(always)]
    fn any(&self) -> bool {
        self.any.load(Ordering::Relaxed)
    }

    /// The trace has reached the closure that was at `at` before it.
    pub(super) fn reached(&self, at: Addr) {
        let keys = &mut *self.keys.lock();
        let mut next = keys.awaited.remove(&at);
        while let Some(index) = next {
            let (value, before) = keys.values[index];
            keys.found.push(value);
            next = before;
        }
    }

    /// Whether there is no value from which to trace.
    pub(super) fn is_dry(&self) -> bool {
        self.keys.lock().found.is_empty()
    }

    /// The next value from which to trace.
    pub(super) fn next_value(&self) -> Option<V> {
        self.keys.lock().found.pop()
    }
}

impl<'a> AwaitedKeys<RootSlot<'a>> {
    /// The next value from which to trace. It may be a key itself.
    pub(super) fn next_root(&self) -> Option<RootSlot<'a>> {
        let value = self.next_value()?;
        self.reached(value.closure());
        Some(value)
    }
}

/// Marks, and tells which awaited keys are reached.
#[derive(Debug)]
pub(super) struct Awaiting<'m, M, V> {
    pub(super) marks: &'m M,
    pub(super) keys: &'m AwaitedKeys<V>,
    /// Closures move: a key is known by the slots that lead to it.
    pub(super) moves: bool,
}

// SAFETY: the table is that of `marks`.
unsafe impl<M: Marks, V: Copy + Send> Marks for Awaiting<'_, M, V> {
    const EDGES: bool = M::EDGES;

    #[inline(always)]
    fn edge<const PARALLEL: bool>(&self, slot: Slot, to: ClosureRef) {
        self.marks.edge::<PARALLEL>(slot, to);
    }

    fn leave_unscanned(&self, at: Addr) {
        self.marks.leave_unscanned(at);
    }

    fn take_unscanned(&self, at: Addr) -> bool {
        self.marks.take_unscanned(at)
    }

    #[inline(always)]
    fn records(&self) -> bool {
        self.marks.records() || self.moves
    }

    #[inline(always)]
    fn record(&self, slot: Slot, closure: ClosureRef) {
        if self.marks.records() {
            self.marks.record(slot, closure);
        }
        if self.moves && self.keys.any() && !mutant!("ephemerons/moved-key-missed") {
            self.keys.reached(closure.addr());
        }
    }

    #[inline(always)]
    fn mark<const PARALLEL: bool>(&self, at: Addr, words: Words) -> bool {
        let is_new = self.marks.mark::<PARALLEL>(at, words);
        if is_new && self.keys.any() && !mutant!("ephemerons/marked-key-missed") {
            self.keys.reached(at);
        }
        is_new
    }

    #[inline(always)]
    fn is_marked(&self, at: Addr) -> bool {
        self.marks.is_marked(at)
    }

    #[inline(always)]
    fn next_marked(&self, from: Addr, to: Addr) -> Option<Addr> {
        self.marks.next_marked(from, to)
    }

    #[inline(always)]
    fn prefetch(&self, at: Addr) {
        self.marks.prefetch(at);
    }
}

/// Moves side words, and tells which awaited keys are copied.
#[derive(Clone, Copy, Debug)]
pub(super) struct AwaitingCopies<'s, 'k> {
    pub(super) side_words: Option<SideWordsView<'s>>,
    pub(super) keys: &'s AwaitedKeys<RootSlot<'k>>,
}

impl MoveSideWords for AwaitingCopies<'_, '_> {
    fn prefetch(self, _: Addr) {}

    unsafe fn moves(self, from: Addr, to: Addr, words: Words) {
        if let Some(side_words) = self.side_words {
            // SAFETY: passed on.
            unsafe { side_words.moves(from, to, words) };
        }
        if self.keys.any() && !mutant!("ephemerons/copied-key-missed") {
            self.keys.reached(from);
        }
    }

    fn reaches(self, large: Addr) {
        if self.keys.any() && !mutant!("ephemerons/large-key-missed") {
            self.keys.reached(large);
        }
    }
}
