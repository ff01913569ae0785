//! The reason for a collection.

use crate::words::Words;

/// A program's request to its collector ([`Cause::Asked`]), in terms of OCaml's module `Gc`.
///
/// Every collector serves all of them. A collector that collects everything in one pause has no
/// slices or cycles: it treats [`Request::Slice`] as [`Request::Minor`], and [`Request::Cycle`] as
/// [`Request::Full`] ([`Request::is_major`]). One that cannot compact also treats
/// [`Request::Compact`] as [`Request::Full`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// Collect the youngest generation, and whatever else the collector finds due (GHC's
    /// `performMinorGC`, OCaml's `minor`).
    Minor,
    /// Do a slice of the current cycle: as much work as frees this many words on average; with 0,
    /// as much as the collector finds due (OCaml's `major_slice`). Without a current cycle, like
    /// [`Request::Minor`], and start one.
    Slice(Words),
    /// Finish the current cycle; if there is none, do a whole one (OCaml's `major`).
    Cycle,
    /// Collect everything that is unreachable now: finish the current cycle, and do a whole one
    /// (GHC's `performMajorGC`, OCaml's `full_major`).
    Full,
    /// Like [`Request::Full`], and compact (OCaml's `compact`).
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
    /// Memory ran out. Everything is collected before the program ends as exhausted.
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

    /// Returns the request to the collector, by the program or by the world, which needs all memory
    /// that can be freed. `None`: the collector does what its own policy finds due.
    pub fn request(self) -> Option<Request> {
        match self {
            Cause::Asked(request) => Some(request),
            Cause::Shortage | Cause::Idle | Cause::Final => Some(Request::Full),
            Cause::Allocation | Cause::Stress => None,
        }
    }

    /// Whether a collector without slices must collect everything, overriding its own policy if
    /// need be.
    pub fn forces_major(self) -> bool {
        self.request().is_some_and(Request::is_major)
    }

    /// Whether to compact.
    pub fn forces_compaction(self) -> bool {
        self.request() == Some(Request::Compact)
    }
}
