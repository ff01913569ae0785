//! The nursery: the allocation areas (`-A`), step 0.
//!
//! Mutators bump through runs of blocks, one after another. All of the nursery is condemned at
//! every collection and used again afterwards, so it stays in the cache as far as it fits there.
//! Each capability has its own area, and a collection is due when one area is used up. It gets the
//! area when it first allocates, and gives it back at a collection that finds no thread in it: idle
//! capabilities hold no memory. With `-n` there is one area for all, cut into chunks: a capability
//! whose chunk is full takes the next, and a collection is due when none is left, so that
//! capabilities that allocate little leave their share to those that allocate much.
//!
//! Large objects that are still young count against the size of one area, as in GHC (`-AL`, by
//! default `-A`): those of all capabilities together.
//!
//! | when | call |
//! |---|---|
//! | a mutator has no room | [`refill`](Nursery::refill), or [`refill_up_to`](Nursery::refill_up_to) |
//! | a large object is allocated | [`allocate_large`](Nursery::allocate_large) |
//! | memory is short | [`give_way`](Nursery::give_way) frees a run that is not used yet |
//! | a collection begins | [`leave`](Nursery::leave) takes the runs back from mutators |
//! | everything live was moved out | [`reset`](Nursery::reset), by the evacuator (with `-DP` also `take_fresh` and `replace`) |
//! | a collection ends | [`resize`](Nursery::resize), by [`Sizing::after`](crate::sizing::Sizing::after); [`renew`](Nursery::renew) for mutators that use `refill_up_to` |

use crate::alloc::Bump;
use crate::block::{BLOCK, BLOCKS_PER_MEGABLOCK, BlockRun, BlockState, OutOfMemory, Region, blocks_for, poison};
use crate::capability::{Capabilities, Capability};
use crate::cause::Refill;
use crate::config::Config;
use crate::heap::{Heap, LargeObject, LargeRequest};
use crate::words::{Addr, Bytes, Words};

/// The memory in which mutators allocate.
#[derive(Debug)]
pub struct Nursery {
    /// One area for each capability, or one for all.
    areas: Vec<Area>,
    /// By capability: the run that it allocates in, as an index into the runs of its area.
    held: Vec<Option<usize>>,
    /// The most blocks of a run: a chunk (`-n`), or a megablock.
    chunk: u32,
    large: Vec<LargeObject>,
    large_words: Words,
    /// Words of large objects at which a collection is due.
    large_limit: Words,
    /// Blocks of each area in use, as of the last [`Nursery::resize`].
    share: u32,
    /// `-A`, for one capability.
    full_area: Bytes,
    /// `-AL`: the limit on large objects when the areas have their full size.
    full_large: Words,
}

/// Runs that are handed out one after another.
#[derive(Debug, Default)]
struct Area {
    runs: Vec<NurseryRun>,
    /// The run that is handed out next.
    next: usize,
    /// Blocks of all runs together.
    blocks: u32,
    /// Whether its capability has allocated since it got a thread, or shares it with others.
    in_use: bool,
}

#[derive(Debug)]
struct NurseryRun {
    run: BlockRun,
    /// The end of the last closure, unless a mutator allocates here now.
    end: Addr,
}

impl NurseryRun {
    /// The words after the last closure.
    fn rest(&self) -> Words {
        (self.run.end() - self.end).to_words_up()
    }
}

/// The state of nursery blocks at all times: they are in every collection.
const NURSERY: BlockState = BlockState::NURSERY.condemned(true);

impl Nursery {
    /// Makes a nursery of `size` for the first capability, or with `-n` for all, with the chunks
    /// (`-n`) and the limit on young large objects (`-AL`) of `config`.
    ///
    /// # Errors
    /// If the heap has not enough memory.
    pub fn new(heap: &mut Heap, size: Bytes, config: &Config) -> Result<Self, OutOfMemory> {
        let capabilities = config.capabilities as usize;
        let (areas, chunk) = match config.chunk_size() {
            Some(chunk) => (1, blocks_for(chunk)),
            None => (capabilities, BLOCKS_PER_MEGABLOCK),
        };
        let mut nursery = Nursery {
            areas: (0..areas)
                .map(|number| Area {
                    in_use: number == 0,
                    ..Area::default()
                })
                .collect(),
            held: vec![None; capabilities],
            chunk: chunk.max(1),
            large: Vec::new(),
            large_words: Words::ZERO,
            large_limit: Words::ZERO,
            share: 0,
            full_area: config.allocation_area,
            full_large: config.large_limit().to_words_up(),
        };
        nursery.resize(heap, size)?;
        Ok(nursery)
    }

