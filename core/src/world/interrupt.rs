//! The end of a run at the request of another thread: after Ctrl-C, for example.
//!
//! The request is a flag in the state. Each thread that runs finds its allocator interrupted, comes
//! to a slow path, sees the flag there and unwinds to [`World::enter`]. A thread in
//! [`crate::mutator::Mutator::blocking`] does so at its first allocation or safepoint after the
//! call; a thread that waits for a capability, at once. The heap is whole throughout, so
//! statistics and profiles of the part that ran are complete.

use super::errors::{EnterError, Leave};
use super::state::World;
use crate::kind::MutatorKind;
use std::panic::resume_unwind;

impl<M: MutatorKind> World<M> {
    /// Ends all sessions: each thread that is inside unwinds at its next safepoint, and
    /// [`World::enter`] returns [`EnterError::Interrupted`] from now on. It does not wait for them.
    ///
    /// # Errors
    /// [`EnterError::Entered`] if this thread is inside.
    pub fn interrupt(&self) -> Result<(), EnterError> {
        self.check_outside()?;
        let mut state = self.state.lock();
        self.wait_while_stopping(&mut state);
        state.interrupted = true;
        self.interrupt_running(&state);
        drop(state);
        self.left.notify_all();
        Ok(())
    }

    /// Unwinds the session of this thread to its [`World::enter`], which returns `why`. The lock is
    /// free.
    #[cold]
    pub(super) fn leave(&self, why: EnterError) -> ! {
        let world = std::ptr::from_ref(self).addr();
        resume_unwind(Box::new(Leave { world, why }))
    }
}
