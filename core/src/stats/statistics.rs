//! The figures of a whole run.

use super::{
    Collection, ConcurrentCycles, Figure, Looks, Pauses, PhaseTimes, RunPhases, Sharings, Slices, Thrashing, Times,
    WorkSearch, ratio,
};
use crate::words::Bytes;

/// The most bytes of the list of collections: some ten thousand of them, and lines of some
/// megabytes in `runs.jsonl`.
const MOST_LISTED: usize = 4 << 20;

/// All collections of one generation (those in which it was the oldest collected). Times in
/// nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GenerationStats {
    /// Number of collections.
    pub collections: u64,
    /// Of these, with more than one GC thread.
    pub par_collections: u64,
    /// CPU time of all GC threads.
    pub cpu_ns: u64,
    /// Elapsed time of these collections, in nanoseconds.
    pub elapsed_ns: u64,
    /// The longest of these, without the time to stop the mutators.
    pub max_pause_ns: u64,
}

/// Operating-system threads of the run, as in GHC's TASKS line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tasks {
    /// Threads that ever ran in this heap.
    pub total: u64,
    /// Of these, threads of the program that entered the heap.
    pub bound: u64,
    /// Worker threads (GC threads) made in all.
    pub workers: u64,
    /// Most worker threads at one time.
    pub peak_workers: u64,
}

/// How often mutators asked the collector for room, and how long that took. A collector that looks
/// for free memory while the program runs (lazy sweeping, holes) does so here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refills {
    /// Number of refills.
    pub count: u64,
    /// Elapsed time of all of them, in nanoseconds.
    pub elapsed_ns: u64,
}

/// All figures of a run: GHC's `RTSStats`, and every collection. Times in nanoseconds, sizes in
/// bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Bytes allocated by all capabilities.
    pub allocated: u64,
    /// Of these, allocated since the last collection.
    pub allocated_after_last: u64,
    /// Bytes copied by all collections.
    pub copied: u64,
    /// Of these, bytes copied by collections with more than one GC thread. Bytes that these marked
    /// instead count as copied here.
    pub par_copied: u64,
    /// Sum of [`Collection::par_max`].
    pub cumulative_par_max: u64,
    /// Sum of [`Collection::par_balanced`].
    pub cumulative_par_balanced: u64,
    /// Number of major collections.
    pub major_gcs: u64,
    /// Largest `live` after a major collection (the maximum residency).
    pub max_live: u64,
    /// Largest `large` after a major collection.
    pub max_large: u64,
    /// Largest `slop` after a major collection.
    pub max_slop: u64,
    /// Sum of `live` after major collections.
    pub cumulative_live: u64,
    /// Most bytes of megablocks mapped at any moment.
    pub peak_in_use: u64,
    /// Most bytes of blocks allocated at any moment.
    pub peak_blocks: u64,
    /// Of `peak_in_use`, bytes that blocks never filled. (GHC subtracts one peak from another that
    /// may belong to a different moment.)
    pub peak_fragmentation: u64,
    /// Bytes of address space that are reserved for the heap.
    pub reserved: u64,
    /// Bytes that were ever given back to the system.
    pub returned: u64,
    /// Most bytes of all that counts under `-M`, at any moment.
    pub peak_taken: u64,
    /// The largest `resident` of a collection.
    pub max_resident: Option<u64>,
    /// Bytes of tables beside the heap (block descriptors, side tables, mark bits) at their
    /// largest.
    pub metadata: u64,
    /// Time until the heap stood.
    pub init: Times,
    /// Time of the program itself.
    pub mutator: Times,
    /// Of this, the refills of allocators, which are counted for the summary of `-s` alone.
    pub refills: Refills,
    /// Pauses that did a slice of a cycle.
    pub slices: Slices,
    /// Time of collections, the one at exit included. The CPU time of `concurrent` is part of it.
    pub gc: Times,
    /// Time of the collector's concurrent work.
    pub concurrent: Times,
    /// The cycles with concurrent work.
    pub concurrent_cycles: ConcurrentCycles,
    /// Time from the end of the program, without collections.
    pub exit: Times,
    /// Time of looks at the stopped heap: censuses of profiles (GHC's PROF and RP), the checker,
    /// others.
    pub looks: Looks,
    /// All: from the start of the world to the figures; the sum of the five above.
    pub total: Times,
    /// Set-up, the measured phase and exit.
    pub phases: RunPhases,
    /// The pauses of the measured phase.
    pub pauses: Pauses,
    /// Time of the phases of all collections.
    pub gc_phases: PhaseTimes,
    /// Sum of `sync_ns` of a collection.
    pub sync_ns: u64,
    /// The longest `sync_ns` of a collection.
    pub max_sync_ns: u64,
    /// The time in which the run thrashed.
    pub thrashing: Thrashing,
    /// How collections were shared out among GC threads.
    pub sharings: Sharings,
    /// Page faults (minor and major) of the process.
    pub page_faults: u64,
    /// Number of capabilities (`-N`).
    pub capabilities: u32,
    /// Threads of the operating system.
    pub tasks: Tasks,
    /// Searches for work in parallel collections, summed.
    pub search: WorkSearch,
    /// Figures that only some collectors or programs have, by name.
    pub figures: Vec<Figure>,
    /// By generation, from 0.
    pub generations: Vec<GenerationStats>,
    /// Every collection, in order, as [`Statistics::keep`] kept them. Empty if there were too many.
    pub collections: Vec<Collection>,
    /// Why `collections` is empty although there were some.
    pub collections_absent: Option<String>,
    /// Bytes of the entries of `collections`, without spare room.
    pub listed_bytes: u64,
    /// Most bytes that these statistics took at any moment, outside the heap and its limit.
    pub statistics_bytes: u64,
}

