//! Steps after the nursery: they hold the survivors of collections.

use crate::block::{BlockRun, BlockState, FIRST_OLD_STEP, Region};
use crate::words::{Addr, Bytes, Words};
use gclab_stats::Work;

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
#[derive(Debug, Default)]
pub struct Lane {
    /// The chunks, oldest first.
    pub chunks: Vec<Chunk>,
    /// Words of closures in all chunks.
    pub(crate) words: Words,
}

/// A closure with a block run of its own.
#[derive(Debug, Clone, Copy)]
pub struct LargeObject {
    /// The blocks of the object.
    pub run: BlockRun,
    /// The size of the closure.
    pub words: Words,
}

impl LargeObject {
    pub(super) fn region(&self, step: u8) -> Region {
        let start = self.run.start();
        Region {
            run: self.run,
            start,
            end: Addr(start.0 + self.words.0 * 8),
            step,
            large: true,
        }
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
    pub large: Vec<LargeObject>,
    /// Words in large objects.
    pub large_words: Words,
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

    /// Bytes of blocks less those of the closures in them.
    pub fn slop(&self) -> Bytes {
        let runs = self
            .scanned
            .chunks
            .iter()
            .chain(&self.flat.chunks)
            .map(|chunk| chunk.run);
        let blocks: usize = runs
            .chain(self.large.iter().map(|large| large.run))
            .map(|run| run.bytes().0)
            .sum();
        Bytes(blocks - self.words().0 * 8)
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
    /// If a block's state cannot tell that many steps apart (`BlockState::STEP_MAX`).
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

    /// Bytes of blocks less those of the closures in them, in all steps.
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
            for chunk in step.scanned.chunks.iter().chain(&step.flat.chunks) {
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