    /// Size of all allocation areas together.
    pub fn size(&self) -> Bytes {
        Bytes(self.areas.iter().map(|area| area.blocks as usize * BLOCK.0).sum())
    }

    /// Words of closures in the allocation areas. Valid after the mutators have
    /// [left](Nursery::leave).
    pub fn words(&self) -> Words {
        let runs = self.areas.iter().flat_map(|area| &area.runs);
        Words(runs.map(|run| (run.end.0 - run.run.start().0) / 8).sum())
    }

    /// Words in young large objects.
    pub(crate) fn large_words(&self) -> Words {
        self.large_words
    }

    /// The words of closures in the area of a capability, which is the only one to allocate there.
    pub fn taken<A: AsRef<Bump>>(&self, capability: Capability<'_, A>) -> Words {
        let number = capability.number();
        let ends = |(index, run): (usize, &NurseryRun)| match self.held[number] {
            Some(held) if held == index => capability.alloc().as_ref().cursor(),
            _ => run.end,
        };
        let area = &self.areas[self.area_of(number)];
        let words = |(index, run)| (ends((index, run)) - run.run.start()).to_words_up();
        area.runs.iter().enumerate().map(words).sum()
    }

    /// Whether mutators have taken a run since the last collection.
    pub fn is_in_use(&self) -> bool {
        self.areas.iter().any(|area| area.next > 0)
    }

    /// The number of areas.
    pub fn parts(&self) -> usize {
        self.areas.len()
    }

    /// The number of capabilities that share the nursery's size: those whose area is in use, or with
    /// `-n` all.
    pub fn sharers(&self) -> usize {
        if self.areas.len() == 1 {
            self.held.len()
        } else {
            self.areas.iter().filter(|area| area.in_use).count().max(1)
        }
    }

    /// The area of a capability.
    pub fn area(&self, number: usize) -> Bytes {
        Bytes(self.areas[self.area_of(number)].blocks as usize * BLOCK.0)
    }

    /// The index of the area of capability `number`: its own area, or the one for all.
    fn area_of(&self, number: usize) -> usize {
        if self.areas.len() == 1 { 0 } else { number }
    }

    /// Gives a capability an area like those of others, if it has none and there is room. Returns
    /// whether it has one. If not, it gets its share at the next [`Nursery::resize`].
    pub fn use_area(&mut self, heap: &mut Heap, number: usize) -> bool {
        let number = self.area_of(number);
        let area = &mut self.areas[number];
        if area.in_use {
            return true;
        }
        area.in_use = true;
        // A collection that did not begin has left it.
        if area.blocks > 0 {
            return true;
        }
        let grown = area.grow(heap, self.share, self.chunk).is_ok();
        let could_copy = grown && heap.more_to_copy(Bytes(area.blocks as usize * BLOCK.0));
        if !could_copy {
            self.give_up_area(heap, number);
        }
        could_copy
    }

    /// Takes back the area of a capability that has just got it by [`Nursery::use_area`]: it gets
    /// its share at the next [`Nursery::resize`].
    pub fn give_up_area(&mut self, heap: &mut Heap, number: usize) {
        self.areas[number].shrink(heap, 0, self.chunk);
    }

    /// Gives the mutator of a capability the next run.
    pub fn refill<A: AsRef<Bump>>(&mut self, heap: &mut Heap, capability: Capability<'_, A>) -> Refill {
        self.leave_one(capability);
        let number = capability.number();
        if !self.use_area(heap, number) {
            return Refill::Collect;
        }
        let area_number = self.area_of(number);
        let area = &mut self.areas[area_number];
        let Some(next) = area.runs.get(area.next) else {
            return Refill::Collect;
        };
        capability.alloc().as_ref().set_region(next.run.start(), next.run.end());
        self.held[number] = Some(area.next);
        area.next += 1;
        Refill::Ready
    }

    /// Gives the mutator of a capability, which is the only one to allocate in its area, up to
    /// `most` words of room: the rest of its run if that has `words` words, or of the next run.
    pub fn refill_up_to<A: AsRef<Bump>>(&mut self, capability: Capability<'_, A>, words: Words, most: Words) -> Refill {
        let number = capability.number();
        let held = self.held[number];
        self.leave_one(capability);
        let area_number = self.area_of(number);
        let area = &mut self.areas[area_number];
        let index = held
            .filter(|&held| area.runs[held].rest() >= words)
            .unwrap_or(area.next);
        let Some(run) = area.runs.get(index) else {
            return Refill::Collect;
        };
        let room = most.min(run.rest());
        capability.alloc().as_ref().set_region(run.end, run.end + room);
        self.held[number] = Some(index);
        area.next = area.next.max(index + 1);
        Refill::Ready
    }

