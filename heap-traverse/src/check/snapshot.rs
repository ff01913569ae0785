//! The snapshot that an incremental collector marks: the closures reachable when marking began are
//! still there when it ends, whatever the program did meanwhile.

use super::fault::{self, Check, Fault};
use crate::addr_set::AddrSet;
use crate::traverse::{Traversal, Visit};
use gclab_core::stats::{Cycle, Work};
use gclab_core::words::Addr;
use gclab_core::world::Stopped;

/// The closures of a snapshot being marked.
#[derive(Debug)]
pub(super) struct Snapshot {
    closures: Vec<Addr>,
}

impl Snapshot {
    /// Checks the snapshot against `starts`, where closures start now, and the closures that the
    /// barrier noted. `kept` is the snapshot after the last collection, and is updated for this
    /// one, which did this `work`: a whole cycle after the end of another may free some of it, and
    /// compacted closures are elsewhere.
    pub(super) fn check(
        kept: &mut Option<Snapshot>,
        stopped: &Stopped<'_>,
        work: &Work,
        starts: &AddrSet,
        traversal: &mut Traversal,
    ) -> Result<(), Fault> {
        if let Some(noted) = stopped.overwritten().find(|noted| !starts.contains(*noted)) {
            return Err(fault(stopped, "the barrier noted", noted));
        }
        let lost = kept
            .as_ref()
            .filter(|_| work.cycle != Cycle::Whole && !work.compacted)
            .and_then(|snapshot| snapshot.lost(starts));
        if let Some(lost) = lost {
            return Err(fault(stopped, "the snapshot has", lost));
        }
        // If a cycle is over, the snapshot being marked is that of the next one.
        let snapshot = kept.take().filter(|_| !work.cycle.is_over());
        *kept = stopped
            .marks_snapshot()
            .then(|| snapshot.unwrap_or_else(|| Snapshot::of(stopped, traversal)));
        Ok(())
    }

    /// The closures reachable now, except in the nursery, which is empty.
    fn of(stopped: &Stopped<'_>, traversal: &mut Traversal) -> Snapshot {
        let mut closures = Vec::new();
        traversal.each(stopped.root_closures(), |closure| {
            closures.push(closure.addr());
            Visit::Descend(())
        });
        Snapshot { closures }
    }

    fn lost(&self, starts: &AddrSet) -> Option<Addr> {
        self.closures.iter().copied().find(|at| !starts.contains(*at))
    }
}

fn fault(stopped: &Stopped<'_>, whose: &str, at: Addr) -> Fault {
    Fault::new(Check::Snapshot, format!("{whose} {}", fault::place(stopped, at)))
}