impl Statistics {
    /// Keeps a collection in the list of all. A list that would take more than 4 MiB is given up as
    /// a whole.
    pub fn keep(&mut self, collection: &Collection) {
        if self.collections_absent.is_some() {
            return;
        }
        self.listed_bytes += collection.bytes() as u64;
        if self.listed_bytes > MOST_LISTED as u64 {
            self.collections_absent = Some(format!(
                "the list of collections would take more than {} MiB: it was dropped at {}",
                MOST_LISTED >> 20,
                self.collections.len() + 1
            ));
            (self.collections, self.listed_bytes) = (Vec::new(), 0);
        } else {
            self.collections.push(collection.clone());
        }
    }

    /// The collections of the measured phase, in order of time; empty if there is no list.
    pub fn measured_collections(&self) -> &[Collection] {
        let before = |ns| self.collections.partition_point(|c| c.time.start_ns < ns);
        &self.collections[before(self.phases.measured.start_ns)..before(self.phases.exit.start_ns)]
    }

    /// Notes the memory that these statistics take now.
    pub fn note_memory(&mut self) {
        let spare = (self.collections.capacity() - self.collections.len()) * size_of::<Collection>();
        let now = self.listed_bytes + (spare + self.pauses.bytes()) as u64;
        self.statistics_bytes = self.statistics_bytes.max(now);
    }

    /// Adds one more collection. Maxima are over major collections only, as in GHC: after a minor
    /// one `live` includes floating garbage in the generations that were not collected.
    pub fn add(&mut self, c: &Collection) {
        let (work, time) = (&c.work, &c.time);
        self.copied += bytes(work.copied);
        self.gc_phases += &time.phases;
        self.sync_ns += c.before.sync_ns;
        self.max_sync_ns = self.max_sync_ns.max(c.before.sync_ns);
        self.search = self.search
            + work
                .shared
                .threads
                .iter()
                .map(|thread| thread.search)
                .sum::<WorkSearch>();
        self.sharings
            .add(work.generation as usize, time.elapsed_ns, &work.shared);
        if let Some(threads) = c.gc_threads() {
            let by_threads: u64 = threads.iter().map(|thread| thread.copied).sum();
            self.par_copied += if by_threads > 0 { by_threads } else { bytes(work.copied) };
            self.cumulative_par_max += c.par_max().unwrap_or(0);
            self.cumulative_par_balanced += c.par_balanced().unwrap_or(0);
        }
        self.slices.add(c);
        self.concurrent_cycles.add(c);
        if work.is_major() {
            self.major_gcs += 1;
            self.max_live = self.max_live.max(bytes(work.live));
            self.max_large = self.max_large.max(bytes(work.large));
            self.max_slop = self.max_slop.max(bytes(work.slop));
            self.max_resident = self.max_resident.max(c.memory.resident.map(bytes));
            self.cumulative_live += bytes(work.live);
        }
        let generation = &mut self.generations[work.generation as usize];
        generation.collections += 1;
        generation.par_collections += u64::from(c.threads() > 1);
        generation.cpu_ns += time.cpu_ns;
        generation.elapsed_ns += time.elapsed_ns;
        generation.max_pause_ns = generation.max_pause_ns.max(time.elapsed_ns);
    }

