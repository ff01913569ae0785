//! Huge pages as long as they are cheap.
//!
//! A huge page saves 511 page faults and many address translations. Nothing did more for
//! collections where a huge page cost only its zeroing. But a virtual machine may have handed its
//! free huge pages back to the host (*free page reporting*). Such a page is *cold*: the host must
//! first find and zero memory for it. One cold huge page cost 3 to 4 ms, where 512 small pages
//! (mostly warm) cost 0.8 ms and a warm huge page 0.2 ms (2 cores of an AMD EPYC under KVM, Linux
//! 6.18). Only a touch shows whether a page is cold or warm. So the thread that commits a huge page
//! touches it at once and times the touch. After a cold page, small pages are used for a while,
//! then another huge page is tried. Each cold page doubles that while.
//!
//! Memory that was returned to the system and is touched again is not timed.
//!
//! Cost: four system calls for each 2 MiB (the clock counts CPU time). Cold pages waste a few
//! milliseconds each; their number is logarithmic in the heap's size.

use super::HUGE_PAGE;
use crate::clock::Clock;
#[cfg(miri)]
use crate::miri_libc as libc;
use crate::words::{Addr, Bytes};

/// CPU time in nanoseconds from which a huge page counts as cold: more than 512 faults of small
/// pages take (0.8 ms), less than the cold pages took (3 ms).
const COLD_NS: u64 = 1_000_000;

/// Memory that gets small pages after the first cold huge page, in units of 2 MiB: 32 MiB.
const FIRST_REST: usize = 16;

/// Decides for each 2 MiB of a reservation whether it gets a huge page. See the module.
#[derive(Debug)]
pub(super) struct HugePages {
    wanted: bool,
    /// Units of 2 MiB that still get small pages without a try.
    resting: usize,
    /// The value that `resting` gets after the next cold page.
    next_rest: usize,
}

impl HugePages {
    /// Starts with huge pages if `wanted`, else never uses them, for the untouched range of `size`
    /// from `base`.
    pub(super) fn new(base: Addr, size: Bytes, wanted: bool) -> Self {
        advise(base, size, false);
        HugePages {
            wanted,
            resting: 0,
            next_rest: FIRST_REST,
        }
    }

    /// Provides the 2 MiB at `at` with a huge page if this seems cheap; without `touch`, when they
    /// are used.
    ///
    /// # Safety
    /// The 2 MiB at `at` are mapped readable and writable, belong to the caller, and were never
    /// touched.
    pub(super) unsafe fn provide(&mut self, at: Addr, touch: bool) {
        if !self.try_next() {
            return;
        }
        advise(at, HUGE_PAGE, true);
        if !touch {
            return;
        }
        let before = Clock::thread_cpu_ns();
        // SAFETY: the caller vouches that the memory is writable and untouched; it is zero before
        // and after this write.
        unsafe { at.as_mut_ptr::<u64>().write_volatile(0) };
        self.took(Clock::thread_cpu_ns() - before);
    }

    /// Returns whether the next 2 MiB get a huge page.
    fn try_next(&mut self) -> bool {
        let resting = self.resting > 0;
        self.resting = self.resting.saturating_sub(1);
        self.wanted && !resting
    }

    /// Notes that the first touch of a huge page took `ns` nanoseconds.
    fn took(&mut self, ns: u64) {
        if ns >= COLD_NS {
            self.resting = self.next_rest;
            self.next_rest *= 2;
        }
    }
}

/// Tells the kernel whether a range is to have huge pages. A kernel without them refuses; that is
/// not an error.
fn advise(at: Addr, size: Bytes, huge: bool) {
    let advice = if huge {
        libc::MADV_HUGEPAGE
    } else {
        libc::MADV_NOHUGEPAGE
    };
    // SAFETY: neither advice changes contents, for any range.
    unsafe { libc::madvise(at.as_mut_ptr(), size.0, advice) };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of tries among the next `pages` pages, if each touch takes `ns`.
    fn tried(huge: &mut HugePages, pages: usize, ns: u64) -> usize {
        let mut tried = 0;
        for _ in 0..pages {
            if huge.try_next() {
                tried += 1;
                huge.took(ns);
            }
        }
        tried
    }

    #[test]
    fn cold_pages_are_met_ever_more_rarely() {
        let mut huge = HugePages {
            wanted: true,
            resting: 0,
            next_rest: FIRST_REST,
        };
        assert_eq!(tried(&mut huge, 100, COLD_NS / 10), 100);
        // 1 cold, 16 small, 1 cold, 32 small, 1 cold, 64 small ...
        assert_eq!(tried(&mut huge, 17 + 33 + 65, COLD_NS), 3);
        assert_eq!(tried(&mut huge, 10_000, COLD_NS), 7);
        huge.resting = 0;
        assert_eq!(tried(&mut huge, 100, COLD_NS / 10), 100);
        assert_eq!(tried(&mut huge, 16 << 10, COLD_NS), 1);
    }
}
