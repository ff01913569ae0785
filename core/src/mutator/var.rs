//! Mutable variables (`MUT_VAR`).

use super::gc::Distinct;
use super::{Gc, Init, NoGc};
use crate::closure::{Closure, Kind, TypeInfo};
use crate::kind::MutatorKind;
use std::marker::PhantomData;

/// One mutable pointer to a `T`, or null.
#[derive(Debug)]
pub struct MutVar<T>(PhantomData<fn(T) -> T>);

// SAFETY: `MutVarInit` writes the one pointer; the accessors below read and write only that.
unsafe impl<T: Closure> Closure for MutVar<T> {
    const INFO: &'static TypeInfo = &TypeInfo::fixed(Kind::MutVar, "MutVar", "gclab_core", 1, 1).of(T::INFO);
}
// SAFETY: only variables have this kind, their table names the table of their referents, and only
// `T` has that one.
unsafe impl<T: Distinct> Distinct for MutVar<T> {
    #[inline]
    fn is_described_by(info: &'static TypeInfo) -> bool {
        info.kind == Kind::MutVar && info.element.is_some_and(T::is_described_by)
    }
}

/// The initial value of a [`MutVar`].
#[derive(Debug)]
pub struct MutVarInit<'m, 'h, T: Closure>(Option<Gc<'m, 'h, T>>);

impl<T: Closure> MutVar<T> {
    /// A variable that first points to `value`.
    #[inline(always)]
    #[allow(clippy::new_ret_no_self)] // a `MutVar` is never a Rust value: initialisers stand for it
    pub fn new<'m, 'h>(value: Option<Gc<'m, 'h, T>>) -> MutVarInit<'m, 'h, T> {
        MutVarInit(value)
    }
}

// SAFETY: writes the one word of payload.
unsafe impl<'h, T: Closure> Init<'h> for MutVarInit<'_, 'h, T> {
    type Object = MutVar<T>;
    const WORDS: usize = 2;
    #[inline(always)]
    unsafe fn write(self, payload: *mut u64) {
        // SAFETY: the payload has one word.
        unsafe { payload.write(Gc::option_to_word(self.0)) };
    }
}

impl<'m, 'h, T: Closure> Gc<'m, 'h, MutVar<T>> {
    /// The referent of the variable.
    #[inline(always)]
    pub fn read<M: MutatorKind>(self, m: &NoGc<'h, M>) -> Option<Gc<'m, 'h, T>> {
        // SAFETY: the one word of payload, null or a pointer to a `T`.
        unsafe { Gc::option_from_word(self.read_word::<M, true, true>(m, 0)) }
    }

    /// Makes the variable point to `value`.
    #[inline(always)]
    pub fn write<M: MutatorKind>(self, m: &NoGc<'h, M>, value: Option<Gc<'_, 'h, T>>) {
        // SAFETY: the one word of payload, a pointer to a `T`.
        unsafe { self.write_pointer(m, 0, value) }
    }

    /// Atomically makes the variable point to `new` if it points to `current`.
    ///
    /// No collection runs while `current` is held, so no other closure can get its address (there
    /// is no ABA problem).
    ///
    /// # Errors
    /// The referent of the variable, if it is not `current`.
    #[inline(always)]
    pub fn compare_exchange<M: MutatorKind>(
        self,
        m: &'m NoGc<'h, M>,
        current: Option<Gc<'_, 'h, T>>,
        new: Option<Gc<'_, 'h, T>>,
    ) -> Result<(), Option<Gc<'m, 'h, T>>> {
        // SAFETY: the one word of payload, a pointer to a `T`.
        unsafe { self.compare_exchange_pointer(m, 0, current, new) }
    }

    /// Atomically makes the variable point to `new` and returns the old referent.
    #[inline(always)]
    pub fn swap<M: MutatorKind>(self, m: &'m NoGc<'h, M>, new: Option<Gc<'_, 'h, T>>) -> Option<Gc<'m, 'h, T>> {
        // SAFETY: the one word of payload, a pointer to a `T`.
        unsafe { self.swap_pointer(m, 0, new) }
    }
}
