//! Handles: roots that outlive frames and may cross threads.
//!
//! A [`Handle`] keeps its closure alive until it is dropped; a [`WeakHandle`] does not, and is
//! empty after the collection that found the closure dead. Both belong to one heap and say so when
//! they are opened in another. *Heap roots* are named handles that profilers report by name
//! ([`Mutator::set_heap_roots`], and [`Mutator::set_weak_heap_roots`] for those that do not keep
//! their closures alive).
//!
//! The table of a heap's handles is behind a lock of its own, so that threads that are not in the
//! heap can drop handles at any time. Only threads inside make or open them, so a collection sees
//! nobody do that. What is dropped while the world is stopped is put aside until the collection is
//! over: its slots belong to the collection as long as that takes.

use super::gc::Any;
use super::{Gc, Mutator, NoGc};
use crate::closure::{Closure, Slot, SlotRange};
use crate::collector::Collector;
use crate::sync::{Arc, Mutex, MutexGuard};
use std::marker::PhantomData;

/// The slots behind the handles of one heap.
#[derive(Debug, Default)]
pub(crate) struct HandleTable {
    slots: Mutex<HandleSlots>,
}

#[derive(Debug, Default)]
struct HandleSlots {
    strong: Slab,
    weak: Slab,
    heap_roots: Vec<HeapRoot>,
    weak_heap_roots: Vec<HeapRoot>,
    /// Whether a collection has the slots.
    collecting: bool,
}

/// A named root, for profilers.
#[derive(Debug)]
struct HeapRoot {
    name: String,
    closure: u64,
}

/// Words at stable indices.
#[derive(Debug, Default)]
struct Slab {
    words: Vec<u64>,
    vacant: Vec<usize>,
    /// Given up while a collection had the slots.
    dropped: Vec<usize>,
}

impl Slab {
    fn insert(&mut self, word: u64) -> usize {
        if let Some(index) = self.vacant.pop() {
            self.words[index] = word;
            return index;
        }
        self.words.push(word);
        self.words.len() - 1
    }

    fn remove(&mut self, index: usize, collecting: bool) {
        if collecting {
            self.dropped.push(index);
            return;
        }
        self.words[index] = 0;
        self.vacant.push(index);
    }

    fn remove_dropped(&mut self) {
        for index in std::mem::take(&mut self.dropped) {
            self.remove(index, false);
        }
    }
}

impl HandleSlots {
    fn remove(&mut self, index: usize, strong: bool) {
        let slab = if strong { &mut self.strong } else { &mut self.weak };
        slab.remove(index, self.collecting);
    }
}

impl HandleTable {
    fn lock(&self) -> MutexGuard<'_, HandleSlots> {
        // A panic of who holds the lock leaves the table consistent: every operation on it is a
        // single step.
        self.slots.lock()
    }

    /// The world is stopped: from now on the slots stay where they are, and nobody but the
    /// collection writes them.
    pub(crate) fn begin_collection(&self) {
        self.lock().collecting = true;
    }

    /// The collection is over: what was dropped meanwhile goes.
    pub(crate) fn end_collection(&self) {
        let mut slots = self.lock();
        slots.collecting = false;
        slots.strong.remove_dropped();
        slots.weak.remove_dropped();
    }

    /// Calls `visit` for each slot that keeps its closure alive.
    pub(crate) fn for_each_strong(&self, mut visit: impl FnMut(Slot)) {
        self.lock().strong.words.iter_mut().for_each(|word| visit(Slot(word)));
        self.for_each_heap_root(visit);
    }

    /// The slots of strong handles, which lie side by side and stay where they are until the
    /// collection is over.
    pub(crate) fn strong_handles(&self) -> SlotRange {
        let mut slots = self.lock();
        debug_assert!(slots.collecting, "only then they stay");
        let words = &mut slots.strong.words;
        SlotRange::new(Slot(words.as_mut_ptr()), words.len())
    }

    /// Calls `visit` for the slots of heap roots.
    pub(crate) fn for_each_heap_root(&self, mut visit: impl FnMut(Slot)) {
        let mut slots = self.lock();
        slots
            .heap_roots
            .iter_mut()
            .for_each(|root| visit(Slot(&mut root.closure)));
    }

    /// Calls `visit` for each slot that does not.
    pub(crate) fn for_each_weak(&self, mut visit: impl FnMut(Slot)) {
        let mut slots = self.lock();
        slots.weak.words.iter_mut().for_each(|word| visit(Slot(word)));
        let roots = slots.weak_heap_roots.iter_mut();
        roots.for_each(|root| visit(Slot(&mut root.closure)));
    }

    /// The heap roots: names, the addresses of their closures (0 for one that was found dead), and
    /// whether they are weak, strong ones first.
    pub(crate) fn named_roots(&self) -> Vec<(String, u64, bool)> {
        let slots = self.lock();
        let strong = slots.heap_roots.iter().map(|root| (root, false));
        let weak = slots.weak_heap_roots.iter().map(|root| (root, true));
        let named = |(root, weak): (&HeapRoot, bool)| (root.name.clone(), root.closure, weak);
        strong.chain(weak).map(named).collect()
    }
}

