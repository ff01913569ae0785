//! Stretches: everything below the top of a heap, for maps of it.

use super::{BLOCKS_PER_MEGABLOCK, BlockAllocator, BlockId};

/// Neighbouring blocks that are in one run, or free together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The number of the first block.
    pub first: BlockId,
    /// The number of blocks; at least one.
    pub blocks: u32,
    /// Whether they are in use.
    pub kind: StretchKind,
}

/// The use of the blocks of a [`Stretch`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StretchKind {
    /// They are an allocated run.
    Run,
    /// They are free, and the heap keeps their memory.
    Free,
    /// They are free, and their megablocks were returned to the system.
    Returned,
}

impl BlockAllocator {
    /// Calls `visit` with every stretch of blocks, in the order of addresses, without a gap. Time
    /// proportional to runs, free groups and megablocks.
    pub fn for_each_stretch(&self, mut visit: impl FnMut(Stretch)) {
        let mut at = 0;
        while at < self.top * BLOCKS_PER_MEGABLOCK {
            let (blocks, kind) = match self.unused_at(at) {
                Some(megablocks) if self.free.starting_at(at / BLOCKS_PER_MEGABLOCK).is_some() => {
                    (megablocks * BLOCKS_PER_MEGABLOCK, StretchKind::Free)
                }
                Some(megablocks) => (megablocks * BLOCKS_PER_MEGABLOCK, StretchKind::Returned),
                None => {
                    let here = &self.descriptors[at as usize];
                    let kind = if here.is_allocated_head() {
                        StretchKind::Run
                    } else {
                        StretchKind::Free
                    };
                    (here.blocks(), kind)
                }
            };
            visit(Stretch {
                first: BlockId(at),
                blocks,
                kind,
            });
            at += blocks;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::MemoryConfig;
    use crate::words::Bytes;

    #[test]
    fn stretches_cover_the_heap_and_agree_with_the_accounting() {
        let config = MemoryConfig {
            reserve: Bytes::mib(16),
            ..MemoryConfig::default()
        };
        let mut allocator = BlockAllocator::new(&config).unwrap();
        let [_first, gap, _second, long] = [3, 5, 4, 600].map(|blocks| allocator.allocate(blocks).unwrap());
        let last = allocator.allocate(300).unwrap();
        allocator.free(gap);
        allocator.free(long);
        allocator.return_free_megablocks(Bytes::ZERO);
        let (mut end, mut sums) = (0, [0; 3]);
        allocator.for_each_stretch(|stretch| {
            assert_eq!(stretch.first.0, end, "{stretch:?}");
            end += stretch.blocks;
            sums[stretch.kind as usize] += stretch.blocks;
            assert_eq!(
                stretch.kind == StretchKind::Run,
                allocator.run_of(allocator.run(stretch.first.0, 1).start()).is_some()
            );
        });
        let counts = allocator.accounting();
        assert_eq!(end, allocator.top * BLOCKS_PER_MEGABLOCK);
        assert_eq!(sums[StretchKind::Run as usize], counts.blocks_in_use);
        assert_eq!(sums[StretchKind::Run as usize], 3 + 4 + last.blocks());
        assert!(sums[StretchKind::Returned as usize] > 0, "{sums:?}");
        assert_eq!(
            sums[StretchKind::Free as usize] << super::super::BLOCK_SHIFT,
            counts.fragmentation().0 as u32
        );
    }
}
