//! A census at regular intervals.

use super::profiler::HeapProfiler;
use gclab_core::mutator::MutatorKind;
use gclab_core::timer::Timer;
use gclab_core::world::World;
use std::time::Duration;

impl HeapProfiler {
    /// Lets `timer` stop `world` for a census every `interval`. If the program ends before the
    /// first interval, there is none.
    ///
    /// Threads stop for a census as for a collection: at the next check of their allocation area,
    /// or at a safepoint.
    pub fn sample<'a, M: MutatorKind>(&self, timer: &mut Timer<'a>, world: &'a World<M>, interval: Duration) {
        let profiler = self.clone();
        timer.every(interval, move || {
            // The timer's thread is never inside the world, so it may inspect it.
            let _ = world.inspect_for(profiler.look(), |stopped| profiler.census(stopped));
        });
    }
}
