//! The counts of the collector over a run, for the module `Gc`.

use gclab_core::words::Words;

/// Sums over a run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    /// Words that mutators allocated in either heap up to the last pause.
    pub(super) allocated: Words,
    /// Words of large objects, which are allocated in the major heap.
    pub(super) direct: Words,
    /// Words that were promoted.
    pub(super) promoted: Words,
    /// Minor collections.
    pub(super) minor_collections: u64,
    /// Cycles that the program asked for as a whole.
    pub(super) forced: u64,
    /// Compactions.
    pub(super) compactions: u64,
    /// Words allocated in the minor heap up to its last collection.
    pub(super) before_minor: Words,
}

impl Counts {
    /// A pause starts, `allocated` words after the last one. `is_forced`: the program requests a
    /// whole cycle in it.
    pub(super) fn begin(&mut self, is_forced: bool, allocated: Words) {
        self.allocated += allocated;
        self.forced += u64::from(is_forced);
    }

    /// A minor collection promoted `promoted` words.
    pub(super) fn minor(&mut self, promoted: Words) {
        self.minor_collections += 1;
        self.promoted += promoted;
        self.before_minor = self.minor_words(Words::ZERO);
    }

    /// The figures for the run's statistics. `cycles` are over, and the major heap had at most
    /// `top_heap` words.
    pub(super) fn figures(&self, cycles: u64, top_heap: Words, figure: &mut dyn FnMut(&'static str, u64)) {
        figure("minor_words", self.minor_words(Words::ZERO).0 as u64);
        figure("promoted_words", self.promoted.0 as u64);
        figure("major_words", self.major_words().0 as u64);
        figure("minor_collections", self.minor_collections);
        figure("major_collections", cycles);
        figure("forced_major_collections", self.forced);
        figure("compactions", self.compactions);
        figure("top_heap_words", top_heap.0 as u64);
    }

    /// Words allocated in the minor heap, with `since` words since the last pause.
    pub(super) fn minor_words(&self, since: Words) -> Words {
        (self.allocated + since).saturating_sub(self.direct)
    }

    /// Words allocated in the major heap, and promoted there.
    pub(super) fn major_words(&self) -> Words {
        self.direct + self.promoted
    }
}
