//! Memory that is nobody's, so that whoever still uses it is found out.
//!
//! In builds with debug assertions it is filled with [`POISON`]. Built for a tool, it is declared to the tool as well, which then
//! reports the very access that was wrong: the address sanitizer (`--cfg gclab_asan`, `.ci/asan`) and valgrind (`--cfg
//! gclab_valgrind`, `.ci/valgrind`) know nothing of what lies inside a heap otherwise, since they see one mapping. In all other
//! builds there is no code here.
//!
//! *Retired*: freed blocks, the allocation area after a collection, what a large object leaves of its last block. *Lent*: blocks that were
//! allocated, and of the allocation area what has been reserved; to valgrind its contents are undefined until they are written.

use crate::words::{Addr, Bytes};

/// What freed blocks are filled with in builds with debug assertions: as an address non-canonical and odd, as a count absurd.
pub const POISON: u8 = 0xd5;

/// Nobody uses this memory any more.
///
/// # Safety
/// That is so, and the memory is committed.
#[inline(always)]
pub(crate) unsafe fn retire(at: Addr, size: Bytes) {
    if cfg!(debug_assertions) {
        // A part of it may be retired already, and could not be filled.
        tool::lend(at, size);
        // SAFETY: committed, and the caller vouches that nobody uses it.
        unsafe { at.as_mut_ptr::<u8>().write_bytes(POISON, size.0) };
    }
    tool::retire(at, size);
}

/// Somebody has this memory from now on; what it holds means nothing.
#[inline(always)]
pub(crate) fn lend(at: Addr, size: Bytes) {
    tool::lend(at, size);
}

#[cfg(gclab_asan)]
mod tool {
    use crate::words::{Addr, Bytes};

    unsafe extern "C" {
        fn __asan_poison_memory_region(at: *const u8, size: usize);
        fn __asan_unpoison_memory_region(at: *const u8, size: usize);
    }

    pub fn retire(at: Addr, size: Bytes) {
        // SAFETY: writes the sanitizer's own notes of this range only.
        unsafe { __asan_poison_memory_region(at.as_ptr(), size.0) }
    }

    pub fn lend(at: Addr, size: Bytes) {
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

    pub fn retire(at: Addr, size: Bytes) {
        request(NO_ACCESS, at, size);
    }

    pub fn lend(at: Addr, size: Bytes) {
        request(UNDEFINED, at, size);
    }

    /// A client request, as in valgrind's `valgrind.h`: instructions that do nothing, and that valgrind looks for.
    fn request(what: u64, at: Addr, size: Bytes) {
        let words = [what, at.0 as u64, size.0 as u64, 0, 0, 0];
        // SAFETY: on a processor the rotations make a whole number of turns and the exchange is with itself; valgrind reads `words` and
        // changes what it knows of the range, no memory of ours.
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
    pub fn retire(_: Addr, _: Bytes) {}

    #[inline(always)]
    pub fn lend(_: Addr, _: Bytes) {}
}
