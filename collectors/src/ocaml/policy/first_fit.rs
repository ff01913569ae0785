//! Policy 1, first-fit: the block with the lowest address.
//!
//! The list is in address order. A *record* is a block that is larger than every block before it,
//! so the first block that fits is a record. Searches find records as they pass them, and keep them
//! in a table with their sizes. A search looks there first, then continues beyond the part of the
//! list that the table covers.

use super::chain::Chain;
use gclab_core::space::{FreeBlock, FreeList, FreeMemory, Link};
use gclab_core::words::{Addr, Words};

/// Limit on records in the table.
const MOST_RECORDS: usize = 1000;

/// An address-ordered list and its records.
#[derive(Debug, Default)]
pub struct FirstFit {
    chain: Chain,
    /// The records up to `known`, by address, with their words. So they are by size, too.
    records: Vec<(FreeBlock, Words)>,
    /// The last block that was compared with the records before it.
    known: Option<FreeBlock>,
}

impl FirstFit {
    /// The index in the table of the first block with `words` words, searching the rest of the list
    /// if need be.
    fn find(&mut self, memory: &FreeMemory, words: Words) -> Option<usize> {
        let place = self.records.partition_point(|&(_, record)| record < words);
        if place < self.records.len() {
            return Some(place);
        }
        while self.records.len() < MOST_RECORDS {
            let block = self.chain.behind(memory, self.known)?;
            self.known = Some(block);
            let size = memory.words(block);
            if self.records.last().is_none_or(|&(_, record)| record < size) {
                self.records.push((block, size));
                if size >= words {
                    return Some(self.records.len() - 1);
                }
            }
        }
        None
    }

    /// The first block with `words` words beyond the part that the table covers.
    fn find_beyond(&self, memory: &FreeMemory, words: Words) -> Option<FreeBlock> {
        let mut next = self.chain.behind(memory, self.known);
        while let Some(block) = next.filter(|&block| memory.words(block) < words) {
            next = memory.link(block, Link::Next);
        }
        next
    }

    /// Takes words from the record at `place`, and finds the records that replace it: the rest of
    /// the block, and blocks that it had hidden.
    fn take_record(&mut self, memory: &mut FreeMemory, place: usize, words: Words) -> Addr {
        let (block, size) = self.records[place];
        let mut next = if size - words < Words(2) {
            let behind = memory.link(block, Link::Next);
            let before = self.chain.remove(memory, block);
            if self.known == Some(block) {
                self.known = before;
            }
            behind
        } else {
            Some(block)
        };
        let at = memory.take(block, words).0;
        let mut least = place
            .checked_sub(1)
            .map_or(Words::ZERO, |before| self.records[before].1);
        let end = self.records.get(place + 1).map(|&(record, _)| record);
        let is_before_end = |&block: &FreeBlock| match end {
            Some(end) => block < end,
            None => Some(block) <= self.known,
        };
        let mut between = Vec::new();
        while let Some(block) = next.filter(is_before_end) {
            let size = memory.words(block);
            if size > least {
                between.push((block, size));
                least = size;
            }
            next = memory.link(block, Link::Next);
        }
        if !gclab_core::mutant!("ocaml/record-kept") {
            self.records.splice(place..=place, between);
        }
        if self.records.len() > MOST_RECORDS {
            self.records.truncate(MOST_RECORDS);
            self.known = self.records.last().map(|&(record, _)| record);
        }
        at
    }

    /// Forgets the records from the position of `block`, where the list changes.
    fn forget_from(&mut self, block: FreeBlock) {
        let left = self.records.partition_point(|&(record, _)| record < block);
        if self.known >= Some(block) {
            self.records.truncate(left);
            self.known = self.records.last().map(|&(record, _)| record);
        }
    }
}

impl FreeList for FirstFit {
    fn take(&mut self, memory: &mut FreeMemory, words: Words) -> Option<Addr> {
        if let Some(place) = self.find(memory, words) {
            return Some(self.take_record(memory, place, words));
        }
        let block = self.find_beyond(memory, words)?;
        if memory.words(block) - words < Words(2) {
            self.chain.remove(memory, block);
        }
        Some(memory.take(block, words).0)
    }

    fn add(&mut self, memory: &mut FreeMemory, block: FreeBlock) {
        self.forget_from(block);
        self.chain.insert(memory, block);
    }

    fn begin_sweep(&mut self) {
        self.chain.begin_sweep();
    }

    fn absorbed(&mut self, memory: &mut FreeMemory, block: FreeBlock) {
        self.forget_from(block);
        self.chain.remove(memory, block);
    }

    fn swept(&mut self, memory: &mut FreeMemory, block: FreeBlock) {
        self.forget_from(block);
        self.chain.insert_swept(memory, block);
    }
}
