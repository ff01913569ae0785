//! The clocks of a run at one moment.

use crate::clock::Clock;
use crate::stats::Times;

/// All clocks of the process at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stamp {
    pub elapsed_ns: u64,
    pub cpu_ns: u64,
    pub faults: u64,
}

impl Stamp {
    /// Reads all clocks; elapsed time is `clock`'s.
    pub(super) fn now(clock: &Clock) -> Self {
        Stamp {
            elapsed_ns: clock.elapsed_ns(),
            cpu_ns: Clock::process_cpu_ns(),
            faults: Clock::process_usage().faults,
        }
    }

    pub(super) fn times(self) -> Times {
        Times {
            cpu_ns: self.cpu_ns,
            elapsed_ns: self.elapsed_ns,
        }
    }
}
