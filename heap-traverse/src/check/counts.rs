//! Counts of references: each is the number of slots that lead to the closure, and of roots that the
//! collector has counted.

use super::fault::{self, Check, Fault};
use gclab_core::block::FIRST_OLD_STEP;
use gclab_core::closure::ClosureRef;
use gclab_core::space::Ledger;
use gclab_core::words::Addr;
use gclab_core::world::{Stopped, StoppedRegion};
use std::collections::HashMap;

/// Checks the counts of all closures of `regions` that are not young.
pub(super) fn agree(stopped: &Stopped<'_>, regions: &[StoppedRegion<'_>], ledger: Ledger<'_>) -> Result<(), Fault> {
    let mut found: HashMap<Addr, u64> = HashMap::new();
    let mut count = |at: Addr| *found.entry(at).or_default() += 1;
    let old = || {
        let regions = regions.iter().filter(|region| region.step >= FIRST_OLD_STEP);
        regions.flat_map(|&region| stopped.closures(region).flatten())
    };
    for closure in old() {
        let is_begun = |(begun, done): (ClosureRef, usize)| (begun.addr() == closure.addr()).then_some(done);
        let done = ledger.begun.and_then(is_begun).unwrap_or(0);
        let referents = closure.slots().skip(done).map(|(_, to)| to);
        referents.filter(|to| !to.is_null()).for_each(&mut count);
    }
    ledger.others.iter().for_each(|closure| count(closure.addr()));
    for closure in old() {
        let found = found.get(&closure.addr()).copied().unwrap_or_default();
        if let Some(counted) = ledger
            .counts
            .count(closure.addr())
            .filter(|&counted| u64::from(counted) != found)
        {
            return Err(Fault::new(
                Check::Counts,
                format!(
                    "{found} references lead to {}, whose count is {counted}",
                    fault::closure(stopped, closure)
                ),
            ));
        }
    }
    Ok(())
}
