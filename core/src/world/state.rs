//! A world, and the state that its lock guards: the heap, its collector, the listeners, and the
//! free capabilities.

use super::errors::StartError;
use super::memprof::Memprof;
use super::owned::{Functions, Values};
use super::registry::Registry;
use crate::alloc::Alloc;
use crate::block::{BLOCK, BlockState, MEGABLOCK};
use crate::capability::{Capabilities, CapabilityData};
use crate::capability_events::{CapabilityEventKind, os_thread};
use crate::collector::{Chosen, Collect, Description};
use crate::config::Config;
use crate::events::{Event, EventKind, Events, RunInfo};
use crate::heap::Heap;
use crate::kind::MutatorKind;
use crate::overhead::Overhead;
use crate::profile::Stacks;
use crate::recorder::{FinalCounts, Recorder};
use crate::remembered::RememberedSet;
use crate::roots::handles::HandleTable;
use crate::session::Participant;
use crate::stats::Tasks;
use crate::sync::{Arc, Condvar, Mutex, ThreadId, this_thread};
use crate::words::Bytes;
use crate::workers::{BackgroundThread, GcThreads, Stretch};
use std::collections::HashSet;

/// One heap with its collector, for mutators of kind `M`.
pub struct World<M: MutatorKind> {
    pub(super) description: &'static Description,
    pub(super) state: Mutex<WorldState<M>>,
    /// Signalled when the last running thread has stopped; the thread that stops the world waits on
    /// it.
    pub(super) all_stopped: Condvar,
    /// Signalled when the world resumes, and by each thread that then resumes; stopped threads wait
    /// on it.
    pub(super) resumed: Condvar,
    /// Signalled when a capability becomes free; `enter` waits on it.
    pub(super) left: Condvar,
    /// Signalled when a mutator is returned; the end of a blocking call waits on it.
    pub(super) given_back: Condvar,
    pub(super) participants: Registry<Participant<M::Alloc>>,
    pub(super) handles: Arc<HandleTable>,
    pub(super) functions: Functions,
    pub(super) values: Values,
    pub(super) memprof: Memprof,
    /// The stacks of cost centres that have occurred.
    pub(crate) stacks: Arc<Mutex<Stacks>>,
}

/// The state that the lock of a [`World`] guards.
pub(crate) struct WorldState<M: MutatorKind> {
    /// Comes first, since it is dropped first: it reads the heap.
    pub(super) background: BackgroundThread,
    pub(super) heap: Heap,
    pub(super) collector: Box<dyn Collect<Alloc = M::Alloc>>,
    /// The free capabilities, in no order.
    pub(super) idle: Vec<CapabilityData<M::Alloc>>,
    /// Threads that are inside and run: those that a collection has to stop.
    pub(super) running: usize,
    /// A thread is stopping the world, or has stopped it.
    pub(super) stopping: bool,
    /// Sessions end at their next safepoint, and no new one starts.
    pub(super) interrupted: bool,
    pub(super) idleness: Idleness,
    /// Allocation is counted by stack of cost centres.
    pub(super) charged: bool,
    /// The program can read its statistics.
    pub(super) rts_stats: bool,
    pub(super) events: Events,
    pub(super) recorder: Recorder,
    pub(super) overhead: Overhead,
    pub(super) gc_threads: GcThreads,
    /// Bytes allocated before the last collection, and since then in large objects and in sessions
    /// whose capability was taken again.
    pub(super) allocated: u64,
    /// `allocated` at the last collection.
    pub(super) allocated_before: u64,
    /// The time at which the last collection ended, by the recorder's clock, in nanoseconds.
    pub(super) last_ended: u64,
    /// Collect at every n-th allocation.
    pub(super) stress: Option<u64>,
    /// Sessions so far.
    pub(super) sessions: u64,
    pub(super) run: RunInfo,
    /// Threads that ever entered.
    entered: HashSet<ThreadId>,
}

impl<M: MutatorKind> WorldState<M> {
    pub(super) fn new(chosen: &Chosen<M>, config: &Config, stacks: &Arc<Mutex<Stacks>>) -> Result<Self, StartError> {
        let mut recorder = Recorder::new(config.generations, config.capabilities);
        let mut heap = Heap::new(config)?;
        heap.blocks.watch(chosen.description.name);
        if chosen.description.parallel {
            heap.set_copiers(config.gc_thread_count() as usize);
        }
        if M::OBSERVED {
            heap.map_side_words(config, Arc::clone(stacks))?;
        }
        let collector = (chosen.make)(&mut heap, config)?;
        let stress = config.stress.unwrap_or(0);
        let notes = Arc::default();
        let idle: Vec<_> = (0..config.capabilities as usize)
            .map(|number| {
                let remembered = RememberedSet::of_heap(heap.blocks().base(), heap.charges());
                CapabilityData::new(
                    number,
                    (chosen.allocator)(),
                    heap.states(),
                    remembered,
                    Arc::clone(&notes),
                    stress,
                )
            })
            .collect();
        let mut gc_threads = GcThreads::default();
        if chosen.description.parallel {
            gc_threads.spawn_up_to(config.gc_thread_count() as usize - 1);
        }
        let allocation_area = allocation_area(&*collector, &idle, config).unwrap_or(config.allocation_area);
        recorder.init_done();
        let last_ended = recorder.clock().elapsed_ns();
        Ok(WorldState {
            background: BackgroundThread::new(chosen.description.name, recorder.clock()),
            heap,
            collector,
            idle,
            running: 0,
            stopping: false,
            interrupted: false,
            idleness: Idleness::default(),
            charged: config.time_profile.is_some(),
            rts_stats: false,
            events: Events::default(),
            recorder,
            overhead: Overhead::new(config),
            gc_threads,
            allocated: 0,
            allocated_before: 0,
            last_ended,
            stress: config.stress,
            sessions: 0,
            run: RunInfo {
                allocation_area,
                ..chosen.run_info(config)
            },
            entered: HashSet::new(),
        })
    }

