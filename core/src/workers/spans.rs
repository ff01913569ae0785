//! When the GC threads of a collection worked, for event logs.
//!
//! A parallel phase records the spans in which each worker was busy, if asked to
//! ([`super::GcThreads::note_spans`]). Cost: memory for each span; the two clock readings for each
//! work item are taken anyway.

/// The state of a GC thread in a collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GcThreadState {
    /// It works.
    Working,
    /// It has found no work, but may still find some.
    Idle,
    /// It is done with the collection.
    Done,
}

/// A parallel phase of a collection, in nanoseconds by the clock of the world.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct PhaseSpans {
    /// The end of the phase.
    pub(crate) end_ns: u64,
    /// The beginnings and the ends of each worker's work; the leader comes first.
    pub(crate) busy: Vec<Vec<(u64, u64)>>,
}

/// A change of a worker's state: when, the worker's number, its new state.
pub(crate) type Turn = (u64, usize, GcThreadState);

/// The turns of the workers of a collection that lasts from `start_ns` to `end_ns`, those of each
/// worker in order. The leader works alone before, between and after the phases. The others have
/// turns only if they found work.
pub(crate) fn turns(phases: &[PhaseSpans], start_ns: u64, end_ns: u64) -> Vec<Turn> {
    use GcThreadState::{Done, Idle, Working};
    let mut turns = vec![(start_ns, 0, Working)];
    let workers = phases.iter().map(|phase| phase.busy.len()).max().unwrap_or(0);
    for phase in phases {
        let busy = phase.busy.first().map_or(&[][..], Vec::as_slice);
        for (number, (from, to)) in busy.iter().enumerate() {
            if number > 0 {
                turns.push((*from, 0, Working));
            }
            turns.push((*to, 0, Idle));
        }
        if !busy.is_empty() {
            turns.push((phase.end_ns, 0, Working));
        }
    }
    turns.push((end_ns, 0, Done));
    for worker in 1..workers {
        let first = turns.len();
        let mut last_phase = 0;
        for phase in phases {
            let busy = phase.busy.get(worker).map_or(&[][..], Vec::as_slice);
            for (from, to) in busy {
                turns.extend([(*from, worker, Working), (*to, worker, Idle)]);
                last_phase = phase.end_ns;
            }
        }
        if turns.len() > first {
            turns.push((last_phase, worker, Done));
        }
    }
    turns
}

#[cfg(test)]
mod tests {
    use super::GcThreadState::{Done, Idle, Working};
    use super::*;

    #[test]
    fn a_worker_is_idle_between_its_spans_and_the_leader_works_between_phases() {
        let phases = [
            PhaseSpans {
                end_ns: 40,
                busy: vec![vec![(10, 20), (25, 40)], vec![(15, 30), (32, 38)], vec![]],
            },
            PhaseSpans {
                end_ns: 70,
                busy: vec![vec![(60, 65)], vec![(61, 70)], vec![]],
            },
        ];
        let of = |worker| {
            let all = turns(&phases, 5, 90).into_iter();
            all.filter(|turn| turn.1 == worker)
                .map(|turn| (turn.0, turn.2))
                .collect::<Vec<_>>()
        };
        let leader = [
            (5, Working),
            (20, Idle),
            (25, Working),
            (40, Idle),
            (40, Working),
            (65, Idle),
            (70, Working),
            (90, Done),
        ];
        assert_eq!(of(0), leader);
        let other = [
            (15, Working),
            (30, Idle),
            (32, Working),
            (38, Idle),
            (61, Working),
            (70, Idle),
            (70, Done),
        ];
        assert_eq!(of(1), other);
        assert_eq!(of(2), []);
        assert_eq!(turns(&[], 1, 2), [(1, 0, Working), (2, 0, Done)]);
    }
}
