//! What the world's lock guards: the heap, its collector, those who listen, and the capabilities that nobody has.

use super::registry::Members;
use super::stopped::Stopped;
use super::{Exhausted, StartError};
use crate::block::{BLOCK, MEGABLOCK};
use crate::collector::{Alloc, Capabilities, Capability, Cause, Collector, Outcome, Pause, Roots, Since};
use crate::config::Config;
use crate::events::{Event, Events};
use crate::heap::{AfterMajor, Heap};
use crate::mutator::HandleTable;
use crate::recorder::{Ended, FinalCounts, Recorder};
use crate::remembered::RememberedSet;
use crate::sync::{ThreadId, this_thread};
use crate::words::Bytes;
use crate::workers::GcThreads;
use gclab_stats::{Memory, Tasks, Work};
use std::collections::HashSet;
use std::time::Duration;

pub(crate) struct Inside<C: Collector> {
    pub(super) heap: Heap,
    pub(super) collector: C,
    /// The capabilities that nobody has, in no order. They are part of every collection: who had them left closures and remembered slots.
    idle: Vec<Capability<C::Alloc>>,
    /// Threads that are inside and run: those that a collection has to stop.
    pub(super) running: usize,
    /// Somebody stops the world, or has stopped it.
    pub(super) stopping: bool,
    pub(super) events: Events,
    pub(super) recorder: Recorder,
    gc_threads: GcThreads,
    /// Bytes allocated before the last collection, and since then in large objects and in stays whose capability was taken again.
    pub(super) allocated: u64,
    /// `allocated` at the last collection.
    allocated_before: u64,
    /// When the last collection ended, by the recorder's clock, in nanoseconds.
    last_ended: u64,
    /// Collect at every n-th allocation.
    pub(super) stress: Option<u64>,
    /// Threads that ever entered.
    entered: HashSet<ThreadId>,
}