    /// The first free capability, so that few threads have few caches to fill.
    pub(super) fn take_capability(&mut self) -> Option<CapabilityData<M::Alloc>> {
        let first = (0..self.idle.len()).min_by_key(|&at| self.idle[at].view().number())?;
        let capability = self.idle.swap_remove(first);
        capability.common.has_thread.set(true);
        // The thread that had it may have left when it was asked to stop.
        capability.resume(self.stress.is_some());
        // A session counts its own allocation.
        self.allocated += capability.count_allocated().0 as u64;
        Some(capability)
    }

    /// This thread has entered by a capability, and runs.
    pub(super) fn enter(&mut self, capability: &CapabilityData<M::Alloc>) {
        self.running += 1;
        self.idleness.runs();
        self.sessions += 1;
        self.entered.insert(this_thread());
        capability.common.events.record(|| CapabilityEventKind::Enter {
            session: self.sessions,
            os_thread: os_thread(),
        });
    }

    /// The background thread has done this.
    pub(super) fn worked_concurrently(&mut self, stretch: Stretch) {
        self.recorder.worked_concurrently(stretch.times);
        self.events.announce(&Event {
            time_ns: stretch.began_ns + stretch.times.elapsed_ns,
            capability: None,
            kind: EventKind::Concurrent(stretch),
        });
    }

    /// Passes the events of a capability on to listeners. Its thread is the caller, or is stopped.
    pub(super) fn pass_on_events(&mut self, capability: &CapabilityData<M::Alloc>) {
        let number = capability.view().number();
        let listeners = &mut self.events;
        capability
            .common
            .events
            .pass_on(|events| listeners.capability(number, events));
    }

    /// Passes the events of all capabilities on: of threads that are inside, which are stopped, and
    /// of free ones.
    pub(super) fn pass_on_all_events(&mut self, participants: &[Arc<Participant<M::Alloc>>]) {
        let idle = std::mem::take(&mut self.idle);
        // SAFETY: null for a thread that only looks; else it lies in the mutator of a thread that
        // is stopped, and its changes are to cells.
        let inside = participants
            .iter()
            .filter_map(|participant| unsafe { participant.capability.as_ref() });
        inside
            .chain(&idle)
            .for_each(|capability| self.pass_on_events(capability));
        self.idle = idle;
    }

    /// The figures that the heap knows. `running`: bytes that threads inside have reported as
    /// allocated since the last collection.
    pub(super) fn final_counts(&self, running: u64) -> FinalCounts {
        let blocks = self.heap.blocks().accounting();
        let idle: u64 = self.idle.iter().map(|idle| idle.alloc.allocated().0 as u64).sum();
        let (bound, workers) = (self.entered.len().max(1) as u64, self.gc_threads.count() as u64);
        FinalCounts {
            allocated_total: self.allocated + idle + running,
            peak_in_use: blocks.peak_megablocks as u64 * MEGABLOCK.0 as u64,
            peak_blocks: blocks.peak_blocks as u64 * BLOCK.0 as u64,
            peak_fragmentation: blocks.peak_fragmentation().0 as u64,
            metadata: blocks.metadata_bytes.0 as u64,
            reserved: blocks.reserved.0 as u64,
            returned: blocks.returned_bytes.0 as u64,
            peak_taken: blocks.peak_taken.0 as u64,
            thrashing: self.overhead.total(),
            tasks: Tasks {
                total: bound + workers,
                bound,
                workers,
                peak_workers: workers,
            },
        }
    }
}

/// The size of the allocation area of a capability, in a heap that has just been made. `None` from
/// a collector whose mutators take memory that it has anyway.
fn allocation_area<A: Alloc>(
    collector: &dyn Collect<Alloc = A>,
    idle: &[CapabilityData<A>],
    config: &Config,
) -> Option<Bytes> {
    let all: Vec<_> = idle.iter().map(CapabilityData::view).collect();
    let mut areas = 0;
    collector.for_each_region(Capabilities::new(&all), &mut |region| {
        if region.step == BlockState::NURSERY.step() {
            areas += region.run.bytes().0;
        }
    });
    // With chunks (`-n`) there is one area for all; else only the first capability has its own yet.
    let sharers = config.chunk_size().map_or(1, |_| idle.len());
    (areas > 0).then(|| Bytes(areas / sharers))
}

/// How long the world has been idle, and whether an idle collection is due.
#[derive(Debug, Default)]
pub(super) struct Idleness {
    /// A thread asks from time to time whether a collection is due.
    pub(super) watched: bool,
    /// A thread has run since the last idle collection.
    pub(super) ran: bool,
    /// The world's time when the last thread stopped running, if known.
    pub(super) since_ns: Option<u64>,
    /// The world's time of the last idle collection.
    pub(super) collected_ns: Option<u64>,
}

impl Idleness {
    /// A thread runs.
    #[inline]
    pub(super) fn runs(&mut self) {
        self.ran = true;
        self.since_ns = None;
    }

    /// The last thread that ran has stopped. `now_ns` reads the world's clock.
    #[inline]
    pub(super) fn rests(&mut self, now_ns: impl FnOnce() -> u64) {
        if self.watched {
            self.since_ns = Some(now_ns());
        }
    }
}