/// A root of a heap that outlives frames and may be sent to another thread.
pub struct Handle<T> {
    table: Arc<HandleTable>,
    index: usize,
    _type: PhantomData<fn() -> T>,
}

/// A handle that does not keep its closure alive.
pub struct WeakHandle<T> {
    table: Arc<HandleTable>,
    index: usize,
    _type: PhantomData<fn() -> T>,
}

impl<T: Closure> std::fmt::Debug for Handle<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Handle<{}>({})", T::INFO.name, self.index)
    }
}

impl<T: Closure> std::fmt::Debug for WeakHandle<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "WeakHandle<{}>({})", T::INFO.name, self.index)
    }
}

impl<T> Drop for Handle<T> {
    fn drop(&mut self) {
        self.table.lock().remove(self.index, true);
    }
}

impl<T> Drop for WeakHandle<T> {
    fn drop(&mut self) {
        self.table.lock().remove(self.index, false);
    }
}

impl<T: Closure> Handle<T> {
    /// The closure, good until the mutator may collect.
    ///
    /// # Panics
    /// If the handle belongs to another heap.
    pub fn open<'m, 'h, C: Collector>(&self, m: &'m NoGc<'h, C>) -> Gc<'m, 'h, T> {
        m.check_handle(&self.table);
        let word = self.table.lock().strong.words[self.index];
        // SAFETY: `Mutator::handle` stored a pointer to a `T` of this heap (checked above),
        // collections update it.
        unsafe { Gc::from_word(word) }
    }
}

impl<T: Closure> WeakHandle<T> {
    /// The closure, if it is still there, good until the mutator may collect.
    ///
    /// # Panics
    /// If the handle belongs to another heap.
    pub fn open<'m, 'h, C: Collector>(&self, m: &'m NoGc<'h, C>) -> Option<Gc<'m, 'h, T>> {
        m.check_handle(&self.table);
        let word = self.table.lock().weak.words[self.index];
        // SAFETY: as for `Handle::open`; collections clear the slot of a closure that they find
        // dead.
        unsafe { Gc::option_from_word(word) }
    }
}

impl<'h, C: Collector> NoGc<'h, C> {
    fn handles(&self) -> &Arc<HandleTable> {
        self.world().handles()
    }

    fn check_handle(&self, table: &Arc<HandleTable>) {
        assert!(
            Arc::ptr_eq(table, self.handles()),
            "a handle was opened in a heap that it does not belong to"
        );
    }

    /// A root that outlives frames and may be sent to another thread.
    pub fn handle<T: Closure>(&self, gc: Gc<'_, 'h, T>) -> Handle<T> {
        let index = self.handles().lock().strong.insert(gc.to_word());
        Handle {
            table: Arc::clone(self.handles()),
            index,
            _type: PhantomData,
        }
    }

    /// A handle that does not keep `gc` alive.
    pub fn weak_handle<T: Closure>(&self, gc: Gc<'_, 'h, T>) -> WeakHandle<T> {
        let index = self.handles().lock().weak.insert(gc.to_word());
        WeakHandle {
            table: Arc::clone(self.handles()),
            index,
            _type: PhantomData,
        }
    }
}

impl<'h, C: Collector> Mutator<'h, C> {
    /// Name roots of the heap, as profilers report them; they replace those named before (weak ones
    /// stay) and keep their closures alive.
    pub fn set_heap_roots<'a, 'm: 'a>(&'m self, roots: impl IntoIterator<Item = (&'a str, Gc<'m, 'h, Any>)>)
    where
        'h: 'a,
    {
        let roots = named(roots);
        self.handles().lock().heap_roots = roots;
    }

    /// Name roots of the heap that do not keep their closures alive; they replace weak ones named
    /// before. One whose closure is found dead leads nowhere from then on.
    pub fn set_weak_heap_roots<'a, 'm: 'a>(&'m self, roots: impl IntoIterator<Item = (&'a str, Gc<'m, 'h, Any>)>)
    where
        'h: 'a,
    {
        let roots = named(roots);
        self.handles().lock().weak_heap_roots = roots;
    }
}

fn named<'a, 'm: 'a, 'h: 'a>(roots: impl IntoIterator<Item = (&'a str, Gc<'m, 'h, Any>)>) -> Vec<HeapRoot> {
    let root = |(name, gc): (&str, Gc<'_, '_, Any>)| HeapRoot {
        name: name.to_owned(),
        closure: gc.to_word(),
    };
    roots.into_iter().map(root).collect()
}
