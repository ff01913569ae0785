//! Steps after the nursery: they hold the survivors of collections.

use crate::block::{BlockRun, BlockState, FIRST_OLD_STEP, Region};
use crate::heap::LargeObject;
use crate::stats::Work;
use crate::words::{Addr, Bytes, Words};

/// A run of blocks, filled from its start.
#[derive(Debug, Clone, Copy)]
pub struct Chunk {
    /// The blocks of the chunk.
    pub run: BlockRun,
    /// The end of the last closure.
    pub end: Addr,
}

impl Chunk {
    /// Words of closures in the chunk.
    pub fn words(&self) -> Words {
        Words((self.end.0 - self.run.start().0) / 8)
    }
}

/// The chunks of a step for one sort of closures. Only the last ones may have room left, one for
/// each thread of a collection; later collections continue to fill them.
///
/// A minor collection continues the lanes of old steps. So it neither visits nor copies their
/// chunks: sums are kept, and the vector passes from owner to owner.
#[derive(Debug, Default)]
pub struct Lane {
    /// The chunks, oldest first.
    chunks: Vec<Chunk>,
    /// Words of closures in all chunks.
    words: Words,
    /// Bytes of the blocks of all chunks.
    bytes: Bytes,
}

impl Lane {
    /// The chunks, oldest first.
    pub fn chunks(&self) -> &[Chunk] {
        &self.chunks
    }

    /// Words of closures in all chunks.
    pub(crate) fn words(&self) -> Words {
        self.words
    }

    /// Adds a chunk as the newest one.
    pub(crate) fn push(&mut self, chunk: Chunk) {
        self.words += chunk.words();
        self.bytes += chunk.run.bytes();
        self.chunks.push(chunk);
    }

    /// Takes the newest chunk if `accept` accepts it.
    pub(crate) fn pop_if(&mut self, accept: impl FnOnce(&Chunk) -> bool) -> Option<Chunk> {
        let chunk = self.chunks.pop_if(|chunk| accept(chunk))?;
        self.words -= chunk.words();
        self.bytes -= chunk.run.bytes();
        Some(chunk)
    }

    /// Adds the chunks of `newer`, in their order.
    pub(crate) fn append(&mut self, mut newer: Lane) {
        if self.chunks.is_empty() {
            *self = newer;
            return;
        }
        self.chunks.append(&mut newer.chunks);
        self.words += newer.words;
        self.bytes += newer.bytes;
    }

    /// The chunks, oldest first, without the lane.
    pub(crate) fn into_chunks(self) -> Vec<Chunk> {
        self.chunks
    }
}

impl FromIterator<Chunk> for Lane {
    fn from_iter<I: IntoIterator<Item = Chunk>>(chunks: I) -> Self {
        let mut lane = Lane::default();
        chunks.into_iter().for_each(|chunk| lane.push(chunk));
        lane
    }
}

/// One step: closures with pointers, closures without, large objects.
#[derive(Debug, Default)]
pub struct Step {
    /// The lane of closures that have pointers.
    pub scanned: Lane,
    /// The lane of closures that have no pointers.
    pub flat: Lane,
    /// The large objects of the step.
    large: Vec<LargeObject>,
    /// Words in large objects.
    large_words: Words,
    /// Bytes that large objects take.
    large_bytes: Bytes,
}

impl Step {
    /// Words of closures, large ones included.
    pub fn words(&self) -> Words {
        self.copied_words() + self.large_words
    }

    /// Words of closures that are copied when they are collected.
    pub(crate) fn copied_words(&self) -> Words {
        self.scanned.words + self.flat.words
    }

    /// Words in large objects.
    pub(crate) fn large_words(&self) -> Words {
        self.large_words
    }

    /// The large objects of the step.
    pub fn large(&self) -> &[LargeObject] {
        &self.large
    }

    /// Adds a large object.
    pub(crate) fn push_large(&mut self, large: LargeObject) {
        self.large_words += large.words;
        self.large_bytes += large.bytes();
        self.large.push(large);
    }

    /// Bytes of blocks minus bytes of closures.
    pub fn slop(&self) -> Bytes {
        self.scanned.bytes + self.flat.bytes + self.large_bytes - self.words().to_bytes()
    }
}

/// The steps of a collector after the nursery: 1 to the oldest.
#[derive(Debug)]
pub struct Steps {
    steps: Vec<Step>,
}

impl Steps {
    /// Makes the steps for `generations` generations: one step for one generation, one more than
    /// generations (for ageing) otherwise.
    ///
    /// # Panics
    /// If there are more steps than a block's state can encode (`BlockState::STEP_MAX`).
    pub fn new(generations: u32) -> Self {
        assert!(
            generations <= u32::from(BlockState::STEP_MAX),
            "{generations} generations"
        );
        Steps {
            steps: (0..generations).map(|_| Step::default()).collect(),
        }
    }

