//! Figures of collections that several threads may share: of one collection ([`Shared`]), and of
//! all of a run ([`Sharings`]).
//!
//! Terms: the *parallel part* of a pause is the time in which threads other than the leading one
//! could work; the rest of the pause (before they are woken and after the last of them is done) is
//! *sequential*. A thread's time in the parallel part has four parts: woken and not yet there
//! (start), at work, without work while other threads had some (idle), without work until the end
//! (termination).
//!
//! Invariant: the sums of [`Sharings`] are those of the collections, whether these are kept or not
//! (a test of the recorder adds them up again).

use super::ratio;
use serde::{Deserialize, Serialize};

/// The way in which the work of a collection was shared, or the reason why it was not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Sharing {
    /// There is one GC thread, or the collector uses one only, or the heap's limit left room for
    /// the copies of one thread only.
    #[default]
    Alone,
    /// The generation is younger than those that are collected in parallel (`-qg`).
    Younger,
    /// There was never enough work to share to wake another thread: the collection copied little,
    /// or one long list. Without load balancing: the last collection of the generation copied
    /// little, or there was none.
    TooLittle,
    /// Without load balancing (`-qb`): only one capability had work.
    OneOwner,
    /// In parallel, each thread with the work of its own capabilities (no load balancing).
    Owners,
    /// In parallel, with load balancing.
    Balanced,
}

impl Sharing {
    /// All ways, in order.
    pub const ALL: [Sharing; 6] = [
        Sharing::Alone,
        Sharing::Younger,
        Sharing::TooLittle,
        Sharing::OneOwner,
        Sharing::Owners,
        Sharing::Balanced,
    ];

    /// Returns its name in run records.
    pub fn name(self) -> &'static str {
        match self {
            Sharing::Alone => "alone",
            Sharing::Younger => "younger",
            Sharing::TooLittle => "too little",
            Sharing::OneOwner => "one owner",
            Sharing::Owners => "owners",
            Sharing::Balanced => "balanced",
        }
    }

    /// Whether several threads collect in this way.
    pub fn is_parallel(self) -> bool {
        matches!(self, Sharing::Owners | Sharing::Balanced)
    }
}

/// The work of one thread in a parallel collection. Times are elapsed times in nanoseconds; without
/// `cpu_ns` they add up to the parallel part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GcThread {
    /// Bytes that it copied.
    #[serde(rename = "copied_bytes")]
    pub copied: u64,
    /// From the moment it was woken until it had its first work item. All of the parallel part if
    /// it came too late, or found none.
    pub start_ns: u64,
    /// The time with work.
    pub work_ns: u64,
    /// The time without work, while other threads had some, and before it had some again.
    pub idle_ns: u64,
    /// From the end of its last work until no thread had any.
    pub termination_ns: u64,
    /// CPU time. A collector leaves 0 for the thread that leads, which is the collecting thread:
    /// the recorder sets it, from the whole pause.
    pub cpu_ns: u64,
    /// How often it looked for work.
    #[serde(flatten)]
    pub search: WorkSearch,
}

/// The parallel side of a collection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shared {
    /// The way in which it was shared.
    pub sharing: Sharing,
    /// The threads of a parallel collection, the one that led it first; empty if it was sequential.
    pub threads: Vec<GcThread>,
    /// Nanoseconds of the pause during which threads other than the leading one could work; the
    /// rest of it was sequential.
    pub parallel_ns: u64,
}

impl std::ops::AddAssign<&GcThread> for GcThread {
    fn add_assign(&mut self, other: &GcThread) {
        self.copied += other.copied;
        self.start_ns += other.start_ns;
        self.work_ns += other.work_ns;
        self.idle_ns += other.idle_ns;
        self.termination_ns += other.termination_ns;
        self.cpu_ns += other.cpu_ns;
        self.search = self.search + other.search;
    }
}

/// Adds a later part of the same collection. The sum counts as shared if one of the parts was.
impl std::ops::AddAssign<Shared> for Shared {
    fn add_assign(&mut self, other: Shared) {
        if other.sharing.is_parallel() || !self.sharing.is_parallel() && self.sharing == Sharing::Alone {
            self.sharing = other.sharing;
        }
        if self.threads.len() < other.threads.len() {
            self.threads.resize(other.threads.len(), GcThread::default());
        }
        for (sum, thread) in self.threads.iter_mut().zip(&other.threads) {
            *sum += thread;
        }
        self.parallel_ns += other.parallel_ns;
    }
}