    /// Takes the mutators' runs back (before a collection), and the areas of capabilities without
    /// threads at the next [`Nursery::resize`].
    pub fn leave<A: AsRef<Bump>>(&mut self, capabilities: Capabilities<'_, A>) {
        for capability in capabilities.iter() {
            self.leave_one(capability);
            if self.areas.len() > 1 {
                self.areas[capability.number()].in_use &= capability.has_thread();
            }
        }
    }

    fn leave_one<A: AsRef<Bump>>(&mut self, capability: Capability<'_, A>) {
        let number = capability.number();
        let area_number = self.area_of(number);
        let end = capability.alloc().as_ref().leave_region();
        if let Some(held) = self.held[number].take() {
            self.areas[area_number].runs[held].end = end;
        }
    }

    /// Allocates space for a large object, or returns `None` if a collection is due: when the young
    /// large objects have reached the limit. So one object may be larger than the limit, and
    /// directly after a collection there is always room. Where memory is short, unused runs of the
    /// allocation areas are freed for the object; they are returned at the next collection.
    ///
    /// # Errors
    /// If the heap has not enough memory.
    pub fn allocate_large(&mut self, heap: &mut Heap, request: LargeRequest) -> Result<Option<Addr>, OutOfMemory> {
        if self.large_words >= self.large_limit {
            return Ok(None);
        }
        let object = loop {
            match heap.allocate_large(request, NURSERY.large()) {
                Ok(object) => break object,
                Err(error) => self.give_way(heap).ok_or(error)?,
            }
        };
        self.large.push(object);
        self.large_words += object.words;
        Ok(Some(object.start))
    }

    /// Frees a run that no mutator has begun to use, where memory is short; `None` if there is
    /// none. The areas are smaller until the next [`Nursery::resize`].
    pub fn give_way(&mut self, heap: &mut Heap) -> Option<()> {
        let unused = |area: &&mut Area| area.next < area.runs.len();
        let area = self
            .areas
            .iter_mut()
            .filter(unused)
            .max_by_key(|area| area.runs.len() - area.next)?;
        let NurseryRun { run, .. } = area.runs.pop()?;
        area.blocks -= run.blocks();
        heap.less_to_copy(run.bytes());
        heap.free(run);
        Some(())
    }

    /// After a collection, makes all runs empty again. Returns the large objects, which are young
    /// no more: the collector decides which of them live on.
    ///
    /// # Panics
    /// If a mutator has a run: [`Nursery::leave`] takes the runs back.
    pub fn reset(&mut self) -> Vec<LargeObject> {
        assert!(
            self.held.iter().all(Option::is_none),
            "mutators leave before a collection"
        );
        for area in &mut self.areas {
            area.next = 0;
            area.runs.iter_mut().for_each(|run| run.end = run.run.start());
        }
        self.large_words = Words::ZERO;
        std::mem::take(&mut self.large)
    }

    /// Takes as much memory as the areas have, for [`Nursery::replace`], if the heap protects
    /// memory that collections free (`-DP`). None, if there is not enough.
    pub fn take_fresh(&self, heap: &mut Heap) -> Vec<BlockRun> {
        let (mut fresh, protects) = (Vec::new(), heap.protects_freed());
        let runs = self.areas.iter().flat_map(|area| &area.runs);
        for NurseryRun { run, .. } in runs.filter(|_| protects) {
            match heap.allocate(run.blocks(), run.blocks(), NURSERY) {
                Ok(run) => fresh.push(run),
                Err(_) => {
                    fresh.drain(..).for_each(|run| heap.free(run));
                    return fresh;
                }
            }
        }
        fresh
    }

    /// After [`Nursery::reset`], replaces all runs by `fresh` ones, unless there are none.
    /// Returns the former runs: the collector frees them.
    pub fn replace(&mut self, fresh: Vec<BlockRun>) -> Vec<BlockRun> {
        let runs = self.areas.iter_mut().flat_map(|area| &mut area.runs);
        let replaced = runs.zip(fresh).map(|(old, run)| {
            old.end = run.start();
            std::mem::replace(&mut old.run, run)
        });
        replaced.collect()
    }

