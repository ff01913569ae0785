//! Fields that hold pointers: [`Ptr`], `Option<Ptr>` and [`Mut`], read and written as [`Gc`].

use super::gc::Gc;
use crate::closure::{Closure, Field, Mut, MutField, Ptr};

// SAFETY: encodes and decodes the address of a closure of type `T`.
unsafe impl<T: Closure> Field for Ptr<T> {
    const POINTER: bool = true;
    type Init<'m, 'h> = Gc<'m, 'h, T>;
    type View<'m, 'h> = Gc<'m, 'h, T>;
    #[inline(always)]
    fn encode(value: Gc<'_, '_, T>) -> u64 {
        value.to_word()
    }
    #[inline(always)]
    unsafe fn decode<'m, 'h>(word: u64) -> Gc<'m, 'h, T> {
        // SAFETY: `encode` wrote the address of a `T`.
        unsafe { Gc::from_word(word) }
    }
}

macro_rules! nullable {
    ($($field:ident<$inner:ty>: mutable $mutable:literal;)*) => {$(
        // SAFETY: encodes and decodes null or the address of a closure of type `T`, as does every
        // writer.
        unsafe impl<T: Closure> Field for $field<$inner> {
            const POINTER: bool = true;
            const MUTABLE: bool = $mutable;
            type Init<'m, 'h> = Option<Gc<'m, 'h, T>>;
            type View<'m, 'h> = Option<Gc<'m, 'h, T>>;
            #[inline(always)]
            fn encode(value: Option<Gc<'_, '_, T>>) -> u64 {
                Gc::option_to_word(value)
            }
            #[inline(always)]
            unsafe fn decode<'m, 'h>(word: u64) -> Option<Gc<'m, 'h, T>> {
                // SAFETY: null or the address of a `T`.
                unsafe { Gc::option_from_word(word) }
            }
        }
    )*};
}

nullable! {
    Option<Ptr<T>>: mutable false;
    Mut<T>: mutable true;
}

// SAFETY: `Mut<T>` decodes pointers to `T`s.
unsafe impl<T: Closure> MutField for Mut<T> {
    type Target = T;
}
