//! Compaction of the major heap: closures slide to the front of its chunks, and free chunks go
//! back.

use super::super::pace::Compaction;
use super::super::policy::Policy;
use super::super::settings::Settings;
use super::{MajorHeap, Stage};
use gclab_core::block::{BlockRun, OutOfMemory};
use gclab_core::collector::{Bump, Pause};
use gclab_core::trace::Compactor;
use gclab_core::words::Words;

/// The results of compactions in a pause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct Compactions {
    pub(in super::super) count: u64,
    /// Words of closures that have another address now.
    pub(in super::super) moved: Words,
}

impl std::ops::AddAssign for Compactions {
    fn add_assign(&mut self, other: Compactions) {
        self.count += other.count;
        self.moved += other.moved;
    }
}

impl MajorHeap {
    /// The overhead that the last cycle has shown, in percent: an estimate.
    pub(in super::super) fn estimated_overhead(&self) -> f64 {
        Compaction::estimated_overhead(self.cycle.heap, self.cycle.marked)
    }

    /// The overhead of free blocks now, in percent.
    pub(in super::super) fn overhead(&self) -> f64 {
        Compaction::overhead(self.words(), self.space.memory().free())
    }

    /// Compacts the heap, when no cycle is under way and the minor heap is empty. As many words
    /// stay free as the space overhead of live data is. Where a large chunk keeps the heap from
    /// shrinking, everything moves once more, into a chunk of the right size. Without memory for
    /// the tables of a compaction, free chunks go back all the same.
    pub(in super::super) fn compact(&mut self, pause: &mut Pause<'_, Bump>, settings: &Settings) -> Compactions {
        assert!(
            matches!(self.stage, Stage::Idle),
            "a cycle marks or sweeps closures where they are"
        );
        let mut compactions = Compactions::default();
        if let Ok(slid) = self.slide(pause, settings, None) {
            compactions += slid;
        }
        let live = self.words() - self.space.memory().free();
        let keep = Compaction::free_words(live, settings.space_overhead);
        self.space.shrink(pause.heap, keep);
        if let Some(first) = self.chunk_for_all(pause, settings, live) {
            if let Ok(slid) = self.slide(pause, settings, Some(first)) {
                compactions += slid;
            }
            self.space.shrink(pause.heap, keep);
        }
        compactions
    }

    /// A new chunk that all closures move to, if the heap is far too large for `live` words.
    fn chunk_for_all(&mut self, pause: &mut Pause<'_, Bump>, settings: &Settings, live: Words) -> Option<BlockRun> {
        let (heap, moving) = (self.chunk_words(), self.space.memory().in_use());
        let words = Compaction::one_chunk(heap, moving, live, settings.increment, settings.space_overhead)?;
        let chunk =
            (words <= self.most_chunk).then(|| self.space.grow(pause.heap, &mut self.starts, &mut self.marks, words));
        chunk?.ok()
    }

    fn slide(
        &mut self,
        pause: &mut Pause<'_, Bump>,
        settings: &Settings,
        first: Option<BlockRun>,
    ) -> Result<Compactions, OutOfMemory> {
        let list = Policy::of_number(settings.policy);
        let slid = Compactor::slide_free(pause, &mut self.space, &mut self.starts, &self.large, first, list)?;
        Ok(Compactions {
            count: 1,
            moved: slid.moved,
        })
    }
}
