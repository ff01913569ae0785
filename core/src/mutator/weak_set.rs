//! A set of closures that does not keep them alive, for hash-consing.

use super::handle::WeakHandle;
use super::{Gc, NoGc};
use crate::closure::Closure;
use crate::kind::MutatorKind;
use std::collections::HashMap;

/// Fewer closures are not looked through for dead ones.
const LEAST: usize = 1 << 8;

/// Closures by a hash of the program's. An insertion into a set that has doubled removes the dead ones.
pub struct WeakSet<T> {
    closures: HashMap<u64, Vec<WeakHandle<T>>>,
    len: usize,
    /// When there are this many, the dead ones are removed.
    limit: usize,
}

impl<T> Default for WeakSet<T> {
    fn default() -> Self {
        WeakSet {
            closures: HashMap::new(),
            len: 0,
            limit: LEAST,
        }
    }
}

impl<T: Closure> std::fmt::Debug for WeakSet<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "WeakSet<{}>({} closures)", T::INFO.name, self.len)
    }
}

impl<T: Closure> WeakSet<T> {
    /// A closure with this hash for which `is_it` is true, good until the mutator may collect.
    ///
    /// # Panics
    /// If the set has a closure of another heap with this hash.
    pub fn find<'m, 'h, M: MutatorKind>(
        &self,
        m: &'m NoGc<'h, M>,
        hash: u64,
        is_it: impl Fn(Gc<'m, 'h, T>) -> bool,
    ) -> Option<Gc<'m, 'h, T>> {
        let mut found = self.closures.get(&hash)?.iter().filter_map(|closure| closure.open(m));
        found.find(|&closure| is_it(closure))
    }

    /// Adds a closure, whether the set has an equal one or not.
    pub fn insert<'h, M: MutatorKind>(&mut self, m: &NoGc<'h, M>, hash: u64, closure: Gc<'_, 'h, T>) {
        if self.len >= self.limit {
            self.remove_dead(m);
        }
        self.closures.entry(hash).or_default().push(m.weak_handle(closure));
        self.len += 1;
    }

    /// Takes time in proportion to the set, which doubles before the next time.
    fn remove_dead<M: MutatorKind>(&mut self, m: &NoGc<'_, M>) {
        self.closures.retain(|_, closures| {
            let before = closures.len();
            closures.retain(|closure| !closure.is_empty(m));
            self.len -= before - closures.len();
            !closures.is_empty()
        });
        self.limit = (2 * self.len).max(LEAST);
    }

    /// The number of closures, including dead ones that have not left yet.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}
