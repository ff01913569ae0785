//! Who collects: the thread that asked for the collection, and the GC threads that it may call.

use super::copier::ToDo;
use crate::collector::Capabilities;
use crate::config::{Config, FromGeneration};
use crate::gc_threads::GcThreads;
use crate::stats::Sharing;
use crate::words::{Bytes, Words};

/// Words that wait to be scavenged at which others are called: 128 KiB, four chunks of to-space. To copy as much takes a thread longer than to wake another
/// (some 50 µs), and what is reached from there is more. Builds for tests share what is hardly worth it.
const WORTH_SHARING: Words = Words(if cfg!(debug_assertions) { 1 << 7 } else { 1 << 14 });

/// Chunks of to-space, filled by one thread, after which others are called to anything that can be shared: 256 KiB. Where much is copied that has no
/// pointers, little ever waits to be scavenged.
const LONG_SINCE: usize = if cfg!(debug_assertions) { 1 } else { 8 };

/// Words marked by one thread after which others are called, if there is anything to be shared: 256 KiB here, too.
pub(super) const LONG_MARKED: Words = Words(if cfg!(debug_assertions) { 1 << 7 } else { 1 << 15 });

/// What a collection without load balancing must be expected to copy if others are to be called: twice as much, since each gets a part of it.
const WORTH_CALLING: Bytes = Bytes::kib(if cfg!(debug_assertions) { 1 } else { 256 });

/// How many threads collect, and when: `-qn`, `-qg`, `-qb`.
#[derive(Clone, Copy, Debug)]
pub struct TeamRules {
    threads: usize,
    parallel: FromGeneration,
    balanced: FromGeneration,
}

impl TeamRules {
    /// The rules that `config` gives.
    pub fn new(config: &Config) -> Self {
        TeamRules {
            threads: config.gc_thread_count() as usize,
            parallel: config.parallel_gc,
            balanced: config.balance_from(),
        }
    }

    /// The team for a collection of `generation`, which is expected to copy so much.
    pub fn team<'h, A>(
        &self,
        helpers: &'h mut GcThreads,
        generation: u32,
        capabilities: Capabilities<'_, A>,
        expected: Bytes,
    ) -> Team<'h> {
        let balanced = is_from(self.balanced, generation);
        let owners = || capabilities.iter().filter(|one| one.has_roots()).count();
        let sharing = if self.threads < 2 {
            Sharing::Alone
        } else if !is_from(self.parallel, generation) {
            Sharing::Younger
        } else if balanced {
            Sharing::Balanced
        } else if owners() < 2 {
            Sharing::OneOwner
        } else if expected < WORTH_CALLING {
            Sharing::TooLittle
        } else {
            Sharing::Owners
        };
        Team {
            helpers,
            size: self.threads,
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

/// Who may take part in a collection.
#[derive(Debug)]
pub struct Team<'h> {
    pub(super) helpers: &'h mut GcThreads,
    /// Threads, the one that collects included.
    pub(super) size: usize,
    /// What is planned.
    sharing: Sharing,
}

#[cfg(test)]
impl<'h> Team<'h> {
    /// A team of so many threads, with load balancing.
    pub fn balanced(helpers: &'h mut GcThreads, size: usize) -> Self {
        Team {
            helpers,
            size,
            sharing: Sharing::Balanced,
        }
    }
}

impl Team<'_> {
    pub(super) fn has_helpers(&self) -> bool {
        self.sharing.is_parallel()
    }

    pub(super) fn is_balanced(&self) -> bool {
        self.sharing == Sharing::Balanced
    }

    /// What is to be said of the collection as long as nobody has been called.
    pub(super) fn sharing_so_far(&self) -> Sharing {
        if self.is_balanced() {
            Sharing::TooLittle
        } else {
            self.sharing
        }
    }

    /// Nothing to do yet, and from when on others are called.
    pub(super) fn worth_sharing(&self) -> ToDo {
        if !self.is_balanced() {
            return ToDo::ALONE;
        }
        ToDo {
            worth_sharing: WORTH_SHARING.0,
            long_since: LONG_SINCE,
            ..ToDo::ALONE
        }
    }
}
