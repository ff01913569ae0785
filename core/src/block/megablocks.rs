//! Megablocks: taken from the free ones or from the system, returned to it, limited.
//!
//! They come from the first of these places that has them:
//!
//! 1. the smallest free extent that is large enough, the lowest of those, cut at its low end;
//! 2. the free extent directly below top, together with fresh megablocks above it: the least new
//!    memory;
//! 3. a returned extent, committed again; or fresh megablocks at top, with the returned extent
//!    directly below it;
//! 4. where the limit or the reservation forbids that: free extents are returned, and 3 is tried
//!    again. So megablocks are refused only if no contiguous unused ones exist, or those in use and
//!    the new ones together exceed the limit.
//!
//! Freeing blocks returns nothing to the system: the next collection needs the memory, and its page
//! faults would cost more than the collection itself. [`BlockAllocator::return_free_megablocks`]
//! returns memory on request.

use super::descriptor::NONE;
use super::extents::Extents;
use super::sizes::{bytes_of_blocks, bytes_of_megablocks};
use super::{BLOCKS_PER_MEGABLOCK, BlockAllocator, BlockId, BlockState, Charges, MEGABLOCK, Shortage};
use crate::words::Bytes;

/// Blocks of the smallest free group whose pages are returned: 64 KiB, enough to be worth a system
/// call.
const DRY_FROM: u32 = 16;

impl BlockAllocator {
    /// Returns free megablocks to the system, those at the highest addresses first, until no more
    /// than `keep` remains committed (in use or free) or none is free. This is GHC's
    /// `returnMemoryToOS`, which starts at the lowest address. The result is the number of bytes
    /// returned now.
    pub fn return_free_megablocks(&mut self, keep: Bytes) -> Bytes {
        let keep = u32::try_from(keep.0.div_ceil(MEGABLOCK.0)).unwrap_or(u32::MAX);
        let mut returned = 0;
        while let Some((first, length)) = self.free.highest() {
            let count = length.min(self.counts.megablocks_in_use.saturating_sub(keep));
            let from = first + length - count;
            // SAFETY: the megablocks are committed and wholly free: no run lies in them.
            let given = count > 0
                && unsafe {
                    self.space
                        .decommit(bytes_of_megablocks(from), bytes_of_megablocks(count))
                }
                .is_ok();
            if !given {
                break;
            }
            self.free.take_high(first, count);
            self.returned.insert(from, count);
            self.counts.megablocks_in_use -= count;
            returned += count;
        }
        self.charges.give(bytes_of_megablocks(returned));
        self.counts.returned_bytes += bytes_of_megablocks(returned);
        bytes_of_megablocks(returned)
    }

    /// Returns the pages of free groups to the system, the largest groups first, until no more than
    /// `keep` is committed apart from them. The groups stay free, and their megablocks committed:
    /// for a heap without wholly free megablocks.
    pub(crate) fn dry_free_groups(&mut self, keep: Bytes) {
        let committed = bytes_of_megablocks(self.counts.megablocks_in_use);
        let mut excess = committed.0.saturating_sub(keep.0);
        for size in (DRY_FROM..BLOCKS_PER_MEGABLOCK).rev() {
            let (mut group, _) = self.groups.list(size);
            while group != NONE && excess > 0 {
                let bytes = bytes_of_blocks(size);
                let here = &mut self.descriptors[group as usize];
                let next = here.next;
                if !here.is_dry() {
                    // SAFETY: the blocks are committed and free: no run lies in them.
                    if unsafe { self.space.decommit(bytes_of_blocks(group), bytes) }.is_err() {
                        return;
                    }
                    here.set_dry();
                    self.counts.returned_bytes += bytes;
                }
                excess = excess.saturating_sub(bytes.0);
                group = next;
            }
        }
    }

    /// Sets or lifts the limit of memory (`-M`). Free megablocks beyond it are returned at once;
    /// memory in use beyond it stays.
    pub fn set_limit(&mut self, limit: Option<Bytes>) {
        self.charges.set_limit(limit);
        self.return_excess();
    }