    /// Makes new areas for closures of `size` together, for mutators that get their room by
    /// [`Nursery::refill_up_to`]. A run ends with words that the next closure has no room in, so an
    /// area has a block more for each run but the last. Returns the part of `size` that is for each
    /// capability.
    ///
    /// # Errors
    /// As [`Nursery::resize`].
    ///
    /// # Panics
    /// As [`Nursery::resize`].
    pub fn renew(&mut self, heap: &mut Heap, size: Bytes) -> Result<Bytes, OutOfMemory> {
        self.assert_reset();
        // Areas that grew step by step would have more runs.
        self.areas.iter_mut().for_each(|area| area.shrink(heap, 0, u32::MAX));
        let sharers = self.sharers() as u32;
        let share = (blocks_for(size) / sharers).max(1);
        let blocks = (share + share / self.chunk) * sharers;
        self.resize(heap, Bytes(blocks as usize * BLOCK.0))?;
        Ok(Bytes(share as usize * BLOCK.0))
    }

    fn assert_reset(&self) {
        assert!(
            self.areas.iter().all(|area| area.next == 0),
            "a nursery is reset before its size changes"
        );
    }

    /// Makes the allocation areas in use `size` large together, at least a block for each capability
    /// ([`Nursery::sharers`]); others have none. If that is less than `-A` for each, the limit on large
    /// objects falls in proportion: it is the same part of `-AL`.
    ///
    /// # Errors
    /// If the heap has not enough memory. The nursery is then as large as it could become.
    ///
    /// # Panics
    /// If a mutator has had a run since [`Nursery::reset`]: its closures may lie there.
    pub fn resize(&mut self, heap: &mut Heap, size: Bytes) -> Result<(), OutOfMemory> {
        self.assert_reset();
        let sharers = self.sharers();
        let share = (blocks_for(size) / sharers as u32).max(1);
        // Each capability must find a chunk, even in the smallest nursery.
        let chunk = self.chunk.min(share);
        self.share = if self.areas.len() == 1 {
            share * sharers as u32
        } else {
            share
        };
        let wanted = |area: &Area| if area.in_use { self.share } else { 0 };
        let (area, large) = (self.full_area.0.saturating_mul(sharers), self.full_large.0);
        // A limit of nothing would refuse every object, also directly after a collection.
        self.large_limit = Words((large as u128 * size.0.min(area) as u128 / area as u128).max(1) as usize);
        // All areas shrink before any grows.
        self.areas
            .iter_mut()
            .for_each(|area| area.shrink(heap, wanted(area), chunk));
        self.areas
            .iter_mut()
            .try_for_each(|area| area.grow(heap, wanted(area), chunk))
    }

    /// Visits the regions that hold closures.
    pub fn for_each_region<A: AsRef<Bump>>(&self, capabilities: Capabilities<'_, A>, visit: &mut dyn FnMut(Region)) {
        for (number, area) in self.areas.iter().enumerate() {
            let mut ends: Vec<Addr> = area.runs.iter().map(|run| run.end).collect();
            for capability in capabilities.iter().filter(|one| self.area_of(one.number()) == number) {
                if let Some(held) = self.held[capability.number()] {
                    ends[held] = capability.alloc().as_ref().cursor();
                }
            }
            for (NurseryRun { run, .. }, end) in area.runs.iter().zip(ends) {
                visit(Region {
                    run: *run,
                    start: run.start(),
                    end,
                    step: 0,
                    large: false,
                });
            }
        }
        self.large.iter().for_each(|large| visit(large.region(0)));
    }
}

impl Area {
    fn shrink(&mut self, heap: &mut Heap, wanted: u32, chunk: u32) {
        // Runs larger than a chunk are left from a larger nursery; kept, they might be too few for
        // all capabilities.
        while self.blocks > wanted || self.runs.iter().any(|run| run.run.blocks() > chunk) {
            let Some(last) = self.runs.pop() else { break };
            self.blocks -= last.run.blocks();
            heap.blocks.free(last.run);
        }
    }

    fn grow(&mut self, heap: &mut Heap, wanted: u32, chunk: u32) -> Result<(), OutOfMemory> {
        while self.blocks < wanted {
            // Free groups of blocks come first, so some runs are smaller than a chunk. Where a heap
            // has no run of several megablocks, the chunk is cut in two, and so on.
            let most = (wanted - self.blocks).min(chunk);
            let run = heap.blocks.allocate_up_to(most.min(16), most)?;
            heap.set_state(run, NURSERY);
            self.blocks += run.blocks();
            self.runs.push(NurseryRun { run, end: run.start() });
        }
        for NurseryRun { run, .. } in &self.runs {
            // SAFETY: the nursery is empty, and no mutator holds a run: `resize` asserts that.
            unsafe { poison::retire(run.start(), run.bytes()) };
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