    /// The number of the oldest step.
    pub fn oldest(&self) -> u8 {
        self.steps.len() as u8
    }

    /// The last step that a collection of generation `generation` condemns.
    pub fn last_of(&self, generation: u32) -> u8 {
        (generation as u8 + FIRST_OLD_STEP - 1).min(self.oldest())
    }

    /// Step `number`, from 1.
    pub fn step(&self, number: u8) -> &Step {
        &self.steps[usize::from(number) - 1]
    }

    pub(crate) fn step_mut(&mut self, number: u8) -> &mut Step {
        &mut self.steps[usize::from(number) - 1]
    }

    /// A lane by its index. The lanes of step 1 come first; of each step, the one for closures with
    /// pointers.
    pub(crate) fn lane_mut(&mut self, index: usize) -> &mut Lane {
        let step = &mut self.steps[index / 2];
        if index.is_multiple_of(2) {
            &mut step.scanned
        } else {
            &mut step.flat
        }
    }

    /// The steps with their numbers, youngest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (u8, &Step)> {
        self.steps
            .iter()
            .enumerate()
            .map(|(index, step)| (index as u8 + 1, step))
    }

    /// Words of closures in all steps.
    pub fn words(&self) -> Words {
        Words(self.steps.iter().map(|step| step.words().0).sum())
    }

    /// Words of large objects in all steps.
    pub(crate) fn large_words(&self) -> Words {
        Words(self.steps.iter().map(|step| step.large_words.0).sum())
    }

    /// Bytes of blocks minus bytes of closures, in all steps.
    pub fn slop(&self) -> Bytes {
        Bytes(self.steps.iter().map(|step| step.slop().0).sum())
    }

    /// Enters the live bytes of these steps into `work`: all of them, those in large objects, and
    /// the slop.
    pub fn account(&self, work: Work) -> Work {
        Work {
            live: self.words().to_bytes(),
            large: self.large_words().to_bytes(),
            slop: self.slop(),
            ..work
        }
    }

    /// Visits the regions that hold closures.
    pub fn for_each_region(&self, visit: &mut dyn FnMut(Region)) {
        for (number, step) in self.iter() {
            for chunk in step.scanned.chunks().iter().chain(step.flat.chunks()) {
                visit(Region {
                    run: chunk.run,
                    start: chunk.run.start(),
                    end: chunk.end,
                    step: number,
                    large: false,
                });
            }
            step.large.iter().for_each(|large| visit(large.region(number)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::heap::Heap;

    /// Chunks of these numbers of blocks, each with a word more than the one before it.
    fn chunks(heap: &mut Heap, blocks: &[u32]) -> Vec<Chunk> {
        let chunk = |(number, &blocks): (usize, &u32)| {
            let run = heap.allocate(blocks, blocks, BlockState::of_step(2)).expect("room");
            Chunk {
                run,
                end: run.start() + Words(number + 1),
            }
        };
        blocks.iter().enumerate().map(chunk).collect()
    }

    fn assert_sums(lane: &Lane) {
        let words: usize = lane.chunks().iter().map(|chunk| chunk.words().0).sum();
        let bytes: Bytes = lane.chunks().iter().map(|chunk| chunk.run.bytes()).sum();
        assert_eq!((lane.words, lane.bytes), (Words(words), bytes));
    }

    #[test]
    fn a_lane_keeps_the_sums_of_its_chunks() {
        let config = Config {
            reserve: Bytes::mib(16),
            ..Config::default()
        };
        let mut heap = Heap::new(&config).expect("a small heap");
        let (older, newer) = (chunks(&mut heap, &[8, 3, 1]), chunks(&mut heap, &[2, 8]));
        let ends = |lane: &Lane| -> Vec<Addr> { lane.chunks().iter().map(|chunk| chunk.end).collect() };
        let mut lane: Lane = older.iter().copied().collect();
        assert_sums(&lane);
        assert!(lane.pop_if(|_| false).is_none());
        let popped = lane.pop_if(|_| true).expect("a chunk");
        assert_eq!((popped.end, lane.chunks().len()), (older[2].end, 2));
        assert_sums(&lane);
        lane.append(newer.iter().copied().collect());
        assert_eq!(
            ends(&lane),
            [older[0], older[1], newer[0], newer[1]].map(|chunk| chunk.end)
        );
        assert_sums(&lane);
        let mut all = Lane::default();
        all.append(lane);
        assert_eq!(all.chunks().len(), 4);
        assert_sums(&all);
    }
}
