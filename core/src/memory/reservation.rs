//! One contiguous range of reserved addresses, committed from its low end upwards.
//!
//! # How it is done, and why
//!
//! The range is mapped without access and without charge (`PROT_NONE`, `MAP_NORESERVE`), aligned to
//! a huge page. `accessible` is a high-water mark: everything below it has been made readable and
//! writable (`mprotect`), nothing above. The mark moves in steps of 2 MiB, so that both halves of a
//! huge page are accessible before the first of them is touched; otherwise a huge page could not
//! serve the first fault ([`super::huge_pages`] decides whether it does). Hence the kernel keeps
//! few mappings (VMAs) for a heap with any history. Growth by `mprotect` merges with the range
//! below. A change from huge to small pages or back begins a new mapping (at worst, their number is
//! the logarithm of the heap's size). Decommitting (`MADV_DONTNEED`) changes no mapping.
//! `MADV_FREE` is not used: with it the resident set does not fall until the system is short of
//! memory.
//!
//! Cost: a commit below the mark is a comparison; above it, one system call and those for huge
//! pages. A decommit is one system call. A touch of the last odd megablock below the mark may make
//! a whole huge page resident: at most 1 MiB more than was committed.

use super::huge_pages::HugePages;
use super::{HUGE_PAGE, MemoryError, map, system_message, unmap};
#[cfg(miri)]
use crate::miri_libc as libc;
use crate::words::{Addr, Bytes};

/// Reserved addresses, unmapped on drop. See the module.
#[derive(Debug)]
pub struct Reservation {
    /// Aligned to [`HUGE_PAGE`].
    base: Addr,
    /// A multiple of [`HUGE_PAGE`].
    size: Bytes,
    /// End of the readable and writable part, counted from `base`; a multiple of [`HUGE_PAGE`].
    accessible: Bytes,
    huge_pages: HugePages,
    /// End of the part in which [`HugePages`] has decided about each 2 MiB; at most `accessible`.
    provided: Bytes,
}

impl Reservation {
    /// Reserves `size` (rounded up to 2 MiB), or as much as the kernel allows, from the address
    /// `near` (rounded down to 2 MiB) on if that range is free.
    ///
    /// Where `RLIMIT_AS` is less than `size`, the first attempt is for two thirds of the limit
    /// (GHC's figure). A refused attempt is repeated with an eighth less (GHC's step). A
    /// reservation that follows a refusal is cut by a quarter: it would otherwise take all that is
    /// left of the process's address space, and stacks, side tables and other heaps need some.
    ///
    /// # Errors
    /// [`MemoryError::Reserve`] when not even 2 MiB can be had.
    pub fn new(size: Bytes, near: Option<Addr>, huge_pages: bool) -> Result<Reservation, MemoryError> {
        let wanted = size
            .round_up(HUGE_PAGE)
            .unwrap_or(Bytes(usize::MAX & !(HUGE_PAGE.0 - 1)));
        let mut size = match address_space_limit() {
            Some(limit) if limit < wanted => Bytes(limit.0 / 3 * 2),
            _ => wanted,
        };
        let mut refused = false;
        loop {
            size = Bytes(size.0 & !(HUGE_PAGE.0 - 1)).max(HUGE_PAGE);
            match reserve_aligned(size, near) {
                Ok(base) => {
                    let kept = if refused {
                        Bytes((size.0 / 4 * 3) & !(HUGE_PAGE.0 - 1)).max(HUGE_PAGE)
                    } else {
                        size
                    };
                    // SAFETY: the tail of the mapping just made; its address was not handed out.
                    unsafe { unmap(base + kept, size - kept) };
                    return Ok(Reservation {
                        base,
                        size: kept,
                        accessible: Bytes::ZERO,
                        huge_pages: HugePages::new(base, kept, huge_pages),
                        provided: Bytes::ZERO,
                    });
                }
                Err(error) if size <= HUGE_PAGE => return Err(error),
                Err(_) => {
                    refused = true;
                    size = Bytes(size.0 - size.0 / 8 - 1);
                }
            }
        }
    }

