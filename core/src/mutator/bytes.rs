//! Arrays of bytes (`ARR_WORDS`): immutable ones that read as slices, and mutable ones of atomic
//! bytes or words. Never both in one array: slices of atomics can be lent to other threads, and the
//! memory model does not allow races between accesses of different sizes.

use super::gc::Distinct;
use super::{Gc, Mutator, NoGc};
use crate::closure::{Closure, Header, Kind, TypeInfo, byte_array_words};
use crate::kind::MutatorKind;
use crate::sync::Ordering;
use crate::sync::data::{AtomicU8, AtomicU64};
use crate::words::{Addr, Words};

/// An immutable array of bytes.
#[derive(Debug)]
pub struct ByteArray(());

/// A mutable array of bytes.
#[derive(Debug)]
pub struct MutByteArray(());

/// A mutable array of words of 64 bits.
#[derive(Debug)]
pub struct MutWordArray(());

static BYTE_ARRAY: TypeInfo = TypeInfo::variable(Kind::ArrWords, "ByteArray");
static MUT_BYTE_ARRAY: TypeInfo = TypeInfo::variable(Kind::ArrWords, "MutByteArray");
static MUT_WORD_ARRAY: TypeInfo = TypeInfo::variable(Kind::ArrWords, "MutWordArray");

// SAFETY: the allocation functions write the length and the bytes; the accessors below keep inside.
unsafe impl Closure for ByteArray {
    const INFO: &'static TypeInfo = &BYTE_ARRAY;
}
// SAFETY: no other type has this table.
unsafe impl Distinct for ByteArray {}
// SAFETY: as for `ByteArray`.
unsafe impl Closure for MutByteArray {
    const INFO: &'static TypeInfo = &MUT_BYTE_ARRAY;
}
// SAFETY: no other type has this table.
unsafe impl Distinct for MutByteArray {}
// SAFETY: as for `ByteArray`.
unsafe impl Closure for MutWordArray {
    const INFO: &'static TypeInfo = &MUT_WORD_ARRAY;
}
// SAFETY: no other type has this table.
unsafe impl Distinct for MutWordArray {}

/// Makes the `words` words at `at` a byte array with their current content, so that the heap can be
/// walked over them.
///
/// # Safety
/// The words are committed memory of a heap, two or more of them, and no closure, reference or
/// other thread uses them.
pub(crate) unsafe fn write_filler(at: Addr, words: Words) {
    let closure = at.0 as *mut u64;
    // SAFETY: the caller's promise.
    unsafe {
        closure.write(Header::new(&BYTE_ARRAY).0);
        closure.add(1).write(((words.0 - 2) * 8) as u64);
    }
}

/// Writes the length word of an array of `len` bytes, clears the last word of the payload (so that
/// the bytes after the last are zero) and returns the address of the bytes.
///
/// # Safety
/// `payload` has room for the length and `len` bytes rounded up to words.
unsafe fn start_bytes(payload: *mut u64, len: usize) -> *mut u8 {
    // SAFETY: the caller vouches for the room.
    unsafe {
        payload.write(len as u64);
        if len > 0 {
            payload.add(len.div_ceil(8)).write(0);
        }
        payload.add(1).cast()
    }
}

