//! A doubly linked list of free blocks in address order.

use gclab_core::space::{FreeBlock, FreeMemory, Link};

/// Free blocks by address.
#[derive(Debug, Default)]
pub(super) struct Chain {
    first: Option<FreeBlock>,
    last: Option<FreeBlock>,
    /// Where the search for the place of the next swept block starts.
    hint: Option<FreeBlock>,
}

impl Chain {
    /// The block after `block`, or the first if there is none.
    pub(super) fn behind(&self, memory: &FreeMemory, block: Option<FreeBlock>) -> Option<FreeBlock> {
        match block {
            Some(block) => memory.link(block, Link::Next),
            None => self.first,
        }
    }

    /// A sweep begins: it adds blocks by [`Chain::insert_swept`], those of a chunk by address.
    pub(super) fn begin_sweep(&mut self) {
        self.hint = None;
    }

    /// Inserts a block after the one that the sweep inserted last.
    pub(super) fn insert_swept(&mut self, memory: &mut FreeMemory, block: FreeBlock) {
        self.insert_behind(memory, self.hint.filter(|&hint| hint < block), block);
        self.hint = Some(block);
    }

    /// Inserts a block.
    pub(super) fn insert(&mut self, memory: &mut FreeMemory, block: FreeBlock) {
        self.insert_behind(memory, None, block);
    }

    /// Inserts a block whose place is after `low`.
    fn insert_behind(&mut self, memory: &mut FreeMemory, low: Option<FreeBlock>, block: FreeBlock) {
        let mut before = low;
        if self.last.is_some_and(|last| last < block) {
            before = self.last;
        }
        let mut behind = self.behind(memory, before);
        while let Some(lower) = behind.filter(|&next| next < block) {
            before = Some(lower);
            behind = memory.link(lower, Link::Next);
        }
        self.join(memory, before, Some(block));
        self.join(memory, Some(block), behind);
    }

    /// Removes a block, and returns the one before it.
    pub(super) fn remove(&mut self, memory: &mut FreeMemory, block: FreeBlock) -> Option<FreeBlock> {
        let (before, behind) = (memory.link(block, Link::Previous), memory.link(block, Link::Next));
        self.join(memory, before, behind);
        if self.hint == Some(block) {
            self.hint = before;
        }
        before
    }

    /// Makes two blocks neighbours, or one of them an end.
    fn join(&mut self, memory: &mut FreeMemory, before: Option<FreeBlock>, behind: Option<FreeBlock>) {
        match before {
            Some(block) => memory.set_link(block, Link::Next, behind),
            None => self.first = behind,
        }
        match behind {
            Some(block) => memory.set_link(block, Link::Previous, before),
            None => self.last = before,
        }
    }
}
