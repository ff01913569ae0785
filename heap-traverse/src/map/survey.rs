//! The survey: one walk over the blocks and the closures of a stopped heap.

use super::data::{HeapMap, LargeObject, Moment, Totals};
use super::moves;
use super::tile::{Ages, Tile, Use};
use crate::walk;
use gclab_core::block::{BLOCK, BLOCKS_PER_MEGABLOCK, Region, StretchKind, megablocks_for};
use gclab_core::profile::Moves;
use gclab_core::words::{Addr, WORD};
use gclab_core::world::{ClosureView, Stopped, StoppedRegion};
use std::cmp::Reverse;

/// Limit on large objects listed in a map.
const MOST_LARGE: usize = 200;

impl HeapMap {
    /// The map of a stopped heap, with at most `most` tiles. `moves` are those of the last
    /// collection; `before` is the map before it, if any. `survived` says how many collections a
    /// closure of an era has survived.
    pub(super) fn survey(
        stopped: &Stopped<'_>,
        moment: Moment,
        most: usize,
        moves: &Moves,
        before: Option<&HeapMap>,
        survived: &dyn Fn(u64) -> Option<u64>,
    ) -> HeapMap {
        let mut survey = Survey::begin(stopped, most);
        survey.regions(stopped, survived);
        survey.units(stopped, |at| usage_at(stopped, at));
        let Survey {
            base,
            shift,
            tiles,
            mut totals,
            mut large,
        } = survey;
        large.sort_by_key(|object| Reverse(object.words));
        large.truncate(MOST_LARGE);
        let usage = |tile: u32| tiles.get(tile as usize).map(|tile| tile.usage);
        // Closures that leave a tile missing from the map before were allocated since, in the
        // collector's first step.
        let first = totals.step_names.iter().position(|name| !name.is_empty()).unwrap_or(0);
        let young = Use::Small(first as u8);
        let used_before = |tile: u32| {
            let before = before?;
            let place = (u64::from(tile) << shift) / u64::from(before.tile_blocks);
            let usage = before.tiles.get(place as usize).map_or(young, |tile| tile.usage);
            Some(if usage.is_allocated() { usage } else { young })
        };
        let moves = moves::of(moves, shift, &mut totals, used_before, usage);
        HeapMap {
            moment,
            base,
            tile_blocks: 1 << shift,
            tiles,
            totals,
            large,
            moves,
        }
    }
}

pub(super) struct Survey {
    base: usize,
    /// log2 of the number of blocks in a tile.
    shift: u32,
    tiles: Vec<Tile>,
    pub(super) totals: Totals,
    large: Vec<LargeObject>,
}

impl Survey {
    /// The blocks: their uses and their number.
    fn begin(stopped: &Stopped<'_>, most: usize) -> Survey {
        let (blocks, base) = (stopped.blocks(), stopped.blocks().base().0);
        let mut stretches = Vec::new();
        blocks.for_each_stretch(|stretch| stretches.push(stretch));
        let end = stretches.last().map_or(0, |last| last.first.0 + last.blocks);
        let mut shift = 0;
        while (end as usize).div_ceil(1 << shift) > most.max(1) {
            shift += 1;
        }
        let accounting = blocks.accounting();
        let mut survey = Survey {
            base,
            shift,
            tiles: vec![Tile::EMPTY; (end as usize).div_ceil(1 << shift)],
            totals: Totals {
                megablocks: u64::from(accounting.megablocks_in_use),
                blocks: u64::from(end),
                step_names: stopped.step_names(),
                ..Totals::default()
            },
            large: Vec::new(),
        };
        for stretch in stretches {
            let (first, end) = (stretch.first.0, stretch.first.0 + stretch.blocks);
            let at = |block: u32| Addr(base + block as usize * BLOCK.0);
            let has_state = |block: &u32| !stopped.state(at(*block)).is_outside();
            let mut usage = match stretch.kind {
                StretchKind::Returned => Use::Returned,
                StretchKind::Free => Use::Free,
                StretchKind::Run => usage_at(stopped, at((first..end).find(has_state).unwrap_or(first))),
            };
            survey.totals.row(usage).runs += 1;
            if usage.is_allocated() {
                survey.totals.allocated += u64::from(stretch.blocks);
            }
            // The objects of a slab may be in different steps. A block in which none begins counts as
            // the one before it.
            let blocks = if matches!(usage, Use::Large(_)) {
                1
            } else {
                stretch.blocks
            };
            for block in (first..end).step_by(blocks as usize) {
                if usage.is_allocated() && has_state(&block) {
                    usage = usage_at(stopped, at(block));
                }
                survey.totals.row(usage).blocks += u64::from(blocks);
                survey.add_blocks(usage, block, blocks);
            }
        }
        debug_assert!(
            survey.totals.megablocks <= u64::from(megablocks_for(end)) && end.is_multiple_of(BLOCKS_PER_MEGABLOCK)
        );
        survey
    }

