//! Mutable arrays of pointers (`MUT_ARR_PTRS`).

use super::gc::Distinct;
use super::{Gc, Mutator, NoGc};
use crate::closure::{Closure, Kind, TypeInfo, pointer_array_words};
use crate::kind::MutatorKind;
use crate::sync::Ordering;
use std::marker::PhantomData;

/// A mutable array of pointers to `T`s; each may be null.
#[derive(Debug)]
pub struct MutArray<T>(PhantomData<fn(T) -> T>);

// SAFETY: `alloc_array` writes the length and as many pointers to `T`s; the accessors below keep
// inside.
unsafe impl<T: Closure> Closure for MutArray<T> {
    const INFO: &'static TypeInfo = &TypeInfo::variable(Kind::MutArrPtrs, "MutArray").of(T::INFO);
}
// SAFETY: only arrays have this kind, their table names the table of their referents, and only `T`
// has that one.
unsafe impl<T: Distinct> Distinct for MutArray<T> {
    #[inline]
    fn is_described_by(info: &'static TypeInfo) -> bool {
        info.kind == Kind::MutArrPtrs && info.element.is_some_and(T::is_described_by)
    }
}

impl<'h, M: MutatorKind> Mutator<'h, M> {
    /// Allocates an array of `len` pointers, each of which is first the result of `init`.
    pub fn alloc_array<'m, T: Closure>(
        &'m mut self,
        len: usize,
        init: impl FnOnce(&'m NoGc<'h, M>) -> Option<Gc<'m, 'h, T>>,
    ) -> Gc<'m, 'h, MutArray<T>> {
        self.alloc_variable(pointer_array_words(len), |m, payload| {
            let first = Gc::option_to_word(init(m));
            // SAFETY: the payload has a word for the length and one for each pointer. A large array
            // is young while it is initialised, so no barrier is due.
            unsafe {
                payload.write(len as u64);
                std::slice::from_raw_parts_mut(payload.add(1).cast::<std::mem::MaybeUninit<u64>>(), len)
                    .fill(std::mem::MaybeUninit::new(first));
            }
        })
    }
}

impl<'m, 'h, T: Closure> Gc<'m, 'h, MutArray<T>> {
    /// Number of slots.
    #[inline(always)]
    pub fn len(self) -> usize {
        // SAFETY: the first word of the payload is the length.
        unsafe { self.payload(0) }.load(Ordering::Relaxed) as usize
    }

    /// Whether it has no slots.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The referent of slot `index`.
    ///
    /// # Panics
    /// If `index` is out of bounds.
    #[inline(always)]
    pub fn get<M: MutatorKind>(self, m: &NoGc<'h, M>, index: usize) -> Option<Gc<'m, 'h, T>> {
        assert!(index < self.len(), "index {index} of an array of {}", self.len());
        // SAFETY: in bounds; every writer stores null or a pointer to a `T`.
        unsafe { Gc::option_from_word(self.read_word::<M, true, true>(m, 1 + index)) }
    }

    /// Makes slot `index` point to `value`.
    ///
    /// # Panics
    /// If `index` is out of bounds.
    #[inline(always)]
    pub fn set<M: MutatorKind>(self, m: &NoGc<'h, M>, index: usize, value: Option<Gc<'_, 'h, T>>) {
        assert!(index < self.len(), "index {index} of an array of {}", self.len());
        // SAFETY: in bounds; the slot points to `T`s.
        unsafe { self.write_pointer(m, 1 + index, value) }
    }

    /// Atomically makes slot `index` point to `new` if it points to `current`.
    ///
    /// No collection runs while `current` is held, so no other closure can get its address (there
    /// is no ABA problem).
    ///
    /// # Errors
    /// The referent of the slot, if it is not `current`.
    ///
    /// # Panics
    /// If `index` is out of bounds.
    #[inline(always)]
    pub fn compare_exchange<M: MutatorKind>(
        self,
        m: &'m NoGc<'h, M>,
        index: usize,
        current: Option<Gc<'_, 'h, T>>,
        new: Option<Gc<'_, 'h, T>>,
    ) -> Result<(), Option<Gc<'m, 'h, T>>> {
        assert!(index < self.len(), "index {index} of an array of {}", self.len());
        // SAFETY: in bounds; the slot points to `T`s.
        unsafe { self.compare_exchange_pointer(m, 1 + index, current, new) }
    }

    /// Atomically makes slot `index` point to `new` and returns the old referent.
    ///
    /// # Panics
    /// If `index` is out of bounds.
    #[inline(always)]
    pub fn swap<M: MutatorKind>(
        self,
        m: &'m NoGc<'h, M>,
        index: usize,
        new: Option<Gc<'_, 'h, T>>,
    ) -> Option<Gc<'m, 'h, T>> {
        assert!(index < self.len(), "index {index} of an array of {}", self.len());
        // SAFETY: in bounds; the slot points to `T`s.
        unsafe { self.swap_pointer(m, 1 + index, new) }
    }
}
