//! Records the event log of a run, as GHC's runtime does: for ThreadScope, `ghc-events`,
//! eventlog2html and `gclab events`.
//!
//! [`EventLog`] is a listener. It turns the events of a world into GHC's:
//!
//! * A thread enters the heap: `TASK_CREATE`, `CREATE_THREAD`, `RUN_THREAD`. It stops, and runs
//!   again: `STOP_THREAD` with the reason, `RUN_THREAD`. It leaves: `STOP_THREAD` (finished),
//!   `TASK_DELETE`.
//! * A collection is due: `REQUEST_SEQ_GC`, or `REQUEST_PAR_GC` if several threads may do it.
//! * The collection: `GC_START`, `HEAP_ALLOCATED`, `GC_GLOBAL_SYNC`, `GC_STATS_GHC`, `GC_END`, then
//!   `HEAP_LIVE` (major ones), `HEAP_SIZE`, `BLOCKS_SIZE`. Its GC threads work, run out of work,
//!   finish: `GC_WORK`, `GC_IDLE`, `GC_DONE`. A major one may return memory: `MEM_RETURN`.
//! * A collector marks concurrently: `CONC_MARK_BEGIN`, `CONC_MARK_END`. The pause that ends the
//!   cycle: `CONC_SYNC_BEGIN`, `CONC_SYNC_END`. It clears or sweeps concurrently: `CONC_SWEEP_BEGIN`,
//!   `CONC_SWEEP_END`. With `-ln`, what each major collection leaves in cells: `NONMOVING_HEAP_CENSUS`.
//! * A message, a phase marker: `USER_MSG`, `USER_MARKER`.
//! * A census of a heap profile: `HEAP_PROF_SAMPLE_BEGIN`, one event a band,
//!   `HEAP_PROF_SAMPLE_END`.
//! * A time profile: `PROF_BEGIN`, and `PROF_SAMPLE_COST_CENTRE` for each thread running at a tick.
//! * A debug message (`-D<x>`): `LOG_MSG`.
//!
//! The profilers are elsewhere. The heap profiler calls [`EventLog::profile_start`] and
//! [`EventLog::sample`], or its variants for stacks and biographies. The time profiler calls
//! [`EventLog::time_profile_start`] and [`EventLog::time_sample`].
//!
//! **Terms.** A thread's session appears as a Haskell thread of one in-call, with its own number,
//! which stays on its capability. The system's thread is its task.
//!
//! **Order.** The times of a capability never run backwards, in the log or in a block. `GC_START`
//! and `GC_END` of the leader have the times of the statistics, and the other capabilities that
//! take part begin when their threads stop; `GC_GLOBAL_SYNC` and `GC_STATS_GHC` lie between them, a
//! microsecond apart where the collection is long enough, since ThreadScope rounds times and then
//! sorts. A GC thread that did no work in a collection has no events there: its capability only
//! waited.
//!
//! **On disk.** The description of the process is written at once, the rest at the end of a
//! collection, if a buffer is full or a second has passed. The log of a program that was killed
//! therefore lacks the events since the last collection, and up to a second before it.

mod capability;
mod centres;
mod collection;
mod debug;
mod log;
mod output;
mod process;
mod profile;

pub use debug::DebugPrinter;
pub use log::EventLog;
pub use process::About;
pub use profile::ProfileStart;