    /// The lowest address, a multiple of 2 MiB.
    pub fn base(&self) -> Addr {
        self.base
    }

    /// The length of the range, a multiple of 2 MiB; perhaps less than was requested.
    pub fn size(&self) -> Bytes {
        self.size
    }

    /// Makes `size` bytes from `offset` usable, and everything below them. Fresh or decommitted
    /// memory reads as zeros. Both arguments are multiples of the page size.
    ///
    /// # Errors
    /// [`MemoryError::Commit`] when the kernel refuses (strict overcommit, `RLIMIT_DATA`) or the
    /// range ends outside the reservation. Nothing has changed then. Never, if the range lies
    /// within the part that was made accessible (`Reservation::make_accessible`).
    pub fn commit(&mut self, offset: Bytes, size: Bytes) -> Result<(), MemoryError> {
        let end = offset + size;
        self.make_accessible(end)?;
        while self.provided < end {
            // A short run does not get to the second 2 MiB of its allocation area.
            let touch = self.provided != HUGE_PAGE;
            // SAFETY: the 2 MiB are accessible, and `provided` says that they were never handed
            // out.
            unsafe { self.huge_pages.provide(self.base + self.provided, touch) };
            self.provided += HUGE_PAGE;
        }
        Ok(())
    }

    /// Ensures that a commit of memory below `end` cannot fail. Takes no memory.
    ///
    /// # Errors
    /// As for [`Reservation::commit`].
    pub(crate) fn make_accessible(&mut self, end: Bytes) -> Result<(), MemoryError> {
        if end <= self.accessible {
            return Ok(());
        }
        let from = self.base + self.accessible;
        let refusal = |reason: String| MemoryError::Commit {
            at: from,
            size: end - self.accessible,
            reason,
        };
        if end > self.size {
            return Err(refusal("it ends outside the reservation".into()));
        }
        // `self.size` is a multiple of a huge page: rounding up stays inside.
        let mark = Bytes(end.0.next_multiple_of(HUGE_PAGE.0));
        // SAFETY: the range lies inside our own mapping, above all memory in use.
        let result = unsafe {
            libc::mprotect(
                from.as_mut_ptr(),
                (mark - self.accessible).0,
                libc::PROT_READ | libc::PROT_WRITE,
            )
        };
        if result != 0 {
            return Err(refusal(system_message()));
        }
        self.accessible = mark;
        Ok(())
    }

    /// Returns the memory of `size` bytes from `offset` to the system. Both arguments are multiples
    /// of the page size.
    ///
    /// # Safety
    /// The range was committed, and nothing in it is in use: its contents are lost.
    ///
    /// # Errors
    /// [`MemoryError::Decommit`] when the kernel refuses (locked pages).
    pub(crate) unsafe fn decommit(&mut self, offset: Bytes, size: Bytes) -> Result<(), MemoryError> {
        assert!(
            offset + size <= self.accessible,
            "decommit of memory that was never committed"
        );
        let at = self.base + offset;
        // SAFETY: a range of our own mapping; the caller discards its contents.
        if unsafe { libc::madvise(at.as_mut_ptr(), size.0, libc::MADV_DONTNEED) } != 0 {
            return Err(MemoryError::Decommit {
                at,
                size,
                reason: system_message(),
            });
        }
        Ok(())
    }

