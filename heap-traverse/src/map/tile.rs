//! One tile of a map: a block, or several neighbours.

use serde::Serialize;

/// The use of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Use {
    /// It is free, and its memory was returned to the system.
    Returned,
    /// It is free.
    Free,
    /// It holds small closures of this step; step 0 is the nursery.
    Small(u8),
    /// It belongs to a large object of this step.
    Large(u8),
}

impl Use {
    /// Whether the block belongs to an allocated run.
    pub fn is_allocated(self) -> bool {
        matches!(self, Use::Small(_) | Use::Large(_))
    }

    /// The step, of an allocated block.
    pub fn step(self) -> Option<u8> {
        match self {
            Use::Small(step) | Use::Large(step) => Some(step),
            Use::Returned | Use::Free => None,
        }
    }

    /// The name of the use. `own` are the collector's names of its steps
    /// ([`gclab_core::world::Stopped::step_names`]); steps without one have GHC's names.
    pub fn name(self, own: &[&str]) -> String {
        let of_step = |step: u8| match (own.get(usize::from(step)), step) {
            (Some(name), _) => (*name).to_owned(),
            (None, 0) => "nursery".to_owned(),
            (None, 1) => "aged".to_owned(),
            (None, step) => format!("generation {}", step - 1),
        };
        let is_only_step = own.iter().filter(|name| !name.is_empty()).count() == 1;
        match self {
            Use::Returned => "returned".to_owned(),
            Use::Free => "free".to_owned(),
            Use::Small(step) => of_step(step),
            Use::Large(_) if is_only_step => "large".to_owned(),
            Use::Large(step) => format!("large, {}", of_step(step)),
        }
    }
}

/// The ages of closures: the number of collections that each has survived.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Ages {
    /// The age of the youngest closure.
    pub youngest: u64,
    /// The age of the oldest closure.
    pub oldest: u64,
    /// The number of closures whose age is known.
    pub closures: u64,
    /// The sum of their ages.
    pub sum: u64,
}

impl Ages {
    /// Adds a closure.
    pub(super) fn add(&mut self, age: u64) {
        let first = self.closures == 0;
        self.youngest = if first { age } else { self.youngest.min(age) };
        self.oldest = self.oldest.max(age);
        self.closures += 1;
        self.sum += age;
    }

    /// Adds the closures of another tile or use.
    pub(super) fn join(&mut self, other: &Ages) {
        match (self.closures, other.closures) {
            (_, 0) => {}
            (0, _) => *self = *other,
            _ => {
                self.youngest = self.youngest.min(other.youngest);
                self.oldest = self.oldest.max(other.oldest);
                self.closures += other.closures;
                self.sum += other.sum;
            }
        }
    }

    /// The mean age, if any is known.
    pub fn mean(&self) -> Option<f64> {
        (self.closures > 0).then(|| self.sum as f64 / self.closures as f64)
    }
}

/// One tile of a map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Tile {
    /// The use of most of its blocks.
    #[serde(rename = "use")]
    pub usage: Use,
    /// The number of blocks with this use.
    pub of_usage: u32,
    /// The number of its blocks in allocated runs.
    pub allocated: u32,
    /// Words of closures, dead ones of older generations included.
    pub words: u64,
    /// The number of closures that begin here.
    pub closures: u64,
    /// The number of holes that begin here: stretches of an allocated run without closures.
    pub holes: u64,
    /// Words of the longest hole that begins here.
    pub longest_hole: u64,
    /// The number of lines or cells that begin here, if the collector has such units.
    pub units: u64,
    /// The number of lines or cells that begin here and in which no closure has a word.
    pub free_units: u64,
    /// The ages of the closures that begin here; every tile of a large object has the object's.
    pub ages: Ages,
}

impl Tile {
    /// A tile without blocks.
    pub(super) const EMPTY: Tile = Tile {
        usage: Use::Returned,
        of_usage: 0,
        allocated: 0,
        words: 0,
        closures: 0,
        holes: 0,
        longest_hole: 0,
        units: 0,
        free_units: 0,
        ages: Ages {
            youngest: 0,
            oldest: 0,
            closures: 0,
            sum: 0,
        },
    };

    /// Adds blocks of one use.
    pub(super) fn add_blocks(&mut self, usage: Use, blocks: u32) {
        if usage == self.usage {
            self.of_usage += blocks;
        } else if blocks > self.of_usage || (usage.is_allocated() && !self.usage.is_allocated()) {
            // If little of a tile is in use, the use is shown rather than the free blocks.
            (self.usage, self.of_usage) = (usage, blocks);
        }
        self.allocated += if usage.is_allocated() { blocks } else { 0 };
    }

    /// Adds a hole of `words` words.
    pub(super) fn add_hole(&mut self, words: u64) {
        self.holes += 1;
        self.longest_hole = self.longest_hole.max(words);
    }

    /// Adds the next tile, when tiles become larger.
    pub(super) fn join(&mut self, other: &Tile) {
        let allocated = self.allocated + other.allocated;
        self.add_blocks(other.usage, other.of_usage);
        self.allocated = allocated;
        self.words += other.words;
        self.closures += other.closures;
        self.holes += other.holes;
        self.longest_hole = self.longest_hole.max(other.longest_hole);
        self.units += other.units;
        self.free_units += other.free_units;
        self.ages.join(&other.ages);
    }
}
