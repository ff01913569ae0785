//! The remembered set is complete: it contains every slot of an old closure that leads to a younger
//! step. And it contains only slots of old closures, since the next collection writes to them, or
//! of closures in mixed blocks, where the barrier does not know which are old.

use super::fault::{self, Check, Fault};
use crate::addr_set::AddrSet;
use crate::walk;
use gclab_core::block::FIRST_OLD_STEP;
use gclab_core::words::Addr;
use gclab_core::world::{ClosureView, Stopped, StoppedRegion};

/// Checks the remembered set against `regions`, whose closures are known to parse. `remembered` is
/// scratch memory for looking up slots.
pub(super) fn complete<'a>(
    stopped: &Stopped<'a>,
    regions: &[StoppedRegion<'a>],
    remembered: &mut AddrSet,
) -> Result<(), Fault> {
    remembered.clear();
    let mut distinct = 0usize;
    for slot in stopped.remembered_slots() {
        if stopped.blocks().run_of(slot).is_none() || !slot.0.is_multiple_of(8) {
            return Err(Fault::new(
                Check::Remembered,
                format!("{slot} is remembered but in no allocated block"),
            ));
        }
        distinct += usize::from(remembered.insert(slot));
    }
    let is_mixed = |region: &StoppedRegion<'a>| stopped.state(region.start).is_mixed();
    let old: Vec<StoppedRegion<'a>> = regions
        .iter()
        .filter(|region| region.step >= FIRST_OLD_STEP || is_mixed(region))
        .copied()
        .collect();
    let step_of = |to: Addr| match stopped.state(to) {
        state if state.is_mixed() => step_in(regions, to),
        state => state.step(),
    };
    let (mut found, mut missing) = (0usize, None);
    let parsed = walk::for_each_closure(stopped, &old, |region, closure| {
        for (index, (at, to)) in closure.slots().enumerate() {
            let is_remembered = distinct > 0 && remembered.contains(at);
            found += usize::from(is_remembered);
            if !is_remembered && region.step >= FIRST_OLD_STEP && step_of(to) < region.step {
                missing.get_or_insert((closure, index, at, to));
            }
        }
    });
    debug_assert!(parsed.is_ok(), "closures were found to parse before");
    if let Some(missing) = missing {
        return Err(not_remembered(stopped, missing));
    }
    if found != distinct {
        return Err(Fault::new(
            Check::Remembered,
            format!(
                "{} of {distinct} remembered slots do not belong to an old closure",
                distinct - found
            ),
        ));
    }
    Ok(())
}

/// The step of the closure at `at`: that of the last of `regions` that begins there or before.
fn step_in(regions: &[StoppedRegion<'_>], at: Addr) -> u8 {
    let behind = regions.partition_point(|region| region.start <= at);
    regions[behind - 1].step
}

fn not_remembered(stopped: &Stopped<'_>, (closure, index, at, to): (ClosureView<'_>, usize, Addr, Addr)) -> Fault {
    Fault::new(
        Check::Remembered,
        format!(
            "slot {index} (at {at}) of {} leads to {to} in {:?} but is not remembered",
            fault::closure(stopped, closure),
            stopped.state(to)
        ),
    )
}
