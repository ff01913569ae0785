//! The structural walk: everything that a collector manages, region by region and closure by
//! closure, dead or alive.

use gclab_core::block::Region;
use gclab_core::words::Addr;
use gclab_core::world::{ClosureView, Stopped, StoppedRegion};

/// A walk cannot continue: no closure starts at a word where one should, or it does not end inside
/// its region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unparsable {
    /// The word where a closure should start.
    pub at: Addr,
    /// The region of that word.
    pub region: Region,
}

/// All regions that hold or may hold closures, in address order.
pub(crate) fn regions<'a>(stopped: &Stopped<'a>) -> Vec<StoppedRegion<'a>> {
    let mut regions = Vec::new();
    stopped.for_each_region(&mut |region| regions.push(region));
    regions.sort_unstable_by_key(|region| (region.run.start(), region.start));
    regions
}

/// Calls `visit` for each closure of `regions`.
///
/// # Errors
/// At the first region whose words are not a sequence of closures.
pub(crate) fn for_each_closure<'a>(
    stopped: &Stopped<'a>,
    regions: &[StoppedRegion<'a>],
    mut visit: impl FnMut(&Region, ClosureView<'a>),
) -> Result<(), Unparsable> {
    for region in regions {
        for closure in stopped.closures(*region) {
            visit(region, closure.map_err(|at| Unparsable { at, region: **region })?);
        }
    }
    Ok(())
}
