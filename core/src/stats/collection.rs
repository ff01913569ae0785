//! The record of one collection.
//!
//! Each part is filled in by one party: the collector ([`Work`]), the mutators' world ([`Before`]),
//! the recorder ([`Timing`]), the heap ([`Memory`]). To add a figure, add a field and the line that
//! measures it.

use super::{Cause, Cycle, GcThread, PhaseTimes, Shared, Times};
use crate::words::Bytes;

/// The record of one collection: GHC's `GCDetails`, with its place in time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Collection {
    /// The collector's part: the work that the collection did.
    pub work: Work,
    /// The mutators' part: the time before the collection.
    pub before: Before,
    /// The recorder's part: the place of the collection in time.
    pub time: Timing,
    /// The heap's part: its memory after the collection.
    pub memory: Memory,
}

/// The collector's part: the work that the collection did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// The oldest generation collected, from 0.
    pub generation: u32,
    /// The part of a cycle that it did: `began`, `continued` or `ended` (a slice),
    /// `whole` (all generations at once), or `none` (young generations only), which is
    /// absent in records.
    pub cycle: Cycle,
    /// Whether it compacted the oldest generation where it lay.
    pub compacted: bool,
    /// Bytes that closures were copied or moved to. (GHC adds its mutable lists, which
    /// it rebuilds at every collection.)
    pub copied: Bytes,
    /// Of the copied bytes, those in a generation that was not itself collected; 0 in a
    /// major collection.
    pub promoted: Bytes,
    /// Bytes live afterwards; generations that were not collected count as a whole.
    pub live: Bytes,
    /// Bytes of closures that a slice marked. Absent without a slice.
    pub marked: Option<Bytes>,
    /// Bytes of memory that a slice swept. Absent without a slice.
    pub swept: Option<Bytes>,
    /// The part of the live bytes in large objects.
    pub large: Bytes,
    /// Bytes in live blocks that hold no live data, afterwards: lost at block ends and
    /// by rounding up large objects.
    pub slop: Bytes,
    /// How the GC threads shared the work, and the work of each.
    pub shared: Shared,
    /// The numbers that each worker counted, added up.
    pub counted: Counted,
}

/// The numbers that each worker of a collection counts by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Entries of the remembered set that were visited as roots.
    pub remembered: u64,
    /// Passes over marked closures whose slots found no room on a mark stack; 0 if
    /// nothing was marked.
    pub mark_passes: u64,
}

impl std::ops::AddAssign for Counted {
    fn add_assign(&mut self, other: Counted) {
        self.remembered += other.remembered;
        self.mark_passes += other.mark_passes;
    }
}

/// The mutators' part: the time before the collection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Before {
    /// Why it happened: `allocation` (the allocation area was used up), `shortage` (an
    /// allocation was refused for want of memory), `asked` (by the program), `stress`
    /// (`-DZ`), `idle` (no thread had run for a time, `-I`), `final` (the end of the
    /// run).
    pub cause: Cause,
    /// Bytes allocated since the previous collection (or the start), by all
    /// capabilities.
    pub allocated: Bytes,
    /// Time from the request until all mutators had stopped, which comes before
    /// `elapsed_ns`, in nanoseconds.
    pub sync_ns: u64,
    /// Page faults (minor and major) since the end of the previous collection (or the
    /// start).
    pub faults: u64,
    /// Time of the collector's concurrent work since the previous collection.
    pub concurrent: Times,
}

/// The recorder's part: the place of the collection in time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    /// Its start (all mutators had stopped), in nanoseconds since the start of the run.
    pub start_ns: u64,
    /// Elapsed time with the mutators stopped, in nanoseconds.
    pub elapsed_ns: u64,
    /// CPU time of all threads of the collector, in nanoseconds.
    pub cpu_ns: u64,
    /// Elapsed time of each phase of the collection, by name, in nanoseconds. The rest
    /// of `elapsed_ns` belongs to no phase.
    pub phases: PhaseTimes,
    /// CPU time of the process from the start of the run to the end of the collection,
    /// in nanoseconds.
    pub total_cpu_ns: u64,
    /// Page faults (minor and major) during the collection.
    pub faults: u64,
}

/// The heap's part: its memory after the collection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// Bytes of the megablocks that are mapped for the heap afterwards.
    pub in_use: Bytes,
    /// Bytes of mapped megablocks that no block uses, afterwards.
    pub fragmentation: Bytes,
    /// Bytes of all memory that counts under `-M`, afterwards: megablocks, side tables,
    /// mark stacks, remembered sets.
    pub taken: Bytes,
    /// Bytes returned to the system at its end: megablocks, and pages of free groups of
    /// blocks.
    pub returned: Bytes,
    /// Resident bytes of the process afterwards, with the program's other memory; for
    /// major collections only, and where the system says.
    pub resident: Option<Bytes>,
}

impl Work {
    /// Whether it collected all generations, or did the last slice of that: a cycle is over.
    pub fn is_major(&self) -> bool {
        self.cycle.is_over()
    }
}

impl Collection {
    /// Whether it was a collection of all generations, or the last slice of one.
    pub fn is_major(&self) -> bool {
        self.work.is_major()
    }

    /// Whether the program, its idleness or the end of the run requested it.
    pub fn forced(&self) -> bool {
        self.before.cause.is_forced()
    }

    /// Bytes of memory that this record takes.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Collection>() + self.work.shared.threads.len() * size_of::<GcThread>()
    }

    /// GC threads that took part; 1 in a sequential collection.
    pub fn threads(&self) -> u32 {
        self.work.shared.threads.len().max(1) as u32
    }

    /// The name of the way in which the work was shared.
    pub fn sharing(&self) -> &'static str {
        self.work.shared.sharing.name()
    }

    /// Nanoseconds in which several threads could work; `None` if one collected.
    pub fn parallel_ns(&self) -> Option<u64> {
        self.gc_threads().map(|_| self.work.shared.parallel_ns)
    }

    /// Bytes copied by the thread that copied most; `None` if one collected.
    pub fn par_max(&self) -> Option<u64> {
        self.gc_threads()?.iter().map(|thread| thread.copied).max()
    }

    /// Bytes that count as copied in balance, see [`par_balanced`](crate::stats::par_balanced); `None` if
    /// one collected.
    pub fn par_balanced(&self) -> Option<u64> {
        let copied: Vec<u64> = self.gc_threads()?.iter().map(|thread| thread.copied).collect();
        Some(crate::stats::par_balanced(&copied))
    }

    /// The threads of a parallel collection, the one that led first; `None` if one collected.
    pub fn gc_threads(&self) -> Option<&[GcThread]> {
        let threads = &self.work.shared.threads;
        (threads.len() > 1).then_some(threads)
    }
}