impl<'h, M: MutatorKind> Mutator<'h, M> {
    /// Allocates an immutable array of `len` bytes, all `byte`.
    #[inline]
    pub fn alloc_bytes_filled<'m>(&'m mut self, len: usize, byte: u8) -> Gc<'m, 'h, ByteArray> {
        self.alloc_variable(byte_array_words(len), |_, payload| {
            // SAFETY: `alloc_variable` gave room for `len` bytes.
            unsafe { start_bytes(payload, len).write_bytes(byte, len) };
        })
    }

    /// Allocates an immutable array that holds a copy of `bytes`.
    #[inline]
    pub fn alloc_bytes<'m>(&'m mut self, bytes: &[u8]) -> Gc<'m, 'h, ByteArray> {
        self.alloc_variable(byte_array_words(bytes.len()), |_, payload| {
            // SAFETY: `alloc_variable` gave room for as many bytes; `bytes` lies outside the heap
            // or is older than the new closure, so they do not overlap.
            unsafe { start_bytes(payload, bytes.len()).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        })
    }

    /// Allocates an immutable array of `len` bytes, zero at first, that `fill` writes.
    #[inline]
    pub fn alloc_bytes_with<'m>(
        &'m mut self,
        len: usize,
        fill: impl FnOnce(&'m NoGc<'h, M>, &mut [u8]),
    ) -> Gc<'m, 'h, ByteArray> {
        self.alloc_variable(byte_array_words(len), |m, payload| {
            // SAFETY: `alloc_variable` provided room for `len` bytes, and no other thread sees them
            // yet.
            let bytes = unsafe {
                let first = start_bytes(payload, len);
                first.write_bytes(0, len);
                std::slice::from_raw_parts_mut(first, len)
            };
            fill(m, bytes);
        })
    }

    /// Allocates a mutable array of `len` bytes, all zero.
    #[inline]
    pub fn alloc_mut_bytes<'m>(&'m mut self, len: usize) -> Gc<'m, 'h, MutByteArray> {
        self.alloc_variable(byte_array_words(len), |_, payload| {
            // SAFETY: `alloc_variable` gave room for `len` bytes.
            unsafe { start_bytes(payload, len).write_bytes(0, len) };
        })
    }

    /// Allocates a mutable array of `len` words, all zero.
    #[inline]
    pub fn alloc_mut_words<'m>(&'m mut self, len: usize) -> Gc<'m, 'h, MutWordArray> {
        // Saturated, it exceeds any heap, and is still a multiple of 8.
        let bytes = len.checked_mul(8).unwrap_or(usize::MAX & !7);
        self.alloc_variable(byte_array_words(bytes), |_, payload| {
            // SAFETY: `alloc_variable` gave room for as many bytes.
            unsafe { start_bytes(payload, bytes).write_bytes(0, bytes) };
        })
    }
}

impl<'m> Gc<'m, '_, ByteArray> {
    /// Number of bytes.
    #[inline(always)]
    pub fn len(self) -> usize {
        // SAFETY: the first word of the payload is the length.
        unsafe { self.payload(0) }.load(Ordering::Relaxed) as usize
    }

    /// Whether it has no bytes.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The bytes of the array.
    #[inline(always)]
    pub fn as_slice(self) -> &'m [u8] {
        let first = self.closure().0.wrapping_add(2).cast_const().cast::<u8>();
        // SAFETY: as many bytes follow the length; they are never written again, and stay where
        // they are for `'m`.
        unsafe { std::slice::from_raw_parts(first, self.len()) }
    }
}

impl<'m> Gc<'m, '_, MutByteArray> {
    /// Number of bytes.
    #[inline(always)]
    pub fn len(self) -> usize {
        // SAFETY: the first word of the payload is the length.
        unsafe { self.payload(0) }.load(Ordering::Relaxed) as usize
    }

    /// Whether it has no bytes.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The bytes, as memory that several threads may read and write.
    #[inline(always)]
    pub fn bytes(self) -> &'m [AtomicU8] {
        let first = self.closure().0.wrapping_add(2).cast::<AtomicU8>();
        // SAFETY: as many bytes follow the length and stay where they are for `'m`; all accesses
        // are atomic and of bytes (no other method gives them), and no collection reads them while
        // the mutator is borrowed.
        unsafe { std::slice::from_raw_parts(first, self.len()) }
    }
}

impl<'m> Gc<'m, '_, MutWordArray> {
    /// Number of words.
    #[inline(always)]
    pub fn len(self) -> usize {
        // SAFETY: the first word of the payload is the length, in bytes.
        unsafe { self.payload(0) }.load(Ordering::Relaxed) as usize / 8
    }

    /// Whether it has no words.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The words, as memory that several threads may read and write.
    #[inline(always)]
    pub fn words(self) -> &'m [AtomicU64] {
        let first = self.closure().0.wrapping_add(2).cast::<AtomicU64>();
        // SAFETY: as for the bytes of a `MutByteArray`, of words; payloads are aligned to words.
        unsafe { std::slice::from_raw_parts(first, self.len()) }
    }
}
