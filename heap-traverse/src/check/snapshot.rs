//! The snapshot that an incremental or concurrent collector marks. The closures reachable when
//! marking began are still there when it ends, whatever the program did meanwhile. If a cycle ends
//! in the pause that ends its marking, nothing is left of the others: what the collector marked is
//! the snapshot, exactly, and closures that are newer. The pause that ends a cycle may move what lies in
//! blocks that were chosen when it began, no more than it says.

use super::fault::{self, Check, Fault};
use crate::addr_set::AddrSet;
use crate::traverse::{Traversal, Visit};
use gclab_core::stats::{Cycle, Work};
use gclab_core::words::{Addr, Bytes, Words};
use gclab_core::world::{RootOrigin, Stopped};

/// The closures of a snapshot being marked.
#[derive(Debug)]
pub(super) struct Snapshot {
    /// Each with its size, if it may move.
    closures: Vec<(Addr, Option<Words>)>,
    /// The old closures that were not reachable.
    dead: Vec<Addr>,
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
            .and_then(|snapshot| snapshot.lost(starts, work));
        if let Some(lost) = lost {
            return Err(fault(stopped, "the snapshot has", lost));
        }
        let floats = kept
            .as_ref()
            .filter(|_| work.cycle == Cycle::Ended && !work.compacted)
            .and_then(|snapshot| snapshot.dead.iter().copied().find(|at| starts.contains(*at)));
        if let Some(floats) = floats {
            return Err(fault(stopped, "the snapshot did not have", floats));
        }
        // If a cycle is over, the snapshot being marked is that of the next one.
        let snapshot = kept.take().filter(|_| !work.cycle.is_over());
        *kept = stopped
            .marks_snapshot()
            .then(|| snapshot.unwrap_or_else(|| Snapshot::of(stopped, starts, traversal)));
        Ok(())
    }

    /// The closures now. The nursery is empty. A closure that only a weak handle or a finaliser leads
    /// to may live or die.
    fn of(stopped: &Stopped<'_>, starts: &AddrSet, traversal: &mut Traversal) -> Snapshot {
        let mut closures = Vec::new();
        let mut found = stopped.closures_of(|origin| !matches!(origin, RootOrigin::Weak | RootOrigin::Ephemeron));
        let mut ephemerons = stopped.ephemerons();
        traversal.begin();
        while !found.is_empty() {
            traversal.each_further(found, |closure| {
                let may_move = stopped.state(closure.addr()).is_mixed();
                closures.push((closure.addr(), may_move.then(|| closure.words())));
                Visit::Descend(())
            });
            let values = ephemerons.extract_if(.., |(key, _)| traversal.visited(*key));
            found = values.map(|(_, value)| value).collect();
        }
        let possible = [stopped.weak_closures(), stopped.finalisable_closures()].concat();
        traversal.each(stopped.root_closures().into_iter().chain(possible), |_| {
            Visit::Descend(())
        });
        let dead = starts.without(traversal.all_visited()).collect();
        Snapshot { closures, dead }
    }

    /// The first closure that is neither where it was nor among those that moved.
    fn lost(&self, starts: &AddrSet, work: &Work) -> Option<Addr> {
        let mut moved = Bytes::ZERO;
        if work.cycle == Cycle::Ended {
            moved = work.copied;
        }
        let mut gone = self.closures.iter().filter(|(at, _)| !starts.contains(*at));
        let lost = gone.find(|(_, size)| {
            let left = size.and_then(|words| moved.0.checked_sub(words.to_bytes().0));
            moved = Bytes(left.unwrap_or_default());
            left.is_none()
        });
        lost.map(|&(at, _)| at)
    }
}

fn fault(stopped: &Stopped<'_>, whose: &str, at: Addr) -> Fault {
    Fault::new(Check::Snapshot, format!("{whose} {}", fault::place(stopped, at)))
}
