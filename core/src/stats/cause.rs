//! The reason for a collection.

use crate::words::Words;

/// A program's request to its collector ([`Cause::Asked`]), in the words of OCaml's module `Gc`.
///
/// Every collector answers each of them. A collector that collects everything in one pause has no
/// slices and no cycles: it takes [`Request::Slice`] for [`Request::Minor`], and
/// [`Request::Cycle`] for [`Request::Full`] ([`Request::is_major`]). One that cannot compact takes
/// [`Request::Compact`] for [`Request::Full`], too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// Collect the youngest generation, and whatever else the collector finds due (GHC's
    /// `performMinorGC`, OCaml's `minor`).
    Minor,
    /// Do a slice of the cycle under way: as much work as frees so many words on average; with 0,
    /// as much as the collector finds due (OCaml's `major_slice`). Where no cycle is under way, as
    /// [`Request::Minor`], and begin one.
    Slice(Words),
    /// Finish the cycle under way; if there is none, do a whole one (OCaml's `major`).
    Cycle,
    /// Collect everything that is unreachable now: finish the cycle under way, and do a whole one
    /// (GHC's `performMajorGC`, OCaml's `full_major`).
    Full,
    /// As [`Request::Full`], and move live closures together (OCaml's `compact`).
    Compact,
}

impl Request {
    /// Whether a collector without slices collects everything.
    pub fn is_major(self) -> bool {
        match self {
            Request::Minor | Request::Slice(_) => false,
            Request::Cycle | Request::Full | Request::Compact => true,
        }
    }
}

/// Why a collection happens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Cause {
    /// The allocation area is used up, or as much was allocated in large objects.
    #[default]
    Allocation,
    /// An allocation was refused for want of memory. Everything is collected before the program
    /// ends as exhausted.
    Shortage,
    /// The program asked for it.
    Asked(Request),
    /// `-DZ<n>`: the n-th allocation.
    Stress,
    /// No thread had run in the heap for a time (`-I`).
    Idle,
    /// The last collection of a run, which measures how much is still live.
    Final,
}

impl Cause {
    /// Returns its name in run records.
    pub fn name(self) -> &'static str {
        match self {
            Cause::Allocation => "allocation",
            Cause::Shortage => "shortage",
            Cause::Asked(_) => "asked",
            Cause::Stress => "stress",
            Cause::Idle => "idle",
            Cause::Final => "final",
        }
    }

    /// Whether the program, its idleness or the end of the run requested it; otherwise allocation
    /// caused it.
    pub fn is_forced(self) -> bool {
        matches!(self, Cause::Asked(_) | Cause::Idle | Cause::Final)
    }

    /// Returns what is asked of the collector, by the program or by the world, which
    /// needs all memory that can be free. `None`: the collector does what its own policy finds due.
    pub fn request(self) -> Option<Request> {
        match self {
            Cause::Asked(request) => Some(request),
            Cause::Shortage | Cause::Idle | Cause::Final => Some(Request::Full),
            Cause::Allocation | Cause::Stress => None,
        }
    }

    /// Whether a collector without slices is to collect everything, against its own policy if need
    /// be.
    pub fn forces_major(self) -> bool {
        self.request().is_some_and(Request::is_major)
    }

    /// Whether live closures are to be moved together.
    pub fn forces_compaction(self) -> bool {
        self.request() == Some(Request::Compact)
    }
}
