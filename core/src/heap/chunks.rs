//! Chunks by which a space grows, and memory for the promotion of closures into new ones.
//!
//! A chunk may be any run of blocks. The blocks of a chunk that fill no megablock come from free
//! groups of blocks, so few blocks of megablocks in use stay free.
//!
//! While mutators run, memory for a promotion is *kept*: it counts under the limit, and no block is
//! taken. A collection that begins has it *promised*, and takes chunks as it needs them.

use super::Heap;
use crate::block::{BLOCKS_PER_MEGABLOCK, BlockRun, BlockState, OutOfMemory, ToSpace};
use crate::words::Words;

/// The least blocks of a free group that is a chunk by itself: 64 KiB.
const LEAST_GROUP: u32 = 16;

impl Heap {
    /// Allocates runs of `blocks` blocks in total, in `state`: one of whole megablocks, and free
    /// groups for the rest.
    ///
    /// # Errors
    /// If there is too little memory. Nothing is allocated then.
    pub(crate) fn allocate_parts(&mut self, blocks: u32, state: BlockState) -> Result<Vec<BlockRun>, OutOfMemory> {
        let (mut runs, mut left) = (Vec::new(), blocks % BLOCKS_PER_MEGABLOCK);
        if left < blocks {
            runs.push(self.allocate(blocks - left, blocks - left, state)?);
        }
        while left > 0 {
            match self.allocate(left.min(LEAST_GROUP), left, state) {
                Ok(run) => {
                    left -= run.blocks();
                    runs.push(run);
                }
                Err(error) => {
                    runs.into_iter().for_each(|run| self.free(run));
                    return Err(error);
                }
            }
        }
        Ok(runs)
    }

    /// Keeps memory for chunks into which the next collection promotes `words` words, one thread
    /// alone, instead of what was kept before. It counts under the limit, and no block is
    /// taken. Large objects allocated until then leave room for it.
    ///
    /// # Errors
    /// If there is too little. What was kept before is kept then.
    pub(crate) fn keep_room_to_promote(&mut self, words: Words) -> Result<(), OutOfMemory> {
        let to_space = ToSpace {
            words,
            lanes: 1,
            cells: false,
        };
        self.with_held(|blocks| blocks.keep_to_copy(to_space))?;
        self.next_promotion = Some(words);
        Ok(())
    }

    /// Gives up the memory kept for a promotion.
    pub(crate) fn keep_no_room_to_promote(&mut self) {
        self.next_promotion = None;
        self.blocks.keep_nothing();
    }

    /// Guarantees that the collection that begins gets all chunks
    /// ([`Heap::allocate_chunk_to_promote`]) into which one thread promotes `words` words. It is
    /// not refused if [`Heap::keep_room_to_promote`] has kept room for that many.
    ///
    /// # Errors
    /// As for [`Heap::prepare`].
    pub(crate) fn prepare_to_promote(&mut self, words: Words) -> Result<(), OutOfMemory> {
        let to_space = ToSpace {
            words,
            lanes: 1,
            cells: false,
        };
        self.chunk_blocks = self.with_held(|blocks| blocks.prepare_to_copy(to_space))?;
        self.next_promotion = None;
        Ok(())
    }

    /// Allocates a chunk of `blocks` blocks, or of more or fewer where memory is short.
    ///
    /// # Errors
    /// If the collector has not prepared ([`Heap::prepare_to_promote`]), and there is no memory.
    pub(crate) fn allocate_chunk_to_promote(
        &mut self,
        blocks: u32,
        state: BlockState,
    ) -> Result<BlockRun, OutOfMemory> {
        // The promise counts a group as the chunks that it was planned to be cut into, and a
        // shorter one as a whole. A chunk of more blocks holds no less than those that it consists
        // of.
        let most = blocks.max(self.chunk_blocks);
        let run = self.allocate(most, most, state);
        run.or_else(|_| self.allocate(1, most, state))
    }

    /// The promotion is over: the rest of the collection may need memory of another kind.
    pub fn end_promotion(&mut self) {
        self.blocks.end_promise();
    }
}
