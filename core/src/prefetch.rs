//! Prefetches: requests to bring memory into the cache before it is read.

/// Offset from a closure's start, in bytes, at which its second cache line is looked for: a small
/// closure may straddle two lines.
const SECOND_LINE: usize = 40;

/// Brings the closure at `address` towards the cache.
#[inline(always)]
pub(crate) fn prefetch(address: u64) {
    prefetch_line(address);
    prefetch_line(address.wrapping_add(SECOND_LINE as u64));
}

/// Brings the cache line at `address` towards the cache.
#[inline(always)]
pub(crate) fn prefetch_line(address: u64) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: a prefetch has no architectural effect, at any address.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(address as *const i8);
    }
    #[cfg(any(not(target_arch = "x86_64"), miri))]
    let _ = address;
}
