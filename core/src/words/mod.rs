//! Typed quantities of memory: addresses, byte counts, word counts.
//!
//! A bare `usize` that could be any of the three should not cross a function boundary. The newtypes
//! cost nothing. Conversions between them are exact, or round as their name says.

pub mod size;

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub, SubAssign};

/// Bytes in a word, the unit of closures. Every supported machine has 64-bit words.
pub const WORD: usize = 8;

const _: () = assert!(size_of::<usize>() == WORD, "gclab needs 64-bit words");

/// An address in this process: anything from null upwards, not necessarily in a heap or mapped.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(transparent)]
pub struct Addr(pub usize);

/// A number of bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
#[repr(transparent)]
pub struct Bytes(pub usize);

/// A number of words of 8 bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
#[repr(transparent)]
pub struct Words(pub usize);

impl Addr {
    /// The null address, which no heap contains.
    pub const NULL: Addr = Addr(0);

    /// The address that `pointer` holds. Its provenance is exposed, so that [`Addr::as_ptr`] can
    /// recover it.
    #[inline(always)]
    pub fn of<T>(pointer: *const T) -> Addr {
        Addr(pointer.expose_provenance())
    }

    /// A pointer to this address, with the provenance that was exposed for it.
    #[inline(always)]
    pub fn as_ptr<T>(self) -> *const T {
        std::ptr::with_exposed_provenance(self.0)
    }

    /// A mutable pointer to this address, with the provenance that was exposed for it.
    #[inline(always)]
    pub fn as_mut_ptr<T>(self) -> *mut T {
        std::ptr::with_exposed_provenance_mut(self.0)
    }

    /// Whether this is the null address.
    #[inline(always)]
    pub const fn is_null(self) -> bool {
        self.0 == 0
    }

    /// Whether this address is a multiple of `alignment` (a power of two, in bytes).
    #[inline(always)]
    pub const fn is_aligned(self, alignment: Bytes) -> bool {
        self.0 & (alignment.0 - 1) == 0
    }

    /// Rounds up to a multiple of `alignment` (a power of two, in bytes).
    #[inline(always)]
    pub const fn align_up(self, alignment: Bytes) -> Addr {
        Addr((self.0 + alignment.0 - 1) & !(alignment.0 - 1))
    }
}

impl Bytes {
    /// Zero, as a number of bytes.
    pub const ZERO: Bytes = Bytes(0);

    /// `n` times 1024 bytes.
    pub const fn kib(n: usize) -> Bytes {
        Bytes(n << 10)
    }

    /// `n` times 1024² bytes.
    pub const fn mib(n: usize) -> Bytes {
        Bytes(n << 20)
    }

    /// `n` times 1024³ bytes.
    pub const fn gib(n: usize) -> Bytes {
        Bytes(n << 30)
    }

    /// The number of words that hold these bytes, rounded up.
    #[inline(always)]
    pub const fn to_words_up(self) -> Words {
        Words(self.0.div_ceil(WORD))
    }

    /// The difference, or zero if `other` is larger.
    pub const fn saturating_sub(self, other: Bytes) -> Bytes {
        Bytes(self.0.saturating_sub(other.0))
    }

    /// Rounds up to a multiple of `unit` (a power of two). `None` on overflow.
    pub fn round_up(self, unit: Bytes) -> Option<Bytes> {
        self.0.checked_next_multiple_of(unit.0).map(Bytes)
    }
}

impl Words {
    /// Zero, as a number of words.
    pub const ZERO: Words = Words(0);

    /// The same memory in bytes.
    #[inline(always)]
    pub const fn to_bytes(self) -> Bytes {
        Bytes(self.0 * WORD)
    }

    /// The difference, or zero if `other` is larger.
    pub const fn saturating_sub(self, other: Words) -> Words {
        Words(self.0.saturating_sub(other.0))
    }
}

impl From<Words> for Bytes {
    #[inline(always)]
    fn from(words: Words) -> Bytes {
        words.to_bytes()
    }
}

impl fmt::Debug for Addr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Addr({:#x})", self.0)
    }
}

impl fmt::Display for Addr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

/// Prints the number in the largest unit that divides it: `4 MiB`, `1 TiB`, `4097 bytes`.
impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (shift, unit) in [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")] {
            if self.0 != 0 && self.0.trailing_zeros() >= shift {
                return write!(f, "{} {unit}", self.0 >> shift);
            }
        }
        write!(f, "{} bytes", self.0)
    }
}

macro_rules! quantity {
    ($name:ident) => {
        impl Add for $name {
            type Output = $name;
            #[inline(always)]
            fn add(self, other: $name) -> $name {
                $name(self.0 + other.0)
            }
        }
        impl Sub for $name {
            type Output = $name;
            #[inline(always)]
            #[track_caller]
            fn sub(self, other: $name) -> $name {
                $name(self.0 - other.0)
            }
        }
        impl AddAssign for $name {
            #[inline(always)]
            fn add_assign(&mut self, other: $name) {
                self.0 += other.0;
            }
        }
        impl SubAssign for $name {
            #[inline(always)]
            #[track_caller]
            fn sub_assign(&mut self, other: $name) {
                self.0 -= other.0;
            }
        }
        impl Sum for $name {
            fn sum<I: Iterator<Item = $name>>(quantities: I) -> $name {
                $name(quantities.map(|q| q.0).sum())
            }
        }
        impl Add<$name> for Addr {
            type Output = Addr;
            #[inline(always)]
            fn add(self, offset: $name) -> Addr {
                Addr(self.0 + Bytes::from(offset).0)
            }
        }
        impl Sub<$name> for Addr {
            type Output = Addr;
            #[inline(always)]
            fn sub(self, offset: $name) -> Addr {
                Addr(self.0 - Bytes::from(offset).0)
            }
        }
    };
}

quantity!(Bytes);
quantity!(Words);

/// The bytes from the right address up to the left one, which must not be lower.
impl Sub for Addr {
    type Output = Bytes;
    #[inline(always)]
    fn sub(self, other: Addr) -> Bytes {
        Bytes(self.0 - other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversions_are_exact_or_round_up() {
        assert_eq!(Bytes(17).to_words_up(), Words(3));
        assert_eq!(Words(3).to_bytes(), Bytes(24));
        assert_eq!(Bytes(4097).round_up(Bytes::kib(4)), Some(Bytes::kib(8)));
        assert_eq!(Bytes(usize::MAX).round_up(Bytes::kib(4)), None);
    }

    #[test]
    fn addresses_move_by_bytes_and_by_words() {
        let a = Addr(0x1000);
        assert_eq!(a + Bytes(8), a + Words(1));
        assert_eq!((a + Words(3)) - a, Bytes(24));
        assert_eq!((a + Bytes(1)).align_up(Bytes::kib(4)), Addr(0x2000));
        assert!(a.is_aligned(Bytes::kib(4)) && !(a + Bytes(8)).is_aligned(Bytes(16)));
    }

    #[test]
    fn bytes_print_in_the_largest_exact_unit() {
        let printed = [Bytes(0), Bytes(4097), Bytes::kib(4), Bytes::mib(3), Bytes(1 << 40)].map(|b| b.to_string());
        assert_eq!(printed, ["0 bytes", "4097 bytes", "4 KiB", "3 MiB", "1 TiB"]);
    }
}
