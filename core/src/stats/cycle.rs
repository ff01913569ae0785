//! The part of a cycle that a pause did.

/// The part of a *cycle* that a pause did. A cycle is a collection of all generations: it finds
/// everything that is live, and frees the memory of everything else. Most collectors do it in one
/// pause. Others do it in *slices*, between which the program runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Cycle {
    /// None: the pause collected young generations only.
    #[default]
    None,
    /// The first slice.
    Began,
    /// A slice after which the cycle continues.
    Continued,
    /// The last slice. What died since the cycle began is still there.
    Ended,
    /// All of it: only what can be reached is left.
    Whole,
}

impl Cycle {
    /// The cycle of a pause that collected everything if `major`, and else young generations only.
    pub fn whole_if(major: bool) -> Cycle {
        if major { Cycle::Whole } else { Cycle::None }
    }

    /// Returns its name in run records.
    pub fn name(self) -> &'static str {
        match self {
            Cycle::None => "none",
            Cycle::Began => "began",
            Cycle::Continued => "continued",
            Cycle::Ended => "ended",
            Cycle::Whole => "whole",
        }
    }

    /// Whether the cycle is over: the pause is a major collection.
    pub fn is_over(self) -> bool {
        matches!(self, Cycle::Ended | Cycle::Whole)
    }

    /// Whether the pause did a part of a cycle, not all of it.
    pub fn is_slice(self) -> bool {
        matches!(self, Cycle::Began | Cycle::Continued | Cycle::Ended)
    }
}