/// How the collections of a run were shared, and the work of the threads of the parallel ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sharings {
    /// How often each way was taken, in the order of [`Sharing::ALL`], by generation from 0.
    pub taken: Vec<[u64; Sharing::ALL.len()]>,
    /// The threads of the parallel collections, each place summed over them: the leading thread
    /// comes first, and need not be the same each time.
    pub threads: Vec<GcThread>,
    /// Nanoseconds of the pauses of parallel collections.
    pub elapsed_ns: u64,
    /// Of these, nanoseconds of their parallel parts.
    pub parallel_ns: u64,
}

impl Sharings {
    /// Enters a collection of `generation` with a pause of `elapsed_ns`.
    pub(crate) fn add(&mut self, generation: usize, elapsed_ns: u64, shared: &Shared) {
        if self.taken.len() <= generation {
            self.taken.resize(generation + 1, Default::default());
        }
        self.taken[generation][shared.sharing as usize] += 1;
        if shared.threads.len() < 2 {
            return;
        }
        self.elapsed_ns += elapsed_ns;
        self.parallel_ns += shared.parallel_ns.min(elapsed_ns);
        if self.threads.len() < shared.threads.len() {
            self.threads.resize(shared.threads.len(), GcThread::default());
        }
        for (sum, thread) in self.threads.iter_mut().zip(&shared.threads) {
            *sum += thread;
        }
    }

    /// How often `sharing` was taken in collections of `generation`.
    pub fn count(&self, generation: usize, sharing: Sharing) -> u64 {
        self.taken.get(generation).map_or(0, |counts| counts[sharing as usize])
    }

    /// Whether any collection had a choice: a collector that knows of several threads, and several
    /// threads.
    pub fn any_choice(&self) -> bool {
        self.taken
            .iter()
            .flat_map(|counts| &counts[1..])
            .any(|&count| count > 0)
    }

    /// Share of the pauses of parallel collections in which one thread worked alone, 0 to 1; 0
    /// without any.
    pub fn sequential_share(&self) -> f64 {
        ratio(self.elapsed_ns - self.parallel_ns, self.elapsed_ns)
    }
}

/// How often the threads of parallel collections looked for work (GHC's counters of the same
/// names).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkSearch {
    /// Times that a thread without work looked whether there was any elsewhere.
    pub any_work: u64,
    /// Of these: found none.
    pub no_work: u64,
    /// Times that a thread looked for its next piece of work.
    pub scav_find_work: u64,
}

impl std::ops::Add for WorkSearch {
    type Output = WorkSearch;
    fn add(self, other: WorkSearch) -> WorkSearch {
        WorkSearch {
            any_work: self.any_work + other.any_work,
            no_work: self.no_work + other.no_work,
            scav_find_work: self.scav_find_work + other.scav_find_work,
        }
    }
}

impl std::iter::Sum for WorkSearch {
    fn sum<I: Iterator<Item = WorkSearch>>(searches: I) -> WorkSearch {
        searches.fold(WorkSearch::default(), std::ops::Add::add)
    }
}

/// Bytes copied in balance by one collection, from the bytes that each of its GC threads copied:
/// (sum over threads of min(n x copied, C) - C + (n - 1)/2) / (n - 1), with n threads and C copied
/// in all (GHC #13830). 0 for fewer than two threads, 0 if one thread copied everything, C if all
/// copied the same.
pub fn par_balanced(copied: &[u64]) -> u64 {
    let threads = copied.len() as u64;
    if threads < 2 {
        return 0;
    }
    let total: u64 = copied.iter().sum();
    let capped: u64 = copied.iter().map(|c| (threads * c).min(total)).sum();
    (capped - total + (threads - 1) / 2) / (threads - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collection_of_two_parts_is_shared_if_one_of_them_is() {
        let part = |sharing, copied: &[u64]| Shared {
            sharing,
            threads: copied
                .iter()
                .map(|&copied| GcThread {
                    copied,
                    ..GcThread::default()
                })
                .collect(),
            parallel_ns: copied.len() as u64,
        };
        let sum = |mut one: Shared, other: Shared| {
            one += other;
            one
        };
        let (little, alone) = (part(Sharing::TooLittle, &[]), part(Sharing::Alone, &[]));
        let balanced = part(Sharing::Balanced, &[3, 4]);
        assert_eq!(sum(little.clone(), balanced.clone()), balanced);
        assert_eq!(sum(balanced.clone(), little.clone()), balanced);
        assert_eq!(sum(little.clone(), alone.clone()), little);
        assert_eq!(sum(alone, little.clone()), little);
        let both = Shared {
            parallel_ns: 4,
            ..part(Sharing::Balanced, &[6, 8])
        };
        assert_eq!(sum(balanced.clone(), balanced), both);
    }
}