    /// Takes the access to `size` bytes from `offset` away. Both arguments are multiples of the
    /// page size.
    ///
    /// # Safety
    /// The range was committed, and nothing in it is used until [`Reservation::unprotect`].
    ///
    /// # Errors
    /// [`MemoryError::Commit`] when the kernel refuses (a process has a bounded number of
    /// mappings).
    pub(crate) unsafe fn protect(&mut self, offset: Bytes, size: Bytes) -> Result<(), MemoryError> {
        assert!(offset + size <= self.accessible, "protection of memory without access");
        let at = self.base + offset;
        // SAFETY: a range of our own mapping, which the caller does not use.
        if unsafe { libc::mprotect(at.as_mut_ptr(), size.0, libc::PROT_NONE) } != 0 {
            return Err(MemoryError::Commit {
                at,
                size,
                reason: system_message(),
            });
        }
        Ok(())
    }

    /// Gives access to a protected range again.
    ///
    /// # Panics
    /// If the kernel refuses. (It has the mapping already.)
    pub(crate) fn unprotect(&mut self, offset: Bytes, size: Bytes) {
        let at = self.base + offset;
        // SAFETY: a range of our own mapping, which was accessible before it was protected.
        let result = unsafe { libc::mprotect(at.as_mut_ptr(), size.0, libc::PROT_READ | libc::PROT_WRITE) };
        assert!(result == 0, "access to {size} at {at}: {}", system_message());
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours. The owner of this value handed out the addresses in it, and
        // none is used after the drop.
        unsafe { unmap(self.base, self.size) };
    }
}

/// Maps `size` bytes without access, aligned to a huge page: maps one huge page more and trims both
/// ends.
fn reserve_aligned(size: Bytes, near: Option<Addr>) -> Result<Addr, MemoryError> {
    let Some(padded) = size.0.checked_add(HUGE_PAGE.0) else {
        return Err(MemoryError::Reserve {
            size,
            reason: "larger than the address space".into(),
        });
    };
    let start = map(
        Bytes(padded),
        libc::PROT_NONE,
        near.map(|at| Addr(at.0 & !(HUGE_PAGE.0 - 1))),
    )?;
    let start = Addr::of(start);
    let base = start.align_up(HUGE_PAGE);
    let end = base + size;
    // SAFETY: both ends belong to the mapping just made; their addresses were not handed out.
    unsafe {
        unmap(start, base - start);
        unmap(end, (start + Bytes(padded)) - end);
    }
    Ok(base)
}

