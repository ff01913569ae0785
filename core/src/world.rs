//! The world: one heap with its collector, its roots and those who listen to it.
//!
//! A [`World`] is a value. Threads [enter](World::enter) it, as many at a time as there are capabilities (`-N`); a collection stops
//! whoever is inside. Running out of memory unwinds a stay with a private payload, which `enter` gives back as an error.
//!
//! Threads allocate and write without locks. One lock guards all the rest: the collector, the heap, the capabilities that nobody has, and
//! who runs (`gate`). Slow paths of allocation take it, and so does who comes, leaves or collects. The list of who is inside is read without it
//! (`registry`). Lock order: the world's lock, then that of the table of handles.

use crate::collector::{Alloc, Capability, Cause, Collector, Refill};
use crate::config::Config;
use crate::events::Listener;
use crate::heap::OutOfMemory;
use crate::memory::MemoryError;
use crate::mutator::{HandleTable, Mutator};
use crate::sync::{Arc, Condvar, Mutex, this_thread};
use crate::words::{Addr, Words};
use gate::Locked;
use gclab_stats::Statistics;
use gclab_stats::render::Printer;
use inside::Inside;
use registry::Registry;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

mod gate;
mod inside;
mod registry;
mod stopped;

pub use registry::{Doing, ThreadInside};
pub(crate) use registry::{Member, Stay};
pub use stopped::{Children, ClosureView, NamedRoot, RootOrigin, Stopped, StoppedRegion, prefetch};

/// One heap with its collector.
pub struct World<C: Collector> {
    inside: Mutex<Inside<C>>,
    /// Who stops the world waits for it: nobody runs any more.
    all_stopped: Condvar,
    /// Those that were stopped wait for it.
    resumed: Condvar,
    /// Those that want to enter wait for it: a capability is free.
    left: Condvar,
    members: Registry<Member<C::Alloc>>,
    handles: Arc<HandleTable>,
}

impl<C: Collector> std::fmt::Debug for World<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "World<{}>({} inside)", C::DESCRIPTION.name, self.threads().len())
    }
}

/// A world that could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The system refused address space or memory.
    #[error("the heap could not be made: {0}")]
    Memory(#[from] MemoryError),
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
    /// Address of the world, which stays where it is during a stay.
    world: usize,
    exhausted: Exhausted,
}

impl Exhausted {
    fn of<C: Collector>(cause: OutOfMemory) -> Exhausted {
        Exhausted {
            collector: C::DESCRIPTION.name,
            cause,
        }
    }

    /// Leave the stay in `world`: unwinds to its [`World::enter`].
    pub(crate) fn unwind<C: Collector>(self, world: &World<C>) -> ! {
        resume_unwind(Box::new(Leave {
            world: std::ptr::from_ref(world).addr(),
            exhausted: self,
        }))
    }
}

/// Why [`World::enter`] did not come to an end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EnterError {
    /// The heap is exhausted. The world can still be asked for its statistics.
    #[error(transparent)]
    Exhausted(#[from] Exhausted),
    /// This thread is inside already.
    #[error("this thread has entered the heap already")]
    Entered,
}

