//! The stacks of cost centres of running threads, as a thread outside the heap sees them.

use super::state::World;
use crate::kind::MutatorKind;
use crate::profile::{SideWords, StackId};
use crate::session::ThreadState;
use crate::sync::Arc;

impl<M: MutatorKind> World<M> {
    /// Calls `sample` for each thread that runs the program, with the number of its capability and
    /// its stack of cost centres as of a moment ago. It waits for no lock, and no thread stops for
    /// it. The stack of a heap without side words is always `MAIN`.
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