/// The process's limit on address space (`ulimit -v`), if it has one.
fn address_space_limit() -> Option<Bytes> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the call writes to `limit` only.
    let result = unsafe { libc::getrlimit(libc::RLIMIT_AS, &mut limit) };
    (result == 0 && limit.rlim_cur != libc::RLIM_INFINITY).then_some(Bytes(limit.rlim_cur as usize))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(at: Addr, value: u64) {
        // SAFETY: the tests write to committed memory only.
        unsafe { at.as_mut_ptr::<u64>().write(value) }
    }

    fn read(at: Addr) -> u64 {
        // SAFETY: the tests read committed memory only.
        unsafe { at.as_ptr::<u64>().read() }
    }

    #[test]
    #[cfg_attr(miri, ignore)]
    fn a_reservation_lies_where_it_is_wanted_unless_that_range_is_taken() {
        let wanted = Addr(0x5a00_0000_0000);
        let first = Reservation::new(Bytes::mib(8), Some(wanted + Bytes(4097)), false).unwrap();
        assert_eq!(first.base(), wanted);
        let second = Reservation::new(Bytes::mib(8), Some(wanted), false).unwrap();
        assert_ne!(second.base(), wanted);
        assert_eq!(second.size(), Bytes::mib(8));
    }

    #[test]
    fn committed_memory_is_usable_and_decommitted_memory_reads_zero() {
        let mut space = Reservation::new(Bytes::mib(64), None, true).unwrap();
        assert!(space.base().is_aligned(HUGE_PAGE));
        assert_eq!(space.size(), Bytes::mib(64));
        space.commit(Bytes::ZERO, Bytes::mib(3)).unwrap();
        let at = space.base() + Bytes::mib(2);
        write(at, 7);
        assert_eq!(read(at), 7);
        // SAFETY: nothing in the range is in use.
        unsafe { space.decommit(Bytes::mib(2), Bytes::mib(1)) }.unwrap();
        space.commit(Bytes::mib(2), Bytes::mib(1)).unwrap();
        assert_eq!(read(at), 0);
    }

    #[test]
    fn growth_by_megablocks_leaves_few_mappings() {
        let mut space = Reservation::new(Bytes::mib(256), None, true).unwrap();
        for n in 0..129 {
            space.commit(Bytes::mib(n), Bytes::mib(1)).unwrap();
            write(space.base() + Bytes::mib(n), 1);
            if n % 3 == 1 {
                // SAFETY: nothing in the range is in use.
                unsafe { space.decommit(Bytes::mib(n), Bytes::mib(1)) }.unwrap();
            }
        }
        let (from, to) = (space.base(), space.base() + space.size());
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let starts = maps
            .lines()
            .filter_map(|line| usize::from_str_radix(line.split('-').next()?, 16).ok());
        let inside = starts.filter(|start| (from.0..to.0).contains(start)).count();
        // The lowest part may have merged with a neighbour's mapping; 65 times 2 MiB may meet three
        // cold huge pages.
        assert!(inside <= 2 * 3 + 2, "{inside} mappings");
    }

    /// Whether a line of `/proc/self/smaps` begins a mapping that holds an address.
    fn holds(line: &str, at: Addr) -> bool {
        let range = line.split_whitespace().next().and_then(|word| word.split_once('-'));
        let hex = |text: &str| usize::from_str_radix(text, 16).ok();
        range
            .and_then(|(start, end)| Some((hex(start)?..hex(end)?).contains(&at.0)))
            .unwrap_or(false)
    }

    /// The kernel's flags of the mapping that holds an address (`VmFlags` of `/proc/self/smaps`).
    fn flags_of_mapping(at: Addr) -> Vec<String> {
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let mut lines = maps.lines().skip_while(|line| !holds(line, at));
        let flags = lines
            .find_map(|line| line.strip_prefix("VmFlags:"))
            .expect("there is a mapping");
        flags.split_whitespace().map(str::to_string).collect()
    }

    #[test]
    fn huge_pages_are_asked_for_or_declined() {
        if !std::path::Path::new("/sys/kernel/mm/transparent_hugepage").exists() {
            return; // this kernel has none to give
        }
        for (wanted, flag, other) in [(true, "hg", "nh"), (false, "nh", "hg")] {
            let mut space = Reservation::new(Bytes::mib(16), None, wanted).unwrap();
            space.commit(Bytes::ZERO, Bytes::mib(1)).unwrap();
            let first = flags_of_mapping(space.base());
            let has = |name: &str| first.iter().any(|f| f == name);
            // Both halves of the first huge page are accessible. Nothing above is, and its page
            // size is undecided.
            assert!(has(flag) && !has(other) && has("wr"), "{first:?}");
            if wanted {
                let above = flags_of_mapping(space.base() + HUGE_PAGE);
                assert!(above.iter().all(|f| f != "hg" && f != "wr"), "{above:?}");
            }
        }
    }

    #[test]
    fn an_absurd_reservation_shrinks_until_it_fits() {
        let space = Reservation::new(Bytes(usize::MAX / 2), None, false).unwrap();
        assert!(space.size() < Bytes(1 << 47), "no process has more than 47 bits");
        assert!(space.size() >= Bytes::gib(1024));
    }

    #[test]
    fn a_commit_outside_the_reservation_is_an_error() {
        let mut space = Reservation::new(Bytes::mib(4), None, false).unwrap();
        assert!(matches!(
            space.commit(Bytes::mib(4), Bytes::mib(1)),
            Err(MemoryError::Commit { .. })
        ));
        assert!(space.commit(Bytes::mib(3), Bytes::mib(1)).is_ok());
    }
}
