//! Questions and settings that only the collector of a world understands.

use super::collection::WorldAtRest;
use super::state::World;
use crate::cause::Cause;
use crate::collector::Since;
use crate::kind::MutatorKind;
use crate::session::Session;
use crate::words::Bytes;
use std::any::Any;
use std::time::Duration;

impl<M: MutatorKind> World<M> {
    /// Stops the world and shows `message` to the collector. Returns whether it understands it.
    pub(super) fn ask_collector(&self, session: Session<'_, M::Alloc>, message: &mut dyn Any) -> bool {
        let mut state = self.lock(session);
        let mut stop = self.stop(&mut state, Some(session), None);
        let answered = stop.world().ask(self.description.name, message);
        drop(stop);
        state.events.resume_panic();
        answered
    }
}

impl<M: MutatorKind> WorldAtRest<'_, M> {
    fn ask(&mut self, name: &'static str, message: &mut dyn Any) -> bool {
        let allocated = self.count_allocated();
        let state = &mut *self.state;
        let clock = state.recorder.clock();
        let began = clock.elapsed_ns();
        let since = Since {
            running: Duration::from_nanos(began.saturating_sub(state.last_ended)),
            allocated: Bytes((allocated - state.allocated_before) as usize),
            clock,
            began,
        };
        self.in_pause(name, (Cause::default(), None), since, |collector, pause| {
            collector.answer(pause, message)
        })
    }
}
