//! The one function that checks every invariant of the blocks.

use super::{BLOCKS_PER_MEGABLOCK, BlockAllocator, BlockError, BlockId, BlockState, descriptor, descriptor::NONE};

fn fault<T>(block: u32, what: impl Into<String>) -> Result<T, BlockError> {
    Err(BlockError {
        block,
        what: what.into(),
    })
}

/// The counts of a walk over all blocks below top.
#[derive(Default)]
struct Tally {
    blocks_in_use: u32,
    groups: usize,
    megablocks_in_use: u32,
}

impl BlockAllocator {
    /// Checks every invariant that the modules of [`crate::block`] state: extents, free lists,
    /// descriptors, states, and the accounting against a full count. Time proportional to the
    /// blocks below top.
    ///
    /// # Errors
    /// The first violation.
    pub fn check(&self) -> Result<(), BlockError> {
        for extents in [&self.free, &self.returned] {
            if let Some(what) = extents.fault() {
                return fault(0, what);
            }
        }
        let tally = self.check_tiling()?;
        if self.check_lists()? != tally.groups {
            return fault(
                0,
                format!("{} free groups, but not all of them in the lists", tally.groups),
            );
        }
        let counts = self.accounting();
        if counts.blocks_in_use != tally.blocks_in_use {
            return fault(
                0,
                format!(
                    "{} blocks counted as in use, found {}",
                    counts.blocks_in_use, tally.blocks_in_use
                ),
            );
        }
        let committed = tally.megablocks_in_use + self.free.total();
        if counts.megablocks_in_use != committed {
            return fault(
                0,
                format!(
                    "{} megablocks counted as committed, found {committed}",
                    counts.megablocks_in_use
                ),
            );
        }
        if counts.taken < counts.committed() + self.side_taken() + self.charges.other() {
            return fault(
                0,
                format!("{} are charged for {} of megablocks", counts.taken, counts.committed()),
            );
        }
        let at_peak = counts.megablocks_in_use == counts.peak_megablocks;
        if counts.peak_blocks < counts.blocks_in_use
            || counts.peak_megablocks < counts.megablocks_in_use
            || counts.peak_blocks < counts.blocks_at_peak
            || at_peak && counts.blocks_at_peak < counts.blocks_in_use
        {
            return fault(0, "a peak is less than the current count");
        }
        if self.top * BLOCKS_PER_MEGABLOCK > (self.space.size().0 >> super::BLOCK_SHIFT) as u32 {
            return fault(self.top * BLOCKS_PER_MEGABLOCK, "top lies outside the reservation");
        }
        if self.states.of(self.space.base() + self.space.size()) != BlockState::OUTSIDE {
            return fault(0, "the state of addresses outside the heap is not OUTSIDE");
        }
        Ok(())
    }

    /// Checks that extents, runs and free groups cover the blocks below top, each block once, and
    /// that each is described correctly.
    fn check_tiling(&self) -> Result<Tally, BlockError> {
        let (mut at, mut tally, mut after_group) = (0, Tally::default(), false);
        let end = self.top * BLOCKS_PER_MEGABLOCK;
        // The first megablock in use that was not counted yet.
        let mut uncounted = 0;
        while at < end {
            if let Some(megablocks) = self.unused_at(at) {
                let next = at + megablocks * BLOCKS_PER_MEGABLOCK;
                self.check_free(at, next)?;
                (at, uncounted, after_group) = (next, next / BLOCKS_PER_MEGABLOCK, false);
                continue;
            }
            let here = &self.descriptors[at as usize];
            let next = at + here.blocks();
            if here.blocks() == 0 || next > end {
                return fault(at, format!("a run or group of {} blocks", here.blocks()));
            }
            if here.is_allocated_head() {
                self.check_run(at, next)?;
                tally.blocks_in_use += next - at;
                let last = (next - 1) / BLOCKS_PER_MEGABLOCK;
                tally.megablocks_in_use += (last + 1).saturating_sub(uncounted);
                uncounted = uncounted.max(last + 1);
            } else if here.is_held_head() {
                self.check_free(at, next)?;
                let last = (next - 1) / BLOCKS_PER_MEGABLOCK;
                tally.megablocks_in_use += (last + 1).saturating_sub(uncounted);
                uncounted = uncounted.max(last + 1);
            } else {
                if after_group && !at.is_multiple_of(BLOCKS_PER_MEGABLOCK) {
                    return fault(at, "two free groups side by side");
                }
                self.check_group(at, next)?;
                tally.groups += 1;
            }
            after_group = !here.is_allocated_head() && !here.is_held_head();
            at = next;
        }
        if at == end {
            Ok(tally)
        } else {
            fault(at, "the last extent reaches over top")
        }
    }

    fn check_run(&self, first: u32, next: u32) -> Result<(), BlockError> {
        if self.descriptors[first as usize].is_free_edge() {
            return fault(first, "allocated and free at once");
        }
        for block in first..next {
            let here = &self.descriptors[block as usize];
            if here.head != first || here.is_free_edge() || (block != first && here.is_allocated_head()) {
                return fault(block, format!("not described as a block of the run at {first}"));
            }
        }
        Ok(())
    }

    fn check_group(&self, first: u32, next: u32) -> Result<(), BlockError> {
        let (head, last) = (&self.descriptors[first as usize], &self.descriptors[next as usize - 1]);
        if !head.is_free_edge() || head.head != first {
            return fault(first, "neither allocated nor the first of a free group");
        }
        if !last.is_free_edge() || last.head != first {
            return fault(
                next - 1,
                format!("not described as the last of the free group at {first}"),
            );
        }
        if first / BLOCKS_PER_MEGABLOCK != (next - 1) / BLOCKS_PER_MEGABLOCK || next - first == BLOCKS_PER_MEGABLOCK {
            return fault(
                first,
                format!("a free group of {} blocks is not part of one megablock", next - first),
            );
        }
        self.check_free(first, next)
    }

