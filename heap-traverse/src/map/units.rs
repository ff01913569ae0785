//! Lines and cells: the units in which a collector hands out the memory of a run, and how many of
//! them are empty.

use super::survey::Survey;
use super::tile::Use;
use crate::walk;
use gclab_core::block::Units;
use gclab_core::words::Addr;
use gclab_core::world::{Stopped, StoppedRegion};

impl Survey {
    /// Counts the units of all runs, and those in which no closure has a word. `usage` gives the
    /// use of the block at an address.
    pub(super) fn units(&mut self, stopped: &Stopped<'_>, usage: impl Fn(Addr) -> Use) {
        let mut all = Vec::new();
        stopped.for_each_units(&mut |units| all.push(units));
        if all.is_empty() {
            return;
        }
        let regions = walk::regions(stopped);
        for units in &all {
            let first = regions.partition_point(|region| region.run.start() < units.run.start());
            let inside = regions[first..].iter().take_while(|region| region.run == units.run);
            let used = used(units, inside);
            let usage = usage(units.run.start());
            for (number, is_used) in used.into_iter().enumerate() {
                let tile = self.tile(units.run.start().0 + number * units.size.0);
                tile.units += 1;
                tile.free_units += u64::from(!is_used);
                let row = self.totals.row(usage);
                row.units += 1;
                row.free_units += u64::from(!is_used);
            }
        }
        self.totals.units_name = Some(all[0].name);
    }
}

/// For each unit, whether a closure of `regions` has a word in it.
fn used<'r, 'a: 'r>(units: &Units, regions: impl Iterator<Item = &'r StoppedRegion<'a>>) -> Vec<bool> {
    let start = units.run.start();
    let mut used = vec![false; units.run.bytes().0 / units.size.0];
    for region in regions.filter(|region| region.start < region.end) {
        let (first, last) = (region.start - start, (region.end - start).0 - 1);
        let last = (last / units.size.0).min(used.len() - 1);
        used[first.0 / units.size.0..=last].fill(true);
    }
    used
}