/// Ends the process when it is dropped: unwinding must not get out of a collection under way.
struct AbortOnUnwind(&'static str);

impl Drop for AbortOnUnwind {
    #[cold]
    fn drop(&mut self) {
        // Written directly, since the test harness keeps what `eprintln` prints.
        let message = format!(
            "gclab: the {} collector panicked in the middle of a collection, which leaves no heap to go on with\n",
            self.0
        );
        let _ = std::io::Write::write_all(&mut std::io::stderr(), message.as_bytes());
        std::process::abort();
    }
}

impl<C: Collector> Inside<C> {
    pub(super) fn new(config: &Config) -> Result<Self, StartError> {
        let mut recorder = Recorder::new(config.generations, config.capabilities);
        let mut heap = Heap::new(config)?;
        if C::DESCRIPTION.parallel {
            heap.set_copiers(config.gc_thread_count() as usize);
        }
        if C::PROFILED {
            heap.map_side_words(config.profile.follows_uses())?;
        }
        let collector = C::new(&mut heap, config)?;
        let stress = config.stress.unwrap_or(0);
        let idle = (0..config.capabilities as usize)
            .map(|number| {
                let remembered = RememberedSet::beside(config.allocation_area, heap.charges());
                Capability::new(number, heap.states(), remembered, stress)
            })
            .collect();
        let mut gc_threads = GcThreads::default();
        if C::DESCRIPTION.parallel {
            gc_threads.spawn_up_to(config.gc_thread_count() as usize - 1);
        }
        recorder.init_done();
        let last_ended = recorder.clock().elapsed_ns();
        Ok(Inside {
            heap,
            collector,
            idle,
            running: 0,
            stopping: false,
            events: Events::default(),
            recorder,
            gc_threads,
            allocated: 0,
            allocated_before: 0,
            last_ended,
            stress: config.stress,
            entered: HashSet::new(),
        })
    }

    /// Of the capabilities that are free, the first: so that few threads have few caches to fill.
    pub(super) fn take_capability(&mut self) -> Option<Capability<C::Alloc>> {
        let first = (0..self.idle.len()).min_by_key(|&at| self.idle[at].number())?;
        let capability = self.idle.swap_remove(first);
        // Who had it may have left when it was to stop.
        capability.go_on(self.stress.is_some());
        // A stay counts what it allocates itself.
        self.allocated += capability.alloc.take_allocated().0 as u64;
        Some(capability)
    }

    /// This thread has entered, and runs.
    pub(super) fn comes(&mut self) {
        self.running += 1;
        self.entered.insert(this_thread());
    }

    pub(super) fn give_back(&mut self, capability: Capability<C::Alloc>) {
        self.idle.push(capability);
    }

    /// Collect.
    ///
    /// # Safety
    /// `members` are all that are inside, and they are stopped.
    pub(super) unsafe fn collect(
        &mut self,
        members: &Members<C::Alloc>,
        handles: &HandleTable,
        requested: u64,
        cause: Cause,
    ) -> Result<(), Exhausted> {
        self.recorder.gc_start(requested);
        self.events.announce(&Event::Start { cause });
        handles.begin_collection();
        let Inside {
            heap,
            collector,
            idle,
            events,
            gc_threads,
            allocated,
            recorder,
            last_ended,
            allocated_before,
            ..
        } = self;
        // SAFETY: the caller vouches for it.
        let all = unsafe { capabilities(members, idle) };
        *allocated += take_allocated(members, &all);
        let clock = recorder.clock();
        let since = Since {
            running: Duration::from_nanos(requested.saturating_sub(*last_ended)),
            allocated: Bytes((*allocated - *allocated_before) as usize),
            clock,
            began: clock.elapsed_ns(),
        };
        *allocated_before = *allocated;
        let frames: Vec<_> = all.iter().map(|capability| capability.frames.get()).collect();
        // SAFETY: the mutators are stopped.
        let roots = unsafe { Roots::new(&frames, handles) };
        if let Some(side_words) = heap.side_words() {
            let mut regions = Vec::new();
            collector.for_each_region(Capabilities::new(&all), &mut |region| regions.push(region));
            side_words.collection_begins(regions);
        }
        let mut pause = Pause {
            heap,
            roots,
            capabilities: Capabilities::new(&all),
            gc_threads,
            cause,
            events,
            since,
        };
        let whole = AbortOnUnwind(C::DESCRIPTION.name);
        let (outcome, room) = collector.collect(&mut pause);
        std::mem::forget(whole);
        handles.end_collection();
        let left = outcome.major.then(|| {
            let blocks = self.heap.blocks().accounting().blocks_in_use as usize * BLOCK.0;
            AfterMajor {
                preallocated: Bytes(blocks).saturating_sub(outcome.live + outcome.slop),
                copied: outcome.live - outcome.large + outcome.slop,
                large: outcome.large,
                in_place: outcome.in_place,
            }
        });
        let returned = self.heap.blocks().accounting().returned_bytes;
        self.heap
            .end_collection(left, matches!(cause, Cause::Allocation | Cause::Stress));
        let returned = self.heap.blocks().accounting().returned_bytes - returned;
        self.last_ended = self.recorder.clock().elapsed_ns();
        if outcome.not_begun {
            self.events.announce(&Event::NotBegun);
        } else {
            // SAFETY: as above.
            unsafe { self.record(members, handles, cause, outcome, returned) };
        }
        room.map_err(Exhausted::of::<C>)
    }

    /// # Safety
    /// As for `collect`.
    unsafe fn record(
        &mut self,
        members: &Members<C::Alloc>,
        handles: &HandleTable,
        cause: Cause,
        outcome: Outcome,
        returned: Bytes,
    ) {
        let blocks = self.heap.blocks().accounting();
        let ended = Ended {
            forced: cause != Cause::Allocation,
            allocated_total: self.allocated,
            memory: Memory {
                in_use: blocks.committed(),
                fragmentation: blocks.fragmentation(),
                taken: blocks.taken,
                returned,
                resident: None,
            },
            work: Work {
                generation: outcome.generation,
                major: outcome.major,
                copied: outcome.copied,
                promoted: outcome.promoted,
                live: outcome.live,
                large: outcome.large,
                slop: outcome.slop,
                remembered: outcome.remembered,
                shared: outcome.shared,
            },
        };
        let collection = self.recorder.gc_end(ended);
        if self.events.is_empty() {
            return;
        }
        let collection = collection.clone();
        let mut events = std::mem::take(&mut self.events);
        let announce = |stopped: &Stopped<'_>| {
            events.announce(&Event::End {
                collection: &collection,
                stopped,
            });
        };
        // SAFETY: as above.
        unsafe { self.stopped(members, handles, announce) };
        self.events = events;
    }

    /// Announce a marker.
    ///
    /// # Safety
    /// As for `collect`.
    pub(super) unsafe fn marker(&mut self, members: &Members<C::Alloc>, handles: &HandleTable, name: &str) {
        let mut events = std::mem::take(&mut self.events);
        let announce = |stopped: &Stopped<'_>| events.announce(&Event::Marker { name, stopped });
        // SAFETY: as above.
        unsafe { self.stopped(members, handles, announce) };
        self.events = events;
    }

    /// # Safety
    /// As for `collect`.
    pub(super) unsafe fn stopped<R>(
        &mut self,
        members: &Members<C::Alloc>,
        handles: &HandleTable,
        look: impl FnOnce(&Stopped<'_>) -> R,
    ) -> R {
        // SAFETY: the caller vouches for it.
        let all = unsafe { capabilities(members, &self.idle) };
        let frames: Vec<_> = all.iter().map(|capability| capability.frames.get()).collect();
        // SAFETY: the mutators are stopped.
        let roots = unsafe { Roots::new(&frames, handles) };
        let capabilities = Capabilities::new(&all);
        let regions = |visit: &mut dyn FnMut(crate::block::Region)| self.collector.for_each_region(capabilities, visit);
        let remembered: Vec<_> = all.iter().map(|capability| &capability.remembered).collect();
        let started = self.recorder.look_start();
        let mutator_cpu_ns = self.recorder.mutator_cpu_ns();
        let result = look(&Stopped::new(&self.heap, roots, &regions, &remembered, mutator_cpu_ns));
        self.recorder.look_end(started);
        result
    }

    /// The figures that the heap knows; `running` is what those that are inside have said that they allocated since the last collection.
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
            tasks: Tasks {
                total: bound + workers,
                bound,
                workers,
                peak_workers: workers,
            },
        }
    }
}

/// All capabilities, in the order of their numbers.
///
/// # Safety
/// `members` are inside, and stopped for `'a`.
unsafe fn capabilities<'a, A>(members: &'a Members<A>, idle: &'a [Capability<A>]) -> Vec<&'a Capability<A>> {
    let inside = members.iter().filter_map(|member| {
        // SAFETY: null for who looks only; else it lies in the mutator of a thread that is stopped, and what changes in it is in cells.
        unsafe { member.capability.as_ref() }
    });
    let mut all: Vec<_> = inside.chain(idle).collect();
    all.sort_unstable_by_key(|capability| capability.number());
    all
}

/// Bytes allocated by all since they were last counted; members are told what of it is theirs.
fn take_allocated<A: Alloc>(members: &Members<A>, all: &[&Capability<A>]) -> u64 {
    let mut total = 0;
    for capability in all {
        let allocated = capability.alloc.take_allocated();
        total += allocated.0 as u64;
        if let Some(member) = members
            .iter()
            .find(|member| std::ptr::eq(member.capability, *capability))
        {
            member.counted(allocated);
        }
    }
    total
}
