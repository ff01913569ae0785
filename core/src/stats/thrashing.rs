//! The time in which a run thrashed.

use super::ratio;
use crate::words::Bytes;
use std::fmt::{self, Display, Formatter};
use std::ops::AddAssign;

/// A time in which almost everything went into collections that freed almost nothing; nothing if
/// the run never thrashed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Thrashing {
    /// Number of major collections.
    pub major_gcs: u64,
    /// Elapsed time, in nanoseconds.
    pub elapsed_ns: u64,
    /// The part of it in collections, minor ones included, in nanoseconds.
    pub collecting_ns: u64,
    /// CPU time of the process, in nanoseconds.
    pub cpu_ns: u64,
    /// The part of it in collections, in nanoseconds.
    pub collecting_cpu_ns: u64,
    /// Bytes that these freed.
    pub freed: Bytes,
}

impl Thrashing {
    /// The share of the time that went into collections, in percent: of elapsed time or of CPU time,
    /// whichever is less. A loaded machine interrupts collections more than the program between them,
    /// and a program that waits takes no CPU time.
    pub(crate) fn collecting(&self) -> f64 {
        let (elapsed, cpu) = (
            ratio(self.collecting_ns, self.elapsed_ns),
            ratio(self.collecting_cpu_ns, self.cpu_ns),
        );
        100.0 * elapsed.min(cpu)
    }
}

impl AddAssign for Thrashing {
    fn add_assign(&mut self, more: Thrashing) {
        self.major_gcs += more.major_gcs;
        self.elapsed_ns += more.elapsed_ns;
        self.collecting_ns += more.collecting_ns;
        self.cpu_ns += more.cpu_ns;
        self.collecting_cpu_ns += more.collecting_cpu_ns;
        self.freed = self.freed + more.freed;
    }
}

impl Display for Thrashing {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let each = Bytes(self.freed.0 / self.major_gcs.max(1) as usize);
        let (percent, ms) = (self.collecting(), self.elapsed_ns as f64 / 1e6);
        write!(
            f,
            "{percent:.1} % of {ms:.1} ms went into {} major collections that freed {each} each",
            self.major_gcs
        )
    }
}