    /// Time of collections without concurrent work: GHC's GC time.
    pub fn paused(&self) -> Times {
        Times {
            cpu_ns: self.gc.cpu_ns - self.concurrent.cpu_ns,
            ..self.gc
        }
    }

    /// Share of copied bytes that parallel collections copied in balance, 0 (one thread did it all)
    /// to 1; 0 without any.
    pub fn work_balance(&self) -> f64 {
        ratio(self.cumulative_par_balanced, self.par_copied)
    }

    /// The work balance of GHC 7.4 to 8.2, from 0 to 1; 0 without parallel collections:
    /// `(copied / copied by the busiest threads - 1) / (threads - 1)`. `threads` is the most that
    /// took part in a collection (GHC took `-N`, which is wrong under `-qn`). The figure is too low
    /// if their number changes (GHC #13830). It serves for comparisons with old logs only.
    pub fn old_work_balance(&self) -> f64 {
        let threads = self.sharings.threads.len() as u64;
        if threads < 2 || self.cumulative_par_max == 0 {
            return 0.0;
        }
        let speed_up = self.par_copied as f64 / self.cumulative_par_max as f64;
        (speed_up - 1.0) / (threads - 1) as f64
    }

    /// Mean time until every mutator had stopped, in nanoseconds, rounded down; 0 without
    /// collections.
    pub fn mean_sync_ns(&self) -> u64 {
        self.sync_ns.checked_div(self.collections_count()).unwrap_or(0)
    }

    /// Mean residency: `live` after major collections, rounded down; 0 without any.
    pub(crate) fn average_live(&self) -> u64 {
        self.cumulative_live.checked_div(self.major_gcs).unwrap_or(0)
    }

    /// Bytes allocated per second of mutator CPU time, rounded down; 0 if no time was measured.
    pub(crate) fn alloc_rate(&self) -> u64 {
        // In 128 bits, since bytes x 10^9 exceed 2^64 at 18 GB.
        (u128::from(self.allocated) * 1_000_000_000)
            .checked_div(u128::from(self.mutator.cpu_ns))
            .unwrap_or(0) as u64
    }

    /// Number of collections.
    pub fn collections_count(&self) -> u64 {
        self.generations.iter().map(|generation| generation.collections).sum()
    }

    /// Share of the CPU time that was the program's own, 0 to 1: total less collections, looks at
    /// the stopped heap, INIT and EXIT, over total. (GHC leaves PROF and RP in.)
    pub fn productivity_cpu(&self) -> f64 {
        self.productivity(|times| times.cpu_ns)
    }

    /// As [`Statistics::productivity_cpu`], of the elapsed time.
    pub fn productivity_elapsed(&self) -> f64 {
        self.productivity(|times| times.elapsed_ns)
    }

    /// Share of the CPU time that collections took, 0 to 1.
    pub fn gc_cpu(&self) -> f64 {
        ratio(self.gc.cpu_ns, self.total.cpu_ns)
    }

    /// As [`Statistics::gc_cpu`], of the elapsed time.
    pub(crate) fn gc_elapsed(&self) -> f64 {
        ratio(self.gc.elapsed_ns, self.total.elapsed_ns)
    }

    fn productivity(&self, of: impl Fn(Times) -> u64) -> f64 {
        let total = of(self.total);
        let other = of(self.gc) + of(self.init) + of(self.exit) + of(self.looks.total());
        ratio(total.saturating_sub(other), total)
    }
}

fn bytes(size: Bytes) -> u64 {
    size.0 as u64
}

