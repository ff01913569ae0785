//! The timer of a run, with the alarms that its flags ask for.

use std::time::Duration;

use gclab_core::config::Config;
use gclab_core::mutator::MutatorKind;
use gclab_core::timer::Timer;
use gclab_core::world::World;

use crate::profile::Profiling;
use crate::time_profile::TimeProfiling;

/// Runs `program` in `world`, with a census every `-i` seconds, samples of a time profile, and idle
/// collections.
///
/// # Errors
/// A message, if the system refuses a thread for the timer. The program has then not run.
pub(crate) fn with_timer<M: MutatorKind, R>(
    world: &World<M>,
    config: &Config,
    profiling: Option<&Profiling>,
    time: Option<&TimeProfiling>,
    program: impl FnOnce() -> R,
) -> Result<R, String> {
    let Some(tick) = config.tick() else {
        return Ok(program());
    };
    let mut timer = Timer::new(tick);
    if let (Some(profiling), Some(interval)) = (profiling, config.census_interval()) {
        profiling.sample(&mut timer, world, Duration::from_secs_f64(interval));
    }
    if let Some(time) = time {
        time.sample(&mut timer, world);
    }
    if let Some(delay) = config.idle_delay() {
        collect_idle(&mut timer, world, delay, config.timer.idle_wait);
    }
    timer.run(program).map_err(|error| {
        format!("the timer's thread, for profiles or idle collections, cannot be started: {error}; -V0 needs none")
    })
}

/// Lets `timer` collect when `world` is idle.
fn collect_idle<'a, M: MutatorKind>(timer: &mut Timer<'a>, world: &'a World<M>, delay: f64, wait: f64) {
    let (delay, wait) = (Duration::from_secs_f64(delay), Duration::from_secs_f64(wait));
    let tick = timer.tick();
    // The timer rounds down to ticks, so one tick more: by then the time is over.
    timer.after(tick, move || world.collect_if_idle(delay, wait) + tick);
}
