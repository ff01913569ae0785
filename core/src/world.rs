//! The world: one heap with its collector, its roots and those who listen to it.
//!
//! A [`World`] is a value. Threads [enter](World::enter) it; a collection stops whoever is inside. For now one stay at a time.
//! Running out of memory unwinds the stay with a private payload, which `enter` gives back as an error.

use crate::block::{BLOCK, MEGABLOCK};
use crate::collector::{Alloc, Capabilities, Capability, Cause, Collector, Outcome, Pause, Refill, Roots};
use crate::events::{Event, Events, Listener};
use crate::flags::{FlagError, Flags};
use crate::gc_threads::GcThreads;
use crate::heap::{Heap, OutOfMemory};
use crate::memory::MemoryError;
use crate::mutator::{HandleTable, Mutator};
use crate::stats::render::Printer;
use crate::stats::{FinalCounts, GcCounts, Recorder, Statistics, Tasks, par_balanced};
use crate::words::{Addr, Bytes, Words};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

mod stopped;

pub use stopped::{Children, ClosureView, RootOrigin, Stopped, StoppedRegion};

/// One heap with its collector.
pub struct World<C: Collector> {
    inside: Mutex<Inside<C>>,
}

impl<C: Collector> std::fmt::Debug for World<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "World<{}>", C::DESCRIPTION.name)
    }
}

/// What a stay in the world has for itself.
pub(crate) struct Inside<C: Collector> {
    heap: Heap,
    collector: C,
    /// The capability between stays; a stay takes it.
    capability: Option<Capability<C::Alloc>>,
    pub(crate) handles: Arc<HandleTable>,
    events: Events,
    recorder: Recorder,
    gc_threads: GcThreads,
    /// Bytes allocated before the last collection.
    allocated: u64,
    /// Collect at every n-th allocation.
    stress: Option<u64>,
}