impl GenerationStats {
    /// Mean pause in nanoseconds, rounded down; 0 without any.
    pub fn avg_pause_ns(&self) -> u64 {
        self.elapsed_ns.checked_div(self.collections).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::{GcThread, Shared, Work, par_balanced};

    /// The samples of GHC #13830 and of older logs: bytes by thread, bytes in balance, work balance
    /// today and before 8.4 in percent.
    const SAMPLES: [(&[u64], u64, f64, f64); 8] = [
        (&[100, 50, 50, 0], 133, 66.5, 33.33),
        (&[50, 50, 50, 50], 200, 100.0, 100.0),
        (&[200, 0, 0, 0], 0, 0.0, 0.0),
        (&[120, 80], 160, 80.0, 66.67),
        (&[5635, 4], 8, 0.14, 0.07),
        (&[2500, 2500, 2500, 2500], 10_000, 100.0, 100.0),
        (&[5000, 5000, 0, 0], 3333, 33.33, 33.33),
        (&[4000, 3000, 2000, 1000], 7333, 73.33, 50.0),
    ];

    /// Statistics of a run with one collection for each of these.
    fn run_of(collections: &[&[u64]]) -> Statistics {
        let mut stats = Statistics {
            generations: vec![GenerationStats::default(); 2],
            ..Statistics::default()
        };
        for copied in collections {
            let thread = |&copied: &u64| GcThread {
                copied,
                ..GcThread::default()
            };
            stats.add(&Collection {
                work: Work {
                    copied: Bytes(copied.iter().sum::<u64>() as usize),
                    shared: Shared {
                        threads: copied.iter().map(thread).collect(),
                        ..Shared::default()
                    },
                    ..Work::default()
                },
                ..Collection::default()
            });
        }
        stats
    }

    #[test]
    fn work_balance_by_the_current_formula_and_the_old_one() {
        let percent = |share: f64| (share * 1e4).round() / 1e2;
        for (copied, balanced, today, old) in SAMPLES {
            let stats = run_of(&[copied]);
            assert_eq!(stats.cumulative_par_balanced, balanced, "{copied:?}");
            assert_eq!(percent(stats.work_balance()), today, "{copied:?}");
            assert_eq!(percent(stats.old_work_balance()), old, "{copied:?}");
        }
        // Large collections weigh more. A sequential one (the list has one thread or none) does not
        // count.
        let stats = run_of(&[&[1000, 0], &[500, 500], &[1500, 1500], &[9999], &[]]);
        assert_eq!((stats.par_copied, stats.work_balance()), (5000, 0.8));
        assert_eq!(percent(stats.old_work_balance()), percent(5000.0 / 3000.0 - 1.0));
        let none = run_of(&[&[9999]]);
        assert_eq!((none.work_balance(), none.old_work_balance()), (0.0, 0.0));
        let nothing_copied = run_of(&[&[0, 0]]);
        assert_eq!(
            (nothing_copied.work_balance(), nothing_copied.old_work_balance()),
            (0.0, 0.0)
        );
    }

    #[test]
    fn par_balanced_is_ghcs() {
        let cases: [(&[u64], u64); 9] = [
            // 8 / 3, rounded.
            (&[2, 1, 1, 0], 3),
            (&[100, 50, 50, 0], 133),
            (&[50, 50, 50, 50], 200),
            (&[200, 0, 0, 0], 0),
            (&[120, 80], 160),
            (&[5635, 4], 8),
            (&[0, 0], 0),
            (&[7], 0),
            (&[], 0),
        ];
        for (copied, balanced) in cases {
            assert_eq!(par_balanced(copied), balanced, "{copied:?}");
        }
    }

    /// Statistics took 430 bytes for each collection, without a limit.
    #[test]
    fn a_list_of_too_many_collections_is_dropped() {
        let mut stats = Statistics::default();
        let collection = Collection::default();
        let most = MOST_LISTED / collection.bytes();
        (0..most).for_each(|_| stats.keep(&collection));
        stats.note_memory();
        assert_eq!((stats.collections.len(), &stats.collections_absent), (most, &None));
        let full = stats.statistics_bytes;
        assert!(full as usize >= most * size_of::<Collection>() && full as usize <= 2 * MOST_LISTED);
        (0..1000).for_each(|_| stats.keep(&collection));
        stats.note_memory();
        let reason = stats.collections_absent.as_deref().expect("a reason");
        assert!(reason.ends_with(&format!("dropped at {}", most + 1)), "{reason}");
        assert_eq!((stats.collections.capacity(), stats.statistics_bytes), (0, full));
    }

    #[test]
    fn the_checker_and_censuses_are_not_the_programs_time() {
        let times = |ms: u64| Times {
            cpu_ns: ms * 1_000_000,
            elapsed_ns: ms * 1_000_000,
        };
        let mut stats = Statistics {
            mutator: times(10),
            gc: times(20),
            total: times(100),
            ..Statistics::default()
        };
        stats.looks.check = times(40);
        stats.looks.retainers = times(30);
        assert_eq!((stats.productivity_cpu(), stats.productivity_elapsed()), (0.1, 0.1));
        assert_eq!((stats.gc_cpu(), stats.gc_elapsed()), (0.2, 0.2));
    }

    #[test]
    fn alloc_rate_of_terabytes_does_not_overflow() {
        let mutator = Times {
            cpu_ns: 1_000_000_000_000,
            elapsed_ns: 0,
        };
        let stats = Statistics {
            allocated: 10 << 40,
            mutator,
            ..Statistics::default()
        };
        assert_eq!(stats.alloc_rate(), (10 << 40) / 1000);
    }
}
