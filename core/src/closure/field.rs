//! Fields of derived closures: how a Rust field type is stored in one word of payload.
//!
//! `#[derive(Closure)]` puts the fields with [`Field::POINTER`] first, in the order of their
//! declaration, then the others. Each takes one word. [`Ptr<T>`] is never null. `Option<Ptr<T>>`
//! may be null. [`Mut<T>`] may be null, and the mutator can overwrite it (through the collector's
//! write barrier).

use super::Closure;
use std::marker::PhantomData;

/// An immutable pointer to a `T`.
#[derive(Debug)]
pub struct Ptr<T>(PhantomData<fn() -> T>);

/// A mutable pointer to a `T`, or null.
#[derive(Debug)]
pub struct Mut<T>(PhantomData<fn(T) -> T>);

/// A field of a closure: one word of payload.
///
/// # Safety
/// `POINTER` is true exactly if `encode` returns null or the address of a closure of type `T` of
/// the heap `'h`. `decode` must accept every word that `encode` returns (and null, if the field is
/// a mutable pointer).
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a field of a closure",
    note = "fields are `Ptr<T>`, `Option<Ptr<T>>`, `Mut<T>` of a closure type `T`, or plain data of a word at most"
)]
pub unsafe trait Field: 'static {
    /// Whether the word is a pointer that collectors follow.
    const POINTER: bool;
    /// Whether the mutator may overwrite the word.
    const MUTABLE: bool = false;
    /// The type that an initialiser takes.
    type Init<'m, 'h>;
    /// The type that an accessor returns.
    type View<'m, 'h>;
    /// Converts an initial value to its word.
    fn encode(value: Self::Init<'_, '_>) -> u64;
    /// Converts a word to its value.
    ///
    /// # Safety
    /// The word comes from `encode` or from the collector's update of it, and the pointee stays
    /// where it is for `'m`.
    unsafe fn decode<'m, 'h>(word: u64) -> Self::View<'m, 'h>;
}

/// A field that the mutator may overwrite with a pointer to a `Target`.
///
/// # Safety
/// `POINTER` and `MUTABLE` are true, and `decode` accepts null and the address of any closure of
/// type `Target`.
pub unsafe trait MutField: Field {
    /// The type of the pointee.
    type Target: Closure;
}

/// Plain data that fits in a word.
pub trait Plain: Copy + 'static {
    /// Converts the value to a word.
    fn to_word(self) -> u64;
    /// Converts a word from `to_word` back to the value.
    fn from_word(word: u64) -> Self;
}

macro_rules! plain {
    ($($t:ty: $to:expr, $from:expr;)*) => {$(
        impl Plain for $t {
            #[inline(always)]
            fn to_word(self) -> u64 { ($to)(self) }
            #[inline(always)]
            fn from_word(word: u64) -> $t { ($from)(word) }
        }
        // SAFETY: no pointer; decoding inverts encoding.
        unsafe impl Field for $t {
            const POINTER: bool = false;
            type Init<'m, 'h> = $t;
            type View<'m, 'h> = $t;
            #[inline(always)]
            fn encode(value: $t) -> u64 { value.to_word() }
            #[inline(always)]
            unsafe fn decode<'m, 'h>(word: u64) -> Self::View<'m, 'h> { <$t>::from_word(word) }
        }
    )*};
}

plain! {
    u64: |v: u64| v, |w: u64| w;
    i64: |v: i64| v as u64, |w: u64| w as i64;
    usize: |v: usize| v as u64, |w: u64| w as usize;
    u32: |v: u32| v as u64, |w: u64| w as u32;
    i32: |v: i32| v as u32 as u64, |w: u64| w as u32 as i32;
    u8: |v: u8| v as u64, |w: u64| w as u8;
    bool: |v: bool| v as u64, |w: u64| w != 0;
    f64: |v: f64| v.to_bits(), |w: u64| f64::from_bits(w);
    char: |v: char| v as u64, |w: u64| char::from_u32(w as u32).unwrap_or('\u{fffd}');
}
