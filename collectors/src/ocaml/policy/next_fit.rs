//! Policy 0, next-fit: the search resumes where the last one ended.

use super::chain::Chain;
use gclab_core::space::{FreeBlock, FreeList, FreeMemory, Link};
use gclab_core::words::{Addr, Words};

/// An address-ordered list and a position in it.
#[derive(Debug, Default)]
pub struct NextFit {
    chain: Chain,
    /// The search starts after this block, or at the first one if there is none.
    before: Option<FreeBlock>,
}

impl NextFit {
    /// The first block with `words` words after `from`, up to `end`.
    fn find(
        &self,
        memory: &FreeMemory,
        from: Option<FreeBlock>,
        end: Option<FreeBlock>,
        words: Words,
    ) -> Option<FreeBlock> {
        let mut next = self.chain.behind(memory, from);
        while next != end {
            let block = next?;
            if memory.words(block) >= words {
                return Some(block);
            }
            next = memory.link(block, Link::Next);
        }
        None
    }
}

impl FreeList for NextFit {
    fn take(&mut self, memory: &mut FreeMemory, words: Words) -> Option<Addr> {
        let start = self.chain.behind(memory, self.before);
        let found = self.find(memory, self.before, None, words);
        let block = found.or_else(|| self.find(memory, None, start, words))?;
        self.before = memory.link(block, Link::Previous);
        if memory.words(block) - words < Words(2) {
            self.chain.remove(memory, block);
        }
        Some(memory.take(block, words).0)
    }

    fn add(&mut self, memory: &mut FreeMemory, block: FreeBlock) {
        self.chain.insert(memory, block);
    }

    fn begin_sweep(&mut self) {
        self.chain.begin_sweep();
    }

    fn absorbed(&mut self, memory: &mut FreeMemory, block: FreeBlock) {
        let before = self.chain.remove(memory, block);
        if self.before == Some(block) && !gclab_core::mutant!("ocaml/place-of-next-fit-kept") {
            self.before = before;
        }
    }

    fn swept(&mut self, memory: &mut FreeMemory, block: FreeBlock) {
        self.chain.insert_swept(memory, block);
    }
}
