//! Handles: roots that outlive frames and may cross threads.
//!
//! A [`Handle`] keeps its closure alive until it is dropped; a [`WeakHandle`] does not, and is
//! empty after the collection that found the closure dead. Both belong to one heap, and panic if
//! opened in another. *Heap roots* are named handles that profilers report by name
//! ([`Mutator::set_heap_roots`], and [`Mutator::set_weak_heap_roots`] for those that do not keep
//! their closures alive).
//!
//! Their slots lie in the heap's table ([`crate::roots`]).

use super::gc::Any;
use super::{Gc, Mutator, NoGc};
use crate::barrier::Barrier;
use crate::closure::{Closure, ClosureRef};
use crate::kind::MutatorKind;
use crate::roots::handles::{HandleTable, HeapRoot, Strength};
use crate::sync::Arc;
use std::marker::PhantomData;

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
        self.table.remove(Strength::Strong, self.index);
    }
}

impl<T> Drop for WeakHandle<T> {
    fn drop(&mut self) {
        self.table.remove(Strength::Weak, self.index);
    }
}

impl<T: Closure> Handle<T> {
    /// The closure, good until the mutator may collect.
    ///
    /// # Panics
    /// If the handle belongs to another heap.
    pub fn open<'m, 'h, M: MutatorKind>(&self, m: &'m NoGc<'h, M>) -> Gc<'m, 'h, T> {
        m.check_handle(&self.table);
        let word = self.table.word(Strength::Strong, self.index);
        // SAFETY: `NoGc::handle` stored a pointer to a `T` of this heap (checked above),
        // collections update it.
        unsafe { Gc::from_word(word) }
    }
}

impl Handle<Any> {
    /// The handle, with its closure's type.
    ///
    /// # Safety
    /// The closure is a `T`.
    pub(super) unsafe fn assume<T: Closure>(self) -> Handle<T> {
        let this = std::mem::ManuallyDrop::new(self);
        Handle {
            // SAFETY: `this` is not dropped, so the table has one owner.
            table: unsafe { std::ptr::read(&raw const this.table) },
            index: this.index,
            _type: PhantomData,
        }
    }
}

impl<T: Closure> WeakHandle<T> {
    /// Whether its closure has been found dead. It is not opened: a concurrent collector may free the closure.
    pub fn is_empty<M: MutatorKind>(&self, m: &NoGc<'_, M>) -> bool {
        m.check_handle(&self.table);
        self.table.word(Strength::Weak, self.index) == 0
    }

    /// The closure, if it is still there, good until the mutator may collect.
    ///
    /// # Panics
    /// If the handle belongs to another heap.
    pub fn open<'m, 'h, M: MutatorKind>(&self, m: &'m NoGc<'h, M>) -> Option<Gc<'m, 'h, T>> {
        m.check_handle(&self.table);
        let word = self.table.word(Strength::Weak, self.index);
        if word != 0 && !mutant!("weak/opened-without-barrier") {
            M::Barrier::open_weak(m.capability(), ClosureRef(word as *mut u64));
        }
        // SAFETY: as for `Handle::open`; collections clear the slot of a closure that they find
        // dead.
        unsafe { Gc::option_from_word(word) }
    }
}

impl<'h, M: MutatorKind> NoGc<'h, M> {
    pub(super) fn handles(&self) -> &Arc<HandleTable> {
        self.world().handles()
    }

    pub(super) fn check_handle(&self, table: &Arc<HandleTable>) {
        assert!(
            Arc::ptr_eq(table, self.handles()),
            "a handle was opened in a heap that it does not belong to"
        );
    }

    /// A root that outlives frames and may be sent to another thread.
    pub fn handle<T: Closure>(&self, gc: Gc<'_, 'h, T>) -> Handle<T> {
        Handle {
            table: Arc::clone(self.handles()),
            index: self.handles().insert(Strength::Strong, gc.to_word()),
            _type: PhantomData,
        }
    }

    /// A handle that does not keep `gc` alive.
    pub fn weak_handle<T: Closure>(&self, gc: Gc<'_, 'h, T>) -> WeakHandle<T> {
        WeakHandle {
            table: Arc::clone(self.handles()),
            index: self.handles().insert(Strength::Weak, gc.to_word()),
            _type: PhantomData,
        }
    }
}

impl<'h, M: MutatorKind> Mutator<'h, M> {
    /// Names roots of the heap, as profilers report them. They replace earlier ones (weak ones
    /// stay) and keep their closures alive.
    pub fn set_heap_roots<'a, 'm: 'a>(&'m self, roots: impl IntoIterator<Item = (&'a str, Gc<'m, 'h, Any>)>)
    where
        'h: 'a,
    {
        self.handles().set_heap_roots(Strength::Strong, named(roots));
    }

    /// Names roots of the heap that do not keep their closures alive. They replace earlier weak
    /// ones. A root whose closure is found dead is empty from then on.
    pub fn set_weak_heap_roots<'a, 'm: 'a>(&'m self, roots: impl IntoIterator<Item = (&'a str, Gc<'m, 'h, Any>)>)
    where
        'h: 'a,
    {
        self.handles().set_heap_roots(Strength::Weak, named(roots));
    }
}

/// The roots as the table holds them. Runs before the table is locked, since the iterator is the
/// program's code.
fn named<'a, 'm: 'a, 'h: 'a>(roots: impl IntoIterator<Item = (&'a str, Gc<'m, 'h, Any>)>) -> Vec<HeapRoot> {
    let root = |(name, gc): (&str, Gc<'_, '_, Any>)| HeapRoot {
        name: name.to_owned(),
        closure: gc.to_word(),
    };
    roots.into_iter().map(root).collect()
}
