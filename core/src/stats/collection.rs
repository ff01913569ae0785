//! The record of one collection, from a table of its figures.
//!
//! [`collection_figures!`](crate::collection_figures) is the table. A row has the documentation of
//! a figure, its field and type here, its key and type in the records of runs, and, if reports are
//! to show it, its name and unit there. From the table follow the structs of this module, the
//! records in `runs.jsonl`, the columns of CSV files and reports, `docs/results.md` and
//! `docs/measures.md`. To add a figure, add a row and the line that measures it.

use super::{Cause, Cycle, GcThread, PhaseTimes, Shared};
use crate::words::Bytes;

/// The table of figures of a collection. Calls the macro `$make` with it.
///
/// Each part of the table is filled in by one party: the collector, the mutators' world, the
/// recorder, the heap. Its rows have the form `field: Type => key: RecordType`. The rows of
/// `counted` are numbers that each worker of a collection counts by itself ([`Counted`]). The rows
/// of `unrecorded` have no key. The rows of `derived` are methods of [`Collection`]. A figure that
/// was not measured is absent from a record, which is why most record types are options. The field
/// of a figure that not every collector measures is an option, too.
///
/// A row with `#[shown(Total, "title", Unit)]` is a column of CSV files and of reports. `Total`
/// says how one figure is made of those of all collections of the measured phase: `Sum` or `Most`.
/// The unit is one of `gclab_results::Unit`.
#[macro_export]
macro_rules! collection_figures {
    ($make:ident) => {
        $make! {
            /// The collector's part: the work that the collection did.
            work: Work {
                /// The oldest generation collected, from 0.
                generation: u32 => generation: u32,
                /// The part of a cycle that it did: `began`, `continued` or `ended` (a slice),
                /// `whole` (all generations at once), or `none` (young generations only), which is
                /// absent in records.
                cycle: Cycle => cycle: Option<String>,
                /// Whether it compacted the oldest generation where it lay.
                compacted: bool => compacted: Option<bool>,
                /// Bytes that closures were copied or moved to. (GHC adds its mutable lists, which
                /// it rebuilds at every collection.)
                copied: Bytes => copied_bytes: Option<u64>,
                /// Of the copied bytes, those in a generation that was not itself collected; 0 in a
                /// major collection.
                #[shown(Sum, "promoted", Mebibytes)]
                promoted: Bytes => promoted_bytes: Option<u64>,
                /// Bytes live afterwards; generations that were not collected count as a whole.
                live: Bytes => live_bytes: Option<u64>,
                /// Bytes of closures that a slice marked. Absent without a slice.
                #[shown(Sum, "marked in slices", Mebibytes)]
                marked: Option<Bytes> => marked_bytes: Option<u64>,
                /// Bytes of memory that a slice swept. Absent without a slice.
                #[shown(Sum, "swept in slices", Mebibytes)]
                swept: Option<Bytes> => swept_bytes: Option<u64>,
                /// The part of the live bytes in large objects.
                large: Bytes => large_objects_bytes: Option<u64>,
                /// Bytes in live blocks that hold no live data, afterwards: lost at block ends and
                /// by rounding up large objects.
                slop: Bytes => slop_bytes: Option<u64>,
            } counted Counted {
                /// Entries of the remembered set that were visited as roots.
                #[shown(Sum, "remembered", Count)]
                remembered: u64 => remembered: Option<u64>,
                /// Passes over marked closures whose slots found no room on a mark stack; 0 if
                /// nothing was marked.
                #[shown(Most, "most mark passes", Count)]
                mark_passes: u64 => mark_passes: Option<u64>,
            } unrecorded {
                /// How the GC threads shared the work, and the work of each.
                shared: Shared,
            }
            /// The mutators' part: the time before the collection.
            before: Before {
                /// Why it happened: `allocation` (the allocation area was used up), `shortage` (an
                /// allocation was refused for want of memory), `asked` (by the program), `stress`
                /// (`-DZ`), `idle` (no thread had run for a time, `-I`), `final` (the end of the
                /// run).
                cause: Cause => cause: Option<String>,
                /// Bytes allocated since the previous collection (or the start), by all
                /// capabilities.
                allocated: Bytes => allocated_bytes: Option<u64>,
                /// Time from the request until all mutators had stopped, which comes before
                /// `elapsed_ns`, in nanoseconds.
                sync_ns: u64 => sync_ns: Option<u64>,
            } unrecorded {
                /// Page faults (minor and major) since the end of the previous collection (or the
                /// start).
                faults: u64,
            }
            /// The recorder's part: the place of the collection in time.
            time: Timing {
                /// Its start (all mutators had stopped), in nanoseconds since the start of the run.
                start_ns: u64 => start_ns: u64,
                /// Elapsed time with the mutators stopped, in nanoseconds.
                elapsed_ns: u64 => elapsed_ns: u64,
                /// CPU time of all threads of the collector, in nanoseconds.
                cpu_ns: u64 => cpu_ns: Option<u64>,
                /// Elapsed time of each phase of the collection, by name, in nanoseconds. The rest
                /// of `elapsed_ns` belongs to no phase.
                phases: PhaseTimes => phases_ns: Option<BTreeMap<String, u64>>,
            } unrecorded {
                /// CPU time of the process from the start of the run to the end of the collection,
                /// in nanoseconds.
                total_cpu_ns: u64,
                /// Page faults (minor and major) during the collection.
                faults: u64,
            }
            /// The heap's part: its memory after the collection.
            memory: Memory {
                /// Bytes of the megablocks that are mapped for the heap afterwards.
                in_use: Bytes => in_use_bytes: Option<u64>,
                /// Bytes of mapped megablocks that no block uses, afterwards.
                fragmentation: Bytes => fragmentation_bytes: Option<u64>,
                /// Bytes of all memory that counts under `-M`, afterwards: megablocks, side tables,
                /// mark stacks, remembered sets.
                taken: Bytes => taken_bytes: Option<u64>,
                /// Bytes returned to the system at its end: megablocks, and pages of free groups of
                /// blocks.
                returned: Bytes => returned_bytes: Option<u64>,
                /// Resident bytes of the process afterwards, with the program's other memory; for
                /// major collections only, and where the system says.
                resident: Option<Bytes> => resident_bytes: Option<u64>,
            }
            derived {
                /// Whether it was a collection of all generations, or the last slice of one: then
                /// `live_bytes` is known.
                is_major => major: bool,
                /// Whether the program, its idleness or the end of the run requested it; otherwise
                /// allocation caused it.
                forced => forced: Option<bool>,
                /// Number of threads that collected; 1 in a sequential collection.
                threads => threads: Option<u32>,
                /// The way in which the work was shared among threads, or the reason why it was not
                /// (`docs/parallel-collection.md`).
                sharing => sharing: Option<String>,
                /// The part of `elapsed_ns` in which several threads could work. Absent if one
                /// thread collected.
                parallel_ns => parallel_ns: Option<u64>,
                /// Bytes copied by the thread that copied most. Absent if one thread collected.
                par_max => par_max_copied_bytes: Option<u64>,
                /// Bytes copied in balance (GHC's `par_balanced`). Absent if one thread collected.
                par_balanced => par_balanced_copied_bytes: Option<u64>,
                /// The work of each thread; the leading thread comes first. Absent if one thread
                /// collected.
                gc_threads => gc_threads: Option<Vec<GcThread>>,
            }
        }
    };
}

