//! What is live and what is young, as sizing needs it.

use crate::space::{Nursery, Steps};
use crate::words::Bytes;

/// How the oldest generation is collected in full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// All that lives is copied: there must be room for it a second time.
    Copying,
    /// What the oldest step holds stays in its place, or moves within it; what is younger is copied into it.
    Compacting,
}

/// What is live, in bytes, as sizing needs it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Live {
    /// Closures in chunks, which are copied when they are collected.
    pub copied: Bytes,
    /// Of these, closures outside the oldest step: they are copied even if that is compacted.
    pub young: Bytes,
    /// Large objects, which are not copied.
    pub large: Bytes,
    /// What their blocks take beyond that.
    pub slop: Bytes,
}

impl Live {
    /// What is live in these steps.
    pub fn of(steps: &Steps) -> Live {
        let small = |words: usize, large: usize| Bytes((words - large) * 8);
        let (words, large) = (steps.words().0, steps.large_words().0);
        let oldest = steps.step(steps.oldest());
        let copied = small(words, large);
        Live {
            copied,
            young: copied - small(oldest.words().0, oldest.large_words),
            large: Bytes(large * 8),
            slop: steps.slop(),
        }
    }

    /// All of it, without slop.
    pub fn total(self) -> Bytes {
        self.copied + self.large
    }

    /// All of it, if everything young survives.
    pub(super) fn with(self, young: Young) -> Live {
        Live {
            copied: self.copied + young.area,
            young: self.young + young.area,
            large: self.large + young.large,
            ..self
        }
    }
}

/// What was allocated since the last collection, at most.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Young {
    /// The allocation areas, as if they were full.
    pub area: Bytes,
    /// Young large objects.
    pub large: Bytes,
}

impl Young {
    /// What a nursery may hold.
    pub fn of(nursery: &Nursery) -> Young {
        Young {
            area: nursery.size(),
            large: nursery.large_words().to_bytes(),
        }
    }
}