/// A world that could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The system refused address space or memory.
    #[error("the heap could not be made: {0}")]
    Memory(#[from] MemoryError),
    /// The collector cannot do what a flag asks.
    #[error(transparent)]
    Flag(#[from] FlagError),
    /// The limit on memory leaves no room for the first allocation area.
    #[error("the heap could not be made: {0}")]
    OutOfMemory(#[from] OutOfMemory),
}

/// The heap is exhausted: what is live leaves no room to go on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("heap exhausted under the {collector} collector: {cause}")]
pub struct Exhausted {
    /// The collector that could not make room.
    pub collector: &'static str,
    /// What was asked for, what was in use, and the limit.
    pub cause: OutOfMemory,
}

/// What unwinds a stay whose heap is exhausted. Stays in several worlds may be nested: each takes only its own.
struct Leave {
    /// Address of the world's inside.
    world: usize,
    exhausted: Exhausted,
}

impl Exhausted {
    /// Leave the stay in the world behind `inside`: unwinds to its [`World::enter`].
    pub(crate) fn unwind<C: Collector>(self, inside: *const Inside<C>) -> ! {
        resume_unwind(Box::new(Leave {
            world: inside.addr(),
            exhausted: self,
        }))
    }
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

/// Why [`World::enter`] did not come to an end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EnterError {
    /// The heap is exhausted. The world can still be asked for its statistics.
    #[error(transparent)]
    Exhausted(#[from] Exhausted),
    /// Somebody is inside already: this thread, or another one.
    #[error("the heap is entered already, and has one capability")]
    Entered,
}

impl<C: Collector> World<C> {
    /// A world with an empty heap.
    ///
    /// # Errors
    /// If there is no memory for it, or the collector cannot do what a flag asks.
    pub fn new(flags: &Flags) -> Result<World<C>, StartError> {
        let flags = &mut flags.clone();
        C::DESCRIPTION.fit(flags, |_| Vec::new())?;
        let mut recorder = Recorder::new(flags.generations, flags.capabilities);
        let mut heap = Heap::new(flags)?;
        let collector = C::new(&mut heap, flags)?;
        let capability = Some(Capability::new(
            0,
            heap.states(),
            flags.allocation_area,
            flags.stress.unwrap_or(0),
        ));
        recorder.init_done();
        let inside = Inside {
            heap,
            collector,
            capability,
            handles: Arc::default(),
            events: Events::default(),
            recorder,
            gc_threads: GcThreads::default(),
            allocated: 0,
            stress: flags.stress,
        };
        Ok(World {
            inside: Mutex::new(inside),
        })
    }

    /// From now on tell `listener` what happens.
    pub fn listen(&mut self, listener: Box<dyn Listener>) {
        self.inside_mut().events.listen(listener);
    }

    /// From now on print statistics as the run goes: rows of `-S` when they happen.
    pub fn print_with(&mut self, printer: Printer) {
        self.inside_mut().recorder.print_with(printer);
    }

    /// Run `stay` in the heap. `'h` brands it: pointers of this stay go nowhere else.
    ///
    /// # Errors
    /// [`EnterError::Exhausted`] if the heap was exhausted, [`EnterError::Entered`] if somebody is inside already.
    pub fn enter<R>(&self, stay: impl for<'h> FnOnce(&mut Mutator<'h, C>) -> R) -> Result<R, EnterError> {
        let mut inside = self.lock()?;
        let capability = inside
            .capability
            .take()
            .expect("a stay puts the capability back when it ends");
        let world = &raw mut *inside;
        // SAFETY: the lock is held until the mutator is gone, and `inside` is used again only after that.
        let mut mutator = unsafe { Mutator::new(capability, world) };
        let result = catch_unwind(AssertUnwindSafe(|| stay(&mut mutator)));
        inside.capability = Some(mutator.into_capability());
        match result {
            Ok(result) => Ok(result),
            Err(payload) => {
                let payload = match payload.downcast::<Leave>() {
                    Ok(leave) if leave.world == world.addr() => return Err(leave.exhausted.into()),
                    Ok(another) => another,
                    Err(payload) => payload,
                };
                drop(inside);
                resume_unwind(payload)
            }
        }
    }

    /// The statistics so far (`-T`).
    ///
    /// # Errors
    /// [`EnterError::Entered`] if somebody is inside.
    pub fn statistics(&self) -> Result<Statistics, EnterError> {
        let inside = self.lock()?;
        Ok(inside.recorder.so_far(&inside.final_counts()))
    }

    /// Look at the heap between stays.
    ///
    /// # Errors
    /// [`EnterError::Entered`] if somebody is inside.
    pub fn inspect<R>(&self, look: impl FnOnce(&Stopped<'_>) -> R) -> Result<R, EnterError> {
        let inside = self.lock()?;
        let capability = inside
            .capability
            .as_ref()
            .expect("a stay puts the capability back when it ends");
        Ok(inside.stopped(capability, look))
    }

    /// End the run: one last major collection, as GHC does, and the statistics.
    pub fn finish(mut self) -> Statistics {
        self.inside_mut().recorder.exit_start();
        let inside = self.inside_mut();
        let capability = inside.capability.take().expect("nobody is inside");
        // What is still live does not matter any more, nor whether there would be room to go on.
        let _ = inside.collect(&capability, Cause::Final);
        inside.capability = Some(capability);
        let counts = inside.final_counts();
        self.inside
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
            .recorder
            .finish(&counts)
    }

    fn lock(&self) -> Result<MutexGuard<'_, Inside<C>>, EnterError> {
        match self.inside.try_lock() {
            Ok(inside) => Ok(inside),
            Err(TryLockError::WouldBlock) => Err(EnterError::Entered),
            // Somebody who looked panicked; the heap is whole.
            Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
        }
    }

    fn inside_mut(&mut self) -> &mut Inside<C> {
        self.inside.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<C: Collector> Inside<C> {
    /// The mutator's allocator has no room for `words` words: make some and take it.
    pub fn refill(&mut self, capability: &Capability<C::Alloc>, words: Words) -> Result<Addr, Exhausted> {
        let Some(every) = self.stress else {
            return self.make_room(capability, words);
        };
        let left = capability.until_stress.get();
        if left <= 1 {
            self.collect(capability, Cause::Stress)?;
            capability.until_stress.set(every);
        } else {
            capability.until_stress.set(left - 1);
        }
        capability.alloc.restrict(None);
        let at = self.make_room(capability, words)?;
        // Room for this allocation only: the next one comes here again.
        capability.alloc.restrict(Some(words));
        Ok(at)
    }

    fn make_room(&mut self, capability: &Capability<C::Alloc>, words: Words) -> Result<Addr, Exhausted> {
        let mut collected = false;
        loop {
            if let Some(at) = capability.alloc.reserve(words) {
                return Ok(at);
            }
            match self.collector.refill(&mut self.heap, capability, words) {
                Ok(Refill::Ready) => {}
                Ok(Refill::Collect) if !collected => {
                    self.collect(capability, Cause::Allocation)?;
                    collected = true;
                }
                Ok(Refill::Collect) => panic!("{}: no room straight after a collection", C::DESCRIPTION.name),
                Err(_) if !collected => {
                    self.collect(capability, Cause::asked(true))?;
                    collected = true;
                }
                Err(cause) => {
                    return Err(Exhausted {
                        collector: C::DESCRIPTION.name,
                        cause,
                    });
                }
            }
        }
    }

    /// Space for a large object.
    pub fn allocate_large(&mut self, capability: &Capability<C::Alloc>, words: Words) -> Result<Addr, Exhausted> {
        if let Some(every) = self.stress {
            let left = capability.until_stress.get().saturating_sub(1);
            capability.until_stress.set(left);
            if left == 0 {
                self.collect(capability, Cause::Stress)?;
                capability.until_stress.set(every);
            }
        }
        let mut last = None;
        for cause in [Some(Cause::Allocation), Some(Cause::asked(true)), None] {
            match self.collector.allocate_large(&mut self.heap, words) {
                Ok(Some(at)) => {
                    self.allocated += words.to_bytes().0 as u64;
                    return Ok(at);
                }
                Ok(None) => {}
                Err(error) => last = Some(error),
            }
            if let Some(cause) = cause {
                self.collect(capability, cause)?;
            }
        }
        let cause = last.expect("a collector that has no room straight after a collection says why");
        Err(Exhausted {
            collector: C::DESCRIPTION.name,
            cause,
        })
    }

    /// Stop the world and collect.
    pub fn collect(&mut self, capability: &Capability<C::Alloc>, cause: Cause) -> Result<(), Exhausted> {
        let requested = self.recorder.clock().elapsed_ns();
        self.recorder.gc_start(requested);
        self.events.announce(&Event::Start { cause });
        self.allocated += capability.alloc.take_allocated().0 as u64;
        self.heap.begin_collection();
        let Inside {
            heap,
            collector,
            handles,
            events,
            gc_threads,
            ..
        } = self;
        let (frames, all) = ([capability.frames.get()], [capability]);
        // SAFETY: the mutator is the one that asks, and waits here.
        let roots = unsafe { Roots::new(&frames, handles) };
        let mut pause = Pause {
            heap,
            roots,
            capabilities: Capabilities::new(&all),
            gc_threads,
            cause,
            events,
        };
        let whole = AbortOnUnwind(C::DESCRIPTION.name);
        let (outcome, room) = collector.collect(&mut pause);
        std::mem::forget(whole);
        self.heap.end_collection();
        let result = room.map_err(|cause| Exhausted {
            collector: C::DESCRIPTION.name,
            cause,
        });
        self.record(capability, cause, outcome);
        self.events.resume_panic();
        result
    }

    fn record(&mut self, capability: &Capability<C::Alloc>, cause: Cause, outcome: Outcome) {
        let blocks = self.heap.blocks().accounting();
        let threads = &outcome.shared.threads;
        let copied: Vec<u64> = threads.iter().map(|thread| thread.copied).collect();
        let counts = GcCounts {
            generation: outcome.generation,
            major: outcome.major,
            forced: cause != Cause::Allocation,
            threads: threads.len().max(1) as u32,
            par_max: copied.iter().copied().max().unwrap_or(0),
            par_balanced: par_balanced(&copied),
            workers_cpu_ns: threads.iter().map(|thread| thread.cpu_ns).sum(),
            search: threads.iter().map(|thread| thread.search).sum(),
            allocated_total: self.allocated,
            copied: outcome.copied.0 as u64,
            live: outcome.live.0 as u64,
            large: outcome.large.0 as u64,
            slop: outcome.slop.0 as u64,
            in_use: blocks.committed().0 as u64,
            fragmentation: blocks.fragmentation().0 as u64,
            promoted: outcome.promoted.0 as u64,
            remembered: outcome.remembered,
            shared: outcome.shared,
        };
        let collection = self.recorder.gc_end(&counts).clone();
        let mut events = std::mem::take(&mut self.events);
        self.stopped(capability, |stopped| {
            events.announce(&Event::End {
                collection: &collection,
                stopped,
            })
        });
        self.events = events;
    }

    fn stopped<R>(&self, capability: &Capability<C::Alloc>, look: impl FnOnce(&Stopped<'_>) -> R) -> R {
        let (frames, all) = ([capability.frames.get()], [capability]);
        // SAFETY: whoever calls this has the world, so the mutator of the capability is stopped, or there is none.
        let roots = unsafe { Roots::new(&frames, &self.handles) };
        let capabilities = Capabilities::new(&all);
        let regions = |visit: &mut dyn FnMut(crate::space::Region)| self.collector.for_each_region(capabilities, visit);
        let remembered = [&capability.remembered];
        look(&Stopped::new(&self.heap, roots, &regions, &remembered))
    }

    fn final_counts(&self) -> FinalCounts {
        let blocks = self.heap.blocks().accounting();
        let running = self
            .capability
            .as_ref()
            .map_or(Bytes(0), |capability| capability.alloc.allocated());
        FinalCounts {
            allocated_total: self.allocated + running.0 as u64,
            peak_in_use: blocks.peak_megablocks as u64 * MEGABLOCK.0 as u64,
            peak_blocks: blocks.peak_blocks as u64 * BLOCK.0 as u64,
            peak_fragmentation: blocks.peak_fragmentation().0 as u64,
            metadata: blocks.metadata_bytes.0 as u64,
            tasks: Tasks {
                total: 1,
                bound: 1,
                workers: 0,
                peak_workers: 0,
            },
        }
    }
}
