//! The world as mutators call it for memprof: starting, stopping, following closures.

use super::collection::{WorldAtRest, capabilities};
use super::state::World;
use crate::collector::{Alloc, Sampling};
use crate::kind::MutatorKind;
use crate::sampled::{MemprofError, Sampled, Track};
use crate::session::Session;

impl<M: MutatorKind> World<M> {
    /// Whether events wait for the tracker.
    pub(super) fn memprof_is_due(&self) -> bool {
        self.memprof.is_due()
    }

    pub(super) fn call_memprof_tracker(&self) {
        self.memprof.call_tracker();
    }

    /// Follows a sampled closure.
    pub(super) fn follow_sampled(&self, sampled: Sampled) {
        self.memprof.follow(self.handles.sampled(), sampled);
    }

    /// Samples from now on, on all capabilities; with `None` no longer.
    ///
    /// # Errors
    /// If it did so already.
    pub(super) fn set_memprof(
        &self,
        session: Session<'_, M::Alloc>,
        start: Option<(f64, Box<dyn Track>)>,
    ) -> Result<(), MemprofError> {
        let mut state = self.lock(session);
        let mut stop = self.stop(&mut state, Some(session), None);
        let (rate, new) = start.unzip();
        let old = self.memprof.replace(new);
        if old.is_ok() {
            stop.world().sample(rate);
        }
        drop(stop);
        drop(state);
        // A tracker is dropped without the locks: its code is the program's own.
        old.map(drop)
    }
}

impl<M: MutatorKind> WorldAtRest<'_, M> {
    /// Has all allocators sample words at this rate.
    fn sample(&mut self, rate: Option<f64>) {
        // SAFETY: `new`'s caller promises that they are inside and stopped.
        for capability in unsafe { capabilities(self.participants, &self.state.idle) } {
            let seed = SEED + capability.number() as u64;
            capability.alloc().sample(rate.map(|rate| Sampling { rate, seed }));
            capability.take_sampled();
        }
    }

    /// A collection begins: follows the sampled closures that mutators have allocated since they
    /// were last in a slow path.
    pub(super) fn follow_sampled(&mut self, world: &World<M>) {
        // SAFETY: as for `sample`.
        for capability in unsafe { capabilities(self.participants, &self.state.idle) } {
            if let Some(sampled) = capability.take_sampled() {
                world.follow_sampled(sampled);
            }
        }
    }
}

/// The seed of the first capability's random numbers, so that runs can be repeated.
const SEED: u64 = 42;
