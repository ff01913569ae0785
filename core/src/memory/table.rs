//! Side tables: long arrays of zeros that take memory only where they are touched.
//!
//! A table for a reservation of 1 TiB may be gigabytes long; a heap of 100 MiB touches a few pages
//! of it. Entries start as zeros.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use super::{MemoryError, PAGE, map, unmap};
#[cfg(miri)]
use crate::miri_libc as libc;
use crate::sync::{MappedU8, MappedU64};
use crate::words::{Addr, Bytes};

/// Types for which all-zero bytes are a value.
///
/// # Safety
/// A value of zero bytes is valid, and dropping it does nothing.
pub(crate) unsafe trait ZeroValid {}

// SAFETY: zero is a valid integer; no drop.
unsafe impl ZeroValid for MappedU8 {}
// SAFETY: zero is a valid integer; no drop.
unsafe impl ZeroValid for MappedU64 {}
// SAFETY: zero is a valid integer; no drop.
unsafe impl ZeroValid for u8 {}
// SAFETY: zero is a valid integer; no drop.
unsafe impl ZeroValid for u64 {}

/// An array of `len` entries of zeros, mapped lazily. Derefs to a slice. Unmapped on drop.
#[derive(Debug)]
pub(crate) struct Table<T> {
    at: Addr,
    mapped: Bytes,
    len: usize,
    entries: PhantomData<[T]>,
}

impl<T> Table<T> {
    /// Maps a table of `len` entries.
    ///
    /// # Errors
    /// [`MemoryError::Reserve`] when the kernel refuses the addresses.
    ///
    /// # Panics
    /// If `len` is 0, or the table is larger than half of the address space.
    pub(crate) fn new(len: usize) -> Result<Table<T>, MemoryError>
    where
        T: ZeroValid,
    {
        assert!(len > 0 && align_of::<T>() <= PAGE.0);
        let bytes = len.checked_mul(size_of::<T>()).map(Bytes);
        let mapped = bytes
            .and_then(|bytes| bytes.round_up(PAGE))
            .filter(|bytes| bytes.0 > 0 && isize::try_from(bytes.0).is_ok());
        let mapped = mapped.expect("a table of some bytes, and of fewer than half of all addresses");
        let at = map(mapped, libc::PROT_READ | libc::PROT_WRITE, None)?;
        // Huge pages would make a lazily touched table resident by 2 MiB at a time.
        // SAFETY: our own mapping, and advice changes no contents.
        unsafe { libc::madvise(at.as_mut_ptr(), mapped.0, libc::MADV_NOHUGEPAGE) };
        Ok(Table {
            at,
            mapped,
            len,
            entries: PhantomData,
        })
    }
}

impl<T> Deref for Table<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: `len` entries are mapped readable for as long as `self` lives, page-aligned. They
        // started as zeros, which are valid values of `T` (`ZeroValid`, required by the only
        // constructor).
        unsafe { std::slice::from_raw_parts(self.at.as_ptr(), self.len) }
    }
}

impl<T> DerefMut for Table<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and writable; `&mut self` is the only reference to the mapping.
        unsafe { std::slice::from_raw_parts_mut(self.at.as_mut_ptr(), self.len) }
    }
}

impl<T> Drop for Table<T> {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and every reference to it borrowed `self`.
        unsafe { unmap(self.at, self.mapped) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_zero_until_written() {
        let mut table: Table<u64> = Table::new(1 << 30).unwrap();
        assert_eq!(table.len(), 1 << 30);
        assert_eq!((table[0], table[(1 << 30) - 1]), (0, 0));
        table[(1 << 30) - 1] = 9;
        assert_eq!((table[(1 << 30) - 2], table[(1 << 30) - 1]), (0, 9));
    }
}