    /// Returns free megablocks as long as more is taken than the limit allows. Those that a promise
    /// to come counts on stay.
    pub(super) fn return_excess(&mut self) {
        let excess = self.charges.excess();
        if excess > Bytes::ZERO {
            let in_use = self.counts.megablocks_in_use;
            let committed = bytes_of_megablocks(in_use);
            let within = Bytes(committed.0.saturating_sub(excess.0) / MEGABLOCK.0 * MEGABLOCK.0);
            let kept = mutant!("free/kept-megablocks-in-excess", self.kept_free => 0);
            let least = in_use - self.free.total().saturating_sub(kept);
            self.return_free_megablocks(within.max(bytes_of_megablocks(least)));
        }
    }

    /// The limit in force, in whole megablocks.
    pub fn limit(&self) -> Option<Bytes> {
        self.charges
            .limit()
            .map(|limit| Bytes(limit.0 / MEGABLOCK.0 * MEGABLOCK.0))
    }

    /// The account of everything that counts under the limit. Private to core: an observer of a
    /// heap must not change it.
    pub(crate) fn charges(&self) -> &Charges {
        &self.charges
    }

    /// The number of requests for memory so far, as `-DF<n>` counts them.
    pub fn requests(&self) -> u64 {
        self.charges.requests().made()
    }

    /// Refuses one request for memory, after `granted` more were granted. For fault injection.
    pub fn refuse_request(&mut self, granted: u64) {
        self.charges.requests().refuse_after(granted);
    }

    /// Takes neighbouring megablocks out of a free extent or from the system.
    pub(super) fn take_megablocks(&mut self, count: u32) -> Result<u32, Shortage> {
        if !self.has_promise && !self.fits_limit(count) {
            return Err(Shortage::Limit);
        }
        if let Some(first) = self.free.best_fit(count) {
            self.free.take_low(first, count);
            return Ok(first);
        }
        match self.grow(count) {
            // No free extent is large enough. Once returned, the free ones no longer count towards
            // the limit, and join the returned ones next to them.
            Err(Shortage::Limit | Shortage::Reservation) if self.free.total() > 0 => {
                self.return_free_megablocks(Bytes::ZERO);
                self.grow(count)
            }
            result => result,
        }
    }

    /// Takes `count` megablocks from `first` on, if they are unused and the limit allows it; no new
    /// ones where one more megablock than that is free anywhere.
    pub(super) fn take_megablocks_at(&mut self, first: u32, count: u32) -> bool {
        if !self.has_promise && !self.fits_limit(count) {
            return false;
        }
        if self.free.starting_at(first).is_some_and(|length| length >= count) {
            self.free.take_low(first, count);
            return true;
        }
        let returned = self.returned.starting_at(first).is_some_and(|length| length >= count);
        let is_new = returned || first == self.top;
        is_new
            && self.free.best_fit(count + 1).is_none()
            && self.grow_at(first, 0, if returned { count } else { 0 }, count).is_ok()
    }

    /// Whether `count` more megablocks would be within the limit if all free ones were returned.
    fn fits_limit(&self, count: u32) -> bool {
        self.charges
            .fits(bytes_of_megablocks(count), bytes_of_megablocks(self.free.total()))
    }

    /// Commits neighbouring megablocks: a returned extent, or at top. Changes nothing when it
    /// fails.
    #[cold]
    fn grow(&mut self, count: u32) -> Result<u32, Shortage> {
        let capacity = self.capacity();
        let ends_at_top = |extents: &Extents| extents.highest().filter(|(first, length)| first + length == self.top);
        let tail = ends_at_top(&self.free).filter(|(first, _)| count <= capacity - first);
        let (first, free, returned) = if let Some((first, length)) = tail {
            (first, length, 0)
        } else if let Some(first) = self.returned.best_fit(count) {
            (first, 0, count)
        } else if let Some((first, length)) = ends_at_top(&self.returned) {
            (first, 0, length)
        } else {
            (self.top, 0, 0)
        };
        self.grow_at(first, free, returned, count)?;
        Ok(first)
    }