macro_rules! define {
    (
        $( $(#[doc = $part_doc:literal])+ $part:ident : $Part:ident { $(
            $(#[doc = $doc:literal])+ $(#[shown($($shown:tt)*)])?
            $field:ident : $type:ty => $key:ident : $record_type:ty,
        )* } $(counted $Counted:ident { $(
            $(#[doc = $counted_doc:literal])+ $(#[shown($($counted_shown:tt)*)])?
            $counted:ident : u64 => $counted_key:ident : $counted_type:ty,
        )* })? $(unrecorded { $(
            $(#[doc = $unrecorded_doc:literal])+ $unrecorded:ident : $unrecorded_type:ty,
        )* })? )*
        derived { $($derived:tt)* }
    ) => {
        $(
            $(#[doc = $part_doc])+
            #[derive(Clone, Debug, Default, PartialEq, Eq)]
            pub struct $Part {
                $( $(#[doc = $doc])+ pub $field: $type, )*
                $(
                    /// The numbers that each worker counted, added up.
                    pub counted: $Counted,
                )?
                $($( $(#[doc = $unrecorded_doc])+ pub $unrecorded: $unrecorded_type, )*)?
            }

            $(
                /// The numbers that each worker of a collection counts by itself.
                #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
                pub struct $Counted {
                    $( $(#[doc = $counted_doc])+ pub $counted: u64, )*
                }

                impl std::ops::AddAssign for $Counted {
                    fn add_assign(&mut self, other: $Counted) {
                        $( self.$counted += other.$counted; )*
                    }
                }
            )?
        )*

        /// The record of one collection: GHC's `GCDetails`, with its place in time.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct Collection {
            $( $(#[doc = $part_doc])+ pub $part: $Part, )*
        }
    };
}

collection_figures!(define);

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
