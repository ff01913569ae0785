//! Compaction of the major heap: closures slide to the front of its chunks, and free chunks are
//! returned.

use super::super::pace::Compaction;
use super::super::policy::Policy;
use super::super::settings::Settings;
use super::super::verbose::Messages;
use super::{MajorHeap, Stage};
use gclab_core::block::{BlockRun, OutOfMemory};
use gclab_core::collector::{Bump, Pause};
use gclab_core::trace::Compactor;
use gclab_core::words::Words;

/// The results of compactions in a pause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct Compactions {
    pub(in super::super) count: u64,
    /// Words of closures whose address has changed.
    pub(in super::super) moved: Words,
}

impl std::ops::AddAssign for Compactions {
    fn add_assign(&mut self, other: Compactions) {
        self.count += other.count;
        self.moved += other.moved;
    }
}

impl MajorHeap {
    /// The overhead that the last cycle showed, in percent: an estimate.
    pub(in super::super) fn estimated_overhead(&self) -> f64 {
        Compaction::estimated_overhead(self.cycle.heap, self.cycle.marked)
    }

    /// The overhead of free blocks now, in percent.
    pub(in super::super) fn overhead(&self) -> f64 {
        Compaction::overhead(self.words(), self.space.memory().free())
    }

    /// Compacts the heap, when no cycle is in progress and the minor heap is empty. The words that
    /// stay free are the space overhead of the live data. If a large chunk keeps the heap from
    /// shrinking, everything moves once more, into a chunk of the right size. Without memory for a
    /// compaction's tables, free chunks are still returned.
    pub(in super::super) fn compact(
        &mut self,
        pause: &mut Pause<'_, Bump>,
        settings: &Settings,
        messages: &mut Messages,
    ) -> Compactions {
        assert!(
            matches!(self.stage, Stage::Idle),
            "a cycle marks or sweeps closures where they are"
        );
        let mut compactions = self.slide_and_shrink(pause, settings, messages, None);
        if let Some(first) = self.chunk_for_all(pause, settings, messages) {
            compactions += self.slide_and_shrink(pause, settings, messages, Some(first));
        }
        compactions
    }

    /// Words in use: all but free blocks.
    fn in_use(&self) -> Words {
        self.words() - self.space.memory().free()
    }

    /// Slides all closures to the front of the chunks, with `first` before the others, and returns
    /// free chunks.
    fn slide_and_shrink(
        &mut self,
        pause: &mut Pause<'_, Bump>,
        settings: &Settings,
        messages: &mut Messages,
        first: Option<BlockRun>,
    ) -> Compactions {
        messages.compaction_begins();
        let slid = self.slide(pause, settings, first).unwrap_or_default();
        let keep = Compaction::free_words(self.in_use(), settings.space_overhead);
        self.space.shrink(pause.heap, keep, first);
        messages.heap(self.words());
        messages.compaction_is_over();
        slid
    }

    /// A new chunk that all closures move to, if the heap is far too large for the words in use.
    fn chunk_for_all(
        &mut self,
        pause: &mut Pause<'_, Bump>,
        settings: &Settings,
        messages: &mut Messages,
    ) -> Option<BlockRun> {
        let (heap, moving) = (self.chunk_words(), self.space.memory().in_use());
        let live = self.in_use();
        let words = Compaction::one_chunk(heap, moving, live, settings.increment, settings.space_overhead)?;
        if words > self.most_chunk {
            return None;
        }
        messages.second_compaction(words);
        let chunk = self.space.grow(pause.heap, words);
        self.has_grown();
        messages.set_heap(self.words());
        chunk.ok()
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
