//! Prefetches of array entries, for loops that know early which entries they will need.

use gclab_core::prefetch::prefetch_line;
use gclab_core::words::Addr;

/// Prefetches the entry of `array` at `index`. Any index is allowed.
#[inline(always)]
pub(crate) fn fetch<T>(array: &[T], index: u32) {
    prefetch_line(Addr(array.as_ptr().wrapping_add(index as usize) as usize));
}