impl<C: Collector> World<C> {
    /// Makes a world with an empty heap. If the collector cannot have as many generations as `config` says, the heap has the nearest
    /// number that it can have.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn new(config: &Config) -> Result<World<C>, StartError> {
        let config = &Config {
            generations: C::DESCRIPTION.fitting_generations(config.generations),
            ..config.clone()
        };
        Ok(World {
            inside: Mutex::new(Inside::new(config)?),
            all_stopped: Condvar::new(),
            resumed: Condvar::new(),
            left: Condvar::new(),
            members: Registry::new(),
            handles: Arc::default(),
        })
    }

    /// From now on tell `listener` what happens.
    pub fn listen(&mut self, listener: Box<dyn Listener>) {
        self.inside.get_mut().events.listen(listener);
    }

    /// From now on print statistics as the run goes: rows of `-S` when they happen.
    pub fn print_with(&mut self, printer: Printer) {
        self.inside.get_mut().recorder.print_with(printer);
    }

    /// Run `stay` in the heap. `'h` brands it: pointers of this stay go nowhere else.
    ///
    /// As many threads may be inside as there are capabilities (`-N`); one more waits here until one leaves. So a thread inside
    /// that waits for one that has yet to enter (in [`Mutator::blocking`]) needs a capability for it that is free. One that is inside of several worlds at a time
    /// holds up collections in all of them while it waits in one.
    ///
    /// # Errors
    /// [`EnterError::Exhausted`] if the heap was exhausted, [`EnterError::Entered`] if this thread is inside already, also as who
    /// [looks](World::inspect), or as a listener of the collection that it does.
    pub fn enter<R>(&self, stay: impl for<'h> FnOnce(&mut Mutator<'h, C>) -> R) -> Result<R, EnterError> {
        self.not_inside()?;
        let mut inside = self.inside.lock();
        let capability = self.wait_for_capability(&mut inside);
        let number = capability.number();
        // SAFETY: the world is borrowed, so it is valid until this returns, and the mutator is gone before.
        let mut mutator = unsafe { Mutator::new(capability, self, inside.heap.side_words()) };
        // All goes through this pointer until the stay is over.
        let this = &raw mut mutator;
        // SAFETY: it points to the mutator.
        let capability = unsafe { Mutator::capability_of(this) };
        let member = Arc::new(Member::new(this_thread(), capability, Some(number), Doing::Running));
        // SAFETY: the mutator is valid, and the member is until this returns.
        unsafe { Mutator::begin(this, Arc::as_ptr(&member)) };
        self.members.change(|members| members.push(Arc::clone(&member)));
        inside.comes();
        drop(inside);
        // SAFETY: the mutator is where it was; other threads use it while this one waits, and then only what is in cells.
        let result = catch_unwind(AssertUnwindSafe(|| stay(unsafe { &mut *this })));
        let mut inside = self.inside.lock();
        self.no_longer_runs(&mut inside, &member, Doing::Stopped);
        self.members
            .change(|members| members.retain(|other| !Arc::ptr_eq(other, &member)));
        inside.give_back(mutator.into_capability());
        drop(inside);
        self.left.notify_one();
        result.or_else(|payload| match payload.downcast::<Leave>() {
            Ok(leave) if leave.world == std::ptr::from_ref(self).addr() => Err(leave.exhausted.into()),
            Ok(another) => resume_unwind(another),
            Err(payload) => resume_unwind(payload),
        })
    }

    fn wait_for_capability(&self, inside: &mut Locked<'_, C>) -> Capability<C::Alloc> {
        loop {
            self.wait_while_stopping(inside);
            if let Some(capability) = inside.take_capability() {
                return capability;
            }
            self.left.wait(inside);
        }
    }

    fn not_inside(&self) -> Result<(), EnterError> {
        let thread = this_thread();
        // Without the lock: this thread may have it, as the one that collects.
        let inside = self
            .members
            .read(|members| members.iter().any(|member| member.thread == thread));
        if inside { Err(EnterError::Entered) } else { Ok(()) }
    }

    /// Who is inside, and what they do, as of a moment ago. Nobody waits: it works while the world is stopped, too.
    pub fn threads(&self) -> Vec<ThreadInside> {
        self.members
            .read(|members| members.iter().map(|member| (&**member).into()).collect())
    }

    /// The statistics so far (`-T`). While others are inside, what they allocated since their allocators last ran out is not known yet.
    ///
    /// # Errors
    /// [`EnterError::Entered`] if this thread is inside.
    pub fn statistics(&self) -> Result<Statistics, EnterError> {
        self.not_inside()?;
        let inside = self.inside.lock();
        let running = self
            .members
            .read(|members| members.iter().map(|member| member.since()).sum());
        Ok(inside.recorder.so_far(&inside.final_counts(running)))
    }

    /// Look at the heap, stopped: whoever is inside waits.
    ///
    /// # Errors
    /// [`EnterError::Entered`] if this thread is inside.
    pub fn inspect<R>(&self, look: impl FnOnce(&Stopped<'_>) -> R) -> Result<R, EnterError> {
        /// Leaves at the end, also by unwinding.
        struct Looks<'a, C: Collector>(&'a World<C>, Arc<Member<C::Alloc>>);
        impl<C: Collector> Drop for Looks<'_, C> {
            fn drop(&mut self) {
                self.0
                    .members
                    .change(|members| members.retain(|other| !Arc::ptr_eq(other, &self.1)));
            }
        }
        self.not_inside()?;
        let mut inside = self.inside.lock();
        self.wait_while_stopping(&mut inside);
        let looks = Arc::new(Member::new(this_thread(), std::ptr::null(), None, Doing::Stopping));
        let mut stopped = self.stop(&mut inside, None);
        self.members.change(|members| members.push(Arc::clone(&looks)));
        let _looks = Looks(self, looks);
        let (inside, members) = stopped.split();
        // SAFETY: these are all, and they are stopped.
        Ok(unsafe { inside.stopped(members, &self.handles, look) })
    }

    /// End the run: one last major collection, as GHC does, and the statistics.
    pub fn finish(self) -> Statistics {
        let mut inside = self.inside.into_inner();
        inside.recorder.exit_start();
        let requested = inside.recorder.clock().elapsed_ns();
        // SAFETY: nobody is inside, since a stay borrows the world.
        // What is still live does not matter any more, nor whether there would be room to go on.
        let _ = unsafe { inside.collect(&[], &self.handles, requested, Cause::Final) };
        inside.events.resume_panic();
        let counts = inside.final_counts(0);
        inside.recorder.finish(&counts)
    }

    /// The mutator's allocator has no room for `words` words: make some and take it.
    pub(crate) fn refill(&self, stay: Stay<'_, C::Alloc>, words: Words) -> Result<Addr, Exhausted> {
        let mut inside = self.lock(stay);
        let Some(every) = inside.stress else {
            return self.make_room(&mut inside, stay, words);
        };
        let left = stay.capability.until_stress.get();
        if left <= 1 {
            self.stop_and_collect(&mut inside, stay, Cause::Stress)?;
            stay.capability.until_stress.set(every);
        } else {
            stay.capability.until_stress.set(left - 1);
        }
        stay.capability.alloc.restrict(None);
        let at = self.make_room(&mut inside, stay, words)?;
        // Room for this allocation only: the next one comes here again.
        stay.capability.alloc.restrict(Some(words));
        Ok(at)
    }

    /// The lock is kept throughout, so nobody takes the room that a collection made here before this thread has.
    fn make_room<'w>(
        &'w self,
        inside: &mut Locked<'w, C>,
        stay: Stay<'_, C::Alloc>,
        words: Words,
    ) -> Result<Addr, Exhausted> {
        let mut collected = false;
        loop {
            if let Some(at) = stay.capability.alloc.reserve(words) {
                return Ok(at);
            }
            let Inside { collector, heap, .. } = &mut **inside;
            match collector.refill(heap, stay.capability, words) {
                Ok(Refill::Ready) => {}
                Ok(Refill::Collect) if !collected => {
                    self.stop_and_collect(inside, stay, Cause::Allocation)?;
                    collected = true;
                }
                Ok(Refill::Collect) => panic!("{}: no room straight after a collection", C::DESCRIPTION.name),
                Err(_) if !collected => {
                    self.stop_and_collect(inside, stay, Cause::asked(true))?;
                    collected = true;
                }
                Err(cause) => return Err(Exhausted::of::<C>(cause)),
            }
        }
    }

    /// Space for a large object.
    pub(crate) fn allocate_large(&self, stay: Stay<'_, C::Alloc>, words: Words) -> Result<Addr, Exhausted> {
        let mut inside = self.lock(stay);
        if let Some(every) = inside.stress {
            let left = stay.capability.until_stress.get().saturating_sub(1);
            stay.capability.until_stress.set(left);
            if left == 0 {
                self.stop_and_collect(&mut inside, stay, Cause::Stress)?;
                stay.capability.until_stress.set(every);
            }
        }
        let mut last = None;
        for cause in [Some(Cause::Allocation), Some(Cause::asked(true)), None] {
            let Inside { collector, heap, .. } = &mut *inside;
            match collector.allocate_large(heap, words) {
                Ok(Some(at)) => {
                    inside.allocated += words.to_bytes().0 as u64;
                    return Ok(at);
                }
                Ok(None) => {}
                Err(error) => last = Some(error),
            }
            if let Some(cause) = cause {
                self.stop_and_collect(&mut inside, stay, cause)?;
            }
        }
        let cause = last.expect("a collector that has no room straight after a collection says why");
        Err(Exhausted::of::<C>(cause))
    }

    /// Stop the world and collect.
    pub(crate) fn collect(&self, stay: Stay<'_, C::Alloc>, cause: Cause) -> Result<(), Exhausted> {
        self.stop_and_collect(&mut self.lock(stay), stay, cause)
    }

    /// Stop the world and announce a marker.
    pub(crate) fn marker(&self, stay: Stay<'_, C::Alloc>, name: &str) {
        let mut inside = self.lock(stay);
        let mut stopped = self.stop(&mut inside, Some(stay));
        let (all, members) = stopped.split();
        // SAFETY: these are all, and they are stopped.
        unsafe { all.marker(members, &self.handles, name) };
        drop(stopped);
        inside.events.resume_panic();
    }

    fn stop_and_collect<'w>(
        &'w self,
        inside: &mut Locked<'w, C>,
        stay: Stay<'_, C::Alloc>,
        cause: Cause,
    ) -> Result<(), Exhausted> {
        let requested = inside.recorder.clock().elapsed_ns();
        let mut stopped = self.stop(inside, Some(stay));
        let (all, members) = stopped.split();
        // SAFETY: these are all, and they are stopped, this thread by being here.
        let result = unsafe { all.collect(members, &self.handles, requested, cause) };
        drop(stopped);
        // The heap is whole, and the others go on: now a listener may have panicked.
        inside.events.resume_panic();
        result
    }

    pub(crate) fn handles(&self) -> &Arc<HandleTable> {
        &self.handles
    }
}
