//! What can be read from a running world: the program's statistics (`GHC.Stats`), its collector's
//! named figures, and the stacks of cost centres.

use super::errors::{EnterError, RtsStatsError};
use super::gate::Locked;
use super::owned::ForeignCounts;
use super::state::{World, WorldState};
use crate::kind::MutatorKind;
use crate::profile::{SideWords, StackId};
use crate::session::ThreadState;
use crate::stats::{Figure, NotEnabled, RtsStats};
use crate::sync::Arc;

impl<M: MutatorKind> World<M> {
    /// From now on the program can read its statistics (`-T`, and `-t`, `-s` and `-S`).
    pub fn enable_rts_stats(&mut self) {
        self.state.get_mut().rts_stats = true;
    }

    /// Whether the program can read its statistics: GHC's `getRTSStatsEnabled`.
    ///
    /// # Errors
    /// [`EnterError::Entered`] if this thread is inside: [`crate::mutator::Mutator::rts_stats`]
    /// is for it.
    pub fn rts_stats_enabled(&self) -> Result<bool, EnterError> {
        self.check_outside()?;
        Ok(self.state.lock().rts_stats)
    }

    /// The statistics up to now: GHC's `getRTSStats`. A thread that is inside calls
    /// [`crate::mutator::Mutator::rts_stats`] instead.
    ///
    /// # Errors
    /// [`RtsStatsError::NotEnabled`] unless they were [enabled](World::enable_rts_stats),
    /// [`RtsStatsError::Enter`] if this thread is inside.
    pub fn rts_stats(&self) -> Result<RtsStats, RtsStatsError> {
        self.check_outside()?;
        Ok(self.rts_stats_locked(&self.state.lock())?)
    }

    /// The statistics up to now, for a caller that holds the lock.
    pub(super) fn rts_stats_locked(&self, state: &Locked<'_, M>) -> Result<RtsStats, NotEnabled> {
        if !state.rts_stats {
            return Err(NotEnabled);
        }
        let running = self
            .participants
            .read(|all| all.iter().map(|participant| participant.since()).sum());
        Ok(state.recorder.rts_stats(&state.final_counts(running)))
    }

    /// Calls `sample` for each thread that runs the program, with the number of its capability and
    /// its stack of cost centres as of a moment ago. It takes no lock and stops no thread. In a
    /// heap without side words, the stack is always `MAIN`.
    pub fn sample_stacks(&self, mut sample: impl FnMut(usize, StackId)) {
        self.participants.read(|all| {
            for participant in all {
                let running = participant.state() == ThreadState::Running || mutant!("profiles/sampled-at-rest");
                if let (Some(number), true) = (participant.number(), running) {
                    sample(number, participant.stack());
                }
            }
        });
    }

    /// The side words of the heap, if its mutators are observed.
    pub fn side_words(&self) -> Option<Arc<SideWords>> {
        if self.check_outside().is_err() {
            return None;
        }
        self.state.lock().heap.side_words().cloned()
    }
}

impl<M: MutatorKind> WorldState<M> {
    /// The named figures up to now. `foreign` covers memory outside the heap.
    pub(super) fn figures(&self, foreign: ForeignCounts) -> Vec<Figure> {
        let mut figures = Vec::new();
        if foreign.closures > 0 {
            for (name, value) in [
                ("foreign_closures", foreign.closures),
                ("foreign_bytes", foreign.allocated),
                ("foreign_held_bytes", foreign.held),
                ("peak_foreign_bytes", foreign.peak),
            ] {
                figures.push(Figure { name, value });
            }
        }
        self.collector
            .figures(&mut |name, value| figures.push(Figure { name, value }));
        figures
    }
}
