//! Compaction of a free space: its live closures slide to the front of its chunks, which leaves one
//! free block at the end of each.

use super::{Compacted, Compactor, PlannedLane};
use crate::block::{BlockRun, LARGE_OBJECT, OutOfMemory};
use crate::closure::ClosureRef;
use crate::collector::Pause;
use crate::events::Phase;
use crate::space::{Chunk, FreeList, FreeSpace, LargeObjects, LiveMap, MarkBits, Marks};

impl Compactor<'_> {
    /// Slides the closures of `space` to the front of its chunks, by address. `first`, if given,
    /// comes before all other chunks, wherever it lies. All closures with a bit in `starts` live;
    /// so do the `large` objects, which are not moved. `starts` is updated, and `list`, which is
    /// empty, gets the free blocks.
    ///
    /// No cycle of marking and sweeping is in progress, and no closure is young, so no slot is
    /// remembered, and each slot of a closure or root is null or points to a live closure.
    ///
    /// # Errors
    /// If the heap has no memory for the tables of a compaction. Nothing is changed then.
    ///
    /// # Panics
    /// If a cycle is in progress.
    pub fn slide_free<A, L: FreeList>(
        pause: &mut Pause<'_, A>,
        space: &mut FreeSpace<L>,
        starts: &mut MarkBits,
        large: &LargeObjects,
        first: Option<BlockRun>,
        list: L,
    ) -> Result<Compacted, OutOfMemory> {
        let mut map = LiveMap::for_a_moment(pause.heap)?;
        let mut runs = space.take_chunks();
        if let Some(place) = runs.iter().position(|run| Some(*run) == first) {
            runs[..=place].rotate_right(1);
        }
        let chunks = runs.into_iter().map(|run| mark_chunk(run, starts, &map)).collect();
        for object in large.objects() {
            map.mark::<false>(object.start, LARGE_OBJECT);
            map.keep_in_place(object.start);
        }
        let lanes = [PlannedLane::new(chunks, &mut map), PlannedLane::empty()];
        let mut compactor = Compactor::planned(&mut map, lanes, large.objects().to_vec());
        pause.events.phase(Phase::Planned);
        compactor.update_roots(pause.roots);
        compactor.slide();
        pause.events.phase(Phase::Moved);
        let [lane, _] = &compactor.lanes;
        let ends = lane.ends.iter().map(|end| Some(*end)).chain(std::iter::repeat(None));
        let chunks = lane.chunks.iter().zip(ends);
        let chunks = chunks.map(|(chunk, end)| (chunk.run, end.unwrap_or(chunk.run.start())));
        // SAFETY: the slide has left adjacent closures up to these ends, and nothing after them.
        unsafe { space.put_chunks(list, starts, chunks) };
        pause.events.phase(Phase::Released);
        Ok(Compacted {
            moved: compactor.slid.moved,
            shared: compactor.shared,
        })
    }
}

/// Marks the closures of a chunk in `map`. Returns the chunk as far as it has closures.
fn mark_chunk(run: BlockRun, starts: &MarkBits, map: &LiveMap) -> Chunk {
    let mut end = run.start();
    while let Some(at) = starts.next_set(end, run.end()) {
        // SAFETY: a closure starts where a bit is set.
        let words = unsafe { ClosureRef(at.as_mut_ptr()).words() };
        map.mark::<false>(at, words);
        end = at + words;
    }
    Chunk { run, end }
}
