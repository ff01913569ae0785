//! The blocks of a GHC program (`Block.h`, `BlockAlloc.c`, `GC.h` of GHC 9.0): where the heap is,
//! and how its megablocks are used.

use std::collections::BTreeMap;

use super::image::{END, Image};
use crate::error::Problem;
use crate::snapshot::Usage;

const BLOCK: u64 = 4096;
const MEGABLOCK: u64 = 1 << 20;
/// The descriptors of a megablock's blocks are at its start, 64 bytes each, and take up the first
/// blocks.
const FIRST: u64 = 4;
const BLOCKS: u64 = 252;

/// Flags of a block.
const EVACUATED: u64 = 1;
const LARGE: u64 = 2;
const PINNED: u64 = 4;
const COMPACT: u64 = 512;
const NONMOVING: u64 = 1024;

/// Blocks of one kind, and the memory in them.
pub(super) type Blocks = Vec<(String, Usage)>;

/// The Haskell heap.
pub(super) struct Heap {
    begin: u64,
    end: u64,
    live: BTreeMap<String, u64>,
}

/// The contents of a block descriptor.
struct Descriptor {
    start: u64,
    free: u64,
    link: u64,
    generation: u64,
    flags: u64,
    blocks: u64,
}

impl Descriptor {
    fn at(image: &Image<'_>, at: u64) -> Result<Self, Problem> {
        let numbers = image.word(at + 40)?;
        Ok(Descriptor {
            start: image.word(at)?,
            free: image.word(at + 8)?,
            link: image.word(at + 16)?,
            generation: numbers & 0xffff,
            flags: numbers >> 48,
            blocks: u64::from(image.half(at + 48)?),
        })
    }

    /// The descriptor of an address's block, which identifies its group.
    fn of(image: &Image<'_>, address: u64) -> Result<Self, Problem> {
        let megablock = address & !(MEGABLOCK - 1);
        let own = Descriptor::at(image, megablock + ((address - megablock) / BLOCK) * 64)?;
        // In the nonmoving heap every block has the group's flags.
        match own.blocks == 0 && own.flags & NONMOVING == 0 {
            true => Descriptor::at(image, own.link),
            false => Ok(own),
        }
    }

    fn kind(&self) -> String {
        match self.flags {
            flags if flags & COMPACT != 0 => "compact regions".to_owned(),
            flags if flags & NONMOVING != 0 => "nonmoving heap".to_owned(),
            flags if flags & PINNED != 0 => "pinned".to_owned(),
            flags if flags & LARGE != 0 => "large objects".to_owned(),
            flags if flags & EVACUATED != 0 => format!("generation {}", self.generation),
            _ => "nursery, runtime".to_owned(),
        }
    }
}

impl Heap {
    /// The heap of a program.
    pub(super) fn of(image: &Image<'_>) -> Result<Self, Problem> {
        let space = image.symbol("mblock_address_space")?;
        let (begin, end) = (image.word(space)?, image.word(space + 8)?);
        if begin == 0 || begin >= end || end > END || !begin.is_multiple_of(MEGABLOCK) {
            return Err(Problem::Core(format!(
                "no heap from {begin:#x} to {end:#x}: is this the core's program?"
            )));
        }
        Ok(Heap {
            begin,
            end,
            live: BTreeMap::new(),
        })
    }

    #[inline]
    pub(super) fn contains(&self, address: u64) -> bool {
        (self.begin..self.end).contains(&address)
    }

    /// The compact region that contains a closure, if any.
    pub(super) fn compact(&self, image: &Image<'_>, address: u64) -> Result<Option<u64>, Problem> {
        let descriptor = Descriptor::of(image, address)?;
        if descriptor.flags & COMPACT == 0 {
            return Ok(None);
        }
        image.word(descriptor.start.wrapping_add(8)).map(Some)
    }

    /// Counts a closure, if it is in the heap.
    pub(super) fn live(&mut self, image: &Image<'_>, address: u64, size: u64) -> Result<(), Problem> {
        if self.contains(address) {
            let kind = Descriptor::of(image, address)?.kind();
            *self.live.entry(kind).or_default() += size;
        }
        Ok(())
    }

    /// The memory of all blocks, by kind.
    pub(super) fn finish(mut self, image: &Image<'_>) -> Result<Blocks, Problem> {
        let mut all: BTreeMap<String, Usage> = BTreeMap::new();
        let mut megablock = self.begin;
        while megablock < self.end && image.word(megablock).is_ok() {
            let mut next = megablock + MEGABLOCK;
            let mut block = FIRST;
            while block < FIRST + BLOCKS {
                let own = Descriptor::at(image, megablock + 64 * block)?;
                let bytes = own.blocks.max(1) * BLOCK;
                if own.blocks > BLOCKS {
                    next = megablock + MEGABLOCK * (1 + (own.blocks - BLOCKS).div_ceil(MEGABLOCK / BLOCK));
                }
                // A block of the nonmoving heap has other numbers here. A free group has -1, and
                // memory returned to the system zeros.
                let is_nonmoving = own.blocks > 0 && own.flags & NONMOVING != 0;
                if !is_nonmoving && (own.free == u64::MAX || own.free == 0 || own.blocks == 0) {
                    all.entry("free blocks".to_owned()).or_default().free += bytes;
                } else {
                    let used = match is_nonmoving {
                        false => own.free.saturating_sub(own.start).min(bytes),
                        true => bytes,
                    };
                    let usage = all.entry(own.kind()).or_default();
                    usage.dead += used;
                    usage.free += bytes - used;
                }
                block += own.blocks.max(1);
            }
            megablock = next;
        }
        for (kind, live) in std::mem::take(&mut self.live) {
            let usage = all.entry(kind).or_default();
            let more = live.saturating_sub(usage.dead);
            usage.live = live;
            usage.dead = usage.dead.saturating_sub(live);
            usage.free = usage.free.saturating_sub(more);
        }
        Ok(all.into_iter().collect())
    }
}
