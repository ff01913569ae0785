//! Memory: every run has one owner, every block its region's state, and every word belongs to a
//! closure.

use super::fault::{self, Check, Fault};
use crate::addr_set::AddrSet;
use crate::walk;
use gclab_core::block::{BLOCK, BlockRun, Region};
use gclab_core::words::Addr;
use gclab_core::world::{Stopped, StoppedRegion};

/// Checks the block allocator's invariants, and that its allocated runs are exactly the runs of
/// `regions` (which are in address order). Several regions may share a run if they do not overlap
/// and have the same step; in a mixed run, any steps. Large objects may have parts of a run, which
/// do not overlap.
pub(super) fn blocks<'a>(stopped: &Stopped<'a>, regions: &[StoppedRegion<'a>]) -> Result<(), Fault> {
    stopped
        .blocks()
        .check()
        .map_err(|error| Fault::new(Check::Blocks, error.to_string()))?;
    for region in regions {
        inside(stopped, region)?;
    }
    for pair in regions.windows(2) {
        let (low, high) = (&pair[0], &pair[1]);
        let shared = low.run == high.run
            && (low.step == high.step || stopped.state(low.run.start()).is_mixed())
            && !(low.large || high.large)
            && low.start < low.end
            && high.start < high.end;
        if low.end > high.start || (low.run.end() > high.run.start() && !shared) {
            return Err(Fault::new(
                Check::Blocks,
                format!("{} and {} overlap", fault::region(low), fault::region(high)),
            ));
        }
    }
    let mut owned = regions.iter().map(|region| region.run).peekable();
    let mut leaked: Option<BlockRun> = None;
    stopped.blocks().for_each_allocated(|run| {
        if owned.next_if(|part| run.contains(part.start())).is_none() {
            leaked.get_or_insert(run);
        }
        while owned.next_if(|part| run.contains(part.start())).is_some() {}
    });
    leaked.map_or(Ok(()), |run| {
        Err(Fault::new(
            Check::Blocks,
            format!("{run:?} is allocated but in no region: it leaked"),
        ))
    })
}

/// Checks that a region lies inside the run that it names, and that this run is allocated. The run
/// of a large object may be a part of an allocated one: the blocks up to that in which it ends.
fn inside(stopped: &Stopped<'_>, region: &Region) -> Result<(), Fault> {
    let run = region.run;
    let found = stopped.blocks().run_of(run.start());
    let is_part = region.large && run == stopped.blocks().blocks_before(region.start, region.end);
    let end = found.filter(|_| is_part).map_or(run.end(), BlockRun::end);
    let ordered = run.start() <= region.start && region.start <= region.end && region.end <= end;
    if (found == Some(run) || found.is_some() && is_part) && ordered {
        return Ok(());
    }
    let why = match found {
        Some(found) if found == run => "is not inside its run".to_owned(),
        Some(found) => format!("lies in {found:?} instead"),
        None => "is in free blocks".to_owned(),
    };
    Err(Fault::new(Check::Blocks, format!("{} {why}", fault::region(region))))
}

/// Checks the state of each block against its region: the step (at least that of a mixed block),
/// large or not, condemned or not.
/// Only the nursery may be condemned. If the collector moves closures, the nursery is always
/// condemned.
pub(super) fn states<'a>(stopped: &Stopped<'a>, regions: &[StoppedRegion<'a>], moves: bool) -> Result<(), Fault> {
    for region in regions {
        for block in 0..region.run.blocks() as usize {
            let at = Addr(region.run.start().0 + block * BLOCK.0);
            let state = stopped.state(at);
            let condemned = if region.step > 0 {
                !state.is_condemned()
            } else {
                state.is_condemned() || !moves
            };
            let of_step = state.step() == region.step || state.is_mixed() && state.step() < region.step;
            if !of_step || state.is_large() != region.large || !condemned {
                return Err(Fault::new(
                    Check::States,
                    format!("the block at {at} of {} has the state {state:?}", fault::region(region)),
                ));
            }
        }
    }
    Ok(())
}

/// Checks that regions hold closures, one after another, and that a large region holds only one.
/// Puts the closures' addresses into `starts`.
pub(super) fn closures<'a>(
    stopped: &Stopped<'a>,
    regions: &[StoppedRegion<'a>],
    starts: &mut AddrSet,
) -> Result<(), Fault> {
    starts.clear();
    let mut many = None;
    walk::for_each_closure(stopped, regions, |region, closure| {
        if region.large && closure.addr() != region.start {
            many.get_or_insert(*region);
        }
        starts.insert(closure.addr());
    })
    .map_err(|damage| {
        Fault::new(
            Check::Closures,
            format!(
                "no closure that ends inside its region starts at {} of {}",
                damage.at,
                fault::region(&damage.region)
            ),
        )
    })?;
    many.map_or(Ok(()), |region| {
        Err(Fault::new(
            Check::Closures,
            format!("{} holds more than one closure", fault::region(&region)),
        ))
    })
}