    /// Checks that free blocks have the state of free blocks and belong to no run.
    fn check_free(&self, first: u32, next: u32) -> Result<(), BlockError> {
        let descriptors = &*self.descriptors;
        for block in first..next {
            let state = self.states.of_block(BlockId(block));
            if state != BlockState::OUTSIDE {
                return fault(block, format!("free, but its state is {state:?}"));
            }
            if descriptor::run_around(descriptors, BlockId(block)).is_some() {
                return fault(block, "free, but described as a block of a run");
            }
        }
        Ok(())
    }

    /// Checks that the lists hold free groups of their size, correctly linked. Returns the number
    /// of groups.
    fn check_lists(&self) -> Result<usize, BlockError> {
        let (mut groups, most) = (0, self.top as usize * BLOCKS_PER_MEGABLOCK as usize);
        for size in 0..BLOCKS_PER_MEGABLOCK {
            let (mut at, filled) = self.groups.list(size);
            if filled != (at != NONE) {
                return fault(at, format!("the bit of list {size} is wrong"));
            }
            let (mut previous, mut here_found) = (NONE, 0);
            while at != NONE {
                let here = &self.descriptors[at as usize];
                if !here.is_free_edge()
                    || here.blocks() != size
                    || here.previous != previous
                    || self.unused_at(at).is_some()
                {
                    return fault(at, format!("not a well linked free group of list {size}"));
                }
                groups += 1;
                here_found += 1;
                if groups > most {
                    return fault(at, format!("list {size} is circular"));
                }
                (previous, at) = (at, here.next);
            }
            if here_found != self.groups.count(size) {
                return fault(
                    0,
                    format!(
                        "{here_found} groups in list {size}, but {} are counted",
                        self.groups.count(size)
                    ),
                );
            }
        }
        Ok(groups)
    }
}

/// Each test breaks one invariant and expects the checker to find it: a checker that cannot fail
/// proves nothing.
#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::BlockRun;
    use crate::memory::MemoryConfig;
    use crate::words::Bytes;

    /// Runs of 3, 4 and 300 blocks, and a free group of 5 between the first two.
    fn allocator() -> (BlockAllocator, [BlockRun; 3]) {
        let config = MemoryConfig {
            reserve: Bytes::mib(16),
            ..MemoryConfig::default()
        };
        let mut allocator = BlockAllocator::new(&config).unwrap();
        let [first, gap, second, long] = [3, 5, 4, 300].map(|blocks| allocator.allocate(blocks).unwrap());
        allocator.free(gap);
        let unused = allocator.allocate(600).unwrap();
        allocator.free(unused);
        allocator.return_free_megablocks(Bytes::mib(4));
        assert_eq!(allocator.check(), Ok(()));
        (allocator, [first, second, long])
    }

    fn finds(damage: impl FnOnce(&mut BlockAllocator, [BlockRun; 3]), message: &str) {
        let (mut allocator, runs) = allocator();
        damage(&mut allocator, runs);
        let error = allocator.check().expect_err(message);
        assert!(error.to_string().contains(message), "{error}, not {message}");
    }

    #[test]
    fn wrong_states_are_found() {
        finds(
            |a, _| a.states.fill(BlockId(5), 1, BlockState::NURSERY),
            "free, but its state is step 0",
        );
        finds(
            |a, _| a.states.fill(BlockId(4 * 256), 1, BlockState::AGED),
            "free, but its state is step 1",
        );
    }

    #[test]
    fn wrong_counts_are_found() {
        finds(
            |a, _| a.counts.blocks_in_use += 1,
            "308 blocks counted as in use, found 307",
        );
        finds(
            |a, _| a.counts.megablocks_in_use -= 1,
            "3 megablocks counted as committed, found 4",
        );
        finds(|a, _| a.counts.peak_blocks = 5, "a peak is less");
        finds(|a, _| a.counts.blocks_at_peak += 1000, "a peak is less");
    }

    #[test]
    fn wrong_lists_are_found() {
        finds(
            |a, _| a.groups.remove(&mut a.descriptors, 3),
            "not all of them in the lists",
        );
        finds(
            |a, _| a.descriptors[3].previous = 9,
            "not a well linked free group of list 5",
        );
        finds(
            |a, _| a.descriptors[3].next = 3,
            "not a well linked free group of list 5",
        );
    }

    #[test]
    fn groups_that_were_not_joined_are_found() {
        finds(
            |a, _| {
                a.groups.remove(&mut a.descriptors, 3);
                for (first, blocks) in [(3, 2), (5, 3)] {
                    descriptor::describe_group(&mut a.descriptors, first, blocks);
                    a.groups.push(&mut a.descriptors, first);
                }
            },
            "two free groups side by side",
        );
    }

    #[test]
    fn wrong_descriptors_are_found() {
        finds(
            |a, [_, second, _]| a.descriptors[second.first.index() + 1].head = 0,
            "not described as a block of the run",
        );
        finds(
            |a, [_, _, long]| descriptor::retire_head(&mut a.descriptors, long.first.0),
            "a run or group of 0 blocks",
        );
        finds(
            |a, _| descriptor::describe_run(&mut a.descriptors, 0, 2),
            "a run or group of 0 blocks",
        );
        finds(
            |a, _| a.descriptors[7].head = 4,
            "not described as the last of the free group at 3",
        );
    }

    #[test]
    fn wrong_extents_are_found() {
        finds(|a, _| a.returned.take_low(a.returned.best_fit(1).unwrap(), 1), "");
        finds(|a, _| a.free.insert(0, 1), "");
    }
}
