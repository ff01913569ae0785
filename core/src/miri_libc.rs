//! The system calls of this crate under Miri, which supports few of them: memory comes from Rust's
//! allocator, and clocks stand still.
//!
//! Names and signatures are as in `libc`, so that the modules that call the system exist once.
//! Everything that is not defined here is re-exported from `libc`. All memory is readable and
//! writable from the start: other checks test protection.

pub(crate) use ::libc::*;
use std::alloc::Layout;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// The alignment of every mapping: a huge page of x86-64.
const HUGE_PAGE: usize = 2 << 20;

/// The mappings by address, each with its layout and the number of bytes not yet unmapped.
static MAPPED: Mutex<BTreeMap<usize, (Layout, usize)>> = Mutex::new(BTreeMap::new());

/// # Safety
/// `size` is not zero.
pub(crate) unsafe fn mmap(_: *mut c_void, size: usize, _: c_int, _: c_int, _: c_int, _: off_t) -> *mut c_void {
    let Ok(layout) = Layout::from_size_align(size, HUGE_PAGE) else {
        return MAP_FAILED;
    };
    // SAFETY: `size` is not zero, so the layout is not empty.
    let at = unsafe { std::alloc::alloc_zeroed(layout) };
    if at.is_null() {
        return MAP_FAILED;
    }
    MAPPED
        .lock()
        .expect("no panic under it")
        .insert(at.expose_provenance(), (layout, size));
    at.cast()
}

/// Unmaps a part of a mapping. The memory is freed when all of the mapping has been unmapped.
///
/// # Safety
/// As for `libc::munmap`, and no byte is unmapped twice.
pub(crate) unsafe fn munmap(at: *mut c_void, size: usize) -> c_int {
    let mut mapped = MAPPED.lock().expect("no panic under it");
    let (&start, (layout, left)) = mapped.range_mut(..=at.addr()).next_back().expect("mapped");
    *left -= size;
    if *left == 0 {
        // SAFETY: allocated with this layout by `mmap`, and all of it given up.
        unsafe { std::alloc::dealloc(std::ptr::with_exposed_provenance_mut(start), *layout) };
        mapped.remove(&start);
    }
    0
}

/// # Safety
/// As for `libc::mprotect`.
pub(crate) unsafe fn mprotect(_: *mut c_void, _: usize, _: c_int) -> c_int {
    0
}

/// # Safety
/// As for `libc::madvise`.
pub(crate) unsafe fn madvise(at: *mut c_void, size: usize, advice: c_int) -> c_int {
    if advice == MADV_DONTNEED {
        // SAFETY: the range is mapped, and the caller discards its contents.
        unsafe { at.cast::<u8>().write_bytes(0, size) };
    }
    0
}

/// A limit that makes every reservation small: Miri allocates all that is mapped, touched or not.
///
/// # Safety
/// As for `libc::getrlimit`.
pub(crate) unsafe fn getrlimit(_: __rlimit_resource_t, limit: *mut rlimit) -> c_int {
    // SAFETY: `limit` points to a valid `rlimit`, as `libc::getrlimit` demands.
    unsafe { (*limit).rlim_cur = 12 << 20 };
    0
}

/// # Safety
/// As for `libc::getrusage`. Nothing is written.
pub(crate) unsafe fn getrusage(_: c_int, _: *mut rusage) -> c_int {
    -1
}

/// # Safety
/// As for `libc::clock_gettime`. Nothing is written.
pub(crate) unsafe fn clock_gettime(_: clockid_t, _: *mut timespec) -> c_int {
    -1
}

/// 16 GiB in pages of 4 KiB.
///
/// # Safety
/// No condition: it touches no memory.
pub(crate) unsafe fn sysconf(name: c_int) -> c_long {
    if name == _SC_PAGESIZE { 4096 } else { 1 << 22 }
}
