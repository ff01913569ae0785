//! Live and young memory, as sizing needs it.

use crate::space::{Nursery, Steps};
use crate::stats::Work;
use crate::words::Bytes;

/// The strategy of a major collection for the oldest generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MajorStrategy {
    /// All live closures are copied: there must be room for a second copy of them.
    Copying,
    /// The oldest step stays in place, or its closures move within it; younger closures are copied
    /// into it.
    Compacting,
    /// Closures are copied once, out of the nursery, and stay there.
    Promoting,
    /// No closure is copied, young or old.
    InPlace,
}

/// Live memory in bytes, as sizing needs it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Live {
    /// Closures in chunks, which are copied when they are collected.
    pub copied: Bytes,
    /// The part of `copied` outside the oldest step: copied even if the oldest step is compacted.
    pub young: Bytes,
    /// All closures of the oldest step, or of the old generation.
    pub old: Bytes,
    /// Large objects, which are not copied.
    pub large: Bytes,
    /// Bytes of their blocks less those of the closures.
    pub slop: Bytes,
}

impl Live {
    /// The live memory in these steps.
    pub fn of(steps: &Steps) -> Live {
        let small = |words: usize, large: usize| Bytes((words - large) * 8);
        let (words, large) = (steps.words().0, steps.large_words().0);
        let oldest = steps.step(steps.oldest());
        let copied = small(words, large);
        Live {
            copied,
            young: copied - small(oldest.words().0, oldest.large_words().0),
            old: oldest.words().to_bytes(),
            large: Bytes(large * 8),
            slop: steps.slop(),
        }
    }

    /// The live memory of a collector that leaves closures in place, after a collection that did
    /// this `work`. The rest of their blocks is free memory for others, so it is not slop here.
    pub fn in_place(work: &Work) -> Live {
        Live {
            copied: work.live - work.large,
            young: Bytes::ZERO,
            old: work.live,
            large: work.large,
            slop: Bytes::ZERO,
        }
    }

    /// The part of small closures that a collection with this strategy copies.
    pub(super) fn to_copy(self, strategy: MajorStrategy) -> Bytes {
        match strategy {
            MajorStrategy::Copying => self.copied,
            MajorStrategy::Compacting => self.young,
            MajorStrategy::Promoting | MajorStrategy::InPlace => Bytes::ZERO,
        }
    }

    /// All live closures, without slop.
    pub fn total(self) -> Bytes {
        self.copied + self.large
    }

    /// The live memory if everything young survives.
    pub(super) fn with(self, young: Young) -> Live {
        Live {
            copied: self.copied + young.area,
            young: self.young + young.area,
            large: self.large + young.large,
            ..self
        }
    }
}

/// Memory allocated since the last collection, at most.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Young {
    /// Bytes of the allocation areas, as if they were full.
    area: Bytes,
    /// Bytes of young large objects.
    large: Bytes,
}

impl Young {
    /// The most that a nursery can hold.
    pub(super) fn of(nursery: &Nursery) -> Young {
        Young {
            area: nursery.size(),
            large: nursery.large_words().to_bytes(),
        }
    }

    /// The most that allocation areas of this size can hold, without large objects.
    pub(super) fn of_area(area: Bytes) -> Young {
        Young {
            area,
            large: Bytes::ZERO,
        }
    }
}
