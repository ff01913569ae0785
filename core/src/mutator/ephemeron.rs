//! Ephemerons: a value that is kept alive by a key, for tables that say something about closures of
//! others.
//!
//! In a table of weak handles to keys and strong handles to values, a key that its value leads to never
//! dies. An ephemeron keeps its value only as long as something else keeps the key.

use super::{Gc, NoGc};
use crate::barrier::Barrier;
use crate::closure::{Closure, ClosureRef};
use crate::kind::MutatorKind;
use crate::roots::handles::HandleTable;
use crate::sync::Arc;
use std::marker::PhantomData;

/// A key and a value. The value lives as long as both the key and the ephemeron do. An ephemeron keeps its key
/// from nothing, and is empty after the collection that found the key dead.
pub struct Ephemeron<K, V> {
    table: Arc<HandleTable>,
    index: usize,
    _type: PhantomData<fn() -> (K, V)>,
}

impl<K: Closure, V: Closure> std::fmt::Debug for Ephemeron<K, V> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Ephemeron<{}, {}>({})", K::INFO.name, V::INFO.name, self.index)
    }
}

impl<K, V> Drop for Ephemeron<K, V> {
    fn drop(&mut self) {
        self.table.remove_ephemeron(self.index);
    }
}

impl<K: Closure, V: Closure> Ephemeron<K, V> {
    /// The key and the value, if the key is still there, good until the mutator may collect.
    ///
    /// # Panics
    /// If the ephemeron belongs to another heap.
    pub fn open<'m, 'h, M: MutatorKind>(&self, m: &'m NoGc<'h, M>) -> Option<(Gc<'m, 'h, K>, Gc<'m, 'h, V>)> {
        m.check_handle(&self.table);
        let entry = self.table.ephemeron(self.index);
        for word in entry.into_iter().filter(|&word| word != 0) {
            if !mutant!("ephemerons/opened-without-barrier") {
                M::Barrier::open_weak(m.capability(), ClosureRef(word as *mut u64));
            }
        }
        let [key, value] = entry;
        // SAFETY: `NoGc::ephemeron` stored pointers to a `K` and a `V` of this heap (checked above);
        // collections update them, and clear both when they find the key dead.
        unsafe { Gc::option_from_word(key).zip(Gc::option_from_word(value)) }
    }
}

impl<'h, M: MutatorKind> NoGc<'h, M> {
    /// An ephemeron, which may be sent to another thread. There may be several with the same key.
    pub fn ephemeron<K: Closure, V: Closure>(&self, key: Gc<'_, 'h, K>, value: Gc<'_, 'h, V>) -> Ephemeron<K, V> {
        Ephemeron {
            table: Arc::clone(self.handles()),
            index: self.handles().insert_ephemeron(key.to_word(), value.to_word()),
            _type: PhantomData,
        }
    }
}
