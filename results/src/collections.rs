//! The individual collections of a run, column by column: a line of `collections.jsonl`.
//!
//! A run has hundreds of collections, so they are in a separate file beside `runs.jsonl`, with one
//! array for each column. A collection takes about 50 bytes.

use gclab_core::stats::{Collection, Statistics};
use serde::{Deserialize, Serialize};

/// The collections of a run in order of time. All columns have the same length. Times are in
/// nanoseconds since the start of the run, sizes in bytes.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Collections {
    /// The run: `PlannedRun.id`.
    pub id: String,
    /// Start: all mutators had stopped.
    pub start_ns: Vec<u64>,
    /// Elapsed time with the mutators stopped.
    pub elapsed_ns: Vec<u64>,
    /// Time from the request until all mutators had stopped, just before `start_ns`.
    pub sync_ns: Vec<u64>,
    /// The oldest generation collected, from 0.
    pub generation: Vec<u32>,
    /// 1 if all generations were collected, or if the last slice of a cycle ended, so that
    /// `live_bytes` is known; otherwise 0.
    pub major: Vec<u8>,
    /// Bytes copied or moved.
    pub copied_bytes: Vec<u64>,
    /// Bytes live afterwards; generations that were not collected count as a whole.
    pub live_bytes: Vec<u64>,
    /// Bytes of the megablocks mapped for the heap afterwards.
    pub in_use_bytes: Vec<u64>,
}

impl Collections {
    /// The collections of run `id`; `None` if the statistics do not list them.
    pub fn of(id: &str, stats: &Statistics) -> Option<Collections> {
        fn column<T>(stats: &Statistics, of: impl Fn(&Collection) -> T) -> Vec<T> {
            stats.collections.iter().map(of).collect()
        }
        (!stats.collections.is_empty()).then(|| Collections {
            id: id.to_owned(),
            start_ns: column(stats, |c| c.time.start_ns),
            elapsed_ns: column(stats, |c| c.time.elapsed_ns),
            sync_ns: column(stats, |c| c.before.sync_ns),
            generation: column(stats, |c| c.work.generation),
            major: column(stats, |c| c.is_major().into()),
            copied_bytes: column(stats, |c| c.work.copied.0 as u64),
            live_bytes: column(stats, |c| c.work.live.0 as u64),
            in_use_bytes: column(stats, |c| c.memory.in_use.0 as u64),
        })
    }

    /// The number of collections.
    pub fn len(&self) -> usize {
        self.start_ns.len()
    }

    /// Whether there were no collections.
    pub fn is_empty(&self) -> bool {
        self.start_ns.is_empty()
    }

    /// Whether all columns have the same length.
    pub(crate) fn is_whole(&self) -> bool {
        let columns = [
            self.elapsed_ns.len(),
            self.sync_ns.len(),
            self.generation.len(),
            self.major.len(),
            self.copied_bytes.len(),
            self.live_bytes.len(),
            self.in_use_bytes.len(),
        ];
        columns.into_iter().all(|length| length == self.len())
    }

    /// The pauses of collections that start within `from_ns..to_ns`, including the time to stop the
    /// mutators: how long each kept the mutators from running.
    pub fn pauses(&self, from_ns: u64, to_ns: u64) -> impl Iterator<Item = u64> {
        let starts = self.start_ns.iter().enumerate();
        let within = starts.filter(move |(_, start)| (from_ns..to_ns).contains(*start));
        within.map(|(at, _)| self.sync_ns[at] + self.elapsed_ns[at])
    }
}
