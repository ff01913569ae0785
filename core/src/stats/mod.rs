//! Statistics of a run as plain data, and the texts that GHC's users know: `-s`, `-S`, `-t`,
//! `--machine-readable`.
//!
//! This module knows neither heaps nor clocks. The recorder measures and fills in the data; this
//! module adds up and prints.
//!
//! Terms are GHC's (`RTSStats`, `GCDetails`): INIT is the time until the heap exists, MUT the
//! program's own time, GC the time of collections from the moment every mutator has stopped, EXIT
//! the time from the program's end to the final figures. The time to stop the mutators (`sync`) is
//! mutator time, as in GHC.
//!
//! A [`Collection`] is the record of one collection. [`Statistics`] is the value that a run ends
//! in: sums and maxima over all collections, the list of them, and the figures of the phases of the
//! run ([`RunPhases`]). [`render`] prints it as GHC would, into a [`Sink`].
//!
//! Memory: the statistics of a run take at most about 20 MiB, however many collections it has
//! ([`Statistics::keep`], [`Pauses`]).
//!
//! Invariants: every collection that ended is in [`Statistics::collections`], in order, unless
//! there were too many for a list; all sums and maxima agree with that list (a test of core's
//! recorder adds them up again).

mod cause;
mod collection;
mod cycle;
mod figure;
mod option;
mod parallel;
mod pauses;
mod phase;
pub mod render;
mod rts_stats;
mod run_phase;
mod sink;
mod slices;
mod statistics;
mod thrashing;
mod times;
mod utilisation;

pub use cause::{Cause, Request};
pub use collection::{Before, Collection, Counted, Memory, Timing, Work};
pub use cycle::Cycle;
pub use figure::Figure;
pub use option::{StatsLevel, StatsOption};
pub use parallel::{GcThread, Shared, Sharing, Sharings, WorkSearch, par_balanced};
pub use pauses::{Pauses, SinglePause};
pub use phase::{Phase, PhaseTimes};
pub use rts_stats::{GcDetails, NotEnabled, RtsStats, Totals};
pub use run_phase::{RunPhase, RunPhases};
pub use sink::Sink;
pub use slices::{ConcurrentCycles, Slices};
pub use statistics::{GenerationStats, Refills, Statistics, Tasks};
pub use thrashing::Thrashing;
pub use times::{Look, Looks, Times};
pub use utilisation::Utilisation;

/// `part / whole`; 0 if `whole` is 0.
fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
