//! Side tables: long arrays of zeros that take memory only where they are touched.
//!
//! A table for a reservation of 1 TiB may be gigabytes long; a heap of 100 MiB touches a few pages
//! of it. Entries start as zeros.
//!
//! An entry is reached by its own address, not through a slice of all entries. The machine code is
//! the same. Miri visits every entry of a slice of atomics each time the slice is made.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut, Index, IndexMut};

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
    /// The first entry. A pointer, not an address: so the compiler, and Miri, know its provenance.
    at: *mut T,
    mapped: Bytes,
    len: usize,
    entries: PhantomData<[T]>,
}

// SAFETY: it owns its entries, as a box does.
unsafe impl<T: Send> Send for Table<T> {}
// SAFETY: as above; a shared table returns shared entries only.
unsafe impl<T: Sync> Sync for Table<T> {}

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
        unsafe { libc::madvise(at, mapped.0, libc::MADV_NOHUGEPAGE) };
        Ok(Table {
            at: at.cast(),
            mapped,
            len,
            entries: PhantomData,
        })
    }

    /// The address of the first entry.
    #[inline(always)]
    pub(crate) fn as_ptr(&self) -> *const T {
        self.at
    }

    /// The entry at `index`, if the table is so long.
    #[inline(always)]
    pub(crate) fn get(&self, index: usize) -> Option<&T> {
        // SAFETY: the index is below the length.
        (index < self.len).then(|| unsafe { self.get_unchecked(index) })
    }

    /// The entry at `index`.
    ///
    /// # Safety
    /// `index` is less than the table's length.
    #[inline(always)]
    pub(crate) unsafe fn get_unchecked(&self, index: usize) -> &T {
        debug_assert!(index < self.len);
        // SAFETY: the entry is one of `len`, of which `deref` says what holds.
        unsafe { &*self.at.add(index) }
    }
}

impl<T> Index<usize> for Table<T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, index: usize) -> &T {
        if index >= self.len {
            outside(index, self.len);
        }
        // SAFETY: the index is below the length.
        unsafe { self.get_unchecked(index) }
    }
}

impl<T> IndexMut<usize> for Table<T> {
    #[inline(always)]
    fn index_mut(&mut self, index: usize) -> &mut T {
        if index >= self.len {
            outside(index, self.len);
        }
        // SAFETY: the index is below the length; `deref_mut` says the rest.
        unsafe { &mut *self.at.add(index) }
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn outside(index: usize, len: usize) -> ! {
    panic!("entry {index} of a table of {len}");
}

impl<T> Deref for Table<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: `len` entries are mapped readable for as long as `self` lives, page-aligned. They
        // started as zeros, which are valid values of `T` (`ZeroValid`, required by the only
        // constructor).
        unsafe { std::slice::from_raw_parts(self.at, self.len) }
    }
}

impl<T> DerefMut for Table<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and writable; `&mut self` is the only reference to the mapping.
        unsafe { std::slice::from_raw_parts_mut(self.at, self.len) }
    }
}

impl<T> Drop for Table<T> {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and every reference to it borrowed `self`.
        unsafe { unmap(Addr::of(self.at), self.mapped) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_zero_until_written() {
        // Miri has to fill the whole table with zeros.
        const LEN: usize = if cfg!(miri) { 1 << 10 } else { 1 << 30 };
        let mut table: Table<u64> = Table::new(LEN).unwrap();
        assert_eq!(table.len(), LEN);
        assert_eq!((table[0], table[LEN - 1]), (0, 0));
        table[LEN - 1] = 9;
        assert_eq!((table[LEN - 2], table[LEN - 1]), (0, 9));
        assert_eq!((*table)[LEN - 2..], [0, 9]);
    }

    #[test]
    fn the_last_entry_has_no_next_one() {
        let table: Table<u64> = Table::new(600).unwrap();
        assert_eq!((table.get(599), table.get(600)), (Some(&0), None));
    }

    #[test]
    #[should_panic = "entry 600 of a table of 600"]
    fn an_entry_past_the_end_is_not_read() {
        _ = Table::<u64>::new(600).unwrap()[600];
    }

    #[test]
    #[should_panic = "entry 600 of a table of 600"]
    fn an_entry_past_the_end_is_not_written() {
        Table::<u64>::new(600).unwrap()[600] = 1;
    }
}
