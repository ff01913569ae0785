//! Which collections are parallel, and with how many workers.

use super::background::Helpers;
use super::threads::GcThreads;
use crate::config::{Config, FromGeneration};
use crate::stats::Sharing;
use crate::words::Bytes;

/// Without load balancing: a collection that is expected to copy less than this is sequential. This
/// is twice the amount at which a balanced collection wakes its workers, since the work is split
/// among them.
const MIN_EXPECTED: Bytes = Bytes::kib(if cfg!(debug_assertions) { 1 } else { 256 });

/// How many threads collect, and when: `-qn`, `-qg`, `-qb`.
#[derive(Clone, Copy, Debug)]
pub struct ParallelPolicy {
    threads: usize,
    parallel: FromGeneration,
    balanced: FromGeneration,
}

impl ParallelPolicy {
    /// The policy that `config` asks for.
    pub fn new(config: &Config) -> Self {
        ParallelPolicy {
            threads: config.gc_thread_count() as usize,
            parallel: config.parallel_gc,
            balanced: config.balance_from(),
        }
    }

    /// The workers for a collection of `generation`. `owners` capabilities have their own roots or
    /// remembered slots, and the collection is expected to copy `expected`.
    pub fn workers<'h>(
        &self,
        gc_threads: &'h mut GcThreads,
        generation: u32,
        owners: usize,
        expected: Bytes,
    ) -> Workers<'h> {
        let sharing = if self.threads < 2 {
            Sharing::Alone
        } else if !is_from(self.parallel, generation) {
            Sharing::Younger
        } else if is_from(self.balanced, generation) {
            Sharing::Balanced
        } else if owners < 2 {
            Sharing::OneOwner
        } else if expected < MIN_EXPECTED {
            Sharing::TooLittle
        } else {
            Sharing::Owners
        };
        Workers {
            gc_threads,
            count: self.threads,
            sharing,
        }
    }
}

fn is_from(from: FromGeneration, generation: u32) -> bool {
    match from {
        FromGeneration::Off => false,
        FromGeneration::From(first) => generation >= first,
    }
}

/// The workers that a collection may use, and how they are to share its work.
#[derive(Debug)]
pub struct Workers<'h> {
    pub(super) gc_threads: &'h mut GcThreads,
    /// Workers, the leader included.
    count: usize,
    /// The plan.
    sharing: Sharing,
}

impl<'h> Workers<'h> {
    /// `count` workers with load balancing.
    pub(crate) fn balanced(gc_threads: &'h mut GcThreads, count: usize) -> Self {
        Workers {
            gc_threads,
            count,
            sharing: Sharing::Balanced,
        }
    }
}

impl Helpers {
    /// The threads as workers, if there are any.
    pub(crate) fn workers(&mut self) -> Option<Workers<'_>> {
        (self.threads > 1).then(|| Workers::balanced(&mut self.gc_threads, self.threads))
    }
}

impl Workers<'_> {
    /// How many workers there may be, the leader included.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// The same, but no more than `most` workers, the leader included.
    #[must_use]
    pub fn at_most(mut self, most: usize) -> Self {
        self.count = self.count.min(most);
        if self.count < 2 && self.has_helpers() {
            self.sharing = Sharing::Alone;
        }
        self
    }

    /// Whether the leader may have help.
    pub(crate) fn has_helpers(&self) -> bool {
        self.sharing.is_parallel()
    }

    /// Whether workers take work from each other.
    pub(crate) fn is_balanced(&self) -> bool {
        self.sharing == Sharing::Balanced
    }

    /// The [`Sharing`] to record if no parallel phase is begun.
    pub(crate) fn sharing_so_far(&self) -> Sharing {
        if self.is_balanced() {
            Sharing::TooLittle
        } else {
            self.sharing
        }
    }
}
