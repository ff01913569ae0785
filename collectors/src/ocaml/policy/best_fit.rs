//! Policy 2, best-fit: the smallest block that is large enough.
//!
//! Blocks of up to 17 words are in a list for each size, larger ones in a tree by size. When the
//! lists have no block, the tree's smallest one serves small closures one after another: it stays
//! at its position in the tree as it shrinks.

use super::small::{self, SmallLists};
use super::tree::Tree;
use gclab_core::mutant;
use gclab_core::space::{FreeBlock, FreeList, FreeMemory, Link};
use gclab_core::words::{Addr, Words};

/// Lists of small blocks, and a tree of the others.
#[derive(Debug, Default)]
pub struct BestFit {
    small: SmallLists,
    tree: Tree,
    /// The node of the tree's smallest blocks, if known.
    least: Option<FreeBlock>,
}

impl BestFit {
    /// The root of the tree of larger blocks.
    pub fn root(&self) -> Option<FreeBlock> {
        self.tree.root()
    }

    /// The node of the smallest blocks with this many words, and the node below it, if the tree was
    /// searched.
    fn best(&mut self, memory: &mut FreeMemory, words: Words) -> Option<(FreeBlock, Option<FreeBlock>)> {
        let (node, below) = match self.least {
            Some(least) if memory.words(least) >= words => (least, None),
            _ => self.tree.best(memory, words)?,
        };
        if below.is_none() {
            self.least = Some(node);
        }
        Some((node, below))
    }

    /// Takes words from the tree's smallest block with that many.
    fn take_of_tree(&mut self, memory: &mut FreeMemory, words: Words) -> Option<Addr> {
        let (node, below) = self.best(memory, words)?;
        // Of several blocks, the one that has waited longest; the node itself comes last.
        let block = memory.link(node, Link::Next).unwrap_or(node);
        let left = memory.words(block) - words;
        let below = below.map_or(small::MOST, |below| memory.words(below));
        if block == node && left > below {
            // It stays between its neighbours in the tree.
            return Some(memory.take(block, words).0);
        }
        self.remove_large(memory, block);
        let at = memory.take(block, words).0;
        if left > small::MOST {
            self.insert_large(memory, block);
        } else if left > Words(1) {
            self.small.push(memory, block);
        }
        Some(at)
    }

    fn insert_large(&mut self, memory: &mut FreeMemory, block: FreeBlock) {
        if self
            .least
            .is_some_and(|least| memory.words(block) < memory.words(least))
        {
            self.least = Some(block);
        }
        self.tree.insert(memory, block);
    }

    fn remove_large(&mut self, memory: &mut FreeMemory, block: FreeBlock) {
        if self.least == Some(block) {
            self.least = None;
        }
        self.tree.remove(memory, block);
    }
}

impl FreeList for BestFit {
    fn take(&mut self, memory: &mut FreeMemory, words: Words) -> Option<Addr> {
        if words > small::MOST {
            return self.take_of_tree(memory, words);
        }
        let Some(size) = self.small.least(words) else {
            return self.take_of_tree(memory, words);
        };
        let block = self.small.pop(memory, size)?;
        let at = memory.take(block, words).0;
        if size - words > Words(1) {
            self.small.push(memory, block);
        }
        Some(at)
    }

    /// Small closures take blocks from the lists, or the tree's smallest one as long as it lasts,
    /// so the first of them takes all of it.
    fn take_several(&mut self, memory: &mut FreeMemory, words: Words) -> Option<(Addr, Words)> {
        if words > small::MOST {
            return self.take_of_tree(memory, words).map(|at| (at, words));
        }
        let block = match self.small.least(words) {
            Some(size) => self.small.pop(memory, size)?,
            None => {
                let (node, _) = self.best(memory, words)?;
                let block = memory.link(node, Link::Next).unwrap_or(node);
                if !mutant!("ocaml/block-still-listed") {
                    self.remove_large(memory, block);
                }
                block
            }
        };
        Some(memory.take_all(block))
    }

    fn upcoming(&self, words: Words) -> Option<FreeBlock> {
        self.small.first(words)
    }

    fn add(&mut self, memory: &mut FreeMemory, block: FreeBlock) {
        self.swept(memory, block);
    }

    fn sweeps_to_the_end(&self) -> bool {
        true
    }

    fn begin_sweep(&mut self) {}

    fn absorbed(&mut self, memory: &mut FreeMemory, block: FreeBlock) {
        if memory.words(block) <= small::MOST {
            self.small.remove(memory, block);
        } else {
            self.remove_large(memory, block);
        }
    }

    fn swept(&mut self, memory: &mut FreeMemory, block: FreeBlock) {
        if memory.words(block) <= small::MOST {
            self.small.push_back(memory, block);
        } else {
            self.insert_large(memory, block);
        }
    }
}
