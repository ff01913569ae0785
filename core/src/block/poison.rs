//! Poison: marks memory without an owner, so that later uses of it are found.
//!
//! In builds with debug assertions such memory is filled with [`POISON`]. Builds for a tool also
//! declare it to the tool, which then reports the very access that was wrong: the address sanitizer
//! (`--cfg gclab_asan`, `.ci/asan`) or valgrind (`--cfg gclab_valgrind`, `.ci/valgrind`). Without
//! that, the tools see one mapping and know nothing of the inside of a heap. In all other builds
//! there is no code here.
//!
//! *Retired*: freed blocks, the allocation area after a collection, the rest of a large object's
//! last block. *Lent*: blocks that were allocated, and the part of the allocation area that has
//! been reserved; to valgrind its contents are undefined until they are written.

use crate::words::{Addr, Bytes};

/// The byte that fills freed blocks in builds with debug assertions. As an address it is
/// non-canonical and odd, as a count absurd.
pub(crate) const POISON: u8 = 0xd5;

/// Marks memory as unused from now on.
///
/// # Safety
/// `at..at+size` is committed, and no live reference or allocation covers any of it.
#[inline(always)]
pub(crate) unsafe fn retire(at: Addr, size: Bytes) {
    if cfg!(debug_assertions) {
        // A part of it may be retired already; a tool would report the write.
        tool::lend(at, size);
        // SAFETY: the caller vouches that the range is committed and unused.
        unsafe { at.as_mut_ptr::<u8>().write_bytes(POISON, size.0) };
    }
    tool::retire(at, size);
}

/// Marks memory as in use from now on, with undefined contents.
///
/// # Safety
/// `at..at+size` is committed, and belongs to the caller.
#[inline(always)]
pub(crate) unsafe fn lend(at: Addr, size: Bytes) {
    tool::lend(at, size);
}

#[cfg(gclab_asan)]
mod tool {
    use crate::words::{Addr, Bytes};

    unsafe extern "C" {
        fn __asan_poison_memory_region(at: *const u8, size: usize);
        fn __asan_unpoison_memory_region(at: *const u8, size: usize);
    }

    pub(super) fn retire(at: Addr, size: Bytes) {
        // SAFETY: the call writes only the sanitizer's own notes about this range.
        unsafe { __asan_poison_memory_region(at.as_ptr(), size.0) }
    }

    pub(super) fn lend(at: Addr, size: Bytes) {
        // SAFETY: as above.
        unsafe { __asan_unpoison_memory_region(at.as_ptr(), size.0) }
    }
}

#[cfg(all(gclab_valgrind, target_arch = "x86_64"))]
mod tool {
    use crate::words::{Addr, Bytes};

    /// `VALGRIND_MAKE_MEM_NOACCESS` and `VALGRIND_MAKE_MEM_UNDEFINED` of valgrind's `memcheck.h`.
    const NO_ACCESS: u64 = (b'M' as u64) << 24 | (b'C' as u64) << 16;
    const UNDEFINED: u64 = NO_ACCESS + 1;

    pub(super) fn retire(at: Addr, size: Bytes) {
        request(NO_ACCESS, at, size);
    }

    pub(super) fn lend(at: Addr, size: Bytes) {
        request(UNDEFINED, at, size);
    }

    /// A client request, as in valgrind's `valgrind.h`: instructions that do nothing, and that
    /// valgrind looks for.
    fn request(what: u64, at: Addr, size: Bytes) {
        let words = [what, at.0 as u64, size.0 as u64, 0, 0, 0];
        // SAFETY: on a processor the rotations make a whole number of turns and the exchange is
        // with itself. Valgrind reads `words` and changes its notes about the range, and no memory
        // of ours.
        unsafe {
            std::arch::asm!(
                "rol rdi, 3", "rol rdi, 13", "rol rdi, 61", "rol rdi, 51", "xchg rbx, rbx",
                in("rax") words.as_ptr(),
                inout("rdx") 0u64 => _,
            );
        }
    }
}

#[cfg(not(any(gclab_asan, all(gclab_valgrind, target_arch = "x86_64"))))]
mod tool {
    use crate::words::{Addr, Bytes};

    #[inline(always)]
    pub(super) fn retire(_: Addr, _: Bytes) {}

    #[inline(always)]
    pub(super) fn lend(_: Addr, _: Bytes) {}
}
