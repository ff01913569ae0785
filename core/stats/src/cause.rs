//! The reason for a collection.

/// Why a collection happens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Cause {
    /// The allocation area is used up, or as much was allocated in large objects.
    #[default]
    Allocation,
    /// An allocation was refused for want of memory. Everything is collected before the program
    /// ends as exhausted.
    Shortage,
    /// The program asked for it; a major one if `major`.
    Asked {
        /// Whether everything is to be collected.
        major: bool,
    },
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
            Cause::Asked { .. } => "asked",
            Cause::Stress => "stress",
            Cause::Idle => "idle",
            Cause::Final => "final",
        }
    }

    /// Whether the program, its idleness or the end of the run requested it; otherwise allocation
    /// caused it.
    pub fn is_forced(self) -> bool {
        matches!(self, Cause::Asked { .. } | Cause::Idle | Cause::Final)
    }

    /// Whether everything is to be collected, against the collector's own policy if need be.
    pub fn forces_major(self) -> bool {
        matches!(
            self,
            Cause::Asked { major: true } | Cause::Shortage | Cause::Idle | Cause::Final
        )
    }
}