    /// Megablocks of the whole reservation.
    fn capacity(&self) -> u32 {
        (self.space.size().0 / MEGABLOCK.0) as u32
    }

    /// Commits `count` megablocks from `first` on, of which the low `free` are free now, or the low
    /// `returned` returned, and the others above top. Changes nothing when it fails.
    fn grow_at(&mut self, first: u32, free: u32, returned: u32, count: u32) -> Result<(), Shortage> {
        let fresh = count - free;
        if count > self.capacity() - first {
            return Err(Shortage::Reservation);
        }
        let promised = self.promised.min(fresh);
        let side_for = self.side_for.max(first + count);
        let beside = Bytes(self.charges.side().0 * (side_for - self.side_for) as usize);
        let asked = bytes_of_megablocks(fresh - promised) + beside;
        if asked > Bytes::ZERO && !mutant!("memory/charge-forgotten") {
            self.charges.take(asked)?;
        }
        if let Err(error) = self
            .space
            .commit(bytes_of_megablocks(first + free), bytes_of_megablocks(fresh))
        {
            self.charges.give(asked);
            return Err(Shortage::System(error));
        }
        self.side_for = side_for;
        if promised > 0 {
            self.charges.take_promised(bytes_of_megablocks(promised));
            self.promised -= promised;
        }
        if free > 0 {
            self.free.take_low(first, free);
        }
        if returned > 0 {
            self.returned.take_low(first, returned);
        }
        if first + count > self.top {
            let new = (first + count - self.top) * BLOCKS_PER_MEGABLOCK;
            self.states
                .fill(BlockId(self.top * BLOCKS_PER_MEGABLOCK), new, BlockState::OUTSIDE);
            self.top = first + count;
        }
        self.counts.add_megablocks(fresh);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::{BlockRun, poison};
    use crate::memory::MemoryConfig;

    fn first_word(run: BlockRun) -> *mut u64 {
        run.start().as_mut_ptr()
    }

    #[test]
    fn free_groups_return_their_pages_once_and_stay_usable() {
        let config = MemoryConfig {
            reserve: Bytes::mib(16),
            huge_pages: false,
            ..MemoryConfig::default()
        };
        let mut allocator = BlockAllocator::new(&config).expect("a small heap");
        // Four megablocks of runs of 32 blocks; every other run is freed.
        let runs: Vec<BlockRun> = (0..32)
            .map(|_| allocator.allocate(32).expect("there is room"))
            .collect();
        for &run in &runs {
            // SAFETY: an allocated run.
            unsafe { first_word(run).write(7) };
        }
        runs.iter().step_by(2).for_each(|&run| allocator.free(run));
        allocator.dry_free_groups(Bytes::mib(3));
        // One megablock in all, in whole groups.
        assert_eq!(allocator.accounting().returned_bytes, Bytes::mib(1));
        allocator.dry_free_groups(Bytes::ZERO);
        allocator.dry_free_groups(Bytes::ZERO);
        assert_eq!(allocator.accounting().returned_bytes, Bytes::mib(2));
        assert_eq!(allocator.accounting().megablocks_in_use, 4);
        allocator.check().expect("whole");
        for (number, &run) in runs.iter().enumerate() {
            // SAFETY: committed memory, and no other thread has the heap. A sanitizer objects to a
            // read of freed memory otherwise.
            let word = unsafe {
                poison::lend(run.start(), Bytes(8));
                first_word(run).read()
            };
            assert_eq!(word, if number % 2 == 0 { 0 } else { 7 });
        }
        // A group that has been in use since has pages again.
        let again = allocator.allocate(32).expect("there are groups");
        allocator.free(again);
        allocator.dry_free_groups(Bytes::ZERO);
        assert_eq!(allocator.accounting().returned_bytes, Bytes::mib(2) + Bytes::kib(128));
    }
}