    fn add_blocks(&mut self, usage: Use, first: u32, blocks: u32) {
        let (mut at, end) = (first, first + blocks);
        while at < end {
            let next = ((at >> self.shift) + 1) << self.shift;
            self.tiles[(at >> self.shift) as usize].add_blocks(usage, next.min(end) - at);
            at = next;
        }
    }

    pub(super) fn tile(&mut self, at: usize) -> &mut Tile {
        &mut self.tiles[((at - self.base) / BLOCK.0) >> self.shift]
    }

    /// The closures, and the holes between the regions of a run.
    fn regions<'a>(&mut self, stopped: &Stopped<'a>, survived: &dyn Fn(u64) -> Option<u64>) {
        let regions = walk::regions(stopped);
        for (place, region) in regions.iter().enumerate() {
            let usage = usage_of(region);
            let next = regions.get(place + 1).filter(|next| next.run == region.run);
            let is_first = place == 0 || regions[place - 1].run != region.run;
            // A large object in a slab may begin behind the end of another.
            if is_first && !region.large {
                self.hole(usage, region.run.start().0, region.start.0);
            }
            self.hole(
                usage,
                region.end.0,
                next.map_or(region.run.end().0, |next| next.start.0),
            );
            self.extent(usage, region);
            if region.large && region.start < region.end {
                self.totals.large_objects += 1;
            }
            self.closures(stopped, *region, usage, survived);
        }
    }

    /// The stretch without closures from `start` to `end`, if it is one.
    fn hole(&mut self, usage: Use, start: usize, end: usize) {
        if start >= end {
            return;
        }
        let words = ((end - start) / WORD) as u64;
        self.tile(start).add_hole(words);
        let row = self.totals.row(usage);
        row.holes += 1;
        row.longest_hole = row.longest_hole.max(words);
        if usage.step() > Some(0) {
            self.totals.slop += words;
        }
    }

    /// The words of a region, by tiles.
    fn extent(&mut self, usage: Use, region: &Region) {
        let tile_bytes = BLOCK.0 << self.shift;
        let mut at = region.start.0;
        while at < region.end.0 {
            let next = self.base + ((at - self.base) / tile_bytes + 1) * tile_bytes;
            self.tile(at).words += ((next.min(region.end.0) - at) / WORD) as u64;
            at = next;
        }
        let words = ((region.end.0 - region.start.0) / WORD) as u64;
        self.totals.row(usage).words += words;
        if region.step > 0 {
            self.totals.live += words;
            self.totals.live_large += if region.large { words } else { 0 };
        }
    }

    fn closures<'a>(
        &mut self,
        stopped: &Stopped<'a>,
        region: StoppedRegion<'a>,
        usage: Use,
        survived: &dyn Fn(u64) -> Option<u64>,
    ) {
        let side_words = stopped.side_words();
        for closure in stopped.closures(region) {
            let closure = match closure {
                Ok(closure) => closure,
                Err(at) => {
                    self.totals.damage.get_or_insert(at.0);
                    return;
                }
            };
            let created = side_words.map(|words| words.get(closure.addr()).created());
            let age = created.filter(|era| *era > 0).and_then(survived);
            let tile = self.tile(closure.addr().0);
            count(&mut tile.closures, &mut tile.ages, age);
            let row = self.totals.row(usage);
            count(&mut row.closures, &mut row.ages, age);
            if region.large {
                self.large.push(large(&region, closure, age));
                self.age_of_large(&region, age);
            }
        }
    }

    /// All tiles of a large object have its age.
    fn age_of_large(&mut self, region: &Region, age: Option<u64>) {
        let tile = |at: usize| ((at - self.base) / BLOCK.0) >> self.shift;
        let (first, last) = (tile(region.start.0), tile(region.end.0 - 1));
        if let Some(age) = age {
            self.tiles[first + 1..=last]
                .iter_mut()
                .for_each(|tile| tile.ages.add(age));
        }
    }
}

/// Counts a closure.
fn count(closures: &mut u64, ages: &mut Ages, age: Option<u64>) {
    *closures += 1;
    if let Some(age) = age {
        ages.add(age);
    }
}

/// The use of the allocated block at an address.
fn usage_at(stopped: &Stopped<'_>, at: Addr) -> Use {
    let state = stopped.state(at);
    if state.is_large() {
        Use::Large(state.step())
    } else {
        Use::Small(state.step())
    }
}

fn usage_of(region: &Region) -> Use {
    if region.large {
        Use::Large(region.step)
    } else {
        Use::Small(region.step)
    }
}

fn large(region: &Region, closure: ClosureView<'_>, age: Option<u64>) -> LargeObject {
    LargeObject {
        address: closure.addr().0,
        words: closure.words().0 as u64,
        blocks: region.run.blocks(),
        step: region.step,
        name: closure.info().name,
        age,
    }
}
