//! The statistics of a running program as a value for the program itself: `GHC.Stats`.

use super::errors::{EnterError, RtsStatsError};
use super::gate::Locked;
use super::state::World;
use crate::kind::MutatorKind;
use crate::stats::{NotEnabled, RtsStats};

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

    /// The statistics up to now, for a caller that has the lock.
    pub(super) fn rts_stats_locked(&self, state: &Locked<'_, M>) -> Result<RtsStats, NotEnabled> {
        if !state.rts_stats {
            return Err(NotEnabled);
        }
        let running = self
            .participants
            .read(|all| all.iter().map(|participant| participant.since()).sum());
        Ok(state.recorder.rts_stats(&state.final_counts(running)))
    }
}
